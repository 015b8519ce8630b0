# SPDX-License-Identifier: LGPL-2.1-or-later
"""A thread that labels one source and gives its reports to sinks; it opens a camera again that goes away."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Protocol

from cudaccl._property_values import is_tracked
from cudaccl._redaction import redacted
from cudaccl.gst import PipelineError
from cudaccl.publish.errors import SinkError
from cudaccl.publish.metrics import Metrics
from cudaccl.publish.report import Report
from cudaccl.publish.run_name import new_run_name
from cudaccl.publish.sink import Sink
from cudaccl.video.bounded_lines import BoundedLines
from cudaccl.video.errors import UsageError
from cudaccl.video.sources import Source, check_properties
from cudaccl.video.stream import Stream

_STEP_S = 0.1
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_SILENCE_S = 2.0


def stop_all(followers: Sequence[Follower], sinks: Sequence[Sink], timeout: float = math.inf) -> None:
    """Also those that wait for a sink. Returns when their threads have ended, or the time is over."""
    deadline = time.monotonic() + timeout
    for follower in followers:
        follower.request_stop()  # before a sink refuses a frame: its stream is not complete
    for sink in sinks:
        sink.release()
    for follower in followers:
        follower.stop(deadline)


def one_line(text: object) -> str:
    """An error for the operator: GStreamer's may have more lines, and addresses with passwords."""
    return " ".join(redacted(text).split())


def named(name: str, text: object) -> str:
    """A line about a source, whose name comes first. So does it in errors of the element, which has the same name."""
    return f"{name}: {one_line(text).removeprefix(f'{name}: ')}"


class Recorder(Protocol):
    """What keeps frames: a `cudaccl.record.Recorder`."""

    def attach(self, stream: Stream) -> None: ...
    def observe(self, report: Report) -> None: ...
    def detach(self) -> None: ...


