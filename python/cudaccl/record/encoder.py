# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compresses the frames of a source that has none compressed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import PipelineError, first_error, gstreamer, parse
from cudaccl.record.history import retimed

_BITS_PER_PIXEL = 0.1
_WAITING = 8  # frames
_PATIENCE_S = 5.0
_STEP_S = 0.002
# In the order of preference. A key frame every second, and each frame comes out before the next one goes in.
_ENCODERS = (
    "x264enc tune=zerolatency speed-preset=superfast key-int-max={rate} bitrate={kilobits}",
    "openh264enc complexity=low gop-size={rate} bitrate={bits}",
    "vp8enc deadline=1 cpu-used=8 keyframe-max-dist={rate} target-bitrate={bits}",
    "jpegenc",
)


def choose() -> str | None:
    """The first one that is there."""
    find = gstreamer().Gst.ElementFactory.find
    return next((line for line in _ENCODERS if find(line.split()[0]) is not None), None)


class Encoder:
    """A pipeline of its own, so that what happens to it does not touch the source.

    caps: of the frames. is_live: frames are lost, and counted, if there is no time for them; else `push()` waits.
    put: is called with each Gst.Sample, in another thread.

    Raises PipelineError.
    """

    def __init__(self, caps: Any, is_live: bool, put: Callable[[Any], None]) -> None:
        self._gst = gstreamer()
        self._is_live = is_live
        self._put = put
        self.lost = 0
        self._coming = 0  # frames that are in the encoder
        self._changed = threading.Condition()
        video = self._gst.GstVideo.VideoInfo.new_from_caps(caps)
        rate = round(video.fps_n / video.fps_d) if video.fps_n and video.fps_d else 25
        bits = max(100_000, round(_BITS_PER_PIXEL * video.width * video.height * rate))
        line = choose()
        if line is None:
            names = ", ".join(one.split()[0] for one in _ENCODERS)
            raise PipelineError(f"GStreamer has no encoder: install one of {names}")
        self._pipeline = parse(
            "appsrc name=in format=time max-buffers=0 max-bytes=0 ! videoconvert ! "
            f"{line.format(rate=max(1, rate), bits=bits, kilobits=bits // 1000)}"
            " ! appsink name=out sync=false emit-signals=true")
        self._in = self._pipeline.get_by_name("in")
        self._in.set_property("caps", caps)
        self._pipeline.get_by_name("out").connect("new-sample", self._on_sample)
        if self._pipeline.set_state(self._gst.Gst.State.PLAYING) == self._gst.Gst.StateChangeReturn.FAILURE:
            self._stop()
            raise first_error(self._pipeline) or PipelineError("the encoder does not start")

    def push(self, buffer: Any, running_time: int) -> None:
        """Raises PipelineError."""
        deadline = time.monotonic() + (0 if self._is_live else _PATIENCE_S)
        while self._in.get_property("current-level-buffers") >= _WAITING:
            error = first_error(self._pipeline)
            if error is not None:
                raise error
            if time.monotonic() >= deadline:
                self.lost += 1
                return
            time.sleep(_STEP_S)
        with self._changed:
            self._coming += 1
        self._in.emit("push-buffer", retimed(buffer, running_time, self._gst.Gst.CLOCK_TIME_NONE))

    def _on_sample(self, sink: Any) -> Any:
        sample = sink.emit("pull-sample")
        if sample is not None:
            self._put(sample)
        with self._changed:
            self._coming -= 1
            self._changed.notify_all()
        return self._gst.Gst.FlowReturn.OK

    def finish(self, wait: bool) -> None:
        """wait: until the last frame has come, or for some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._coming <= 0 or not wait, _PATIENCE_S)
        self._stop()

    def _stop(self) -> None:
        self._pipeline.set_state(self._gst.Gst.State.NULL)
