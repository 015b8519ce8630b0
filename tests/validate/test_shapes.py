# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grey statistics, hulls, smallest rectangles, contours and inscribed circles of real images against SciPy.

    test_shapes.py PATH/TO/ccl-records [cpu|cuda]
"""

import os
import sys

from record_tables import COMPONENT, GREY, POLYGON, VERTEX, table_of
from test_outsiders import ALL_IMAGES, skip_without_backend

import numpy
import pytest
import scipy.ndimage as scipy_ndimage
from scipy.spatial import ConvexHull
from skimage import filters, measure

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp  # noqa: F401  (GstApp gives appsink its methods)
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; install python3-gi and python3-gst-1.0")
    sys.exit(77)

RECTANGLE, HULL, OUTLINE, HOLE, CIRCLE = 1, 2, 3, 4, 5
EDGES = None
CORNERS = numpy.ones((3, 3))


def shapes(image: numpy.ndarray, settings: str, caps_format: str = "GRAY8"):
    """The components, grey statistics, polygons and vertices of a frame."""
    height, width = image.shape
    backend = os.environ.get("CUDACCL_TEST_BACKEND", "cpu")
    pipeline = Gst.parse_launch(
        f'appsrc name=in format=time caps="video/x-raw,format={caps_format},'
        f'width={width},height={height},framerate=25/1"'
        f" ! cudaccl backend={backend} output=passthrough"
        " features=perimeter+euler+grey+rectangle+hull+contour+inradius"
        f" max-objects=65535 max-components=65535 {settings} ! appsink name=out sync=false"
    )
    row = (width * image.itemsize + 3) // 4 * 4
    rows = numpy.zeros((height, row), numpy.uint8)
    rows[:, : width * image.itemsize] = numpy.ascontiguousarray(image).view(numpy.uint8).reshape(height, -1)
    buffer = Gst.Buffer.new_wrapped(rows.tobytes())
    buffer.pts = 0
    pipeline.set_state(Gst.State.PLAYING)
    try:
        assert pipeline.get_by_name("in").push_buffer(buffer) == Gst.FlowReturn.OK
        sample = pipeline.get_by_name("out").try_pull_sample(60 * Gst.SECOND)
        assert sample, pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        structure = sample.get_buffer().get_custom_meta("GstCudaCclMeta").get_structure()
        assert not structure.get_value("polygons-truncated")
        return (table_of(structure, "components", COMPONENT), table_of(structure, "grey", GREY),
                table_of(structure, "polygons", POLYGON), table_of(structure, "vertices", VERTEX))
    finally:
        pipeline.set_state(Gst.State.NULL)


def labels_of(image: numpy.ndarray, threshold: int, connectivity: int) -> numpy.ndarray:
    return measure.label(image >= threshold, connectivity=connectivity)


def check_grey(image, labels, components, grey):
    index = components["label"]
    numpy.testing.assert_array_equal(grey["label"], index)
    values = image.astype(numpy.float64)
    numpy.testing.assert_array_equal(grey["sum"], scipy_ndimage.sum_labels(values, labels, index))
    numpy.testing.assert_array_equal(grey["min"], scipy_ndimage.minimum(image, labels, index))
    numpy.testing.assert_array_equal(grey["max"], scipy_ndimage.maximum(image, labels, index))
    numpy.testing.assert_allclose(grey["mean"], scipy_ndimage.mean(values, labels, index), rtol=1e-6)
    numpy.testing.assert_allclose(grey["variance"], scipy_ndimage.variance(values, labels, index), rtol=1e-5, atol=1e-5)
    rows, columns = numpy.array(scipy_ndimage.center_of_mass(values, labels, index)).T
    numpy.testing.assert_allclose(grey["cx"], columns, rtol=1e-6, atol=1e-5)
    numpy.testing.assert_allclose(grey["cy"], rows, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_grey(name, connectivity):
    image = ALL_IMAGES[name]
    threshold = int(filters.threshold_otsu(image)) + 1
    labels = labels_of(image, threshold, connectivity)
    components, grey, _, _ = shapes(image, f"threshold={threshold} connectivity={4 * connectivity}-way")
    assert len(components) == labels.max()
    check_grey(image, labels, components, grey)


def test_grey_of_all_bits():
    image = ALL_IMAGES[next(iter(ALL_IMAGES))].astype("<u2")
    image = image * 251 + numpy.arange(image.size, dtype="<u2").reshape(image.shape) % 97
    components, grey, _, _ = shapes(image, "threshold=30000 min-area=5", "GRAY16_LE")
    labels = labels_of(image, 30000, 2)
    assert len(components) > 0
    check_grey(image, labels, components, grey)


def polygons_by_label(polygons, vertices):
    """{label: {kind: [array of vertices]}}"""
    found = {}
    for polygon in polygons:
        points = vertices[polygon["first"] : polygon["first"] + polygon["n_vertices"]].astype(numpy.float64)
        found.setdefault(polygon["label"], {}).setdefault(polygon["kind"], []).append(points)
    return found


def signed_area(points) -> float:
    x, y = points.T
    return float(numpy.dot(x, numpy.roll(y, -1)) - numpy.dot(y, numpy.roll(x, -1))) / 2


def pixel_corners(mask, left: int, top: int):
    y, x = numpy.nonzero(mask)
    return numpy.concatenate([numpy.stack([x + left + dx, y + top + dy], 1) for dx in (0, 1) for dy in (0, 1)])


def smallest_rectangle_area(hull) -> float:
    """Over all directions of the hull's edges."""
    edges = numpy.roll(hull, -1, 0) - hull
    edges = edges / numpy.hypot(*edges.T)[:, None]
    along = hull @ edges.T
    across = hull @ numpy.stack([-edges[:, 1], edges[:, 0]])
    return float((numpy.ptp(along, axis=0) * numpy.ptp(across, axis=0)).min())


