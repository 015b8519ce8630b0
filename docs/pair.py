#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws pair.png of events.md: two people who meet, walk together and part, without cuts and with them.

    pair.py [--plugin FOLDER]    FOLDER: of libgstcudaccl.so (default: build/gst)

Who walks and how is written below; the silhouettes are those of tests/benchmarks/track-bench, whose packages it needs.
Ids, boxes and colours are drawn by the element.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests/benchmarks/track-bench"))

import cv2  # noqa: E402  (the path comes first)
import numpy as np  # noqa: E402

from pairs_masks import QUALITIES, Painter  # noqa: E402
from pairs_scenes import Scene, Source  # noqa: E402

WIDTH, HEIGHT, FPS = 720, 132, 25
TALL, WIDE = 96, 40  # a person
PART = 250  # of a frame that is shown, in pixels
SHOWN = (10, 34, 58, 82, 106, 130)
FRAMES = SHOWN[-1] + 1
PEOPLE = "separate=0.8 separate-aspect=4"  # of the preset
ROWS = ("separate=0", PEOPLE)


def boxes():
    """Of each frame and person: the second one waits, is met, and stays behind at the end."""
    ahead = np.interp(np.arange(FRAMES), [0, 40, 96, FRAMES], [190, 26, 30, 190])
    first = 8 + 4.1 * np.arange(FRAMES) * np.interp(np.arange(FRAMES), [0, FRAMES], [1, 0.85])
    lefts = np.stack([np.where(np.arange(FRAMES) < 70, first, first - ahead + 28), np.where(
        np.arange(FRAMES) < 70, first + ahead, first + 28)])
    tops = np.array([26, 22])
    return np.array([[frame, person + 1, lefts[person, frame], tops[person], WIDE, TALL]
                     for person in (0, 1) for frame in range(FRAMES)], float)


def masks():
    source = Source("pair", "", "", (WIDTH, HEIGHT), 1, FPS, FRAMES)
    painted, _ = Painter(source, boxes()).paint(Scene(source, 0, FRAMES, 0, 0, WIDTH, HEIGHT), QUALITIES["ragged"])
    return painted


def drawn(raw, settings, plugin):
    """All frames as the element draws them."""
    with tempfile.NamedTemporaryFile(suffix=".rgba") as out:
        line = (f"filesrc location={shlex.quote(raw)} blocksize={WIDTH * HEIGHT} ! rawvideoparse format=gray8 width={WIDTH} "
                f"height={HEIGHT} framerate={FPS}/1 ! cudaccl backend=cpu threshold=127 min-area=40 track=true {settings} "
                f"draw-boxes=true draw-ids=true color-seed=3 ! video/x-raw,format=RGBA ! filesink location={out.name}")
        subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], check=True,
                       env=os.environ | {"GST_PLUGIN_PATH_1_0": str(plugin)})
        return np.fromfile(out.name, np.uint8).reshape(-1, HEIGHT, WIDTH, 4)[:, :, :, 2::-1]


def part_of(frames, number):
    """The part of the frame in which the people are, as wide for all."""
    middle = np.mean([box[2] + WIDE / 2 for box in boxes() if box[0] == number])
    left = int(np.clip(middle - PART / 2, 0, WIDTH - PART))
    return cv2.copyMakeBorder(frames[number][:, left:left + PART], 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=(255, 255, 255))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", type=Path, default=DOCS.parent / "build/gst")
    plugin = parser.parse_args().plugin
    painted = masks()
    with tempfile.NamedTemporaryFile(suffix=".gray8") as raw:
        painted.tofile(raw.name)
        rows = [drawn(raw.name, settings, plugin) for settings in ROWS]
    picture = np.vstack([np.hstack([part_of(frames, number) for number in SHOWN]) for frames in rows])
    cv2.imwrite(str(DOCS / "pair.png"), picture)


main()
