# SPDX-License-Identifier: LGPL-2.1-or-later
"""Searches settings that agree best with marks, by differential evolution (Storn and Price 1997), as SciPy has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from cudaccl.publish.errors import need
from cudaccl.tune.agreement import Agreement
from cudaccl.tune.axes import Axis
from cudaccl.tune.settings import Refused, checked

_SEED = 1  # the same marks give the same proposal
_LEAST_POPULATION = 12
_MEMBERS = 5  # of the population, for each setting
_FAR = 0.1  # places on an axis that are different proposals
_STEPS = 5  # by which the end of a range is found
_FIT = 1e-6  # weight of `fit`, which decides where F1 is equal
_SAME_FIT = 0.02  # boxes that fit worse by this are as good

Values = dict[str, str]
Texts = tuple[str, ...]  # of the settings that are searched, in the order of the axes
Range = tuple[str, str]


class _Enough(Exception):
    """All trials are done."""


class Search:
    """For one thread."""

    def __init__(
        self, judge: Callable[[Values], Agreement], base: Values, axes: list[Axis], tried: Callable[[Search], None]
    ) -> None:
        """judge: how well settings agree; what it raises ends the search. tried: is called after each trial."""
        self._judge = judge
        self._base = base
        self._axes = axes
        self._tried = tried
        self._known: dict[Texts, Agreement | None] = {}
        self._most = 0
        self.trials = 0
        self.best: Agreement | None = None

    def values(self, texts: Texts) -> Values:
        return {**self._base, **dict(zip((axis.name for axis in self._axes), texts))}

    def start(self) -> Texts:
        """The settings from which the search begins."""
        return tuple(self._base.get(axis.name, axis.default) for axis in self._axes)

    def judged(self, texts: Texts) -> Agreement | None:
        """None: the element refuses these settings."""
        if texts not in self._known:
            self._known[texts] = self._judged(texts)
            self.trials += 1
            found = self._known[texts]
            if self.best is None or rank(found) > rank(self.best):
                self.best = found
            self._tried(self)
        return self._known[texts]

    def _judged(self, texts: Texts) -> Agreement | None:
        try:
            values = checked([], self.values(texts))
        except Refused:
            return None
        return self._judge(values)

    def evolve(self, trials: int) -> None:
        """Tries so many settings; afterwards `best_few()` has what was found, also if the judge raised something."""
        optimize = need("scipy.optimize", "tune")
        self._most = trials
        evolution = optimize.differential_evolution
        seed = "rng" if "rng" in inspect.signature(evolution).parameters else "seed"  # SciPy 1.15 has another name
        generator = numpy.random.default_rng(_SEED)
        try:
            evolution(self._cost, [(0.0, 1.0)] * len(self._axes), init=self._population(generator), maxiter=trials,
                      tol=0, atol=0, polish=False, **{seed: generator})
        except _Enough:
            pass

    def _population(self, generator: Any) -> numpy.ndarray:
        """Spread over each axis evenly, in a random order (a Latin hypercube); the first one is where the search begins."""
        size = max(_LEAST_POPULATION, _MEMBERS * len(self._axes))
        columns = [(generator.permutation(size) + generator.random(size)) / size for _ in self._axes]
        population = numpy.stack(columns, axis=1)
        population[0] = [axis.place(text) for axis, text in zip(self._axes, self.start())]
        return population

    def _cost(self, places: Iterable[float]) -> float:
        self._most -= 1
        if self._most < 0:
            raise _Enough
        return -rank(self.judged(tuple(axis.text(place) for axis, place in zip(self._axes, places))))

    def best_few(self, most: int) -> list[Texts]:
        """The best first; each one differs clearly from those before it."""
        found: list[Texts] = []
        order = sorted((one for one in self._known if self._known[one] is not None),
                       key=lambda one: rank(self._known[one]), reverse=True)
        for texts in order:
            if len(found) < most and all(self.is_far(texts, other) for other in found):
                found.append(texts)
        return found

    def is_far(self, one: Texts, other: Texts) -> bool:
        """Whether a user would take them for two proposals."""
        return any(abs(axis.place(a) - axis.place(b)) >= _FAR if axis.is_number else a != b
                   for axis, a, b in zip(self._axes, one, other))

    def simplified(self, texts: Texts) -> Texts:
        """As few changes as give the same: none, if they are not needed together."""
        start = self.start()
        if self._is_as_good(start, texts):
            return start
        for index in range(len(texts)):
            tried = (*texts[:index], start[index], *texts[index + 1:])
            if self._is_as_good(tried, texts):
                texts = tried
        return texts

    def centred(self, texts: Texts) -> tuple[Texts, dict[str, Range]]:
        """Each number that was changed is put into the middle of the range in which F1 is the same; and the ranges: frames
        that are not marked differ a little."""
        start = self.start()
        for index, axis in enumerate(self._axes):
            if axis.is_number and texts[index] != start[index]:
                least, largest = self._range(texts, index)
                middle = axis.text((axis.place(least) + axis.place(largest)) / 2)
                tried = (*texts[:index], middle, *texts[index + 1:])
                texts = tried if self._is_as_good(tried, texts) else texts
        return texts, {axis.name: self._range(texts, index) for index, axis in enumerate(self._axes)
                       if axis.is_number and texts[index] != start[index]}

    def _range(self, texts: Texts, index: int) -> Range:
        axis = self._axes[index]
        least, largest = (self._end(texts, index, end) for end in (0.0, 1.0))
        return axis.text(least), axis.text(largest)

    def _end(self, texts: Texts, index: int, end: float) -> float:
        """The place nearest to an end of the axis where F1 is still the same, found by halving."""
        axis, wanted = self._axes[index], f1(self.judged(texts))

        def is_same(place: float) -> bool:
            return f1(self.judged((*texts[:index], axis.text(place), *texts[index + 1:]))) >= wanted

        if is_same(end):
            return end
        good, bad = axis.place(texts[index]), end
        for _ in range(_STEPS):
            middle = (good + bad) / 2
            good, bad = (middle, bad) if is_same(middle) else (good, middle)
        return good

    def _is_as_good(self, texts: Texts, other: Texts) -> bool:
        new, old = self.judged(texts), self.judged(other)
        return new is not None and old is not None and new.f1 >= old.f1 and new.fit >= old.fit - _SAME_FIT


def f1(found: Agreement | None) -> float:
    return -1.0 if found is None else found.f1


def rank(found: Agreement | None) -> float:
    """Larger is better."""
    return -1.0 if found is None else found.f1 + _FIT * found.fit
