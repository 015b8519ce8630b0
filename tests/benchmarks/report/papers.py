# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the CSV of `ccl-bench paper`. The standard library is enough."""

from results import Results


class PaperResults(Results):
    """What an experiment found, and what it makes of the paper's claims."""

    def __init__(self, path):
        super().__init__(path)
        self.figures = [row for row in self.rows if getattr(row, "kind", None) == "figure"]
        self.claims = [row for row in self.rows if getattr(row, "kind", None) == "claim"]

    def select(self, **columns):
        return [row for row in self.figures if all(getattr(row, name) == value for name, value in columns.items())]


def digits(value):
    """Three that count, as the experiments print."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
