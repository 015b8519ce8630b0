#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts strips of track-bench side by side, with matplotlib: place over time, without tracking above, with it below.

    clip=/usr/share/doc/opencv-doc/examples/data/vtest.avi
    gst-launch-1.0 filesrc location=$clip ! avidemux ! avdec_msmpeg4 ! videoconvert ! video/x-raw,format=I420 \\
      ! filesink location=clip.i420
    track-bench --video clip.i420 --size 768x576 --rate 10 --strip --max-tracks 0 --out labels
    track-bench --video clip.i420 --size 768x576 --rate 10 --strip --out tracks
    strip.py labels/video-strip.ppm tracks/video-strip.ppm --rate 10 --out docs/track-strip.png
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
import numpy as np  # noqa: E402

from plot import TEXT, style  # noqa: E402

TITLES = ("colours by label", "colours by identity")


def read_ppm(path):
    """Rows of RGB."""
    with open(path, "rb") as file:
        kind, width, height, depth = (file.readline() + file.readline() + file.readline()).split()
        if kind != b"P6" or depth != b"255":
            raise SystemExit(f"{path}: no PPM of 8 bits")
        return np.frombuffer(file.read(), np.uint8).reshape(int(height), int(width), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without", help="the strip without tracking")
    parser.add_argument("tracked", help="the same with tracking")
    parser.add_argument("--rate", type=float, required=True, help="frames a second")
    parser.add_argument("--seconds", type=float, nargs=2, default=(0, float("inf")), help="from and to")
    parser.add_argument("--out", default="track-strip.png")
    arguments = parser.parse_args()
    style()
    first, last = (min(second * arguments.rate, 1e9) for second in arguments.seconds)
    figure, all_axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    for axes, title, path in zip(all_axes, TITLES, (arguments.without, arguments.tracked)):
        strip = read_ppm(path)[int(first):int(last)]
        begin, end = first / arguments.rate, first / arguments.rate + len(strip) / arguments.rate
        axes.imshow(strip.transpose(1, 0, 2), aspect="auto", interpolation="nearest",
                    extent=(begin, end, strip.shape[1], 0))
        axes.set_title(title, loc="left", fontsize=10, color=TEXT)
        axes.set_ylabel("x, pixels", color=TEXT)
    all_axes[1].set_xlabel("seconds", color=TEXT)
    figure.tight_layout()
    figure.savefig(arguments.out, dpi=100, metadata={"Software": None})
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
