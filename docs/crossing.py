#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws what counts at a line and a zone, as docs/crossing.svg: the library follows squares, and says where they count.

    crossing.py            draws it
    crossing.py --check    fails where it is not what would be drawn

Needs the Python package.
"""

import argparse
from pathlib import Path

import cudaccl
import numpy

WIDTH, HEIGHT, SIDE = 470, 150, 24
MARGIN = SIDE // 4
FRAME_NS = 40_000_000
LINE = (110, 106), (110, 16)
ZONE = (300, 20), (400, 20), (400, 100), (300, 100)
REGIONS = {"version": 1, "units": "pixels", "lines": [{"name": "line", "from": LINE[0], "to": LINE[1]}],
           "zones": [{"name": "zone", "polygon": ZONE}]}
COLORS = "#1f77b4", "#d62728", "#2ca02c", "#9467bd"


def walk(*columns):
    """From column to column, 2 pixels a frame."""
    steps = [columns[0]]
    for column in columns[1:]:
        while steps[-1] != column:
            steps.append(steps[-1] + max(-2, min(2, column - steps[-1])))
    return steps


SWAYING = (5, -4, 3, -5, 4, -2, 5, -3) * 3
# Columns and row of the anchors, and what is written at the first place.
PATHS = (
    (walk(30, 190), 34, "walks across"),
    (walk(30, 114, 30), 58, "walks back"),
    ([*walk(30, 110), *(110 + x for x in SWAYING), *walk(107, 30)], 80, "stands on it"),
    (walk(30, 190), 132, "passes its end"),
    (walk(222, 440), 34, "walks through"),
    (walk(222, 304, 222), 58, "walks back"),
    ([*walk(222, 300), *(300 + x for x in SWAYING), *walk(297, 222)], 80, "stands at its edge"),
    (walk(222, 440), 132, "passes by"),
)


def follow(columns, row):
    """The anchors in all frames, and those at which something counts."""
    tracker = cudaccl.Tracker((HEIGHT, WIDTH), backend="cpu", regions=REGIONS, threshold=100)
    anchors, counted = [], []
    for number, column in enumerate(columns):
        image = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
        image[row - SIDE + 1:row + 1, column - SIDE // 2:column + SIDE // 2] = 255
        result = tracker(image, time=number * FRAME_NS)
        track = result.tracks[0]
        anchors.append((track["x"] + track["width"] / 2, track["y"] + track["height"] - 0.5))
        counted += [anchors[-1] for event in result.events if event["where"] != cudaccl.NO_PLACE]
    return anchors, counted


def points(places):
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def draw():
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{2 * WIDTH}" height="{2 * HEIGHT}" '
           f'font-family="DejaVu Sans, sans-serif" font-size="8" fill="none" stroke-linejoin="round">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fcfcfc"/>']
    for tag, places, fill in (("polyline", LINE, "none"), ("polygon", ZONE, "#e8f0fa")):
        out.append(f'<{tag} points="{points(places)}" fill="{fill}" stroke="#d9d9d9" stroke-width="{2 * MARGIN}" '
                   'stroke-linecap="round"/>')
        out.append(f'<{tag} points="{points(places)}" stroke="#404040"/>')
    for number, (columns, row, text) in enumerate(PATHS):
        color = COLORS[number % len(COLORS)]
        anchors, counted = follow(columns, row)
        if columns[-1] == columns[0]:  # from the line on, each frame is drawn below the one before
            there = next(i for i, x in enumerate(columns) if x >= (110 if x < 200 else 300))
            anchors = [(x, round(y + 0.25 * max(0, i - there), 2)) for i, (x, y) in enumerate(anchors)]
        end = anchors[-1]
        out.append(f'<text x="{columns[0]}" y="{row - 3}" fill="{color}">{text}</text>')
        out.append(f'<polyline points="{points(anchors)}" stroke="{color}"/>')
        out.append(f'<circle cx="{end[0]:g}" cy="{end[1]:g}" r="2.5" stroke="{color}" fill="#fcfcfc"/>')
        out += [f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="{color}"/>' for x, y in counted]
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    path = Path(__file__).with_suffix(".svg")
    if not parser.parse_args().check:
        path.write_text(draw(), encoding="utf-8")
    elif path.read_text(encoding="utf-8") != draw():
        raise SystemExit(f"{path.name} is not what {Path(__file__).name} draws")


if __name__ == "__main__":
    main()
