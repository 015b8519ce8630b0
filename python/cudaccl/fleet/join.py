# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cuts a file into spans, decides each cut from left to right, and gives ids as one process does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy

from cudaccl._types import EVENT_TYPES
from cudaccl.fleet.agreement import Agreement, Conditions, Disagreement, agree
from cudaccl.fleet.config import Archive, Archives
from cudaccl.fleet.pieces import Piece, Span
from cudaccl.fleet.video_index import VideoIndex

_CROWDED = EVENT_TYPES.index("crowded")


@dataclasses.dataclass(frozen=True)
class Cut:
    """For the report."""

    frame: int  #: the first behind it
    overlap: int  #: frames that were labelled twice; 0 if the cut was given up
    equal: int  #: so many frames before the cut are equal; 0 if the cut was given up
    reason: str  #: why it was given up, so that the frames on both sides were labelled in sequence; else ""


@dataclasses.dataclass(frozen=True)
class Decision:
    """spans, agreements: of the segments so far; there is an agreement for each cut between them."""

    spans: list[Span]
    agreements: list[Agreement]
    cuts: list[Cut]
    missing: list[Span]  #: must be labelled before the next decision; empty: all is decided


def obstacle(archive: Archive, settings: Archives, index: VideoIndex) -> str:
    """Why the file is not cut at all; "" if it is."""
    if index.obstacle:
        return index.obstacle
    if archive.moves:
        return "a model of the background depends on all frames before"
    if len(plan(settings, index)) < 2:
        return "it is not longer than one segment"
    return ""


def plan(settings: Archives, index: VideoIndex) -> list[int]:
    """The first frames of segments, 0 among them: key frames that are at least one segment apart."""
    cuts = [0]
    end = index.times[-1]
    for key in index.keys.tolist():
        if index.times[key] - index.times[cuts[-1]] >= settings.segment and end > index.times[key]:
            cuts.append(key)
    return cuts


def overlap_start(index: VideoIndex, cut: int, overlap: int) -> int:
    """The last key frame that is at least so many nanoseconds before the cut, and not the cut itself; at least 0."""
    keys = index.keys[(index.keys < cut) & (index.times[index.keys] <= index.times[cut] - overlap)]
    return int(keys[-1]) if len(keys) else 0


def first_spans(archive: Archive, settings: Archives, index: VideoIndex) -> list[Span]:
    """What can be labelled at once."""
    cuts = plan(settings, index)
    ends = [*cuts[1:], len(index.times)]
    overlap = settings.overlap if archive.tracks else 0
    spans = [Span(0, 0, ends[0])]
    for cut, end, previous in zip(cuts[1:], ends[1:], cuts):
        spans.append(Span(max(overlap_start(index, cut, overlap), previous), cut, end))
    return spans


def decide(
    archive: Archive, settings: Archives, index: VideoIndex, load: Callable[[Span], Piece | None]
) -> Decision:
    """load: the piece of a span; None: it is not labelled yet. The same pieces lead to the same decision."""
    conditions = Conditions(archive.tracks, archive.event_hold)
    todo = first_spans(archive, settings, index)
    spans, agreements, cuts = [todo.pop(0)], [], []
    failures = 0  # of cuts, one after the other
    while todo:
        left = load(spans[-1])
        if left is None:
            return Decision(spans, agreements, cuts, [spans[-1]])
        result = _try_cut(left, spans[-1], todo[0], archive, settings, index, conditions, load)
        if isinstance(result, Span):
            return Decision(spans, agreements, cuts, [result])
        span, agreement, reason = result
        if agreement is not None:
            cuts.append(Cut(span.first, span.first - span.start, agreement.frames, ""))
            spans.append(span)
            agreements.append(agreement)
            todo.pop(0)
            failures = 0
            continue
        # In sequence: twice as many segments each time, so that a long video is not labelled again for each of them.
        count = min(1 << failures, len(todo))
        cuts.extend(Cut(one.first, 0, 0, reason) for one in todo[:count])
        spans[-1] = Span(spans[-1].start, spans[-1].first, todo[count - 1].end)
        del todo[:count]
        failures += 1
    last = [] if load(spans[-1]) is not None else [spans[-1]]
    return Decision(spans, agreements, cuts, last)


def _try_cut(
    left: Piece, before: Span, span: Span, archive: Archive, settings: Archives, index: VideoIndex,
    conditions: Conditions, load: Callable[[Span], Piece | None],
) -> Span | tuple[Span, Agreement | None, str]:
    """With longer and longer overlaps. A span: it is not labelled yet. No agreement: the reason."""
    overlap = settings.overlap
    while True:
        right = load(span)
        if right is None:
            return span
        try:
            return span, agree(left, right, span.first, conditions), ""
        except Disagreement as reason:
            text = str(reason)
        start = span.start
        while start == span.start:
            overlap *= 2
            if overlap > settings.longest_overlap or span.start <= before.first or not archive.tracks:
                return span, None, text
            start = max(overlap_start(index, span.first, overlap), before.first)
        span = Span(start, span.first, span.end)


def renumber(decision: Decision, load: Callable[[Span], Piece]) -> Iterator[Piece]:
    """The frames of each span that count, with the ids and parents of one process."""
    numbers: _Numbers | None = None
    for i, span in enumerate(decision.spans):
        piece = load(span)
        numbers = _Numbers(piece, decision.agreements[i - 1] if i else None, numbers)
        yield numbers.applied(piece.behind(span.first))


class _Numbers:
    """From the ids of a piece to those of the file, for the frames behind its cut."""

    def __init__(self, piece: Piece, agreement: Agreement | None, left: _Numbers | None) -> None:
        highest = int(max(piece.tracks["id"].max(initial=0), piece.components["id"].max(initial=0)))
        self._id = numpy.arange(highest + 1, dtype="i8")
        self._parents: dict[int, int] = {}  # of tracks that live at the cut: their parents may have died before it
        self._more = 0
        if agreement is None or left is None:
            return
        self._more = agreement.left_ids + left._more - agreement.right_ids
        self._id[agreement.right_ids + 1:] += self._more
        self._id[1:agreement.right_ids + 1] = -1  # they have died before the cut, except those that follow
        for right, past in agreement.living.items():
            self._id[right] = left._id[past.id]
            self._parents[right] = left._parents.get(past.id, int(left._id[past.parent]))

    def applied(self, piece: Piece) -> Piece:
        """A copy."""
        components, tracks, events = piece.components.copy(), piece.tracks.copy(), piece.events.copy()
        parents = self._id[tracks["parent"]]
        for id_, parent in self._parents.items():
            parents[tracks["id"] == id_] = parent
        others = events["other"].astype("i8")
        is_id = events["type"] != _CROWDED
        others[is_id] = self._id[others[is_id]]
        for field, values in ((tracks["parent"], parents), (events["other"], others), (tracks["id"], self._id[
                tracks["id"]]), (components["id"], self._id[components["id"]]), (events["id"], self._id[events["id"]])):
            if (values < 0).any():
                raise RuntimeError("a record names a track that died before the cut")
            field[:] = values
        return dataclasses.replace(piece, components=components, tracks=tracks, events=events)