class Follower:
    """Begins with `start()`; `tick()` must be called about once a second.

    say: is called with a text for the operator.
    stall: a source without a frame for so many seconds has failed.
    start_time: as of `Report.of_frame()`.
    recorder: sees each stream before it begins, each report, and the end of each stream.

    Raises UsageError if a sink gets tracks or events, and the properties give none.
    """

    def __init__(
        self,
        source: Source,
        properties: dict[str, str],
        sinks: Sequence[Sink],
        say: Callable[[str], None],
        stall: float,
        metrics: Metrics | None,
        start_time: int | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.name = source.name
        self.error: Exception | None = None  #: why it has ended; None: the source was complete, or it was stopped
        self._source = source
        self._properties = properties
        self._sinks = sinks
        self._say = say
        self._say_of_camera = BoundedLines(self._tell)  # for what the camera does, and not the operator
        self._stall = stall
        self._metrics = metrics
        self._start_time = start_time
        self._recorder = recorder
        self._is_tracked = is_tracked(properties)
        self._check_tracks(self._is_tracked)
        self._content = source.content(properties)
        self._stream: Stream | None = None
        self._changing = threading.Lock()  # properties, and the stream that has them
        self._run_name = ""
        self._frames = 0  # since the source was opened
        self._has_begun = False  # sinks have taken a stream
        self.has_flowed = False  #: frames have come, once
        self._flows_since: float | None = None  # when the first frame came since it was opened
        self._latest = 0.0  # when the latest frame came
        self._away_since: float | None = None  # when the last frame came before it went away
        self._size: tuple[int, int] | None = None
        self._failing: set[str] = set()  # sinks that lose frames
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"cudaccl-{source.name}", daemon=True)

    def _check_tracks(self, tracked: bool) -> None:
        for sink in self._sinks:
            selection = getattr(sink, "selection", None)
            if selection is not None and selection.needs_tracks and not tracked:
                raise UsageError(f"what={selection.what} of {sink.name} needs track=true")

    def start(self) -> None:
        self._thread.start()

    def request_stop(self) -> None:
        """The thread ends soon, unless it waits for a sink."""
        self._stopping.set()

    def stop(self, deadline: float = math.inf) -> None:
        """Returns when the thread has ended, or at a time of `time.monotonic()`."""
        self.request_stop()
        while self.running and time.monotonic() < deadline:
            stream = self._stream
            if stream is not None:
                stream.stop()  # again: the pipeline may just have been started
            self._thread.join(_STEP_S)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def state(self) -> str:
        """For the operator."""
        if self._away_since is not None:
            return "away"
        if self._flows_since is None:
            return "starts"
        silence = time.monotonic() - self._latest
        return "runs" if silence < _SILENCE_S else f"no frame for {silence:.0f} s"

    def change(self, properties: dict[str, str]) -> None:
        """Other properties, which were checked, for the frames that follow. Regions are read again. Only an empty
        `regions` takes them away: they may be all that hides a place, and a line that is missing may be an oversight."""
        if self._content is not None:
            self._tell("a file keeps its settings")
            return
        try:
            self._check_tracks(is_tracked(properties))
        except UsageError as error:
            self._tell(f"error: {error}; the old settings stay")
            return
        regions = self._properties.get("regions")
        if regions and "regions" not in properties:
            properties = properties | {"regions": regions}
            try:
                check_properties(properties)
            except ValueError as error:
                self._tell(f"error: {error}; the old settings stay")
                return
            self._tell("the settings name no regions, so the old ones stay; `regions=` takes them away")
        with self._changing:
            later = self._stream.change(self._properties, properties) if self._stream is not None else []
            self._properties = properties
            self._is_tracked = is_tracked(properties)
        self._tell("settings were read again" + (f"; {', '.join(later)}: when it is opened again" if later else ""))

    def _tell(self, text: object) -> None:
        self._say(named(self.name, text))

    def tick(self) -> None:
        """Looks after the source: figures, and whether it is silent."""
        stream = self._stream
        if stream is None:
            return
        if stream.stopped:
            stream.stop()  # again: the pipeline may just have been started
            return
        if self._metrics is not None:
            self._metrics.observe_stats(self.name, stream.stats())
        stream.stop_if_silent(self._stall)

    def _follow(self) -> None:
        pause = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            self._flows_since = None
            try:
                with self._changing:
                    self._stream = Stream(self._source, self._properties, self._say_of_camera, strict=not self.has_flowed)
            except Exception as error:  # it cannot be opened in this way, now or later
                self.error = error
                return
            try:
                self._label(self._stream)
            except PipelineError as error:
                self.error = None if self._stopping.is_set() else error
            except SinkError as error:  # of a stream that cannot begin; a disk may have room again
                self.error = error
                if not self._has_begun:
                    return
            except Exception as error:  # of a sink: the main thread reports it
                self.error = error
                return
            if self._stopping.is_set() or not self._opens_again(self._stream):
                return
            if self._flows_since is not None and time.monotonic() - self._flows_since > pause:
                pause = _FIRST_PAUSE_S
            self._away_since = self._away_since or self._latest or time.monotonic()
            reason = one_line(self.error or "it has ended")
            self._say_of_camera(f"{reason}; it will be opened again in {pause:g} seconds")
            self.error = None
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _opens_again(self, stream: Stream) -> bool:
        """Cameras do. Files and launch lines have an end, but a launch line that was silent may have a camera."""
        if self._content is not None:
            return False
        return not self._source.is_launch_line or stream.stalled

    def _label(self, stream: Stream) -> None:
        """Until the source ends."""
        self._begin()
        self._set_online(False)
        if self._metrics is not None:
            self._metrics.source_started(self.name)
        if self._recorder is not None:
            self._recorder.attach(stream)
        try:
            with closing(stream):
                self._put_all(stream)
                if (stream.stopped or self._stopping.is_set()) and self._content is not None:
                    return  # the next process goes on with it
            for sink in self._sinks:
                sink.end(self.name)
            early_end = stream.early_end(self._frames)
            if not early_end and not self._frames and not (stream.stopped or self._stopping.is_set()):
                early_end = "it has no frame"
            if early_end:
                self.error = PipelineError(early_end)
        finally:
            self._set_online(False)
            if self._recorder is not None:
                self._recorder.detach()
            if self._metrics is not None:
                self._metrics.observe_stats(self.name, stream.stats())  # what came since the last time
                self._metrics.source_stopped(self.name)

    def _begin(self) -> None:
        """Goes on with what an earlier process did not complete, or begins a new run."""
        run = None
        if self._content is not None:
            found = (sink.interrupted(self.name, self._content) for sink in self._sinks)
            run = next(filter(None, found), None)
        self._run_name = run or new_run_name()
        first = max([sink.begin(self.name, self._run_name, self._content) for sink in self._sinks])
        self._has_begun = True
        if first:
            self._tell(f"goes on with frame {first}; {self._run_name} was interrupted")

    def _put_all(self, stream: Stream) -> None:
        is_live = False
        self._frames = 0
        for count, frame in enumerate(stream):
            self._latest = time.monotonic()
            self._frames = count + 1
            if count == 0:
                self._note_first()
                is_live = self._content is None and stream.is_live
            if self._metrics is not None and count % 256 == 0:
                self._metrics.observe_stats(self.name, stream.stats())
            self._note_size(frame.info)
            number = count if frame.info.frame is None else frame.info.frame
            report = Report.of_frame(frame, self.name, self._run_name, number, self._is_tracked, self._start_time)
            if self._metrics is not None:
                self._metrics.observe(report, stream.latency(frame.time) if is_live else None)
            for sink in self._sinks:
                self._put(sink, report)
            if self._recorder is not None:
                self._recorder.observe(report)

    def _note_first(self) -> None:
        self.has_flowed = True
        self._flows_since = self._latest
        self._set_online(True)
        if self._away_since is not None:
            self._say_of_camera(f"open again after {self._latest - self._away_since:.0f} s")
            self._away_since = None

    def _set_online(self, online: bool) -> None:
        for sink in self._sinks:
            sink.set_online(self.name, online)

    def _note_size(self, info: Any) -> None:
        size = info.width, info.height
        if self._size not in (None, size):
            self._say_of_camera(f"frames have {size[0]}x{size[1]} pixels now")
        self._size = size

    def _put(self, sink: Sink, report: Report) -> None:
        """Says when frames begin to be lost, and when that ends."""
        if sink.put(report):
            if sink.name in self._failing:
                self._failing.remove(sink.name)
                self._tell(f"frames for {sink.name} are kept again, from frame {report.frame}")
        elif sink.name not in self._failing and not self._stopping.is_set():
            self._failing.add(sink.name)
            reason = sink.error or "the spool has reached its limit"
            self._tell(f"frames for {sink.name} are lost, from frame {report.frame}: {reason}")
