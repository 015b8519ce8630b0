#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the tracks that track-bench has written with the truth, beside an IoU tracker and SORT on the same boxes:

    evaluate.py FOLDER --csv track.csv

needs the packages of requirements.txt (record-track makes a virtual environment). Figures are those of motmetrics, with
boxes that overlap by half (intersection over union). An object of which less than a quarter is visible (behind a bar,
at the border) does not count, and neither does a box that fits it: the rule of the MOT challenge. Of each of the other
trackers there are its published parameters, and those of a grid with the best mean IDF1 of all scenes (without the one
of 200 objects, which takes too long).

Colour changes: how often the colour of an object's component becomes another one, for each minute that the object is
seen. Without tracking, colours follow the labels.
"""

import argparse
import csv
import itertools
import multiprocessing
import os
from pathlib import Path

# The matrices are small: threads of the linear algebra would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import motmetrics  # noqa: E402  (the setting comes first)
import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

from trackers import IouTracker, SortTracker, overlaps  # noqa: E402

MIN_OVERLAP = 0.5
MIN_VISIBLE = 0.25
PUBLISHED = {"iou": {"sigma_iou": 0.5, "t_min": 2}, "sort": {"max_age": 1, "min_hits": 3, "iou": 0.3}}
GRIDS = {"iou": {"sigma_iou": (0.1, 0.3, 0.5), "t_min": (2, 4)},
         "sort": {"max_age": (1, 10, 30), "min_hits": (1, 3), "iou": (0.1, 0.3)}}
TRACKERS = {"iou": IouTracker, "sort": SortTracker}
MANY_OBJECTS = 1000  # a scene with so many is not for choosing parameters
FIGURES = ("mota", "idf1", "num_switches", "num_fragmentations", "num_misses", "num_false_positives")
COLUMNS = ("scene", "merges", "fps", "objects", "method", "parameter", "mota", "idf1", "switches", "fragmentations",
           "misses", "false_positives", "color_changes")


def read(path):
    """The lines of a CSV file without its comments."""
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def numbers(path):
    """The lines as an array, which may have no lines."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    return np.array([line.split(",") for line in lines], float).reshape(-1, header.count(",") + 1)


def by_frame(table, n_frames):
    """The lines of each frame; frames count from 1 in the first column, in ascending order."""
    return np.split(table, np.searchsorted(table[:, 0], np.arange(2, n_frames + 1)))


class Scene:
    """What track-bench has written about one scene."""

    def __init__(self, folder, facts):
        self.facts = facts
        self.name, self.n_frames, self.fps = facts["scene"], int(facts["frames"]), int(facts["fps"])

        def table(kind):
            return numbers(folder / f"{facts['file']}-{kind}.csv")

        self.truth = by_frame(table("truth"), self.n_frames)
        tracks = table("tracks")
        self.tracks = by_frame(tracks[tracks[:, 6] > 0], self.n_frames)
        self.boxes = by_frame(table("boxes"), self.n_frames)
        self.colors = table("colors").astype(int)

    def own(self):
        """Ids and boxes of each frame, and the identity of each component."""
        results = [(frame[:, 1].astype(int), frame[:, 2:6]) for frame in self.tracks]
        colors = {(int(frame[0]), int(frame[1])): int(frame[7]) for boxes in self.boxes for frame in boxes}
        return results, colors

    def of_peer(self, tracker):
        results, colors = [], {}
        for number, found in enumerate(tracker.follow([frame[:, 2:6] for frame in self.boxes]), 1):
            shown = [(track, box) for _, track, box, is_shown in found if is_shown]
            results.append((np.array([track for track, _ in shown], int),
                            np.array([box for _, box in shown]).reshape(-1, 4)))
            colors |= {(number, index + 1): track for index, track, _, _ in found}
        return results, colors


def without_ignored(truth, ids, boxes):
    """Objects that count, and results that do not fit one that does not count."""
    counts = truth[:, 7] >= MIN_VISIBLE
    if counts.all() or not len(ids):
        return truth[counts], ids, boxes
    overlap = overlaps(truth[:, 2:6], boxes)
    # An object that counts comes first where both fit.
    rows, columns = linear_sum_assignment(-np.where(overlap >= MIN_OVERLAP, overlap + counts[:, None], 0))
    ignored = [column for row, column in zip(rows, columns) if not counts[row] and overlap[row, column] >= MIN_OVERLAP]
    return truth[counts], np.delete(ids, ignored), np.delete(boxes, ignored, axis=0)


