# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the CSV of `ccl-bench paper` and `ccl-bench matrix`. The standard library is enough."""

import csv
from pathlib import Path

from results import Results

NUMBERS = ("paper", "ours", "ratio")
INTEGERS = ("width", "height")


class Figure:
    """A line of the CSV: its columns as attributes, None for a number that is not there."""

    def __init__(self, columns):
        for name, text in columns.items():
            if name in NUMBERS:
                value = float(text) if text else None
            elif name in INTEGERS:
                value = int(text)
            else:
                value = text
            setattr(self, name, value)
        self.size = (self.width, self.height)


class PaperResults:
    """What an experiment found. Facts and the machine as Results has them."""

    machine = Results.machine

    def __init__(self, path):
        self.path = Path(path)
        lines = self.path.read_text(encoding="utf-8").splitlines()
        comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
        self.facts = dict(comment.split(": ", 1) for comment in comments if ": " in comment)
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.figures = [Figure(row) for row in rows if row.get("kind") == "figure"]
        self.claims = [Figure(row) for row in rows if row.get("kind") == "claim"]

    def select(self, **columns):
        return [row for row in self.figures if all(getattr(row, name) == value for name, value in columns.items())]


def matrix_rows(path):
    """Dictionaries of `ccl-bench matrix`."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def digits(value):
    """Three that count, as the experiments print."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
