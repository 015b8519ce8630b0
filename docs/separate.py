#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws what `separate` cuts and what it leaves whole, as docs/separate.svg. The library cuts.

    separate.py            draws it
    separate.py --check    fails where it is not what would be drawn

Needs the Python package.
"""

import argparse
from pathlib import Path

import cudaccl
import numpy

SIDE, GAP, TITLE, LEFT = 64, 10, 14, 92
ROWS, COLUMNS = numpy.indices((SIDE, SIDE)) - (SIDE - 1) / 2
COLORS = "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"
SETTINGS = {
    "separate 0": {},
    "separate 0.8": {"separate": 0.8},
    "separate 0.97": {"separate": 0.97},
    "separate-aspect 3": {"separate": 0.97, "separate_aspect": 3},
}


def disc(x, y, radius):
    return (COLUMNS - x) ** 2 + (ROWS - y) ** 2 <= radius ** 2


def ellipse(x, y, across, along):
    return ((COLUMNS - x) / across) ** 2 + ((ROWS - y) / along) ** 2 <= 1


def box(left, top, right, bottom):
    return (COLUMNS >= left) & (COLUMNS <= right) & (ROWS >= top) & (ROWS <= bottom)


def ragged(mask):
    """Pixels at the edge change, always the same ones."""
    wider = numpy.pad(mask, 1)
    around = sum(wider[1 + y:SIDE + 1 + y, 1 + x:SIDE + 1 + x].astype(int) for y in (-1, 0, 1) for x in (-1, 0, 1))
    edge = (around > 0) & (around < 9)
    return mask ^ (edge & (numpy.random.default_rng(1).random(mask.shape) < 0.2))


def serpentine():
    mask = numpy.zeros((SIDE, SIDE), bool)
    for number, top in enumerate(range(-28, 25, 13)):
        mask |= box(-28, top, 28, top + 5)
        if top < 20:
            mask |= box(*((23, top, 28) if number % 2 == 0 else (-28, top, -23)), top + 15)
    return mask


SCENES = {
    "discs": disc(-11, -11, 14) | disc(8, 7, 14),
    "a chain": disc(-19, -16, 11) | disc(-2, -8, 10) | disc(8, 8, 12) | disc(21, 22, 8),
    "of two sizes": disc(-8, -4, 20) | disc(15, 14, 9),
    "near each other": disc(-8, 0, 14) | disc(8, 0, 14),
    "people": ellipse(-8, -2, 11, 27) | ellipse(8, 2, 11, 25),
    "ragged": ragged(disc(-11, -11, 14) | disc(8, 7, 14)),
    "line": box(-28, -5, 28, 5),
    "serpentine": serpentine(),
    "L": box(-24, -26, -10, 26) | box(-24, 12, 24, 26),
    "ring": disc(0, 0, 27) & ~disc(0, 0, 17),
    "thin ring": disc(0, 0, 20) & ~disc(0, 0, 15),
    "small, ragged": ragged(disc(-4, -3, 5) | disc(4, 3, 5)),
}


def paths(labels, x, y):
    """A path of runs for each part."""
    for label in range(1, labels.max() + 1):
        steps = []
        for row, pixels in enumerate(labels == label):
            edges = numpy.flatnonzero(numpy.diff(numpy.pad(pixels, 1).astype(int)))
            steps += [f"M{x + begin} {y + row}h{end - begin}v1h-{end - begin}z" for begin, end in edges.reshape(-1, 2)]
        yield f'<path fill="{COLORS[(label - 1) % len(COLORS)]}" d="{"".join(steps)}"/>'


def draw():
    width, height = LEFT + len(SCENES) * (SIDE + GAP), TITLE + len(SETTINGS) * (SIDE + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="DejaVu Sans, sans-serif" '
           'font-size="9">', f'<rect width="{width}" height="{height}" fill="#fcfcfc"/>']
    for row, (name, settings) in enumerate(SETTINGS.items()):
        y = TITLE + row * (SIDE + GAP)
        out.append(f'<text x="4" y="{y + SIDE / 2:g}">{name}</text>')
        for column, (title, mask) in enumerate(SCENES.items()):
            x = LEFT + column * (SIDE + GAP)
            if row == 0:
                out.append(f'<text x="{x + SIDE / 2:g}" y="10" text-anchor="middle">{title}</text>')
            out += paths(cudaccl.label(mask, backend="cpu", **settings).labels, x, y)
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
