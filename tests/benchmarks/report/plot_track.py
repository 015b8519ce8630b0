#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the CSV of track-bench's evaluate.py as SVG, with matplotlib:

    plot_track.py tests/benchmarks/results/epyc/track.csv --out docs

writes track.svg: IDF1 by scene. Full marks are this library's tracks, hollow ones other trackers'.
"""

from plot import BLUE, ORANGE, VERMILION, arguments_of, caption, draw_scores
from results import Results
from save_figure import save
from track_tables import methods_of, rows_of

LOOKS = {("cudaccl", ""): (BLUE, "o", "cudaccl"), ("sort", "published"): (VERMILION, "o", "SORT, published"),
         ("sort", "best"): (VERMILION, "D", "SORT, tuned"),
         ("iou", "published"): (ORANGE, "s", "IoU tracker, published"),
         ("iou", "best"): (ORANGE, "D", "IoU tracker, tuned")}


def draw(results):
    merges = {row.scene: row.merges == "1" for row in results.rows}
    figure, _ = draw_scores(
        list(merges), [scene + (", merges" if merges[scene] else "") for scene in merges],
        [method for method in LOOKS if method in methods_of(results)],
        lambda scene, method: rows_of(results, method, scene)[0].idf1,
        lambda method: (*LOOKS[method], method[0] == "cudaccl"),
        sum(merges.values()) - 0.5, "IDF1", "Objects of planted video, followed: IDF1 by scene", pitch=0.36)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    caption(figure, results, "The same boxes for all trackers.")
    return figure


def main():
    arguments = arguments_of(__doc__, "the CSV")
    save(draw(Results(arguments.source)), arguments.out / "track.svg")


if __name__ == "__main__":
    main()
