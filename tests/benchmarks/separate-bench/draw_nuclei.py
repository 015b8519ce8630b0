# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws two pictures of nuclei, their components, and the parts that `separate` makes of these:

    draw_nuclei.py stage1_train docs/separate-nuclei.png

The pictures are in the public domain (CC0). The element paints; brightness is raised so that one can see the nuclei.
"""

import sys
from pathlib import Path

import cudaccl
import numpy
from PIL import Image

from nuclei import read_grey

# The beginning of a name, and the left and the top of what is shown.
SHOWN = ("4d4ebfca", 64, 64), ("44ab6a09", 0, 0)
SIDE, SCALE, GAP = 192, 2, 8


def bright(grey):
    return (grey * numpy.minimum(220 / numpy.percentile(grey, 99.5), 255 / grey.max())).astype(numpy.uint8)


def painted(grey, **settings):
    engine = cudaccl.Engine(grey.shape, backend="cpu", foreground="otsu", min_area=25, output="overlay", overlay_alpha=0.6,
                            **settings)
    return engine(grey).image[..., :3].copy()


def panels(data, start, left, top):
    folder = next(data.glob(f"{start}*"))
    grey = bright(read_grey(folder / "images" / f"{folder.name}.png"))
    for pixels in (numpy.repeat(grey[..., None], 3, axis=2), painted(grey), painted(grey, separate=0.97)):
        yield numpy.kron(pixels[top:top + SIDE, left:left + SIDE], numpy.ones((SCALE, SCALE, 1), numpy.uint8))


def main():
    data, out = map(Path, sys.argv[1:])
    side = SIDE * SCALE
    picture = numpy.full((len(SHOWN) * (side + GAP) - GAP, 3 * (side + GAP) - GAP, 3), 255, numpy.uint8)
    for row, shown in enumerate(SHOWN):
        for column, panel in enumerate(panels(data, *shown)):
            y, x = row * (side + GAP), column * (side + GAP)
            picture[y:y + side, x:x + side] = panel
    Image.fromarray(picture).save(out, optimize=True)


main()
