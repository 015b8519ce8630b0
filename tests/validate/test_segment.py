# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground of real images against SciPy, scikit-image and, where it is installed, OpenCV.

    test_segment.py PATH/TO/ccl-records [cpu|cuda]
"""

import inspect
import os
import sys

from test_outsiders import ALL_IMAGES, label, skip_without_backend

import numpy
import pytest
import scipy.ndimage as scipy_ndimage
from skimage import filters, morphology

try:
    import cv2
except ImportError:
    cv2 = None

SHAPES = ["square", "cross"]


def foreground(image, folder, *settings):
    """The pixels that cudaccl labels."""
    return label(image, folder, *settings)[0] > 0


def element(shape, radius):
    structure = numpy.zeros((2 * radius + 1, 2 * radius + 1), bool)
    structure[radius, :] = structure[:, radius] = True
    structure[:, :] |= shape == "square"
    return structure


def window_sums(values, radius):
    """Sums over the windows of all pixels, cut off at the borders."""
    height, width = values.shape
    table = numpy.zeros((height + 1, width + 1), numpy.int64)
    table[1:, 1:] = values.cumsum(0).cumsum(1)
    top = numpy.clip(numpy.arange(height) - radius, 0, height)[:, None]
    bottom = numpy.clip(numpy.arange(height) + radius + 1, 0, height)[:, None]
    left = numpy.clip(numpy.arange(width) - radius, 0, width)[None, :]
    right = numpy.clip(numpy.arange(width) + radius + 1, 0, width)[None, :]
    return table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]


def filled(mask, largest, corners):
    """Fills the holes of at most `largest` pixels that do not touch the border."""
    holes, count = scipy_ndimage.label(~mask, numpy.ones((3, 3)) if corners else None)
    is_filled = numpy.bincount(holes.ravel(), minlength=count + 1) <= largest
    for edge in (holes[0], holes[-1], holes[:, 0], holes[:, -1]):
        is_filled[edge] = False
    is_filled[0] = False
    return mask | is_filled[holes]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_otsu(name, invert, tmp_path):
    image = ALL_IMAGES[name]
    found = foreground(image, tmp_path, "foreground=otsu", f"invert={str(invert).lower()}")
    numpy.testing.assert_array_equal(found, (image > filters.threshold_otsu(image)) != invert)
    if cv2 is not None:
        expected = cv2.threshold(image, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1] > 0
        numpy.testing.assert_array_equal(found, expected != invert)


@pytest.mark.parametrize("radius, offset", [(1, 0), (7, 5), (15, 10), (127, -20)])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_local_mean(name, radius, offset, tmp_path):
    image = ALL_IMAGES[name]
    found = foreground(
        image, tmp_path, "foreground=local", f"local-radius={radius}", f"local-offset={offset}"
    )
    values = image.astype(numpy.int64)
    n = window_sums(numpy.ones_like(values), radius)
    numpy.testing.assert_array_equal(found, values * n >= window_sums(values, radius) - offset * n)


@pytest.mark.parametrize("radius, k", [(3, 0.25), (12, 0.5), (40, 1)])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_local_deviation(name, radius, k, tmp_path):
    """scikit-image rounds, and mirrors the frame at its borders."""
    image = ALL_IMAGES[name]
    found = foreground(
        image, tmp_path, "foreground=local", f"local-radius={radius}", "local-offset=0", f"local-deviation={k}"
    )
    threshold = filters.threshold_sauvola(image, window_size=2 * radius + 1, k=k, r=128)
    is_clear = numpy.abs(image - threshold) > 0.05
    inner = (slice(radius, -radius), slice(radius, -radius))
    assert is_clear[inner].mean() > 0.7  # black areas reach their threshold of 0
    numpy.testing.assert_array_equal(found[inner][is_clear[inner]], (image >= threshold)[inner][is_clear[inner]])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("opening, closing", [(1, 0), (0, 1), (3, 3), (8, 2), (5, 8)])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_morphology(name, opening, closing, shape, tmp_path):
    image = ALL_IMAGES[name]
    threshold = int(filters.threshold_otsu(image)) + 1
    found = foreground(
        image,
        tmp_path,
        f"threshold={threshold}",
        f"open-radius={opening}",
        f"close-radius={closing}",
        f"morphology-shape={shape}",
    )
    expected = image >= threshold
    if opening:
        structure = element(shape, opening)
        expected = scipy_ndimage.binary_erosion(expected, structure, border_value=1)
        expected = scipy_ndimage.binary_dilation(expected, structure)
    if closing:
        structure = element(shape, closing)
        expected = scipy_ndimage.binary_dilation(expected, structure)
        expected = scipy_ndimage.binary_erosion(expected, structure, border_value=1)
    numpy.testing.assert_array_equal(found, expected)
    if cv2 is not None:
        by_opencv = (image >= threshold).astype(numpy.uint8)
        for radius, operation in ((opening, cv2.MORPH_OPEN), (closing, cv2.MORPH_CLOSE)):
            if radius:
                structure = element(shape, radius).astype(numpy.uint8)
                by_opencv = cv2.morphologyEx(by_opencv, operation, structure)
        numpy.testing.assert_array_equal(found, by_opencv > 0)


def remove_holes(mask, largest, connectivity):
    """Without holes of up to `largest` pixels. scikit-image 0.26 has another parameter for it."""
    has_max_size = "max_size" in inspect.signature(morphology.remove_small_holes).parameters
    size = {"max_size": largest} if has_max_size else {"area_threshold": largest + 1}
    return morphology.remove_small_holes(mask, connectivity=connectivity, **size)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("largest", [1, 40, 2**31 - 1])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_fill_holes(name, largest, connectivity, tmp_path):
    image = ALL_IMAGES[name]
    threshold = int(filters.threshold_otsu(image)) + 1
    found = foreground(
        image,
        tmp_path,
        f"threshold={threshold}",
        f"fill-holes={largest}",
        f"connectivity={4 * connectivity}-way",
    )
    mask = image >= threshold
    corners = connectivity == 1
    numpy.testing.assert_array_equal(found, filled(mask, largest, corners))
    structure = numpy.ones((3, 3)) if corners else None
    all_filled = scipy_ndimage.binary_fill_holes(mask, structure)
    if largest > image.size:
        numpy.testing.assert_array_equal(found, all_filled)
    else:  # scikit-image fills background at the border too
        small = remove_holes(mask, largest, 2 if corners else 1)
        numpy.testing.assert_array_equal(found, small & all_filled)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_hysteresis(name, connectivity, tmp_path):
    image = ALL_IMAGES[name]
    high = int(filters.threshold_otsu(image)) + 20
    low = max(1, high - 60)
    _, records = label(
        image, tmp_path, f"threshold={high}", f"threshold-low={low}", f"connectivity={4 * connectivity}-way"
    )
    structure = scipy_ndimage.generate_binary_structure(2, connectivity)
    labels = scipy_ndimage.label(image >= low, structure)[0]
    kept = numpy.unique(labels[image >= high])
    assert [record["label"] for record in records] == list(kept)
    areas = numpy.bincount(labels.ravel())
    assert [record["area"] for record in records] == list(areas[kept])
    if connectivity == 1:  # scikit-image connects over edges
        mask = filters.apply_hysteresis_threshold(image, low - 0.5, high - 0.5)
        numpy.testing.assert_array_equal(numpy.isin(labels, kept), mask)


if __name__ == "__main__":
    os.environ["CCL_RECORDS"] = sys.argv[1]
    os.environ["CUDACCL_TEST_BACKEND"] = sys.argv[2]
    skip_without_backend(sys.argv[2])
    if cv2 is None:
        print("without OpenCV: install python3-opencv to compare with it too")
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
