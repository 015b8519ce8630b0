# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays sources through the element, one after the other: the pipeline of `cudaccl run`, at the pace of a viewer."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from cudaccl._gst_pipeline import PipelineError
from cudaccl.tune.gate import Gate
from cudaccl.video.errors import UsageError
from cudaccl.video.follower import one_line
from cudaccl.video.sources import Source
from cudaccl.video.stream import Stream, Watchdog

_AGAIN_S = 5.0  # after which a camera is opened again

Properties = dict[str, str]


@dataclasses.dataclass(frozen=True, eq=False)
class Shot:
    """A frame that came out of the element, and how it went in."""

    number: int  #: of all shots, from 1
    frame: Any  #: cudaccl.gst.Frame
    result: tuple[Any, Any]  #: buffer and caps
    input: tuple[Any, Any] | None  #: buffer and caps
    entered: float | None  #: time.monotonic()
    is_again: bool  #: the frame was labelled before, with other settings
    is_shown: bool  #: False: one on the way to another place


class _TappedStream(Stream):
    """Keeps the last buffer and its caps, and is not silent while the gate holds frames. It does not keep the sample,
    which appsink uses again for the next caps."""

    def __init__(self, source: Source, properties: Properties, gate: Gate) -> None:
        self.last: tuple[Any, Any] = None, None
        self._gate = gate
        super().__init__(source, properties)
        gate.attach(self.element.get_static_pad("sink"))

    def _image(self, sample: Any) -> None:
        self.last = sample.get_buffer(), sample.get_caps()

    def stop_if_silent(self, seconds: float) -> None:
        if self._gate.is_holding:
            self._waiting_since = time.monotonic()
        super().stop_if_silent(seconds)

    def stop(self) -> None:
        self._gate.close()
        super().stop()


