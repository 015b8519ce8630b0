# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times CuPy's labeler on the images that ccl-bench is timed on, and writes rows like ccl-bench's.

    ccl-bench --size 1080p --dump-images /tmp/images
    python3 peers.py /tmp/images/*.pgm >> h200.csv

Image and labels stay in device memory; the time is between two CUDA events around the call, which launches
its kernels from Python. Without CuPy or a GPU it prints an error and writes nothing.
"""

import argparse
import csv
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bench  # noqa: E402  (the path comes first)

WARM_UPS = 2
BUDGET_US = 20000


def time_us(cupy, work, most):
    """Times of as many calls as fit a budget."""
    def once():
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        work()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) * 1000

    first = [once() for _ in range(WARM_UPS)][-1]
    return [once() for _ in range(max(3, min(most, int(BUDGET_US / max(first, 1)))))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="+", help="PGM files of ccl-bench --dump-images")
    parser.add_argument("--connectivity", type=int, choices=(4, 8), default=8)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--header", action="store_true", help="write the names of the columns first")
    arguments = parser.parse_args()
    try:
        import cupy
        import numpy
        from cupyx.scipy import ndimage
        cupy.cuda.runtime.getDeviceCount()
    except Exception as missing:  # no CuPy, no driver, no GPU: each raises something of its own
        sys.exit(f"peers.py: no peer: {missing}")

    structure = cupy.ones((3, 3)) if arguments.connectivity == 8 else None
    out = csv.writer(sys.stdout, lineterminator="\n")
    if arguments.header:
        out.writerow("backend,algorithm,mode,output,features,connectivity,image,width,height,components,min_us,"
                     "median_us,repetitions".split(","))
    print(f"# cupy: {cupy.__version__}")
    for path in arguments.images:
        width, height, pixels = bench.read_pgm(path)
        frame = cupy.asarray(numpy.frombuffer(pixels, dtype=numpy.uint8).reshape(height, width))
        labels = cupy.empty((height, width), dtype=cupy.int32)
        n_labels = ndimage.label(frame, structure, output=labels)
        times = time_us(cupy, lambda: ndimage.label(frame, structure, output=labels), arguments.repetitions)
        image = Path(path).stem.split("-", 1)[1]
        out.writerow(["cupy", "cupyx-label", "peer", "labels", "-", arguments.connectivity, image, width, height,
                      int(n_labels), f"{min(times):.2f}", f"{statistics.median(times):.2f}", len(times)])


if __name__ == "__main__":
    main()
