# SPDX-License-Identifier: LGPL-2.1-or-later
"""label() and Result.table() against SciPy and scikit-image, which share nothing with cudaccl."""

import itertools
import threading
import warnings

import numpy
import pytest
import scipy.ndimage
import skimage
from numpy.lib import NumpyVersion
from skimage import measure

import cudaccl

SKIMAGE = NumpyVersion(skimage.__version__)
RANDOM = numpy.random.default_rng(20)
SQUARE = numpy.ones((3, 3), int)


def noise(shape, density):
    return RANDOM.random(shape) < density


def blobs(shape):
    smooth = scipy.ndimage.gaussian_filter(RANDOM.random(shape), 3)
    return smooth > numpy.quantile(smooth, 0.6)


IMAGES = {
    "sparse": noise((97, 131), 0.1), "dense": noise((97, 131), 0.6), "blobs": blobs((240, 333)),
    "row": noise((1, 200), 0.5), "column": noise((200, 1), 0.5), "pixel": numpy.ones((1, 1), bool),
    "empty": numpy.zeros((20, 30), bool), "full": numpy.ones((20, 30), bool),
}


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("name", IMAGES)
def test_labels_are_those_of_scikit_image(name, connectivity):
    image = IMAGES[name]
    labels, records = cudaccl.label(image, connectivity)
    expected, count = measure.label(image, connectivity=connectivity // 4, return_num=True)
    assert labels.dtype == numpy.int32 and labels.shape == image.shape
    numpy.testing.assert_array_equal(labels, expected)
    assert list(records["label"]) == list(range(1, count + 1))
    areas = scipy.ndimage.sum_labels(image, labels, records["label"])
    numpy.testing.assert_array_equal(records["area"], areas)


@pytest.mark.parametrize("dtype, value", [
    (numpy.uint8, 1), (numpy.uint8, 255), (numpy.uint16, 256), (numpy.uint16, 65535),
])
def test_types(dtype, value):
    image = IMAGES["dense"].astype(dtype) * dtype(value)
    numpy.testing.assert_array_equal(cudaccl.label(image).labels, measure.label(image != 0))


def test_skimage_connectivity():
    for own, theirs in [(4, 1), (8, 2)]:
        numpy.testing.assert_array_equal(
            cudaccl.label(IMAGES["dense"], own).labels, cudaccl.label(IMAGES["dense"], theirs).labels)


@pytest.mark.parametrize("dtype", [bool, numpy.uint8, numpy.uint16])
@pytest.mark.parametrize("background", [0, 1, 7, 255, 65535])
def test_background(dtype, background):
    largest = 1 if dtype is bool else numpy.iinfo(dtype).max
    image = RANDOM.choice([0, min(1, largest), min(7, largest), largest], (50, 60)).astype(dtype)
    if background > largest:
        with pytest.raises(ValueError, match="background"):
            cudaccl.label(image, background=background)
        return
    numpy.testing.assert_array_equal(
        cudaccl.label(image, background=background).labels, measure.label(image != background))


@pytest.mark.parametrize("background", [0, 1, 3])
def test_values_are_segments(background):
    image = RANDOM.integers(0, 4, (40, 50)).astype(numpy.uint8)
    labels, records = cudaccl.label(image, 4, foreground="values", background=background)
    numpy.testing.assert_array_equal(labels, measure.label(image, background=background, connectivity=1))
    first = [numpy.argmax(labels.ravel() == label) for label in records["label"]]
    numpy.testing.assert_array_equal(records["value"], image.ravel()[first])
    with pytest.raises(ValueError, match="uint8, not uint16"):  # of which the labeler sees the upper 8 bits
        cudaccl.label(image.astype(numpy.uint16), foreground="values", background=background)


@pytest.mark.parametrize("shape,warns", [((8, 9, 3), True), ((8, 9, 4), True), ((8, 9, 5), False), ((8, 4, 4), False)])
@pytest.mark.parametrize("options", [{}, {"max_components": 7}])
def test_an_image_in_colours_is_no_batch(shape, warns, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cudaccl.label(numpy.zeros(shape, numpy.uint8), **options)
        if not options:
            cudaccl.Engine(shape)
            warns += warns
    assert ["3 pixels wide" in str(one.message) or "4 pixels wide" in str(one.message) for one in caught] == [True] * warns
    assert all(one.filename == __file__ for one in caught)


def test_shapes_and_values_that_suit_no_image():
    pixels = numpy.zeros((8, 9, 3), numpy.uint8)
    with pytest.raises(ValueError, match="the engine's shape has no channels"):
        cudaccl.Engine(pixels.shape, format="rgb")(pixels)
    for shape in (480, "480x640"):
        with pytest.raises(TypeError, match=f"shape is {shape!r}; it is \\(height, width\\)"):
            cudaccl.Engine(shape)
    for name in ("threshold", "threshold_low"):
        with pytest.raises(ValueError, match=f"{name} is 2; an image of bool has the values 0 and 1"):
            cudaccl.label(pixels[:, :, 0] > 0, **{name: 2})
    with pytest.raises(ValueError, match="threshold_low=10 is more than threshold=9: there is no hysteresis"):
        cudaccl.label(pixels[0], threshold=9, threshold_low=10)
    cudaccl.label(pixels[0], threshold=9, threshold_low=10, foreground="otsu")  # which has neither
    with pytest.raises(ValueError, match="an image of bool has values from 0 to 1"):
        cudaccl.label(pixels[:, :, 0] > 0, background=255)
    with pytest.raises(TypeError, match="invert is 'no'; it is true or false"):
        cudaccl.label(pixels[:, :, 0], invert="no")


def test_batch():
    images = numpy.stack([noise((33, 47), density) for density in (0.1, 0.4, 0.0, 0.7, 1.0)])
    result = cudaccl.label(images)
    assert result.labels.shape == images.shape and len(result.records) == 5
    for image, labels, records in zip(images, *result):
        one = cudaccl.label(image)
        numpy.testing.assert_array_equal(labels, one.labels)
        numpy.testing.assert_array_equal(records, one.records)
    assert list(result.table("frame")) == ["frame"]
    table = result.table(["frame", "label", "area"])
    assert list(table["frame"]) == sum([[i] * len(r) for i, r in enumerate(result.records)], [])


@pytest.mark.parametrize("n_images", [2**61 - 1, 2**61 + 1, 2**62, 2**63 - 1])
def test_labels_of_more_images_than_memory_has(n_images):
    """An array that repeats its only pixel takes one byte."""
    with pytest.raises(MemoryError):
        cudaccl.label(numpy.broadcast_to(numpy.zeros((1, 1, 1), numpy.uint8), (n_images, 1, 1)))


def test_filters_remove_from_labels():
    image = IMAGES["dense"]
    everything = cudaccl.label(image)
    kept = cudaccl.label(image, min_area=5)
    large = everything.records[everything.records["area"] >= 5]
    numpy.testing.assert_array_equal(kept.records, large)
    expected = numpy.where(numpy.isin(everything.labels, large["label"]), everything.labels, 0)
    numpy.testing.assert_array_equal(kept.labels, expected)
    assert kept.n_labels == everything.n_labels and kept.n_components == len(large)


def test_all_components_have_records():
    image = numpy.zeros((400, 400), bool)
    image[::2, ::2] = True
    result = cudaccl.label(image, 4)
    assert len(result.records) == 40_000 and not result.overflow
    few = cudaccl.label(image, 4, max_components=10)
    assert len(few.records) == 10 and few.overflow and few.n_components == 40_000


def test_more_components_than_records_can_be(monkeypatch):
    monkeypatch.setattr("cudaccl._label._FEW", 100)
    monkeypatch.setattr("cudaccl._label._MOST", 1000)
    image = numpy.zeros((80, 80), bool)
    image[::2, ::2] = True
    with pytest.raises(ValueError, match="has 1600 components, and at most 1000 can have records: min_area removes"):
        cudaccl.label(image, 4)
    assert len(cudaccl.label(image[:40], 4).records) == 800
    assert len(cudaccl.label(image, 4, max_components=10).records) == 10


def test_results_are_the_callers():
    first = cudaccl.label(IMAGES["dense"])
    labels, records = first.labels.copy(), first.records.copy()
    cudaccl.label(~IMAGES["dense"])
    numpy.testing.assert_array_equal(first.labels, labels)
    numpy.testing.assert_array_equal(first.records, records)
    first.labels[0, 0] = 7
    first.records["area"] = 0  # neither is read-only


def test_threads_have_engines_of_their_own():
    expected = {name: measure.label(image) for name, image in IMAGES.items()}
    failures = []

    def work():
        for _ in range(20):
            for name, image in IMAGES.items():
                if not numpy.array_equal(cudaccl.label(image).labels, expected[name]):
                    failures.append(name)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("name", IMAGES)
def test_table_is_that_of_scikit_image(name, connectivity):
    result = cudaccl.label(IMAGES[name], connectivity)
    table = result.table()
    own = {"id", "age", "flags", "perimeter_edges", "euler_number_4"}
    names = {column.split("-")[0] for column in table} - own
    assert ("euler_number" in names) == (connectivity == 8)
    if SKIMAGE < "0.20.0":
        own.add("num_pixels")
    expected = measure.regionprops_table(result.labels, properties=tuple(sorted(names - own)))
    for column, values in table.items():
        if column.split("-")[0] in own:
            continue
        assert len(values) == len(result.records)
        if column == "orientation":  # of a horizontal axis, pi/2 and -pi/2 are the same
            values, expected[column] = numpy.cos(2 * values), numpy.cos(2 * expected[column])
        numpy.testing.assert_allclose(
            values, expected[column], rtol=2e-6, atol=tolerance(column, result.records), err_msg=column)
        if column in ("label", "bbox-0", "bbox-1", "bbox-2", "bbox-3", "euler_number", "num_pixels"):
            assert values.dtype.kind == "i"


def tolerance(column, records):
    """Moments are floats of 32 bits: what is their difference, or its root, has their error."""
    largest = max(1.0, float(records["mxx"].max(initial=0) + records["myy"].max(initial=0)))
    if column.startswith(("axis_minor", "eccentricity", "orientation")):
        return 4 * (2e-7 * largest) ** 0.5
    if column.startswith("moments"):
        return 2e-7 * largest * max(1.0, float(records["area"].max(initial=1)))
    if column.startswith("centroid"):
        return 2e-7 * max(1.0, *(float(records[name].max(initial=0)) for name in ("cx", "cy")))
    return 2e-6 * largest


@pytest.mark.skipif(SKIMAGE < "0.21.0", reason="scikit-image before 0.21 has the other sign")
def test_orientation_of_even_shapes():
    """Where both moments are equal, the sign of the third one decides, as in scikit-image."""
    image = numpy.zeros((12, 40), bool)
    image[2:5, 2:5] = True
    for i in range(6):
        image[3 + i, 10 + i] = True
        image[3 + i, 30 - i] = True
    result = cudaccl.label(image)
    expected = measure.regionprops_table(result.labels, properties=("orientation",))
    numpy.testing.assert_allclose(result.table(["orientation"])["orientation"], expected["orientation"])


def test_edges_and_euler_number_of_4():
    image = IMAGES["dense"]
    result = cudaccl.label(image, 4)
    padded = numpy.pad(result.labels, 1)
    edges = numpy.zeros(len(result.records) + 1, int)
    for axis in (0, 1):
        for step in (1, -1):
            differs = padded != numpy.roll(padded, step, axis)
            edges += numpy.bincount(padded[differs], minlength=edges.size)
    table = result.table(["perimeter_edges", "euler_number_4"])
    numpy.testing.assert_array_equal(table["perimeter_edges"], edges[1:])
    expected = [measure.euler_number(result.labels == label, connectivity=1) for label in result.records["label"]]
    numpy.testing.assert_array_equal(table["euler_number_4"], expected)


def test_table_of_what_was_not_measured():
    result = cudaccl.label(IMAGES["blobs"], features=["perimeter"])
    table = result.table()
    assert "perimeter_edges" in table and "centroid-0" in table
    assert "orientation" not in table and "euler_number" not in table
    for name in ("orientation", "euler_number", "perimeter", "frame"):
        with pytest.raises(ValueError, match=name):
            result.table([name])
    assert list(result.table(["bbox"], separator="_")) == ["bbox_0", "bbox_1", "bbox_2", "bbox_3"]


def ellipse(x, y, across, along, shape=(70, 100)):
    rows, columns = numpy.indices(shape)
    return ((columns - x) / across) ** 2 + ((rows - y) / along) ** 2 <= 1


@pytest.mark.parametrize("connectivity", [4, 8])
def test_separate(connectivity):
    left, right = ellipse(30, 35, 22, 22), ellipse(66, 35, 22, 22)
    image = left | right
    assert len(cudaccl.label(image, connectivity).records) == 1
    labels, records = cudaccl.label(image, connectivity, separate=0.97, min_area=25)
    assert list(records["label"]) == [1, 2] and records["area"].sum() == image.sum()
    numpy.testing.assert_array_equal(labels > 0, image)
    assert len(numpy.unique(labels[left & ~right])) == len(numpy.unique(labels[right & ~left])) == 1
    assert labels[35, 30] != labels[35, 66]


def test_separate_cuts_less_with_less():
    image = ellipse(40, 35, 22, 22) | ellipse(66, 35, 22, 22)
    assert [len(cudaccl.label(image, separate=value).records) for value in (0.5, 0.97)] == [1, 2]


def test_separate_aspect():
    image = ellipse(40, 33, 11, 27) | ellipse(56, 37, 11, 25)
    assert [len(cudaccl.label(image, separate=0.97, separate_aspect=aspect).records) for aspect in (1, 3)] == [1, 2]


def test_separate_leaves_lines_whole():
    image = numpy.zeros((70, 100), bool)
    image[30:38, 5:95] = True
    numpy.testing.assert_array_equal(cudaccl.label(image, separate=0.97).labels, image)


def test_separate_values():
    """Each value for itself: an object of another value is background of the first."""
    image = (ellipse(30, 35, 22, 22) | ellipse(66, 35, 22, 22)).astype(numpy.uint8)
    image[35:] *= 2
    labels = cudaccl.label(image, foreground="values", separate=0.97).labels
    for value in (1, 2):
        of_value = labels * (image == value)
        assert not numpy.isin(labels[image == 3 - value], of_value[of_value > 0]).any()
        numpy.testing.assert_array_equal(of_value > 0, image == value)


@pytest.mark.parametrize("image, error, text", [
    ([[0, 1]], TypeError, "list"),
    (None, TypeError, "NoneType"),
    (numpy.zeros((4, 4), numpy.float32), TypeError, "float32"),
    (numpy.zeros((4, 4), numpy.int64), TypeError, "int64"),
    (numpy.zeros((4, 4), ">u2"), TypeError, "u2"),
    (numpy.zeros(4, numpy.uint8), ValueError, "shape|height"),
    (numpy.zeros((1, 2, 3, 4), numpy.uint8), ValueError, "height"),
    (numpy.zeros((0, 4), numpy.uint8), ValueError, "empty"),
    (numpy.zeros((4, 0), numpy.uint8), ValueError, "empty"),
    (numpy.zeros((0, 4, 4), numpy.uint8), ValueError, "empty"),
    (numpy.zeros((1, 32769), numpy.uint8), ValueError, "32768"),
    (numpy.zeros((4, 5), numpy.uint8, order="F"), ValueError, "ascontiguousarray"),
    (numpy.zeros((4, 5), numpy.uint8)[::-1], ValueError, "ascontiguousarray"),
    (numpy.zeros((4, 5), numpy.uint8)[:, ::-1], ValueError, "ascontiguousarray"),
    (numpy.zeros((4, 5), numpy.uint8)[:, ::2], ValueError, "ascontiguousarray"),
    (numpy.broadcast_to(numpy.zeros(5, numpy.uint8), (4, 5)), ValueError, "ascontiguousarray"),
    (numpy.frombuffer(bytes(41), numpy.uint8)[1:].view(numpy.uint16).reshape(4, 5), ValueError, "aligned"),
])
def test_bad_image(image, error, text):
    with pytest.raises(error, match=text):
        cudaccl.label(image)


def test_a_component_that_is_exactly_at_a_limit_is_kept():
    """Whatever the limit becomes: an L fills (height + width - 1) / (height * width) of its box."""
    for height, width in itertools.product(range(2, 16), repeat=2):
        image = numpy.zeros((height + 2, width + 2), numpy.uint8)
        image[1:-1, 1] = image[1, 1:-1] = 1
        extent = (height + width - 1) / (height * width)
        circularity = 16 * (height + width - 1) / (2 * (height + width)) ** 2
        assert len(cudaccl.label(image, min_extent=extent).records) == 1, extent
        assert len(cudaccl.label(image, min_extent=extent + 1e-4).records) == 0, extent
        assert len(cudaccl.label(image, min_circularity=circularity).records) == 1, circularity
        assert len(cudaccl.label(image, min_circularity=circularity + 1e-4).records) == 0, circularity


@pytest.mark.parametrize("options, error, text", [
    ({"connectivity": 6}, ValueError, "connectivity"),
    ({"algorithm": "magic"}, ValueError, "magic"),
    ({"algorithm": "union-find", "backend": "cpu"}, ValueError, "union-find"),
    ({"backend": "tpu"}, ValueError, "tpu"),
    ({"no_such": 1}, TypeError, "no_such"),
    ({"treshold": 1}, TypeError, "treshold; did you mean threshold"),
    ({"foreground": "motion"}, ValueError, "cudaccl.Tracker"),
    ({"min_area": "large"}, TypeError, "min_area"),
    ({"min_area": -1}, ValueError, "min_area"),
    ({"min_extent": 2.0}, ValueError, "min_extent"),
    ({"separate": 1.5}, ValueError, "separate"),
    ({"separate": -0.1}, ValueError, "separate"),
    ({"separate": float("nan")}, ValueError, "separate"),
    ({"separate": "0.97"}, TypeError, "separate"),
    ({"separate": 0.97, "separate_aspect": 0}, ValueError, "separate_aspect"),
    ({"separate": 0.97, "separate_aspect": 17}, ValueError, "separate_aspect"),
    ({"foreground": "magic"}, ValueError, "magic"),
    ({"features": ["weight"]}, ValueError, "weight"),
    ({"threshold": 256}, ValueError, "threshold"),
    ({"background": 1, "threshold": 3}, ValueError, "exclude"),
    ({"background": 1, "threshold_low": 3}, ValueError, "exclude"),
    ({"background": 1, "foreground": "otsu"}, ValueError, "otsu"),
    ({"background": -1}, ValueError, "background"),
    ({"background": 3.5}, TypeError, "background"),
    ({"background": "3"}, TypeError, "background"),
    ({"min_area": numpy.zeros(1)}, TypeError, "min_area"),
    ({"max_components": 0}, ValueError, "max_components"),
])
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        cudaccl.label(numpy.zeros((4, 4), numpy.uint8), **options)


@pytest.mark.parametrize("name", ["min_area", "threads", "max_components"])
def test_types_are_the_same_for_an_engine_that_is_kept(name):
    image = numpy.eye(4, dtype=numpy.uint8)
    for _ in range(2):
        cudaccl.label(image, **{name: 2})
        cudaccl.label(image, **{name: numpy.int64(2)})
        with pytest.raises(TypeError):
            cudaccl.label(image, **{name: 2.0})


def test_rows_may_be_apart():
    large = noise((60, 90), 0.5)
    for image in (large[5:40, 7:50], large[::2, 3:60], large[3:4, ::-1][:, ::-1]):
        numpy.testing.assert_array_equal(cudaccl.label(image).labels, measure.label(image))
    wide = numpy.zeros((60, 90), numpy.uint16)
    wide[large] = 300
    numpy.testing.assert_array_equal(cudaccl.label(wide[1:, 3:60]).labels, measure.label(large[1:, 3:60]))


def test_read_only_image():
    image = IMAGES["blobs"].copy()
    image.flags.writeable = False
    numpy.testing.assert_array_equal(cudaccl.label(image).labels, measure.label(image))


class Speaker:
    """An array of another library: DLPack only."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack_on_the_host():
    image = IMAGES["blobs"].astype(numpy.uint8)
    numpy.testing.assert_array_equal(cudaccl.label(Speaker(image)).labels, measure.label(image))


@pytest.mark.parametrize("dtype", [bool, numpy.uint8, numpy.uint16])
def test_page_locked_dlpack(dtype):
    """An array that only DLPack describes: its capsule is read by the module."""
    if dtype is bool and NumpyVersion(numpy.__version__) < "1.25.0":
        pytest.skip("NumPy before 1.25 has no DLPack of bool")
    locked = type("Locked", (Speaker,), {"__dlpack_device__": lambda self: (3, 0)})
    image = numpy.zeros((240, 400), dtype)
    image[:, :333] = IMAGES["blobs"]
    numpy.testing.assert_array_equal(cudaccl.label(locked(image)).labels, measure.label(image))
    numpy.testing.assert_array_equal(cudaccl.label(locked(image[:, 5:300])).labels, measure.label(image[:, 5:300]))
    for bad, text in [(image.astype(numpy.float32), "f4"), (image.astype(numpy.int64), "i8")]:
        with pytest.raises(TypeError, match=text):
            cudaccl.label(locked(bad))


def test_foreign_device():
    foreign = type("Foreign", (Speaker,), {"__dlpack_device__": lambda self: (10, 0)})  # a GPU of AMD
    with pytest.raises(ValueError, match="device"):
        cudaccl.label(foreign(IMAGES["blobs"]))


def test_clear_engines():
    cudaccl.label(IMAGES["blobs"])
    cudaccl.clear_engines()
    numpy.testing.assert_array_equal(cudaccl.label(IMAGES["blobs"]).labels, measure.label(IMAGES["blobs"]))


def test_records_only():
    result = cudaccl.label(IMAGES["dense"], labels=False, min_area=5)
    everything = cudaccl.label(IMAGES["dense"]).records
    assert result.labels is None
    numpy.testing.assert_array_equal(result.records, everything[everything["area"] >= 5])