class Player:
    """A thread. Its methods are for any other one."""

    def __init__(
        self, sources: list[Source], properties: Properties, taken: Callable[[Shot], None],
        changed: Callable[[], None], entered: Callable[[Any, Any], None], stall: float,
    ) -> None:
        """taken: is called with each shot. changed: after the state, the error or the source is another one. entered: as
        of Gate. All in other threads."""
        self._sources = sources
        self._properties = dict(properties)
        self._taken = taken
        self._changed = changed
        self._stall = stall
        self.gate = Gate(entered, self._at_end)
        self._stream: _TappedStream | None = None
        self._lock = threading.Lock()
        self._seeking = threading.Lock()
        self._wake = threading.Event()
        self._is_closed = False
        self._stops = 0  # how often what is open, or being opened, had to stop
        self._shots = 0
        self._place: int | None = None  # where the next stream is shown first
        self._begins_again = False  # the end has come, and is none: of a loop
        self.index = 0  #: of the source that is shown
        self.loops = False
        self.is_open = False
        self.has_shown = False  #: a frame came out at least once
        self.error: str | None = None
        self.duration: int | None = None  #: nanoseconds; None: not known, as for cameras
        self.frame_rate = 0.0
        self._thread = threading.Thread(target=self._run, name="cudaccl-player", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._is_closed = True
        self._stop_stream()
        self._thread.join()

    @property
    def source(self) -> Source:
        return self._sources[self.index]

    @property
    def sources(self) -> list[Source]:
        return self._sources

    @property
    def stream(self) -> Any:
        """The Stream that is open; None: none is."""
        return self._stream

    @property
    def state(self) -> str:
        if self.error is not None:
            return "failed"
        if not self.is_open:
            return "opening"
        if self.gate.is_skipping:
            return "running"
        if self.gate.at_end and not self._begins_again:
            return "ended"
        return "paused" if self.gate.is_paused else "playing"

    def change(self, after: Properties) -> None:
        """The element's properties, which were checked."""
        with self._lock:
            before, self._properties = self._properties, dict(after)
            stream = self._stream
        if stream is None:
            self._wake.set()  # what failed may work with these
        elif stream.change(before, after):
            self.reopen()
        else:
            self.gate.again()

    def reopen(self) -> None:
        """Starts from the beginning."""
        self.show(self.index)

    def run_to(self, place: int) -> None:
        """Starts from the beginning, with a new element, and shows the frame at this time: what a run finds there."""
        self.show(self.index, place)

    def show(self, index: int, place: int | None = None) -> None:
        """Another source, of several."""
        self.index = index % len(self._sources)
        self._place = place
        self._stop_stream()

    def step(self) -> None:
        """One frame on; at the end of a source the next one."""
        if self.gate.at_end and len(self._sources) > 1:
            self.show(self.index + 1)
        else:
            self.gate.step()

    def seek(self, place: int, lead: int = 0) -> bool:
        """Shows the frame at this time, after those of a time `lead` before it, which are labelled as well. False: the
        source cannot do that."""
        stream = self._stream
        if stream is None or self.gate.is_live:
            return False
        place = max(0, place)
        with self._seeking:  # each place belongs to its own flush
            self.gate.skip_until_after_flush(place)
            done = stream.seek(max(0, place - lead))
            if not done:
                self.gate.skip_until_after_flush(None)
            return done

    def _stop_stream(self) -> None:
        with self._lock:
            self._stops += 1
            stream = self._stream
        self._wake.set()
        if stream is not None:
            stream.stop()

    def _at_end(self) -> None:
        if self.loops and not self.gate.is_paused:
            self._begins_again = True
            # Not in this thread: it is the one that the seek waits for.
            threading.Thread(target=self._loop, name="cudaccl-loop", daemon=True).start()
        else:
            self._changed()

    def _loop(self) -> None:
        if len(self._sources) > 1:
            time.sleep(1 / max(self.gate.speed, 0.25))  # images are shown for a second
            self.show(self.index + 1)
        else:
            self.seek(0)
        self._begins_again = False
        self._changed()

    def _run(self) -> None:
        while not self._is_closed:
            self._wake.clear()  # first: a stop counts, and then wakes
            stops = self._stops
            self.error = None
            self.is_open = False
            self.duration = None
            self._changed()
            try:
                self._play(stops)
            except (FileNotFoundError, PipelineError, UsageError) as error:
                self.error = one_line(error)
            self._stream = None
            if self._is_closed:
                return
            if self.error is not None:
                self._changed()
                is_file = self.source.path is not None
                self._wake.wait(None if is_file else _AGAIN_S)
            elif not self._wake.is_set():  # a camera that ends is opened again
                self.error = "the source has ended"
                self._changed()
                self._wake.wait(_AGAIN_S)

    def _play(self, stops: int) -> None:
        """stops: what their number was before; another one now means that the stream must not begin."""
        with self._lock:
            if stops != self._stops or self._is_closed:
                return
            stream = _TappedStream(self.source, self._properties, self.gate)
            if self._place is not None:
                self.gate.skip_until(self._place)
            self._place = None
            self._stream = stream
        with closing(stream), Watchdog(stream, self._stall):
            for frame in stream:
                if not self.is_open:
                    self._opened(stream)
                self._take(stream, frame)

    def _opened(self, stream: _TappedStream) -> None:
        self.is_open = self.has_shown = True
        self.gate.is_live = stream.is_live
        known, duration = stream.pipeline.query_duration(stream._gst.Gst.Format.TIME)
        self.duration = duration if known and duration > 0 and not self.gate.is_live else None
        rate = stream._gst.GstVideo.VideoInfo.new_from_caps(stream.last[1])
        self.frame_rate = rate.fps_n / rate.fps_d if rate.fps_d else 0.0
        self._changed()

    def _take(self, stream: _TappedStream, frame: Any) -> None:
        self._shots += 1
        pts = stream.last[0].pts
        found = self.gate.input_of(pts)
        if not self.gate.is_live and frame.time is not None:
            frame = dataclasses.replace(frame, time=pts)  # the running time begins again at each jump
        before = None if found is None else found[1:3]
        self._taken(Shot(self._shots, frame, stream.last, before, found[3] if found else None,
                         bool(found and found[4]), not self.gate.is_skipping))
