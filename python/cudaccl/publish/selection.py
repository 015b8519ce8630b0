# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a sink gets of a stream. docs/publishing.md, 'What is sent', is the definition."""

from __future__ import annotations

import dataclasses
from typing import Any

from cudaccl._types import TrackFlag
from cudaccl.publish.report import Report
from cudaccl.publish.sink import Sink

CHOICES = ("frames", "tracks", "events")
_NS = 10**9
_STEP = _NS // 30  # of a frame whose time is missing, or not later than the last one

_ROUNDING = 10**6  # of times, in Matroska


@dataclasses.dataclass(frozen=True)
class Selection:
    """The options of an address."""

    what: str = "frames"  #: of CHOICES
    rate: float | None = None  #: frames per second of the stream's time; None: all
    changes: bool = False  #: a frame that shows the same as the last one that was sent is left out

    @property
    def needs_tracks(self) -> bool:
        return self.what != "frames"


class Picker:
    """Decides about the frames of one stream, which come in order, from its first one on: so the result is the same
    when a stream is read again."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._time = -_STEP  # in nanoseconds; of the first frame 0
        self._pts: int | None = None  # the last one
        self._guess = self._now = 0  # when the frame before was, by that one; the latest guess
        self._interval: int | None = None  # of 1/rate seconds, for which a frame was sent
        self._shown: Any = None  # by the last frame that was sent

    def pick(self, report: Report) -> Report | None:
        """What is sent of it; None: nothing. Events are never left out."""
        selection = self._selection
        has_events = report.events is not None and len(report.events) > 0
        if selection.what == "events":
            return _without_records(report, tracks=None) if has_events else None
        shown = _shown(report) if selection.changes else None
        interval = self._next_interval(report.pts)
        is_due = interval is None or interval != self._interval
        is_due = is_due and not (selection.changes and shown == self._shown)
        if is_due:
            self._interval = interval
        elif not has_events:
            return None
        self._shown = shown
        return _without_records(report) if selection.what == "tracks" else report

    def _next_interval(self, pts: int | None) -> int | None:
        """None: each frame is due. Times are as the element counts them: a guess for a frame without a time is made up for by the next time."""
        is_later = pts is None or (self._pts is not None and pts > self._pts)
        self._guess = self._guess + _STEP if pts is None else pts
        self._pts = self._pts if pts is None else pts
        if is_later:
            self._time += max(self._guess - self._now, 0)
            self._now = max(self._guess, self._now)
        else:
            self._time += _STEP
            self._now = self._guess
        rate = self._selection.rate
        return None if rate is None else int((self._time + _ROUNDING) * rate // _NS)


def _without_records(report: Report, **more: Any) -> Report:
    return dataclasses.replace(report, components=None, grey=None, polygons=None, vertices=None, **more)


def _shown(report: Report) -> Any:
    """What people count in a frame."""
    if report.tracks is None:
        return report.n_components
    return report.tracks[(report.tracks["flags"] & int(TrackFlag.CONFIRMED)) != 0][["id", "zones"]].tolist()


class SelectedSink:
    """A `Sink` that gets what a selection leaves of a stream. All else is the sink's own."""

    def __init__(self, sink: Sink, selection: Selection) -> None:
        self.selection = selection
        self._sink = sink
        self._pickers: dict[str, Picker] = {}  # by source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        self._pickers[source] = Picker(self.selection)
        return self._sink.begin(source, run, content)

    def put(self, report: Report) -> bool:
        if report.source not in self._pickers:  # files need no begin()
            self._pickers[report.source] = Picker(self.selection)
        picked = self._pickers[report.source].pick(report)
        if picked is not None:
            return self._sink.put(picked)
        self._sink.skip(report.source, report.frame)
        return True
