# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels one span of a video file as one process would that labels the whole file."""

from __future__ import annotations

import contextlib
import logging
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy

from cudaccl._gst_pipeline import PipelineError, gstreamer
from cudaccl.fleet import cuda_context
from cudaccl.fleet.beginning import CUT, Beginning
from cudaccl.fleet.config import Archive
from cudaccl.fleet.pieces import Piece, PieceMaker, Span
from cudaccl.fleet.video_index import VideoIndex, parse_line, repeat_headers
from cudaccl.publish.report import Report
from cudaccl.video.sources import Source
from cudaccl.video.stream import Stream, Watchdog

_LOG = logging.getLogger("cudaccl.fleet")

_COMPARED = 3


class Uneven(Exception):
    """The frames that the decoder gives are not those of the index, so the file cannot be cut."""


def label_whole(archive: Archive, stall: float, warn: Callable[[str], None]) -> Piece:
    """As `cudaccl run`. warn: as of `Stream`. Raises PipelineError, FileNotFoundError, UsageError."""
    stream = Stream(Source(archive.name, archive.path), archive.properties, warn)
    cuda_context.share(stream.pipeline)
    maker = PieceMaker()
    with closing(stream), Watchdog(stream, stall):
        for count, frame in enumerate(stream):
            number = count if frame.info.frame is None else frame.info.frame
            maker.add(Report.of_frame(frame, archive.name, "", number, archive.tracks))
    piece = maker.piece()
    if not len(piece.frames):
        raise PipelineError("it has no frame")
    return piece


def label_span(
    archive: Archive, index: VideoIndex, span: Span, stall: float, warn: Callable[[str], None] = _LOG.warning
) -> Piece:
    """Frame numbers and times are those of the whole file. Raises as label_whole(), and Uneven."""
    if span.end is None:
        return label_whole(archive, stall, warn)
    if span.start > 0:
        with contextlib.suppress(Uneven, PipelineError):  # the demuxer goes elsewhere, or gives other times
            said: list[str] = []
            piece = _label_from_key_frame(archive, index, span, stall, with_seek=True, warn=said.append)
            for text in said:
                warn(text)
            return piece
    return _label_from_key_frame(archive, index, span, stall, with_seek=False, warn=warn)


def _label_from_key_frame(
    archive: Archive, index: VideoIndex, span: Span, stall: float, with_seek: bool,
    warn: Callable[[str], None] = _LOG.warning,
) -> Piece:
    line = f"{parse_line(archive.path, index.caps)} ! identity name={CUT} ! decodebin"
    stream = Stream(Source(archive.name, line), archive.properties, warn)
    pipeline = stream.pipeline
    cuda_context.share(pipeline)
    pipeline.get_by_name("cudaccl-parse").connect("deep-element-added", repeat_headers)
    pipeline.connect("deep-element-added", _decode_in_order)
    first_time = int(index.times[span.start])
    beginning = Beginning(stream, index, first_time, with_seek)
    digests = _Digests(stream, compared_frames(span), index)
    number = span.start
    maker = PieceMaker()
    with closing(stream), Watchdog(stream, stall), _uneven_without(beginning, span):
        for frame in stream:
            if frame.time is not None and frame.time < first_time:
                continue  # shown before the key frame, but coded after it
            if number == len(index.times):
                raise Uneven(f"the decoder gives more than {number} frames")
            if frame.time != index.times[number]:
                raise Uneven(f"frame {number} should be at {index.times[number]} ns, the decoder gives {frame.time}")
            if number == span.end:
                break
            maker.add(Report.of_frame(frame, archive.name, "", number, archive.tracks), digests.of.get(frame.time, 0))
            number += 1
    if number != span.end:
        raise Uneven(f"the decoder does not give frame {number}")
    if beginning.differs:
        raise Uneven("behind the place that was sought, the file has other frames")
    return maker.piece()


def _decode_in_order(_bin: Any, _parent: Any, element: Any) -> None:
    """For `deep-element-added`: FFmpeg's H.265 decoder begins no frame while it gives another one.

    It makes up the pictures that come before its first one, if that refers to them. GStreamer's element then takes the
    first frame for done, and where frames have a thread each, it discards the one that is about to be decoded: seen
    with GStreamer 1.26. Other decoders stay as they are: with other threads, damaged pictures are made up otherwise.
    """
    factory = element.get_factory()
    if factory is not None and factory.get_name() == "avdec_h265":
        gstreamer().Gst.util_set_object_arg(element, "thread-type", "slice")


@contextlib.contextmanager
def _uneven_without(beginning: Beginning, span: Span) -> Iterator[None]:
    """An error before the key frame came says that it is not there: decoders fail if they get no frame."""
    try:
        yield
    except PipelineError as error:
        if beginning.is_there:
            raise
        raise Uneven(f"the demuxer does not give frame {span.start} ({error})") from error


def compared_frames(span: Span) -> list[int]:
    """Numbers of the frames before a cut whose pictures are compared: a decoder need not give the same ones when it
    begins at another key frame."""
    return [number for cut in (span.first, span.end) for number in range(max(span.start, cut - _COMPARED), cut)]


class _Digests:
    """Of the first plane of pictures, taken as they enter the element: `of` has them by running time."""

    def __init__(self, stream: Stream, frames: list[int], index: VideoIndex) -> None:
        self.of: dict[int, int] = {}
        self._gst = gstreamer().Gst
        self._wanted = {int(index.times[number]) for number in frames}
        stream.element.get_static_pad("sink").add_probe(self._gst.PadProbeType.BUFFER, self._look)

    def _look(self, pad: Any, info: Any) -> Any:
        buffer = info.get_buffer()
        event = pad.get_sticky_event(self._gst.EventType.SEGMENT, 0)
        time = event.parse_segment().to_running_time(self._gst.Format.TIME, buffer.pts)
        if time in self._wanted:
            self.of[time] = self._digest(pad, buffer)
        return self._gst.PadProbeReturn.OK

    def _digest(self, pad: Any, buffer: Any) -> int:
        video = gstreamer().GstVideo
        layout = video.VideoInfo.new_from_caps(pad.get_current_caps())
        placed = video.buffer_get_video_meta(buffer) or layout  # rows may be padded
        width = layout.width * max(1, layout.finfo.pixel_stride[0])
        mapped, memory = buffer.map(self._gst.MapFlags.READ)
        if not mapped:
            raise PipelineError("the pixels of a buffer cannot be read")
        try:
            rows = numpy.ndarray(
                (layout.height, width), "u1", memory.data, placed.offset[0], (placed.stride[0], 1))
            return zlib.crc32(numpy.ascontiguousarray(rows)) or 1
        finally:
            buffer.unmap(memory)
