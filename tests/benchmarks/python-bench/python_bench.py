# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the Python package beside the libraries that a user could choose instead, on ccl-bench's images.

    ccl-bench --size 1080p --images short --dump-images FOLDER
    python_bench.py FOLDER/*.pgm --csv python.csv
    python_bench.py FOLDER/*.pgm --backend cuda --csv python-gpu.csv

CPU: one thread, processor time of a call with NumPy arrays, beside OpenCV and cc3d. GPU: wall clock of a call that is
complete when it returns, with CuPy arrays, beside cuCIM and CV-CUDA. A library that is not installed is named and left
out. A peer's labels are compared with this project's in the same run: `right` is no if they are another partition.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import cudaccl
import numpy
from methods import CPU_METHODS, GPU_METHODS, Missing

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bench  # noqa: E402  (the path comes first)

COLUMNS = ["task", "method", "image", "width", "height", "connectivity", "components", "min_us", "median_us", "ratio",
           "engine_us", "right", "repetitions", "page_faults"]
WARM_UPS = 3
LEAST, MOST = 5, 200


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def time_us(work, clock, budget_ms):
    """(least, median, count) of the microseconds of as many calls as fit the budget, and the page faults of a call."""
    for _ in range(WARM_UPS):
        work()
    times = []
    faults = page_faults()
    while len(times) < LEAST or (sum(times) < budget_ms * 1000 and len(times) < MOST):
        begin = clock()
        work()
        times.append((clock() - begin) / 1000)
    return min(times), statistics.median(times), len(times), (page_faults() - faults) / len(times)


def time_short_us(work, clock, budget_ms, calls=200):
    """The same for calls that are too short for the clock: each time is the mean of many."""
    def many():
        for _ in range(calls):
            work()

    least, median, count, faults = time_us(many, clock, budget_ms)
    return least / calls, median / calls, count * calls, faults / calls


def is_same_partition(labels, expected):
    """Whether two images of labels have the same components, whatever their numbers."""
    if labels is None:
        return None
    labels, expected = numpy.asarray(labels).astype(numpy.int64), expected.astype(numpy.int64)
    if not numpy.array_equal(labels > 0, expected > 0):
        return False
    pairs = numpy.unique(expected * (labels.max() + 1) + labels)
    return len(pairs) == len(numpy.unique(expected)) == len(numpy.unique(labels))


def measure(path, methods, connectivity, clock, budget_ms):
    """A row for each method. The first one of a task is this project's own, the base of the ratios. engine_us is what
    the engine on a GPU reports for the stages of a call, without Python.
    """
    width, height, pixels = bench.read_pgm(path)
    image = numpy.frombuffer(pixels, numpy.uint8).reshape(height, width).copy()
    name = Path(path).stem.split("-", 1)[-1]
    base = {}
    expected = cudaccl.label(image, connectivity, backend="cpu", threads=1).labels
    for method in methods:
        prepared = method.prepare(image, connectivity)
        if prepared is None:
            continue
        work, labels_of = prepared
        least, median, count, faults = time_us(work, clock, budget_ms)
        base.setdefault(method.task, median)
        right = is_same_partition(labels_of(), expected)
        engine_us = statistics.median(method.engine_us() for _ in range(20)) if method.engine_us else None
        yield {
            "task": method.task, "method": method.name, "image": name, "width": image.shape[1],
            "height": image.shape[0], "connectivity": connectivity, "components": int(expected.max()),
            "min_us": f"{least:.1f}", "median_us": f"{median:.1f}", "ratio": f"{median / base[method.task]:.2f}",
            "engine_us": "" if engine_us is None else f"{engine_us:.1f}",
            "right": {None: "", True: "yes", False: "no"}[right], "repetitions": count,
            "page_faults": f"{faults:.1f}",
        }


def overhead(clock, budget_ms, methods):
    """What a call of a small image takes: hardly anything but the call."""
    image = numpy.zeros((64, 64), numpy.uint8)
    image[8:24, 8:40] = 255
    base = {}
    for method in methods:
        prepared = method.prepare(image, 8)
        if prepared is None:
            continue
        least, median, count, faults = time_short_us(prepared[0], clock, budget_ms)
        base.setdefault(method.task, median)
        yield {
            "task": f"{method.task} overhead", "method": method.name, "image": "small", "width": 64, "height": 64,
            "connectivity": 8, "components": 1, "min_us": f"{least:.1f}", "median_us": f"{median:.1f}",
            "ratio": f"{median / base[method.task]:.2f}", "engine_us": "", "right": "", "repetitions": count,
            "page_faults": f"{faults:.1f}",
        }


def gpu():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    done = subprocess.run(query, capture_output=True, text=True)
    return done.stdout.strip().split(", ") if done.returncode == 0 else ["unknown", "unknown"]


def facts(arguments, methods):
    command = "python_bench.py" + (" --backend cuda" if arguments.backend == "cuda" else "")
    found = bench.facts(command, arguments.commit) | {"numpy": numpy.__version__}
    if arguments.backend == "cuda":
        found["gpu"], found["driver"] = gpu()
        version = methods[0].cupy.cuda.runtime.runtimeGetVersion()
        found["cuda"] = f"{version // 1000}.{version % 1000 // 10}"
    for method in methods:
        if method.version:
            found[method.library] = method.version
    return found


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", nargs="+", help="PGM files of ccl-bench --dump-images")
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--connectivity", type=int, choices=[4, 8], action="append")
    parser.add_argument("--budget", type=float, default=300, help="milliseconds for each method and image")
    parser.add_argument("--commit", help="of the package, where git is not asked")
    parser.add_argument("--csv", type=Path, required=True)
    return parser.parse_args()


def rows_of(arguments, methods, clock):
    yield from overhead(clock, arguments.budget, methods)
    for connectivity in arguments.connectivity or [8]:
        for path in arguments.images:
            yield from measure(path, methods, connectivity, clock, arguments.budget)
            print(path, file=sys.stderr)


def main():
    arguments = arguments_of()
    clock = time.perf_counter_ns if arguments.backend == "cuda" else time.process_time_ns
    methods = []
    for make in GPU_METHODS if arguments.backend == "cuda" else CPU_METHODS:
        try:
            methods.append(make())
        except Missing as missing:
            print(f"left out: {missing}", file=sys.stderr)
    if not methods or methods[0].library != "cudaccl":
        sys.exit("the package cudaccl is missing, or finds no GPU")
    bench.write(arguments.csv, facts(arguments, methods), COLUMNS, rows_of(arguments, methods, clock))


main()
