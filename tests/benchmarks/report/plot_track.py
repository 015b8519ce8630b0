#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of track-bench's evaluate.py as SVG, with matplotlib:

    plot_track.py tests/benchmarks/results/epyc/track.csv --out docs

writes track.svg: IDF1 by scene. Full marks are this library's tracks, hollow ones other trackers'.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from plot import BLUE, FAINT, ORANGE, RULE, TEXT, VERMILION, caption, style  # noqa: E402
from results import Results  # noqa: E402
from save_figure import save  # noqa: E402
from track_tables import methods_of, rows_of  # noqa: E402

LOOKS = {("cudaccl", ""): (BLUE, "o", "cudaccl"), ("sort", "published"): (VERMILION, "o", "SORT, published"),
         ("sort", "best"): (VERMILION, "D", "SORT, tuned"),
         ("iou", "published"): (ORANGE, "s", "IoU tracker, published"),
         ("iou", "best"): (ORANGE, "D", "IoU tracker, tuned")}


def draw(results):
    scenes = list(dict.fromkeys((row.scene, row.merges) for row in results.rows))
    methods = [method for method in LOOKS if method in methods_of(results)]
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.36 * len(scenes)))
    for y, (scene, _) in enumerate(reversed(scenes)):
        axes.axhline(y, color=RULE, lw=0.8, zorder=0)
        for i, method in enumerate(methods):
            color, marker, _ = LOOKS[method]
            is_ours = method[0] == "cudaccl"
            # A little up or down, so that equal figures do not hide one another.
            axes.plot(rows_of(results, method, scene)[0].idf1, y + ((i * 2) % 5 - 2) * 0.07, marker, ms=7, mew=1.6,
                      color=color, clip_on=False, mfc=color if is_ours else "white", zorder=3 if is_ours else 2)
    with_merges = sum(merges == "1" for _, merges in scenes)
    axes.axhline(with_merges - 0.5, color=FAINT, lw=0.8)
    axes.set_yticks(range(len(scenes)),
                    [scene + (", merges" if merges == "1" else "") for scene, merges in reversed(scenes)])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.6, len(scenes) - 0.4)
    axes.set_xlabel("IDF1", color=TEXT)
    for method in methods:
        color, marker, label = LOOKS[method]
        axes.plot([], [], marker, ms=7, mew=1.6, color=color, mfc=color if method[0] == "cudaccl" else "white",
                  label=label)
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=len(methods), frameon=False, fontsize=9,
                handletextpad=0.1, columnspacing=1.2)
    figure.suptitle("Objects of planted video, followed: IDF1 by scene", x=0.01, ha="left", fontweight="bold",
                    fontsize=12)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    caption(figure, results, "The same boxes for all trackers.")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--out", type=Path, default=Path("."), help="a folder")
    parser.add_argument("--format", default="svg", choices=("svg", "png"))
    arguments = parser.parse_args()
    style()
    save(draw(Results(arguments.csv)), arguments.out / f"track.{arguments.format}")


if __name__ == "__main__":
    main()
