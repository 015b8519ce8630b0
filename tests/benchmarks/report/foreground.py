# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the CSV of foreground-bench, and sums it up. The standard library is enough."""

from math import fsum

NAMES = {"mog2": "MOG2", "knn": "KNN", "cnt": "CNT"}
PARAMETERS = {"mog2": "learning rate", "knn": "learning rate", "cnt": "stable after"}
OURS = ("sigma-delta", "mixture")


class Foreground:
    """Means by category and method. A category's figure is the mean of its sequences'."""

    def __init__(self, results):
        self.results = results
        self.categories = list(dict.fromkeys(row.category for row in results.rows))
        self.methods = list(dict.fromkeys((row.method, row.parameter) for row in results.rows))

    def rows(self, method, category=None):
        return [row for row in self.results.rows
                if (row.method, row.parameter) == method and category in (None, row.category)]

    def of(self, figure, method, category):
        values = [getattr(row, figure) for row in self.rows(method, category)]
        return fsum(values) / len(values)

    def mean(self, figure, method):
        """The mean of all categories."""
        return fsum(self.of(figure, method, category) for category in self.categories) / len(self.categories)

    def settled_after(self, method):
        """Frames, of the sequences where the light changes at once: {sequence: frames}."""
        return {row.sequence: row.settled_after for row in self.rows(method) if row.settled_after is not None}


def is_ours(method):
    return method[0] in OURS


def name(method):
    nick, parameter = method
    if nick in OURS:
        return nick
    return NAMES[nick] + (f", {PARAMETERS[nick]} {parameter}" if parameter else "")
