# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pipelines beside the one that is shown: a second element for other settings, and encoders of pictures.

They get frames that exist anyway, drop those for which they have no time, and GStreamer's threads for them are less urgent
than others, so that they take little time from the pipeline. Threads that run Python are not: one that waits for a
processor while it has Python's lock would keep the pipeline waiting.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy

from cudaccl import _gst_pipeline, gst

_LESS_URGENT = 10  # of 19: the least urgent threads get no time at all on a busy machine
_TIMEOUT_NS = 5 * 10**9
_QUALITY = 88
_KEPT = 6  # frames, until that of the same time is shown


def be_less_urgent() -> None:
    """The thread that calls this lets others run first. On Linux a priority is a thread's own."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _LESS_URGENT)


class _SidePipeline:
    """appsrc ! elements ! appsink."""

    def __init__(self, elements: str, waiting: int) -> None:
        """waiting: frames that may wait; older ones are dropped. Raises PipelineError."""
        self._gst = _gst_pipeline.gstreamer().Gst
        self.pipeline = _gst_pipeline.parse(
            f"appsrc name=in format=time leaky-type=downstream max-buffers={waiting} max-bytes=0 max-time=0 !"
            f" {elements} ! appsink name=out sync=false max-buffers={waiting} drop=true")
        self.source = self.pipeline.get_by_name("in")
        self.sink = self.pipeline.get_by_name("out")
        self._bus = self.pipeline.get_bus()
        self._bus.enable_sync_message_emission()
        self._handler = self._bus.connect("sync-message::stream-status", self._thread_has_begun)
        self.pipeline.set_state(self._gst.State.PLAYING)

    def _thread_has_begun(self, _bus: Any, message: Any) -> None:
        if message.parse_stream_status()[0] == self._gst.StreamStatusType.ENTER:
            be_less_urgent()

    def push(self, buffer: Any, caps: Any) -> None:
        # By signals: functions are there only if GStreamer's app library was loaded before the first of its elements.
        self.source.emit("push-sample", self._gst.Sample.new(buffer, caps, None, None))

    def pull(self, timeout: int = _TIMEOUT_NS) -> Any:
        """A sample; None: none came, or the pipeline has failed."""
        return self.sink.emit("try-pull-sample", timeout)

    def exchange(self, buffer: Any, caps: Any, timeout: int = _TIMEOUT_NS) -> Any:
        """What comes out for this frame, if nothing else is in the pipeline; None as of pull(). Then the pipeline begins
        again: what comes too late must not be taken for the next frame's."""
        self.push(buffer, caps)
        sample = self.pull(timeout)
        if sample is None:
            self.pipeline.set_state(self._gst.State.READY)
            self.pipeline.set_state(self._gst.State.PLAYING)
        return sample

    def close(self) -> None:
        self.pipeline.set_state(self._gst.State.NULL)
        # Else the bus, which the pipeline has, would keep this object, which has the pipeline.
        self._bus.disconnect(self._handler)
        self._bus.disable_sync_message_emission()


class Encoder:
    """Makes JPEG pictures of frames of any format and size."""

    def __init__(self, sharp: bool) -> None:
        """sharp: colours have the full resolution, as edges of components need."""
        form = " ! video/x-raw,format=Y444" if sharp else ""
        self._side = _SidePipeline(f"videoconvert n-threads=1{form} ! jpegenc quality={_QUALITY}", 1)

    def encode(self, buffer: Any, caps: Any) -> bytes | None:
        """None: the frame cannot be encoded."""
        sample = self._side.exchange(buffer, caps)
        if sample is None:
            return None
        data = sample.get_buffer()
        return data.extract_dup(0, data.get_size())

    def close(self) -> None:
        self._side.close()


