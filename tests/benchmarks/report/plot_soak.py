#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of `soak` as SVG, with matplotlib:

    plot_soak.py tests/benchmarks/results/h200/soak.csv --out docs

writes soak.svg: what the process held and how long frames took, by the minute.
"""

import matplotlib.pyplot as plt
from plot import BLUE, FAINT, GREEN, ORANGE, RULE, VERMILION, arguments_of, caption
from results import Results
from save_figure import save

# A title, and the columns in it with their unit, colour and name, from the lowest on.
PANELS = (
    ("Latency, ms", (("p50_ms", 1, BLUE, "median"), ("p99_ms", 1, ORANGE, "p99"), ("p999_ms", 1, VERMILION, "p99.9"))),
    ("Memory, MiB", (("rss_kb", 1024, BLUE, "process"), ("gpu_kb", 1024, GREEN, "GPU"))),
    ("Count", (("threads", 1, ORANGE, "threads"), ("descriptors", 1, BLUE, "descriptors"))),
)


def draw(results):
    minutes = [float(row.minutes) for row in results.rows]
    figure, all_axes = plt.subplots(len(PANELS), 1, sharex=True, figsize=(9, 6.4))
    for axes, (title, columns) in zip(all_axes, PANELS, strict=True):
        axes.set_ylabel(title, fontsize=8.5)
        axes.grid(axis="y", color=RULE, lw=0.6)
        axes.axvspan(0, 0.2 * minutes[-1], color=RULE, alpha=0.4, lw=0)
        labels = []  # [where, names, colour], from the highest line on
        most = 0
        for column, unit, color, name in reversed(columns):
            values = [float(getattr(row, column)) / unit for row in results.rows]
            if not any(values):
                continue
            axes.plot(minutes, values, ".-", ms=3.5, lw=1.1, color=color)
            most = max(most, *values[len(values) // 5:])
            if labels and labels[-1][0] < 1.12 * values[-1]:
                labels[-1][1] += ", " + name
            else:
                labels.append([values[-1], name, color])
        for where, names, color in labels:
            axes.text(minutes[-1] * 1.01, where, names, color=color, fontsize=8.5, va="center")
        axes.set_ylim(0, 1.15 * most)  # what does not count may be cut off
    all_axes[0].set_title("What live pipelines hold, and how long a frame stays in the element")
    all_axes[-1].set_xlabel("minutes; the first fifth does not count", color=FAINT)
    all_axes[0].set_xlim(0, minutes[-1] * 1.12)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    caption(figure, results, results.facts["command"] + ".")
    return figure


def main():
    arguments = arguments_of(__doc__, "the CSV")
    save(draw(Results(arguments.source)), arguments.out / "soak.svg")


if __name__ == "__main__":
    main()
