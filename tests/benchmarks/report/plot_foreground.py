#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of foreground-bench as SVG, with matplotlib:

    plot_foreground.py tests/benchmarks/results/epyc/foreground.csv --out docs

writes foreground.svg: F1 by category. Full marks are this library's models, hollow ones OpenCV's with their default
parameters.
"""

from foreground import Foreground, is_ours, name
from plot import BLUE, GREEN, ORANGE, PURPLE, VERMILION, arguments_of, caption, draw_scores
from results import Results
from save_figure import save

LOOKS = {"sigma-delta": (BLUE, "o"), "mixture": (GREEN, "D"), "mog2": (VERMILION, "o"), "knn": (ORANGE, "s"),
         "cnt": (PURPLE, "^")}


def draw(foreground):
    lines = [*foreground.categories, "mean"]
    figure, axes = draw_scores(
        lines, lines, [method for method in foreground.methods if not method[1]],
        lambda line, method: foreground.mean("f1", method) if line == "mean" else foreground.of("f1", method, line),
        lambda method: (*LOOKS[method[0]], name(method) if is_ours(method) else f"OpenCV's {name(method)}", is_ours(method)),
        0.5, "F1", "Foreground of planted sequences: F1 by category")
    axes.get_yticklabels()[0].set_fontweight("bold")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    caption(figure, foreground.results, "Default parameters, the same morphology after each.")
    return figure


def main():
    arguments = arguments_of(__doc__, "the CSV")
    save(draw(Foreground(Results(arguments.source))), arguments.out / "foreground.svg")


if __name__ == "__main__":
    main()
