# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames and key frames of a video file, by a parser that decodes nothing."""

from __future__ import annotations

import dataclasses
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from cudaccl._gst_pipeline import PipelineError, gstreamer

_PULL_NS = 100_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class VideoIndex:
    """Frames are numbered from 0 by ascending time, as a decoder puts them out."""

    caps: str  #: name of the coded format, such as video/x-h264; "" if the file cannot be cut
    times: numpy.ndarray  #: (frames,) int64: running time of each frame in nanoseconds
    keys: numpy.ndarray  #: (key frames,) int64: their numbers, ascending
    obstacle: str  #: why the file cannot be cut; "" if it can
    digests: numpy.ndarray  #: (frames,) uint32: of each coded frame

    def digest_at(self, time: int) -> int | None:
        """None: there is no frame at this running time."""
        row = int(numpy.searchsorted(self.times, time))
        return int(self.digests[row]) if row < len(self.times) and self.times[row] == time else None


def quoted(text: str) -> str:
    """As a value in a launch line."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_line(path: str, caps: str = "") -> str:
    """The begin of a launch line whose buffers are coded frames. Its name is cudaccl-parse."""
    format_ = f" ! {caps}" if caps else ""
    return f"filesrc location={quoted(path)} ! parsebin name=cudaccl-parse{format_}"


def repeat_headers(_bin: Any, _parent: Any, element: Any) -> None:
    """For `deep-element-added` of the parser: a decoder that begins in the middle needs the parameter sets there."""
    if element.find_property("config-interval") is not None:
        element.set_property("config-interval", -1)


def digest(gst: Any, buffer: Any) -> int:
    """CRC-32 of a coded frame."""
    mapped, memory = buffer.map(gst.MapFlags.READ)
    if not mapped:
        raise PipelineError("the bytes of a buffer cannot be read")
    try:
        return zlib.crc32(memory.data)
    finally:
        buffer.unmap(memory)


def make_index(path: str, stall: float) -> VideoIndex:
    """Raises PipelineError; FileNotFoundError if there is no such file."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}")
    times: list[int] = []
    is_key: list[bool] = []
    digests: list[int] = []
    obstacle = ""
    caps = segment = None
    gst = gstreamer().Gst
    with _parser(gst, path) as (pipeline, sink):
        for sample in _samples(gst, pipeline, sink, stall):
            buffer = sample.get_buffer()
            if caps is None:
                # Not get_structure(), which returns no structure in the bindings of GStreamer 1.26.
                caps, segment = sample.get_caps().to_string().split(",")[0], sample.get_segment().copy()
            elif not segment.is_equal(sample.get_segment()):
                obstacle = obstacle or "its times begin again within the file"
            if buffer.pts == gst.CLOCK_TIME_NONE:
                obstacle = obstacle or "it has frames without a time stamp"
                continue
            time = segment.to_running_time(gst.Format.TIME, buffer.pts)
            if time == gst.CLOCK_TIME_NONE:
                obstacle = obstacle or "an edit list hides some of its frames"
                continue
            times.append(time)
            is_key.append(not buffer.has_flags(gst.BufferFlags.DELTA_UNIT))
            digests.append(digest(gst, buffer))
    if caps is None:
        raise PipelineError(f"{path} has no video that can be parsed")
    return _index(caps, numpy.array(times, "i8"), numpy.array(is_key, bool), numpy.array(digests, "u4"), obstacle)


def _index(
    caps: str, times: numpy.ndarray, is_key: numpy.ndarray, digests: numpy.ndarray, obstacle: str
) -> VideoIndex:
    order = numpy.argsort(times, kind="stable")
    times, is_key, digests = times[order], is_key[order], digests[order]
    if len(times) > 1 and (numpy.diff(times) == 0).any():
        obstacle = obstacle or "two of its frames have the same time"
    keys = numpy.flatnonzero(is_key)
    if not obstacle and (len(keys) == 0 or keys[0] != 0):
        obstacle = "it does not begin with a key frame"
    return VideoIndex("" if obstacle else caps, times, keys, obstacle, digests)


@contextmanager
def _parser(gst: Any, path: str) -> Iterator[tuple[Any, Any]]:
    """A pipeline that plays, and the sink of its first video stream."""
    pipeline = gst.parse_launch(
        f"{parse_line(path)} appsink name=cudaccl-index sync=false max-buffers=64 emit-signals=false")
    sink = pipeline.get_by_name("cudaccl-index")

    def link(_bin: Any, pad: Any) -> None:
        caps = pad.get_current_caps() or pad.query_caps(None)
        target = sink.get_static_pad("sink")
        if caps.to_string().startswith(("video/", "image/")):
            if not target.is_linked():
                pad.link(target)
                return
        other = gst.ElementFactory.make("fakesink")
        other.set_property("sync", False)
        other.set_property("async", False)
        pipeline.add(other)
        other.sync_state_with_parent()
        pad.link(other.get_static_pad("sink"))

    parser = pipeline.get_by_name("cudaccl-parse")
    parser.connect("pad-added", link)
    parser.connect("deep-element-added", repeat_headers)
    try:
        pipeline.set_state(gst.State.PLAYING)
        yield pipeline, sink
    finally:
        pipeline.set_state(gst.State.NULL)


def _samples(gst: Any, pipeline: Any, sink: Any, stall: float) -> Iterator[Any]:
    """Until the end. Raises PipelineError if there is an error, or no frame for so many seconds."""
    bus = pipeline.get_bus()
    silent = 0
    while True:
        sample = sink.try_pull_sample(_PULL_NS)
        if sample is not None:
            silent = 0
            yield sample
            continue
        message = bus.pop_filtered(gst.MessageType.ERROR)
        if message is not None:
            error, _ = message.parse_error()
            raise PipelineError(f"{message.src.get_name()}: {error.message}")
        if sink.is_eos():
            return
        silent += _PULL_NS
        if silent > stall * 1e9:
            raise PipelineError("no frame came for a long time")
