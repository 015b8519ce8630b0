#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the CSV of `soak`: whether what the process holds grows, and whether frames take longer and longer.

    soak.py tests/benchmarks/results/h200/soak.csv

prints a line for each figure, and fails if one of them grows. The first fifth of the time does not count: memory is taken
while streams begin. Of the rest a straight line is fitted by least squares. A figure grows if the line's slope is more
than twice its standard error, and what it makes in the time that was measured is more than the figure may change.
"""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from markdown_table import caption, markdown
from results import Results

WARM_UP = 0.2


@dataclass(frozen=True)
class Figure:
    column: str
    name: str
    unit: str
    per_unit: float = 1
    part: float = 0  # of its mean, by which it may change
    count: float = 0  # by which it may change


FIGURES = (
    Figure("rss_kb", "memory", "MiB", 1024, part=0.01),
    Figure("gpu_kb", "memory of the GPU", "MiB", 1024, part=0.005),
    Figure("descriptors", "descriptors", "", count=0.5),
    Figure("threads", "threads", "", count=0.5),
    Figure("p50_ms", "latency, median", "ms", part=0.1),
    Figure("p99_ms", "latency, p99", "ms", part=0.1),
    Figure("p999_ms", "latency, p99.9", "ms", part=0.2),
)


@dataclass(frozen=True)
class Trend:
    figure: Figure
    mean: float
    slope: float  # an hour
    error: float
    hours: float

    @property
    def grows(self):
        allowed = max(self.figure.part * self.mean, self.figure.count)
        return self.slope > 2 * self.error and self.slope * self.hours > allowed


def measured(results):
    """The rows that count."""
    last = max((float(row.minutes) for row in results.rows), default=0)
    return [row for row in results.rows if float(row.minutes) > WARM_UP * last]


def trend(figure, rows):
    times = [float(row.minutes) / 60 for row in rows]
    values = [float(getattr(row, figure.column)) / figure.per_unit for row in rows]
    n = len(rows)
    mean_time, mean = math.fsum(times) / n, math.fsum(values) / n
    spread = math.fsum((time - mean_time) ** 2 for time in times)
    slope = math.fsum((time - mean_time) * (value - mean)
                      for time, value in zip(times, values, strict=True)) / spread
    residuals = math.fsum((value - mean - slope * (time - mean_time)) ** 2
                          for time, value in zip(times, values, strict=True))
    return Trend(figure, mean, slope, math.sqrt(residuals / (n - 2) / spread), times[-1] - times[0])


def trends(results):
    rows = measured(results)
    if len(rows) < 5:
        sys.exit(f"{results.path}: {len(rows)} lines behind the first fifth are too few to judge")
    return [trend(figure, rows) for figure in FIGURES if any(float(getattr(row, figure.column)) for row in rows)]


def lines(all_trends):
    for found in all_trends:
        unit = f" {found.figure.unit}" if found.figure.unit else ""
        yield [found.figure.name, f"{found.mean:.4g}{unit}", f"{found.slope:+.2g} ± {found.error:.1g}{unit}",
               "**grows**" if found.grows else "steady"]


def soak(results, document):
    """A line for each figure of a run of `soak`."""
    frames = sum(int(row.frames) for row in results.rows)
    messages = sum(int(row.messages) for row in results.rows)
    events = sum(int(row.events) for row in results.rows)
    return markdown(["figure", "mean", "an hour", "verdict"], lines(trends(results))) + caption(
        results, document, f"`{results.facts['command']}`: {frames:,} frames, {messages:,} messages, {events:,} events")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    found = trends(Results(Path(sys.argv[1])))
    for line in lines(found):
        print("{:20} {:>12} {:>22}  {}".format(*line))
    sys.exit(1 if any(one.grows for one in found) else 0)


if __name__ == "__main__":
    main()
