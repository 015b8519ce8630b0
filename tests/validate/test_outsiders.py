# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels and records of real images against SciPy and scikit-image, which share nothing with cudaccl.

    test_outsiders.py PATH/TO/ccl-records [cpu|cuda]
"""

import csv
import os
import subprocess
import sys

try:
    import numpy
    import pytest
    import scipy.ndimage as scipy_ndimage
    import skimage.data as skimage_data
    from skimage import filters, measure
except ImportError as missing:
    print(f"skipped: {missing}; install python3-pytest, python3-scipy and python3-skimage")
    sys.exit(77)

IMAGES = ["camera", "coins", "page", "horse", "moon", "cell", "brick", "grass", "clock", "hubble_deep_field"]
ENOUGH_IMAGES = 4


def load_images():
    """Those of scikit-image's example images that came with it, as 8-bit grey."""
    images = {}
    for name in IMAGES:
        try:
            image = getattr(skimage_data, name)()
        except Exception:  # not shipped: older releases raise this, newer ones that, and some try to download
            continue
        if image.dtype == bool:
            image = image * numpy.uint8(255)
        elif image.dtype != numpy.uint8:
            continue
        if image.ndim == 3:
            image = image[..., :3].mean(axis=2).astype(numpy.uint8)
        images[name] = numpy.ascontiguousarray(image[:512, :512])
    return images


ALL_IMAGES = load_images()


def label(image, folder, *settings):
    """Labels and records by cudaccl."""
    height, width = image.shape
    (folder / "frame.gray").write_bytes(image.tobytes())
    program = os.environ.get("CCL_RECORDS", "ccl-records")
    backend = os.environ.get("CUDACCL_TEST_BACKEND", "cpu")
    command = [program, "--raw", f"{width}x{height}", "--backend", backend, "--output", folder / "records.csv"]
    command += ["--labels", folder / "labels.u16", "--set", "max-components=65535"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run([*command, folder / "frame.gray"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    labels = numpy.fromfile(folder / "labels.u16", dtype="<u2").reshape(height, width)
    with open(folder / "records.csv", newline="") as file:
        records = [
            {key: value if key == "flags" else float(value) for key, value in row.items()
             if key not in ("source", "pts")}
            for row in csv.DictReader(file)
        ]
    return labels, records


def perimeters(labels):
    """Edges between each component and what is not it, the outside included; index 0 is the background's."""
    padded = numpy.pad(labels.astype(numpy.int64), 1)
    count = numpy.zeros(labels.max() + 1, numpy.int64)
    for axis in (0, 1):
        for step in (1, -1):
            edge = padded != numpy.roll(padded, step, axis)
            count += numpy.bincount(padded[edge], minlength=count.size)
    return count


def check(labels, records, expected, segments, connectivity):
    numpy.testing.assert_array_equal(labels, expected)
    regions = measure.regionprops(expected)
    assert len(records) == len(regions)
    edges = perimeters(expected)
    height, width = expected.shape
    reals = []
    for record, region in zip(records, regions):
        top, left, bottom, right = region.bbox
        assert record["label"] == record["id"] == region.label
        assert record["area"] == region.area
        assert tuple(record[f"box_{side}"] for side in ("x", "y", "width", "height")) == (
            left, top, right - left, bottom - top)
        moments = region.moments_central / region.area
        reals.append([*region.centroid[::-1], moments[0, 2], moments[1, 1], moments[2, 0]])
        assert record["perimeter"] == edges[region.label]
        assert record["euler"] == measure.euler_number(region.image, connectivity=connectivity)
        touches = left == 0 or top == 0 or right == width or bottom == height
        assert record["flags"] == ("touches_border" if touches else "")
        assert record["value"] == segments[tuple(region.coords[0])]
        assert record["age"] == 0
    names = ("centroid_x", "centroid_y", "moments_xx", "moments_xy", "moments_yy")
    found = [[record[name] for name in names] for record in records]
    numpy.testing.assert_allclose(found, reals, rtol=1e-5, atol=1e-4)


def part_of(name):
    """scikit-image takes a millisecond for each component, and whole images have some thousand."""
    return numpy.ascontiguousarray(ALL_IMAGES[name][:256, :256])


def test_enough_images_came_along():
    assert len(ALL_IMAGES) >= ENOUGH_IMAGES, list(ALL_IMAGES)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_binary(name, invert, connectivity, tmp_path):
    image = part_of(name)
    threshold = int(filters.threshold_otsu(image)) + 1
    foreground = (image < threshold) if invert else (image >= threshold)
    labels, records = label(
        image,
        tmp_path,
        f"threshold={threshold}",
        f"invert={str(invert).lower()}",
        f"connectivity={4 * connectivity}-way",
    )
    expected = measure.label(foreground, connectivity=connectivity)
    check(labels, records, expected, numpy.where(foreground, 255, 0), connectivity)
    structure = scipy_ndimage.generate_binary_structure(2, connectivity)
    numpy.testing.assert_array_equal(labels, scipy_ndimage.label(foreground, structure)[0])


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_values(name, connectivity, tmp_path):
    segments = part_of(name) // 64 * 60
    labels, records = label(segments, tmp_path, "foreground=values", f"connectivity={4 * connectivity}-way")
    check(labels, records, measure.label(segments, background=0, connectivity=connectivity), segments, connectivity)


def skip_without_backend(backend):
    """Ends the program, which Meson then reports as skipped, without a GPU for this backend."""
    probe = subprocess.run(
        ["gst-launch-1.0", "videotestsrc", "num-buffers=1", "!", "cudaccl", f"backend={backend}", "!", "fakesink"],
        capture_output=True,
        text=True,
    )
    if probe.returncode != 0 and backend == "cuda":
        print(f"skipped: no GPU: {probe.stderr}")
        sys.exit(77)


if __name__ == "__main__":
    os.environ["CCL_RECORDS"] = sys.argv[1]
    os.environ["CUDACCL_TEST_BACKEND"] = sys.argv[2]
    skip_without_backend(sys.argv[2])
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