def largest_shapes(name, connectivity):
    """Labels of an image, the records of its 80 largest components, and their polygons by label."""
    image = ALL_IMAGES[name]
    threshold = int(filters.threshold_otsu(image)) + 1
    components, _, polygons, vertices = shapes(
        image, f"threshold={threshold} connectivity={4 * connectivity}-way min-area=30 top-n=80")
    return labels_of(image, threshold, connectivity), components, polygons_by_label(polygons, vertices)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_polygons(name, connectivity):
    labels, components, found = largest_shapes(name, connectivity)
    assert set(found) == set(components["label"]) and len(found) > 0
    background = EDGES if connectivity == 2 else CORNERS
    for record, slices in zip(components, (scipy_ndimage.find_objects(labels)[i - 1] for i in components["label"])):
        shape = found[record["label"]]
        mask = labels[slices] == record["label"]
        expected = ConvexHull(pixel_corners(mask, int(record["x"]), int(record["y"])))
        (hull,) = shape[HULL]
        assert {tuple(p) for p in hull} == {tuple(p) for p in expected.points[expected.vertices]}
        assert signed_area(hull) == pytest.approx(expected.volume)
        (rectangle,) = shape[RECTANGLE]
        sides = numpy.hypot(*(rectangle[1:3] - rectangle[0:2]).T)
        assert sides.prod() == pytest.approx(smallest_rectangle_area(hull), rel=1e-4)
        (outline,) = shape[OUTLINE]
        filled = scipy_ndimage.binary_fill_holes(mask, background)
        assert signed_area(outline) == filled.sum()
        n_holes = scipy_ndimage.label(filled & ~mask, background)[1]
        holes = shape.get(HOLE, [])
        assert len(holes) == n_holes == 1 - record["euler"]
        assert signed_area(outline) + sum(map(signed_area, holes)) == record["area"]


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_circles(name, connectivity):
    labels, components, found = largest_shapes(name, connectivity)
    assert len(components) > 0
    for label in components["label"]:
        distances = scipy_ndimage.distance_transform_edt(labels == label)
        y, x = numpy.unravel_index(distances.argmax(), distances.shape)  # the first of equal ones
        ((center, right),) = found[label][CIRCLE]
        assert tuple(center) == (x + 0.5, y + 0.5) and right[1] == center[1]
        assert right[0] - center[0] == pytest.approx(distances.max() - 0.5, abs=1e-3)


if __name__ == "__main__":
    os.environ["CCL_RECORDS"] = sys.argv[1]
    os.environ["CUDACCL_TEST_BACKEND"] = sys.argv[2]
    skip_without_backend(sys.argv[2])
    Gst.init(None)
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
