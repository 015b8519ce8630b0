# SPDX-License-Identifier: LGPL-2.1-or-later
"""Proposes settings that find what a user has marked: `cudaccl tune --fit`, and the panel Fit of the page."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from cudaccl._property_values import needs_earlier_frames
from cudaccl.publish.errors import need
from cudaccl.tune import axes, kept, trial
from cudaccl.tune.agreement import Agreement
from cudaccl.tune.kept import Stopped
from cudaccl.tune.marks import MarkedFrame, MarksError, count_text
from cudaccl.tune.search import Range, Search, Texts
from cudaccl.tune.settings import checked
from cudaccl.video.sources import Source

TRIALS = 300
_PROPOSALS = 3
_RULE = "foreground"
_FEW_OBJECTS = 10
_FEW_FRAMES = 3

Values = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Progress:
    """phase: "reading", "searching", "refining" or "running": from the beginning, with each proposal."""

    phase: str
    trials: int
    most: int  #: trials while it searches
    best: Agreement | None


@dataclasses.dataclass(frozen=True)
class Proposal:
    """Settings, and how well they agree with the marks."""

    values: Values
    agreement: Agreement  #: of all marked frames
    frames: dict[MarkedFrame, Agreement]  #: of each; empty if the search was stopped before it was known
    ranges: dict[str, Range]  #: of numbers that were changed: from where to where F1 is the same


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a search has found, also one that was stopped."""

    marks: tuple[MarkedFrame, ...]
    now: Proposal  #: the settings from which it began
    proposals: tuple[Proposal, ...]  #: the best first
    trials: int
    is_complete: bool

    @property
    def rests_on(self) -> str:
        """How much a proposal is worth, in words."""
        objects = sum(len(one.objects) for one in self.marks)
        text = f"This rests on {count_text(self.marks)}."
        if objects < _FEW_OBJECTS or len(self.marks) < _FEW_FRAMES:
            text += (f" That is little: look at other frames, and mark at least {_FEW_OBJECTS} objects in {_FEW_FRAMES}"
                     " frames before you rely on it.")
        return text


@dataclasses.dataclass(frozen=True)
class Task:
    """What shall be fitted."""

    sources: Sequence[Source]
    marks: Sequence[MarkedFrame]
    base: Values  #: settings that are not searched keep these values; they were checked
    names: Sequence[str]  #: of the settings that are searched; none: the usual ones
    trials: int
    stall: float


def check(task: Task) -> list[str]:
    """The names of the settings that are searched. Raises MarksError, and ValueError for a name that cannot be
    searched."""
    if not any(one.objects for one in task.marks):
        raise MarksError("no object is marked: mark all objects of a few frames first")
    names = list(task.names) or axes.usual(task.base)
    axes.make(names, axes.Size(1, 1, 1))
    need("scipy.optimize", "tune")
    return names


def fit(task: Task, report: Callable[[Progress], None], stopping: Callable[[], bool]) -> Outcome:
    """report: is called often. stopping: whether to end with what was found until then.

    Raises what `check()` raises, Stopped if nothing was found yet, and what Stream raises.
    """
    names = check(task)
    learns = needs_earlier_frames(task.base) or _RULE in names
    report(Progress("reading", 0, task.trials, None))
    frames = kept.keep(task.sources, task.marks, learns, task.stall, stopping)
    with trial.Trials(frames, stopping) as trials:
        return _Fit(task, trials, axes.make(names, frames.size), report, stopping).run()


class _Fit:
    """One search."""

    def __init__(
        self, task: Task, trials: trial.Trials, found: list[axes.Axis], report: Callable[[Progress], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._task = task
        self._trials = trials
        self._report = report
        self._stopping = stopping
        self._phase = "searching"
        self._search = Search(trials.agreement, task.base, found, self._tried)

    def run(self) -> Outcome:
        now = _proposal(self._task.base, self._trials.frames(self._task.base), {})
        proposals: list[Proposal] = []
        is_complete = True
        try:
            self._search.evolve(self._task.trials)
            self._refine(proposals)
            if any(needs_earlier_frames(one.values) for one in [now, *proposals]):
                now, proposals = self._run([now, *proposals])
        except Stopped:
            is_complete = False
            proposals = proposals or self._unrefined()
        proposals.sort(key=lambda one: (-one.agreement.f1, len(one.values), -one.agreement.fit))
        return Outcome(tuple(self._task.marks), now, tuple(proposals), self._search.trials, is_complete)

    def _tried(self, search: Search) -> None:
        self._report(Progress(self._phase, search.trials, self._task.trials, search.best))

    def _refine(self, proposals: list[Proposal]) -> None:
        self._phase = "refining"
        refined: list[Texts] = []
        for texts in self._search.best_few(_PROPOSALS):
            texts, ranges = self._search.centred(self._search.simplified(texts))
            if all(self._search.is_far(texts, other) for other in refined):
                refined.append(texts)
                values = checked([], self._search.values(texts))
                proposals.append(_proposal(values, self._trials.frames(values), ranges))

    def _unrefined(self) -> list[Proposal]:
        """What the search itself has found."""
        return [Proposal(checked([], self._search.values(texts)), judged, {}, {})
                for texts in self._search.best_few(_PROPOSALS) if (judged := self._search.judged(texts)) is not None]

    def _run(self, proposals: list[Proposal]) -> tuple[Proposal, list[Proposal]]:
        """With the numbers of runs: a background that was learned from all frames before can be another one."""
        self._phase = "running"
        found = []
        for one in proposals:
            self._tried(self._search)
            frames = trial.run(self._task.sources, self._task.marks, one.values, self._task.stall, self._stopping)
            found.append(_proposal(one.values, frames, one.ranges))
        return found[0], found[1:]


def _proposal(values: Values, frames: dict[MarkedFrame, Agreement], ranges: dict[str, Range]) -> Proposal:
    return Proposal(values, sum(frames.values(), Agreement()), frames, ranges)
