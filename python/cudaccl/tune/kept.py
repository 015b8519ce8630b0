# SPDX-License-Identifier: LGPL-2.1-or-later
"""The marked frames of sources, and those before them from which a background is learned, kept in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from cudaccl._gst_pipeline import gstreamer
from cudaccl.tune.axes import Size
from cudaccl.tune.marks import MarkedFrame, MarksError
from cudaccl.video.sources import Source
from cudaccl.video.stream import Stream, Watchdog

_NS = 10**9
NEAR_NS = 10**6  #: times of one frame differ by this at most, after a jump to it
_LEAD_NS = 10 * _NS  # of frames before a marked one
_LEAST_LEAD_NS = 2 * _NS
_MOST_BYTES = 1 << 30
_USUAL_RATE = 25.0

Frame = tuple[Any, Any]  # buffer and caps


class Stopped(Exception):
    """Somebody asked for the end."""


@dataclasses.dataclass
class Take:
    """Frames that follow each other, the last of which is marked; others may be."""

    frames: list[Frame] = dataclasses.field(default_factory=list)
    marked: dict[int, MarkedFrame] = dataclasses.field(default_factory=dict)  #: by index in `frames`


@dataclasses.dataclass
class Kept:
    """All of them."""

    takes: list[Take]
    size: Size
    lead: int  #: nanoseconds before each marked frame, at most


def keep(
    sources: Sequence[Source], marks: Sequence[MarkedFrame], needs_earlier: bool, stall: float,
    stopping: Callable[[], bool],
) -> Kept:
    """Reads the sources from their beginnings to their last marked frames. needs_earlier: frames before the marked ones
    are kept, too.

    Raises MarksError if a source has no such frame, Stopped, and what Stream raises.
    """
    names = {one.name: one for one in sources}
    for mark in marks:
        if mark.source not in names:
            raise MarksError(f"a frame of {mark.source} is marked, and the sources are {', '.join(names)}")
    kept = Kept([], Size(1, 1, 255), _LEAD_NS if needs_earlier else 0)
    for name, source in names.items():
        wanted = [one for one in marks if one.source == name]
        if wanted:
            reader = _Reader(source, wanted, kept, len(marks), stopping)
            reader.read(stall)
            kept.takes += reader.takes
    return kept


class _Reader:
    """Reads one source."""

    def __init__(
        self, source: Source, marks: list[MarkedFrame], kept: Kept, all_marks: int, stopping: Callable[[], bool]
    ) -> None:
        self._source = source
        self._marks = marks
        self._kept = kept
        self._all_marks = all_marks
        self._stopping = stopping
        self._recent: list[Frame] = []
        self._found: list[MarkedFrame] = []
        self._error: MarksError | None = None
        self._last = 0
        self.takes: list[Take] = []

    def read(self, stall: float) -> None:
        stream = Stream(self._source, {"output": "passthrough"})
        kinds = gstreamer().Gst.PadProbeType
        stream.element.get_static_pad("sink").add_probe(kinds.BUFFER, self._buffer)
        with closing(stream), Watchdog(stream, stall):
            for number, _frame in enumerate(stream):
                if self._stopping():
                    raise Stopped
                if number == 0 and stream.is_live:
                    raise MarksError(f"{self._source.name} does not show its marked frames again: record a clip of the"
                                     " camera, and mark that")
                if self._error is not None:
                    raise self._error
                if len(self._found) == len(self._marks):
                    return
        missing = next(one for one in self._marks if one not in self._found)
        raise self._error or MarksError(f"there is no frame of {missing}: the last one is at {self._last / _NS:.3f} s")

    def _buffer(self, pad: Any, info: Any) -> Any:
        """In GStreamer's thread."""
        buffer, caps = info.get_buffer(), pad.get_current_caps()
        if self._error is None and len(self._found) < len(self._marks):
            try:
                self._look(buffer, caps)
            except MarksError as error:
                self._error = error
        return gstreamer().Gst.PadProbeReturn.OK

    def _look(self, buffer: Any, caps: Any) -> None:
        self._last = time = time_of(buffer)
        mark = next((one for one in self._marks if abs(one.time - time) <= NEAR_NS and one not in self._found), None)
        if mark is None and self._kept.lead == 0:
            return
        if not self._recent:
            self._limit(buffer, caps)
        self._recent.append((buffer.copy_deep(), caps))
        while time_of(self._recent[0][0]) < time - self._kept.lead:
            self._recent.pop(0)
        if mark is not None:
            self._take(mark, caps)

    def _limit(self, buffer: Any, caps: Any) -> None:
        """As much before each marked frame as there is memory for."""
        if self._kept.lead == 0:
            return
        video = gstreamer().GstVideo.VideoInfo.new_from_caps(caps)
        rate = video.fps_n / video.fps_d if video.fps_n and video.fps_d else _USUAL_RATE
        room = int(_MOST_BYTES / (self._all_marks * rate * buffer.get_size()) * _NS)
        if room < _LEAST_LEAD_NS:
            raise MarksError(f"the {self._all_marks} marked frames and the 2 seconds before each need more than"
                             f" {_MOST_BYTES >> 20} MiB: mark fewer of them, or use a smaller picture")
        self._kept.lead = min(self._kept.lead, room)

    def _take(self, mark: MarkedFrame, caps: Any) -> None:
        video = gstreamer().GstVideo.VideoInfo.new_from_caps(caps)
        if (video.width, video.height) != (mark.width, mark.height):
            raise MarksError(f"the marks of {mark} are for {mark.width} x {mark.height} pixels, and the frame has"
                             f" {video.width} x {video.height}")
        size = self._kept.size
        self._kept.size = Size(max(size.width, video.width), max(size.height, video.height),
                               max(size.largest, (1 << max(8, video.finfo.depth[0])) - 1))
        self._found.append(mark)
        if self._kept.lead and self.takes and self._recent[0] in self.takes[-1].frames:
            take = self.takes[-1]  # the marked frame before is near: what was learned for it goes on
            take.frames += self._recent[self._recent.index(take.frames[-1]) + 1:]
        else:
            take = Take(list(self._recent))
            self.takes.append(take)
        take.marked[len(take.frames) - 1] = mark


def time_of(buffer: Any) -> int:
    """Images have none, and are at 0."""
    return buffer.pts if buffer.pts < 2**62 else 0
