#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws how sigma-delta decides what is background, as SVG, with matplotlib:

    GST_PLUGIN_PATH=build/gst tests/benchmarks/report/plot_credit.py --out docs

writes credit.svg: what four pixels show, what the element believes of them (output=background) and when they are
foreground (output=mask), in a video that is made here.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
import numpy as np  # noqa: E402

from plot import TEXT, VERMILION, style  # noqa: E402
from save_figure import save  # noqa: E402

RATE = 25
SECONDS = 20
SIDE = 32  # of the square that each pixel is in the middle of
WALL, PERSON, SKY, LEAF = 90, 190, 200, 60


def person_from(begin, end):
    return lambda second: PERSON if begin <= second < end else WALL


# What a square shows at a time.
CASES = {
    "object: a person stands for six seconds": person_from(8, 14),
    "ghost: a person was there first, and leaves": person_from(0, 4),
    "credit: a person stays for longer than the wall was seen": person_from(6, SECONDS),
    "credit: a leaf covers the sky for most of the time": lambda second: LEAF if second > 2 and second % 2 < 1.2 else SKY,
}


def video():
    frames = np.empty((RATE * SECONDS, SIDE, SIDE * len(CASES)), np.uint8)
    for i, shown in enumerate(CASES.values()):
        for frame in range(len(frames)):
            frames[frame, :, i * SIDE:(i + 1) * SIDE] = shown(frame / RATE)
    return frames


def element(path, frames, output, caps):
    """The middle of each square in what the element makes of the video."""
    height, width = frames.shape[1:]
    line = (f"gst-launch-1.0 -q filesrc location={path} blocksize={width * height} ! "
            f"rawvideoparse format=gray8 width={width} height={height} framerate={RATE}/1 ! "
            f"cudaccl backend=cpu foreground=motion motion-warm-up=0 motion-max-change=1 output={output} ! "
            f"{caps} ! fdsink fd=1")
    made = np.frombuffer(subprocess.run(line.split(), check=True, stdout=subprocess.PIPE).stdout, np.uint8)
    made = made.reshape(len(frames), height, width, -1)[..., 0]
    return made[:, height // 2, SIDE // 2::SIDE]


def draw():
    frames = video()
    with tempfile.NamedTemporaryFile() as file:
        frames.tofile(file)
        file.flush()
        mask = element(file.name, frames, "mask", "video/x-raw,format=GRAY8")
        background = element(file.name, frames, "background", "video/x-raw,format=RGBA")
    style()
    figure, all_axes = plt.subplots(len(CASES), 1, figsize=(9, 1.3 * len(CASES) + 0.6), sharex=True)
    for i, (axes, name) in enumerate(zip(all_axes, CASES)):
        shown = frames[:, SIDE // 2, i * SIDE + SIDE // 2]
        for row, values in enumerate((background[:, i], shown)):
            axes.imshow(values[np.newaxis], cmap="gray", vmin=0, vmax=255, aspect="auto", interpolation="nearest",
                        extent=(0, SECONDS, row + 0.05, row + 0.95))
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask[:, i] > 0, [0])).astype(int)))
        for begin, end in zip(edges[::2] / RATE, edges[1::2] / RATE):
            axes.axvspan(begin, end, ymin=0, ymax=0.13, color=VERMILION, lw=0)
        axes.set_ylim(-0.35, 2)
        axes.set_yticks([-0.2, 0.5, 1.5], ["foreground", "background", "shown"], fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set_title(name, loc="left", fontsize=10, color=TEXT)
        for spine in axes.spines.values():
            spine.set_visible(False)
    all_axes[-1].set_xlim(0, SECONDS)
    all_axes[-1].set_xticks(range(0, SECONDS + 1, 2))
    all_axes[-1].set_xlabel("seconds", color=TEXT)
    figure.tight_layout()
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the picture")
    save(draw(), parser.parse_args().out / "credit.svg")


if __name__ == "__main__":
    main()
