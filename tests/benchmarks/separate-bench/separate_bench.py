# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects that touch: how well components are cut into objects, beside scikit-image and OpenCV, and how long it takes.

    separate_bench.py --nuclei stage1_train --csv separate.csv
    ccl-bench --size 1080p --images blobs --images touching --dump-images FOLDER
    separate_bench.py --frames FOLDER/*.pgm --csv separate-times.csv

needs the packages of requirements.txt and this project's (record-separate makes a virtual environment).

Quality: the nuclei of nuclei.py, if their folder is given, and the scenes of planted.py. All methods have the same mask.
An object is found if a part overlaps it with an IoU above 0.5 (or 0.7); at most one part does. `f1` is of the objects of
all pictures together, `mean_f1` the mean of that of each picture. An object is `merged` if more than half of it is in a
part of which this is true for another object, too; it is `split` if several parts are mostly of it, each with more than
a tenth of it: both per 100 objects. With a `min_area`, smaller parts of every method are removed: specks without a marker
vanish in a watershed, so without it the figures compare the treatment of specks.

Times: processor time of one thread, the median, from the mask of a frame to its parts. Other work distorts them.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import cudaccl
import cv2
import numpy
import scipy
import skimage

import nuclei
import planted
from methods import METHODS, components

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bench  # noqa: E402  (the path comes first)

MIN_AREAS = 0, 25
IOUS = 0.5, 0.7
COLUMNS = ["data", "method", "parameter", "min_area", "pictures", "objects", "f1_50", "f1_70", "mean_f1_50", "mean_f1_70",
           "merged", "split"]
TIME_COLUMNS = ["image", "method", "parameter", "width", "height", "parts", "min_us", "median_us", "repetitions"]
LEAST, MOST, BUDGET_US = 5, 200, 3e6


def count(parts, truth, min_area):
    """[found at each IoU, parts, objects, merged, split]."""
    n_columns = int(truth.max()) + 1
    table = numpy.bincount(parts.ravel().astype(numpy.int64) * n_columns + truth.ravel(),
                           minlength=(int(parts.max()) + 1) * n_columns).reshape(-1, n_columns)
    table = table[1:][table[1:].sum(axis=1) >= max(min_area, 1)]
    areas, common = table.sum(axis=1)[:, None], table[:, 1:]
    objects = numpy.bincount(truth.ravel(), minlength=n_columns)[1:]
    overlaps = common / (areas + objects - common)
    has_most = common > 0.5 * objects
    is_piece = (common > 0.5 * areas) & (common > 0.1 * objects)
    return [*(numpy.count_nonzero(overlaps > iou) for iou in IOUS), len(areas), len(objects),
            numpy.count_nonzero(has_most[has_most.sum(axis=1) > 1]), numpy.count_nonzero(is_piece.sum(axis=0) > 1)]


def f1(found, parts, objects):
    return 2 * found / numpy.maximum(parts + objects, 1)


def figures(counts):
    """The columns of a row that are measured, from the counts of each picture."""
    counts = numpy.array(counts, float)
    *found, parts, objects, merged, split = counts.T
    total = counts.sum(axis=0)
    return {"pictures": len(counts), "objects": int(objects.sum()),
            **{f"f1_{iou * 100:.0f}": f"{f1(total[n], total[2], total[3]):.4f}" for n, iou in enumerate(IOUS)},
            **{f"mean_f1_{iou * 100:.0f}": f"{f1(found[n], parts, objects).mean():.4f}" for n, iou in enumerate(IOUS)},
            "merged": f"{100 * merged.sum() / objects.sum():.1f}", "split": f"{100 * split.sum() / objects.sum():.1f}"}


def data_sets(folder):
    """(name, [(mask, truth)])."""
    if folder:
        yield "nuclei", nuclei.scenes(folder)
    for noise in planted.NOISES:
        suffix = f", {noise:.0%} noise" if noise else ""
        for kind in planted.KINDS:
            yield kind + suffix, [(truth > 0, truth) for truth in planted.chains(kind, noise)]
        yield "whole" + suffix, [(mask, components(mask)) for mask in planted.whole(noise)]


def quality(folder):
    for name, scenes in data_sets(folder):
        for method in METHODS:
            cuts = None
            for min_area in MIN_AREAS:
                if cuts is None or method.removes_small_parts:
                    cuts = [method.cut(mask, min_area) for mask, _ in scenes]
                row = figures([count(parts, truth, min_area) for parts, (_, truth) in zip(cuts, scenes)])
                print(f"{name:24} {method.name:12} {method.parameter:18} {min_area:2}  F1 {row['f1_50']} {row['f1_70']}",
                      flush=True)
                yield {"data": name, "method": method.name, "parameter": method.parameter, "min_area": min_area, **row}


def time_us(work):
    """(least, median, count) of the microseconds of as many calls as fit the budget."""
    work()
    times = []
    while len(times) < LEAST or (sum(times) < BUDGET_US and len(times) < MOST):
        begin = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - begin) / 1000)
    return min(times), statistics.median(times), len(times)


def times(paths):
    for path in paths:
        mask = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) > 0
        for method in METHODS:
            work = method.work(mask)
            if work:
                least, median, repetitions = time_us(work)
                n_parts = len(numpy.unique(method.cut(mask, MIN_AREAS[-1]))) - 1
                print(f"{path.stem:24} {method.name:12} {method.parameter:18} {median / 1000:8.2f} ms", flush=True)
                yield {"image": path.stem.split("-", 1)[-1], "method": method.name, "parameter": method.parameter,
                       "width": mask.shape[1], "height": mask.shape[0], "parts": n_parts, "min_us": f"{least:.1f}",
                       "median_us": f"{median:.1f}", "repetitions": repetitions}


def facts(options):
    command = "separate_bench.py " + ("--frames" if options.frames else "--nuclei" if options.nuclei else "")
    return bench.facts(command, options.commit) | {
        "numpy": numpy.__version__, "scipy": scipy.__version__, "cudaccl": cudaccl.__version__,
        "scikit-image": skimage.__version__, "opencv": cv2.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nuclei", type=Path, metavar="FOLDER", help="the folder stage1_train (default: planted scenes only)")
    parser.add_argument("--frames", type=Path, nargs="+", metavar="PGM", help="times on these frames, in place of quality")
    parser.add_argument("--csv", type=Path, default="/dev/null")
    parser.add_argument("--commit", help="of the package (default: of this checkout)")
    options = parser.parse_args()
    rows, columns = (times(options.frames), TIME_COLUMNS) if options.frames else (quality(options.nuclei), COLUMNS)
    bench.write(options.csv, facts(options), columns, rows)


main()
