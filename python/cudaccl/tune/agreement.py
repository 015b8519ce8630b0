# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well the components of frames agree with marks: F1, of boxes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy

SAME_OBJECT = 0.5  #: overlap (intersection over union) of two boxes, from which on they are of one object


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Counts of boxes, which can be added."""

    hits: int = 0  #: marked objects that were found
    missed: int = 0
    extra: int = 0  #: components that are no marked object
    closeness: float = 0.0  #: the largest overlaps of all marked objects, added

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(*(getattr(self, one.name) + getattr(other, one.name) for one in dataclasses.fields(self)))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if nothing is marked and nothing is found."""
        wrong = self.missed + self.extra
        return 2 * self.hits / (2 * self.hits + wrong) if self.hits or wrong else 1.0

    @property
    def precision(self) -> float:
        """The part of the components that are marked objects."""
        return self.hits / (self.hits + self.extra) if self.hits + self.extra else 1.0

    @property
    def recall(self) -> float:
        """The part of the marked objects that were found."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def fit(self) -> float:
        """As F1, but by overlaps instead of hits: it changes before a further object is hit."""
        both = 2 * self.hits + self.missed + self.extra
        return 2 * self.closeness / both if both else 1.0


def overlaps(first: Any, second: Any) -> numpy.ndarray:
    """(len(first), len(second)): intersection over union of boxes, which are x, y, width, height."""
    a, b = (numpy.asarray(one, float).reshape(-1, 4) for one in (first, second))
    a, b = a[:, None], b[None]
    sides = [numpy.minimum(a[..., at] + a[..., at + 2], b[..., at] + b[..., at + 2]) - numpy.maximum(a[..., at], b[..., at])
             for at in (0, 1)]
    common = numpy.clip(sides[0], 0, None) * numpy.clip(sides[1], 0, None)
    return common / (a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3] - common)


def agreement(marked: Sequence[Any], found: Any) -> Agreement:
    """Of one frame. Each component counts for one object at most: pairs of the largest overlap come first."""
    table = overlaps(marked, found)
    if table.size == 0:
        return Agreement(0, table.shape[0], table.shape[1], 0.0)
    closeness = float(table.max(axis=1).sum())
    hits = 0
    while table.max() >= SAME_OBJECT:
        row, column = numpy.unravel_index(table.argmax(), table.shape)
        table[row, :] = table[:, column] = -1
        hits += 1
    return Agreement(hits, table.shape[0] - hits, table.shape[1] - hits, closeness)
