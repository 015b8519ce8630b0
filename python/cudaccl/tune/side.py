# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pipelines beside the one that is shown: a second element for other settings, and encoders of pictures.

They get frames that exist anyway, drop those for which they have no time, and their threads come after all others, so
that they take no time from the pipeline.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from cudaccl import _gst_pipeline, gst

_LEAST_URGENT = 19
_TIMEOUT_NS = 2 * 10**9
_QUALITY = 88


def come_last() -> None:
    """The thread that calls this runs when no other one wants to. On Linux a priority is a thread's own."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _LEAST_URGENT)


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
        bus = self.pipeline.get_bus()
        bus.enable_sync_message_emission()
        bus.connect("sync-message::stream-status", self._thread_has_begun)
        self.pipeline.set_state(self._gst.State.PLAYING)

    def _thread_has_begun(self, _bus: Any, message: Any) -> None:
        if message.parse_stream_status()[0] == self._gst.StreamStatusType.ENTER:
            come_last()

    def push(self, buffer: Any, caps: Any) -> None:
        # By signals: functions are there only if GStreamer's app library was loaded before the first of its elements.
        self.source.emit("push-sample", self._gst.Sample.new(buffer, caps, None, None))

    def pull(self, timeout: int = _TIMEOUT_NS) -> Any:
        """A sample; None: none came, or the pipeline has failed."""
        return self.sink.emit("try-pull-sample", timeout)

    def close(self) -> None:
        self.pipeline.set_state(self._gst.State.NULL)


class Encoder:
    """Makes JPEG pictures of frames of any format and size."""

    def __init__(self, sharp: bool) -> None:
        """sharp: colours have the full resolution, as edges of components need."""
        form = " ! video/x-raw,format=Y444" if sharp else ""
        self._side = _SidePipeline(f"videoconvert n-threads=1{form} ! jpegenc quality={_QUALITY}", 1)

    def encode(self, buffer: Any, caps: Any) -> bytes | None:
        """None: the frame cannot be encoded."""
        self._side.push(buffer, caps)
        sample = self._side.pull()
        if sample is None:
            return None
        data = sample.get_buffer()
        return data.extract_dup(0, data.get_size())

    def close(self) -> None:
        self._side.close()


class SecondElement:
    """Labels the frames that the first one labels, with other settings. `push()` is for GStreamer's threads."""

    def __init__(self, properties: dict[str, str], taken: Callable[[Any, Any], None]) -> None:
        """taken: is called with a buffer and its caps, and the cudaccl.gst.Frame of it, in a thread of its own. Raises
        PipelineError."""
        self._taken = taken
        self._side = _SidePipeline(
            _gst_pipeline.element_line({"name": "second", "threads": "1", **properties}), 2)
        self._properties = dict(properties)
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="cudaccl-second", daemon=True)
        self._thread.start()

    def change(self, properties: dict[str, str]) -> None:
        """Which were checked."""
        before, self._properties = self._properties, dict(properties)
        _gst_pipeline.change_properties(self._side.pipeline.get_by_name("second"), before, properties)

    def push(self, buffer: Any, caps: Any) -> None:
        self._side.push(buffer, caps)

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()
        self._side.close()

    def _run(self) -> None:
        come_last()
        while not self._is_closed:
            sample = self._side.pull(10**8)
            if sample is not None:
                self._taken((sample.get_buffer(), sample.get_caps()), gst.frame_of(sample))


def label_once(buffer: Any, caps: Any, properties: dict[str, str]) -> Any:
    """The cudaccl.gst.Frame of one buffer, labelled alone; None: it cannot be. Raises PipelineError."""
    side = _SidePipeline(_gst_pipeline.element_line({"threads": "1", **properties}), 1)
    try:
        side.push(buffer, caps)
        sample = side.pull()
        return None if sample is None else gst.frame_of(sample)
    finally:
        side.close()
