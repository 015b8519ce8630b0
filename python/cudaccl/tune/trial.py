# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels the kept frames with other settings, and compares what is found with the marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy

from cudaccl._gst_pipeline import PipelineError
from cudaccl._keywords import GROUPS
from cudaccl._property_values import needs_earlier_frames
from cudaccl.tune.agreement import Agreement, agreement
from cudaccl.tune.kept import NEAR_NS, Frame, Kept, Stopped, Take, time_of
from cudaccl.tune.marks import MarkedFrame
from cudaccl.tune.side import Labeller
from cudaccl.video.sources import Source
from cudaccl.video.stream import Stream, Watchdog

_NO_MATTER = frozenset(GROUPS["Picture"]) | frozenset(GROUPS["Tracks and events"]) | {
    "label-map", "metadata", "max-objects", "object-type", "meta-name", "post-messages"}

Values = dict[str, str]
Frames = dict[MarkedFrame, Agreement]


def _that_matter(values: Values) -> Values:
    """The settings that change which components there are. Zones and lines of regions want tracks."""
    found = {name: text for name, text in values.items() if name not in _NO_MATTER}
    return found | {"output": "passthrough", "features": "0", "threads": "1"} | (
        {"track": "true"} if values.get("regions") else {})


def boxes(frame: Any) -> numpy.ndarray:
    """Of the components of a cudaccl.gst.Frame."""
    return numpy.stack([frame.records[name] for name in ("x", "y", "width", "height")], axis=1)


class Trials:
    """A context. For one thread."""

    def __init__(self, kept: Kept, stopping: Callable[[], bool]) -> None:
        self._kept = kept
        self._stopping = stopping
        self._labeller: Labeller | None = None

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_error: object) -> None:
        self._close()

    def agreement(self, values: Values) -> Agreement:
        """Of all marked frames. Raises PipelineError, Stopped."""
        return sum(self.frames(values).values(), Agreement())

    def frames(self, values: Values) -> Frames:
        """Of each marked frame."""
        learns = needs_earlier_frames(values)
        found = {}
        for take in self._kept.takes:
            if learns:
                self._close()  # an element without a background begins
            labeller = self._with(_that_matter(values))
            for mark, frame in _labelled(labeller, take, learns, self._stopping):
                found[mark] = agreement(mark.objects, boxes(frame))
        return found

    def _with(self, properties: Values) -> Labeller:
        if self._labeller is None:
            self._labeller = Labeller(properties)
        else:
            self._labeller.change(properties)
        return self._labeller

    def _close(self) -> None:
        labeller, self._labeller = self._labeller, None
        if labeller is not None:
            labeller.close()


def _labelled(
    labeller: Labeller, take: Take, learns: bool, stopping: Callable[[], bool]
) -> Iterator[tuple[MarkedFrame, Any]]:
    frames: list[tuple[int, Frame]] = list(enumerate(take.frames))
    for index, (buffer, caps) in frames if learns else [frames[one] for one in take.marked]:
        if stopping():
            raise Stopped
        frame = labeller.label(buffer, caps)
        if frame is None:
            raise PipelineError("a frame cannot be labelled again")
        if index in take.marked:
            yield take.marked[index], frame


class _TimedStream(Stream):
    """Knows the time of the buffer of the last frame, as `kept.keep()` has it."""

    def __init__(self, source: Source, properties: Values) -> None:
        self.time = 0
        super().__init__(source, properties)

    def _image(self, sample: Any) -> None:
        self.time = time_of(sample.get_buffer())


def run(
    sources: Sequence[Source], marks: Sequence[MarkedFrame], values: Values, stall: float, stopping: Callable[[], bool]
) -> Frames:
    """As `Trials.frames()`, but of a run from the beginning of each source. Raises what Stream does, and Stopped."""
    found: Frames = {}
    for source in sources:
        left = [one for one in marks if one.source == source.name]
        if not left:
            continue
        stream = _TimedStream(source, _that_matter(values))
        with closing(stream), Watchdog(stream, stall):
            for frame in stream:
                if stopping():
                    raise Stopped
                mark = next((one for one in left if abs(one.time - stream.time) <= NEAR_NS), None)
                if mark is not None:
                    found[mark] = agreement(mark.objects, boxes(frame))
                    left.remove(mark)
                if not left:
                    break
        if left:
            raise PipelineError(f"there is no frame of {left[0]} any more")
    return found
