#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of foreground-bench as SVG, with matplotlib:

    plot_foreground.py tests/benchmarks/results/epyc/foreground.csv --out docs

writes foreground.svg: F1 by category. Full marks are this library's models, hollow ones OpenCV's with their default
parameters.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from foreground import Foreground, is_ours, name  # noqa: E402
from plot import BLUE, FAINT, GREEN, ORANGE, PURPLE, RULE, TEXT, VERMILION, caption, style  # noqa: E402
from results import Results  # noqa: E402
from save_figure import save  # noqa: E402

LOOKS = {"sigma-delta": (BLUE, "o"), "mixture": (GREEN, "D"), "mog2": (VERMILION, "o"), "knn": (ORANGE, "s"),
         "cnt": (PURPLE, "^")}


def draw(foreground):
    methods = [method for method in foreground.methods if not method[1]]
    lines = [*foreground.categories, "mean"]
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.42 * len(lines)))
    for y, category in enumerate(reversed(lines)):
        axes.axhline(y, color=RULE, lw=0.8, zorder=0)
        for i, method in enumerate(methods):
            value = foreground.mean("f1", method) if category == "mean" else foreground.of("f1", method, category)
            color, marker = LOOKS[method[0]]
            # A little up or down, so that equal figures do not hide one another.
            axes.plot(value, y + ((i * 2) % 5 - 2) * 0.07, marker, ms=7, mew=1.6, color=color, clip_on=False,
                      mfc=color if is_ours(method) else "white", zorder=3 if is_ours(method) else 2)
    axes.axhline(0.5, color=FAINT, lw=0.8)
    axes.set_yticks(range(len(lines)), reversed(lines))
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.set_xlabel("F1", color=TEXT)
    for method in methods:
        color, marker = LOOKS[method[0]]
        axes.plot([], [], marker, ms=7, mew=1.6, color=color, mfc=color if is_ours(method) else "white",
                  label=name(method) if is_ours(method) else f"OpenCV's {name(method)}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=len(methods), frameon=False, fontsize=9,
                handletextpad=0.1, columnspacing=1.2)
    figure.suptitle("Foreground of planted sequences: F1 by category", x=0.01, ha="left", fontweight="bold", fontsize=12)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    caption(figure, foreground.results, "Default parameters, the same morphology after each.")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--out", type=Path, default=Path("."), help="a folder")
    parser.add_argument("--format", default="svg", choices=("svg", "png"))
    arguments = parser.parse_args()
    style()
    save(draw(Foreground(Results(arguments.csv))), arguments.out / f"foreground.{arguments.format}")


if __name__ == "__main__":
    main()