class Converter:
    """Makes I420 of frames, of which neither side is longer than a limit; rows are not padded."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._side = _SidePipeline("videoconvert n-threads=1 ! videoscale n-threads=1 ! capsfilter name=size", 1)
        self._size: tuple[int, int] | None = None

    def planes(self, buffer: Any, caps: Any) -> list[numpy.ndarray] | None:
        """Y, U and V; None: the frame cannot be converted."""
        structure = caps.get_structure(0)
        sides = [structure.get_value(name) for name in ("width", "height")]
        part = min(1.0, self._longest / max(sides))
        width, height = max(8, int(sides[0] * part) // 8 * 8), max(8, int(sides[1] * part) // 8 * 8)
        if (width, height) != self._size:
            self._size = width, height
            self._side.pipeline.get_by_name("size").set_property("caps", _gst_pipeline.gstreamer().Gst.Caps.from_string(
                f"video/x-raw,format=I420,width={width},height={height},pixel-aspect-ratio=1/1"))
        sample = self._side.exchange(buffer, caps)
        if sample is None:
            return None
        data = numpy.frombuffer(sample.get_buffer().extract_dup(0, width * height * 3 // 2), numpy.uint8)
        luma, quarter = width * height, width * height // 4
        ends = ((0, luma, height), (luma, luma + quarter, height // 2), (luma + quarter, luma + 2 * quarter, height // 2))
        return [data[begin:end].reshape(rows, -1) for begin, end, rows in ends]

    def close(self) -> None:
        self._side.close()


class _Element:
    """A pipeline with an element that labels."""

    def __init__(self, properties: dict[str, str], waiting: int) -> None:
        """waiting: frames that may wait. Raises PipelineError."""
        self._side = _SidePipeline(
            _gst_pipeline.element_line({"name": "labeller", "threads": "1", **properties}), waiting)
        self._properties = dict(properties)

    def change(self, properties: dict[str, str]) -> None:
        """For the frames that follow. They were checked."""
        before, self._properties = self._properties, dict(properties)
        _gst_pipeline.change_properties(self._side.pipeline.get_by_name("labeller"), before, properties)

    def close(self) -> None:
        self._side.close()


class _Labelling(_Element):
    """With a thread that takes what comes out of it."""

    def __init__(self, properties: dict[str, str], taken: Callable[[Any, Any], None]) -> None:
        """taken: is called with a buffer and its caps. Raises PipelineError."""
        super().__init__(properties, 2)
        self._taken = taken
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="cudaccl-second", daemon=True)
        self._thread.start()

    def push(self, buffer: Any, caps: Any) -> None:
        self._side.push(buffer, caps)

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()
        super().close()

    def _run(self) -> None:
        while not self._is_closed:
            sample = self._side.pull(10**8)
            if sample is not None:
                found = sample.get_buffer(), sample.get_caps()
                del sample  # appsink uses it again when it gets other caps, as after a seek
                self._taken(*found)


class _Labelled:
    """A frame, whose metadata is read when somebody asks for it."""

    def __init__(self, buffer: Any, caps: Any) -> None:
        self.time = gst.time_of(buffer)
        self.picture = buffer, caps

    @functools.cached_property
    def frame(self) -> Any:
        return gst.frame_of(self.picture[0])


class SecondElement:
    """Labels the frames that the first one labels, with other settings, and keeps the last ones. Its methods are for any
    thread, `push()` for GStreamer's."""

    def __init__(self, labelled: Callable[[int | None], None] = lambda _time: None) -> None:
        """labelled: is called with the time of a frame that `of()` has from now on, in another thread."""
        self._labelled = labelled
        self._labelling: _Labelling | None = None
        self._lock = threading.Lock()
        self._frames: deque[_Labelled] = deque(maxlen=_KEPT)

    @property
    def is_used(self) -> bool:
        return self._labelling is not None

    def use(self, properties: dict[str, str] | None) -> None:
        """Which were checked. None: it stops. Raises PipelineError."""
        if properties is None:
            labelling, self._labelling = self._labelling, None
            if labelling is not None:
                labelling.close()
            with self._lock:
                self._frames.clear()
        elif self._labelling is None:
            self._labelling = _Labelling(properties, self._taken)
        else:
            self._labelling.change(properties)

    def push(self, buffer: Any, caps: Any) -> None:
        labelling = self._labelling
        if labelling is None:
            return
        with self._lock:  # a frame that enters once more has other settings
            others = [one for one in self._frames if one.time != gst.time_of(buffer)]
            self._frames.clear()
            self._frames.extend(others)
        labelling.push(buffer, caps)

    def of(self, pts: int | None) -> tuple[tuple[Any, Any], Any] | None:
        """Buffer and caps, and the cudaccl.gst.Frame, of this time; None: there are none, or not yet."""
        with self._lock:
            found = next((one for one in reversed(self._frames) if one.time == pts), None)
        return None if found is None else (found.picture, found.frame)

    def _taken(self, buffer: Any, caps: Any) -> None:
        with self._lock:
            self._frames.append(_Labelled(buffer, caps))
        self._labelled(gst.time_of(buffer))


class Labeller(_Element):
    """Labels one frame after the other, and is waited for."""

    def __init__(self, properties: dict[str, str]) -> None:
        """Raises PipelineError."""
        super().__init__(properties, 1)

    def label(self, buffer: Any, caps: Any) -> Any:
        """The cudaccl.gst.Frame; None: the frame cannot be labelled."""
        sample = self._side.exchange(buffer, caps)
        return None if sample is None else gst.frame_of(sample.get_buffer())


def label_once(buffer: Any, caps: Any, properties: dict[str, str]) -> Any:
    """The cudaccl.gst.Frame of one buffer, labelled alone; None: it cannot be. Raises PipelineError."""
    labeller = Labeller(properties)
    try:
        return labeller.label(buffer, caps)
    finally:
        labeller.close()
