# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of python-bench: the Python package beside other libraries."""

from math import exp, fsum, log

from markdown_table import caption, markdown
from results import size_name

NAMES = {
    "cudaccl": "**`cudaccl.Engine`**", "cudaccl, all features": "the same, all features",
    "cudaccl, no labels": "the same, records only", "cudaccl.label()": "**`cudaccl.label()`**", "opencv": "OpenCV",
    "cc3d": "cc3d", "cucim": "cuCIM", "cvcuda": "CV-CUDA",
}


def mean(values):
    return exp(fsum(map(log, values)) / len(values))


def milliseconds(us):
    return f"{us / 1000:.2f}" if us < 10000 else f"{us / 1000:.1f}"


def microseconds(us):
    return f"{us:.0f}"


def python(results, document):
    """Geometric mean, worst, ratio to this package, and the time of a small image, for each task and method."""
    is_gpu = "gpu" in results.facts
    time = microseconds if is_gpu else milliseconds
    lines = []
    for task in dict.fromkeys(row.task for row in results.rows if row.image != "small"):
        methods = list(dict.fromkeys(row.method for row in results.select(task=task)))
        first = methods[0]
        for method in methods:
            rows = results.select(task=task, method=method)
            ratios = [row.ratio for row in rows]
            small = results.select(task=f"{task} overhead", method=method)
            wrong = sum(row.right == "no" for row in rows)
            lines.append([
                f"{task}: {NAMES[method]}" + (f" (wrong on {wrong} images)" if wrong else ""),
                time(mean([row.median_us for row in rows])), time(max(row.median_us for row in rows)),
                "" if method == first else f"{mean(ratios):.1f}×", "" if method == first else f"{min(ratios):.1f}×",
                f"{small[0].median_us:.0f}" if small else "–",
            ])
    images = {row.image for row in results.rows if row.image != "small"}
    size = next(row.size for row in results.rows if row.image != "small")
    header = ["µs a call" if is_gpu else "ms a call", "geometric mean", "worst", "to the first line", "at least", "64×64, µs"]
    how = "wall clock, arrays on the GPU" if is_gpu else "one thread, processor time"
    libraries = ", ".join(f"{name} {results.facts[key]}" for key, name in
                          [("opencv", "OpenCV"), ("cc3d", "cc3d"), ("cucim", "cuCIM"), ("cvcuda", "CV-CUDA")]
                          if key in results.facts)
    return markdown(header, lines) + caption(
        results, document, f"{len(images)} images of {size_name(size)}; {how}; medians of calls; {libraries}")