def score(scene, results, figures=FIGURES):
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for truth, (ids, boxes) in zip(scene.truth, results):
        truth, ids, boxes = without_ignored(truth, ids, boxes)
        overlap = overlaps(truth[:, 2:6], boxes)
        accumulator.update(truth[:, 1].astype(int), ids, np.where(overlap >= MIN_OVERLAP, 1 - overlap, np.nan))
    summary = motmetrics.metrics.create().compute(accumulator, metrics=figures)
    return {name.removeprefix("num_"): summary[name].iloc[0] for name in figures}


def color_changes(scene, colors):
    """For each minute in which an object is seen."""
    last, changes = {}, 0
    for frame, thing, component, _ in scene.colors:
        color = colors.get((frame, component), 0)
        changes += last.get(thing, color) != color
        last[thing] = color
    return changes / (len(scene.colors) / scene.fps / 60)


def text_of(parameters):
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def evaluate(task):
    """One line of the CSV: a scene and a method."""
    folder, facts, method, parameters, *remark = task
    scene = Scene(folder, facts)
    line = {"scene": scene.name, "merges": facts["merges"], "fps": scene.fps, "objects": facts["objects"],
            "method": method, "parameter": " ".join(filter(None, (*remark, text_of(parameters))))}
    if method == "labels":
        return line | {"color_changes": color_changes(scene, {(frame, component): component
                                                             for frame, _, component, _ in scene.colors})}
    results, colors = scene.own() if method == "cudaccl" else scene.of_peer(TRACKERS[method](**parameters))
    return line | score(scene, results) | {"color_changes": color_changes(scene, colors)}


def grid(method):
    names, values = GRIDS[method].keys(), GRIDS[method].values()
    return [dict(zip(names, choice)) for choice in itertools.product(*values)]


def choose(run, scenes):
    """Of each tracker the published parameters, and the best of the grid: (method, parameters, remark)."""
    chosen = []
    for method, published in PUBLISHED.items():
        candidates = grid(method)
        lines = run([(facts, method, parameters) for parameters in candidates for facts in scenes])
        means = [np.mean([line["idf1"] for line in lines if line["parameter"] == text_of(parameters)])
                 for parameters in candidates]
        best = candidates[int(np.argmax(means))]
        chosen.append((method, published, "published"))
        if best != published:
            chosen.append((method, best, "best"))
    return chosen


def number_figures(row):
    """A line of an earlier CSV."""
    return row | {name: float(row[name]) for name in ("mota", "idf1", "color_changes")}


def form(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def write(path, folder, lines):
    index = (folder / "scenes.csv").read_text(encoding="utf-8")
    comments = [line for line in index.splitlines() if line.startswith("#")]
    comments.append(f"# motmetrics: {motmetrics.__version__}")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("".join(f"{comment}\n" for comment in comments))
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: form(line.get(name, "")) for name in COLUMNS} for line in lines)


def show(lines):
    print(f"{'':22} {'':26} {'MOTA':>6} {'IDF1':>6} {'switch':>6} {'fragm':>6} {'missed':>6} {'false':>6} "
          f"{'colours/min':>11}")
    for line in lines:
        head = f"{line['scene']:22} {line['method'] + ' ' + line['parameter'].split(' ')[0]:26}"
        if "mota" in line:
            print(f"{head} {line['mota']:6.3f} {line['idf1']:6.3f} {line['switches']:6} {line['fragmentations']:6} "
                  f"{line['misses']:6} {line['false_positives']:6} {line['color_changes']:11.2f}")
        else:
            print(f"{head} {'':41} {line['color_changes']:11.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="track-bench's --out")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--own", action="store_true", help="without the other trackers")
    parser.add_argument("--peers", type=Path, help="an earlier CSV, to take the other trackers' figures from: they "
                        "depend on the scenes only")
    parser.add_argument("--scene", default="", help="names that begin so (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    scenes = [facts for facts in read(arguments.folder / "scenes.csv") if facts["scene"].startswith(arguments.scene)]
    methods = [("labels", {}), ("cudaccl", {})]
    with multiprocessing.Pool(arguments.jobs) as pool:
        def run(tasks):
            return pool.map(evaluate, [(arguments.folder, *task) for task in tasks], chunksize=1)

        if not arguments.own and not arguments.peers:
            methods += choose(run, [facts for facts in scenes if int(facts["objects"]) < MANY_OBJECTS] or scenes)
        lines = run([(facts, *method) for facts in scenes for method in methods])
    if arguments.peers:
        lines += [number_figures(row) for row in read(arguments.peers) if row["method"] in TRACKERS]
        order = [facts["scene"] for facts in scenes]
        lines.sort(key=lambda line: order.index(line["scene"]))
    show(lines)
    if arguments.csv:
        write(arguments.csv, arguments.folder, lines)


if __name__ == "__main__":
    main()
