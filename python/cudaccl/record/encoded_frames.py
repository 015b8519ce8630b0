# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the compressed frames of a source out of its pipeline, before they are decoded."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import gstreamer
from cudaccl.record.encoder import Encoder
from cudaccl.record.history import EncodedFrame, History
from cudaccl.video.stream import Stream

PARSERS = {"video/x-h264": "h264parse", "video/x-h265": "h265parse"}

_QUESTION = "cudaccl-which-decoder"


def parser_of(caps: Any) -> str | None:
    """The element that makes of such frames what Matroska has; None: they are that already."""
    # Their text, because the structure of caps has other methods in newer bindings.
    return PARSERS.get(re.split("[,(]", caps.to_string(), maxsplit=1)[0])


def is_writable(caps: Any) -> bool:
    """Whether Matroska holds such frames."""
    parser = parser_of(caps)
    if parser is not None:
        return gstreamer().Gst.ElementFactory.find(parser) is not None
    return caps.can_intersect(_muxed())


@functools.cache
def _muxed() -> Any:
    gst = gstreamer().Gst
    templates = gst.ElementFactory.find("matroskamux").get_static_pad_templates()
    video = next(one for one in templates if one.name_template == "video_%u").get_caps()
    return video.subtract(gst.Caps.from_string("video/x-raw"))


class _Branch:
    """Compressed frames of one pad."""

    def __init__(self) -> None:
        self.history = History()
        self.is_writable = False
        self._caps: Any = None
        self._last = 0

    def add(self, buffer: Any, caps: Any, segment: Any) -> None:
        gst = gstreamer().Gst
        if self._caps is None or not caps.is_equal(self._caps):
            self._caps = caps
            self.is_writable = is_writable(caps)
        if not self.is_writable:
            return
        decoding, shown = (_running_time(segment, time) for time in (buffer.dts, buffer.pts))
        shown = decoding if shown is None else shown
        self._last = self._last if shown is None else shown
        is_key = not buffer.has_flags(gst.BufferFlags.DELTA_UNIT)
        # A copy: memory of a camera's driver is needed for its next frames.
        self.history.add(EncodedFrame(
            buffer.copy_deep(), self._caps, self._last, self._last if decoding is None else decoding, is_key,
            buffer.get_size()))


class EncodedFrames:
    """Of a stream that was made and has not begun.

    Its decoder is whichever GStreamer chooses, or a launch line names: it is found when the first frame comes to be
    labelled. If there is none, or if Matroska does not hold what it gets, an encoder makes the frames.

    fail: is called with an exception, in another thread, once.
    """

    def __init__(self, stream: Stream, fail: Callable[[Exception], None]) -> None:
        self.has_failed = False  #: `fail` was called
        self._gst = gstreamer().Gst
        self._stream = stream
        self._fail = fail
        self._branch = _Branch()  # of the encoder, until a decoder is found
        self._is_found = False
        self._encoder: Encoder | None = None
        self._lost_before = 0  # by earlier encoders
        self._encoder_caps: Any = None
        stream.pipeline.iterate_recurse().foreach(self._look_at)
        stream.pipeline.connect("deep-element-added", lambda _pipeline, _bin, element: self._look_at(element))
        stream.element.get_static_pad("sink").add_probe(self._gst.PadProbeType.BUFFER, self._on_raw)

    @property
    def history(self) -> History:
        """When a frame was labelled."""
        return self._branch.history

    @property
    def lost(self) -> int:
        """Frames for which the encoder had no time."""
        return self._lost_before + (self._encoder.lost if self._encoder is not None else 0)

    def finish(self) -> None:
        """After the stream has ended: the encoder gives what it has."""
        if self._encoder is not None:
            self._encoder.finish(wait=not self.has_failed)

    def _look_at(self, element: Any) -> None:
        factory = element.get_factory()
        if factory is None:
            return
        if factory.get_name() in PARSERS.values():
            element.set_property("config-interval", -1)  # each key frame can begin a clip
        kinds = factory.get_metadata("klass").split("/")
        pads = element.get_static_pad("sink"), element.get_static_pad("src")
        if None not in pads and "Codec" in kinds and "Decoder" in kinds and {"Video", "Image"} & set(kinds):
            branch = _Branch()
            pads[0].add_probe(self._gst.PadProbeType.BUFFER, self._on_encoded, branch)
            pads[1].add_probe(self._gst.PadProbeType.EVENT_UPSTREAM, self._on_question, branch)

    def _on_encoded(self, pad: Any, info: Any, branch: _Branch) -> Any:
        if self._is_found and branch is not self._branch:
            return self._gst.PadProbeReturn.REMOVE
        caps = pad.get_current_caps()
        try:
            if caps is not None:
                branch.add(info.get_buffer(), caps, _segment(pad))
        except Exception as error:  # it would be lost here
            self.has_failed = True
            self._fail(error)
            return self._gst.PadProbeReturn.REMOVE
        return self._gst.PadProbeReturn.OK

    def _on_question(self, _pad: Any, info: Any, branch: _Branch) -> Any:
        """A decoder is above the element that labels."""
        if not info.get_event().has_name(_QUESTION):
            return self._gst.PadProbeReturn.OK
        if branch.is_writable:
            self._branch = branch
        return self._gst.PadProbeReturn.DROP

    def _on_raw(self, pad: Any, info: Any) -> Any:
        if not self._is_found:
            before = self._branch
            pad.push_event(self._gst.Event.new_custom(
                self._gst.EventType.CUSTOM_UPSTREAM, self._gst.Structure.new_empty(_QUESTION)))
            self._is_found = True
            if self._branch is not before:
                return self._gst.PadProbeReturn.REMOVE
        try:
            self._encode(pad, info.get_buffer())
        except Exception as error:  # it would be lost here
            self.has_failed = True
            self._fail(error)
            return self._gst.PadProbeReturn.REMOVE
        return self._gst.PadProbeReturn.OK

    def _encode(self, pad: Any, buffer: Any) -> None:
        caps = pad.get_current_caps()
        time = _running_time(_segment(pad), buffer.pts)
        if caps is None or time is None:
            return
        if self._encoder is None or not caps.is_equal(self._encoder_caps):
            if self._encoder is not None:
                self._encoder.finish(wait=True)
                self._lost_before, self._encoder = self.lost, None
            self._encoder = Encoder(caps, self._stream.is_live, self._on_sample)
            self._encoder_caps = caps
        self._encoder.push(buffer, time)

    def _on_sample(self, sample: Any) -> None:
        self._branch.add(sample.get_buffer(), sample.get_caps(), sample.get_segment())


def _segment(pad: Any) -> Any:
    event = pad.get_sticky_event(gstreamer().Gst.EventType.SEGMENT, 0)
    return event.parse_segment() if event is not None else None


def _running_time(segment: Any, time: int) -> int | None:
    gst = gstreamer().Gst
    if segment is None or time == gst.CLOCK_TIME_NONE:
        return None
    sign, value = segment.to_running_time_full(gst.Format.TIME, time)
    return value * sign if sign else None
