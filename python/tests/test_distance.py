# SPDX-License-Identifier: LGPL-2.1-or-later
"""distance(), and engines that measure distances, against SciPy, which shares nothing with cudaccl."""

import numpy
import pytest

import cudaccl

ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is missing")

RANDOM = numpy.random.default_rng(23)


def noise(shape, density):
    return RANDOM.random(shape) < density


def blobs(shape, part=0.5):
    smooth = ndimage.gaussian_filter(RANDOM.random(shape), 6)
    return smooth > numpy.quantile(smooth, 1 - part)


def with_one_hole(shape, y, x):
    image = numpy.ones(shape, bool)
    image[y, x] = False
    return image


IMAGES = {
    "sparse": noise((97, 131), 0.1), "dense": noise((97, 131), 0.9), "blobs": blobs((240, 333)),
    "row": noise((1, 200), 0.9), "column": noise((200, 1), 0.9), "empty": numpy.zeros((20, 30), bool),
    "large blobs": blobs((500, 700), 0.9), "hole": with_one_hole((333, 555), 310, 20),
    "far": with_one_hole((3, 7000), 1, 0),
}


def distances_of(labels, aspect=1):
    """Component by component."""
    distances = numpy.zeros(labels.shape)
    for label in numpy.unique(labels[labels != 0]):
        component = labels == label
        if component.all():
            return numpy.full(labels.shape, numpy.inf)
        distances[component] = ndimage.distance_transform_edt(component, sampling=(1, aspect))[component]
    return distances


@pytest.mark.parametrize("aspect", [1, 4, 16])
@pytest.mark.parametrize("name", IMAGES)
def test_distances_to_background_are_those_of_scipy(name, aspect):
    image = IMAGES[name]
    expected = ndimage.distance_transform_edt(image, sampling=(1, aspect))
    distances = cudaccl.distance(image, separate_aspect=aspect)
    assert distances.dtype == numpy.float32 and distances.shape == image.shape
    squares = cudaccl.distance(image, squared=True, separate_aspect=aspect)
    assert squares.dtype == numpy.uint32 and squares.shape == image.shape
    exact = numpy.rint(expected ** 2)
    is_small = exact < cudaccl.NO_DISTANCE  # what 32 bits can say
    numpy.testing.assert_array_equal(distances, numpy.where(is_small, expected, numpy.inf).astype(numpy.float32))
    numpy.testing.assert_array_equal(squares, numpy.where(is_small, exact, cudaccl.NO_DISTANCE))


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("foreground", ["binary", "values"])
def test_other_components_are_as_far_as_background(connectivity, foreground):
    image = RANDOM.integers(0, 4, (40, 50)).astype(numpy.uint8).repeat(3, axis=0).repeat(2, axis=1)
    settings = {"connectivity": connectivity, "foreground": foreground}
    labels = cudaccl.label(image, **settings).labels
    numpy.testing.assert_array_equal(
        cudaccl.distance(image, **settings), distances_of(labels).astype(numpy.float32))


def test_a_component_that_is_the_whole_image():
    image = numpy.ones((20, 30), bool)
    assert (cudaccl.distance(image) == numpy.inf).all()
    assert (cudaccl.distance(image, squared=True) == cudaccl.NO_DISTANCE).all()
    assert (cudaccl.distance(numpy.ones((1, 1), bool)) == numpy.inf).all()
    assert (cudaccl.distance(image, background=1) == 0).all()


def test_the_border_of_the_image_is_no_background():
    image = numpy.zeros((5, 9), bool)
    image[:, :4] = True
    numpy.testing.assert_array_equal(cudaccl.distance(image)[2], [4, 3, 2, 1, 0, 0, 0, 0, 0])


def test_components_that_a_filter_removes():
    image = IMAGES["blobs"]
    for settings in ({"min_area": 200}, {"top_n": 3}, {"clear_border": True}, {"min_circularity": 0.3}):
        labels, records = cudaccl.label(image, **settings)
        assert 0 < len(records) < len(cudaccl.label(image).records)
        expected = numpy.where(labels != 0, ndimage.distance_transform_edt(image), 0).astype(numpy.float32)
        numpy.testing.assert_array_equal(cudaccl.distance(image, **settings), expected)


def test_settings_and_types():
    image = RANDOM.integers(0, 256, (70, 90)).astype(numpy.uint8)
    wide = image.astype(numpy.uint16) * 256
    expected = ndimage.distance_transform_edt(image >= 30).astype(numpy.float32)
    numpy.testing.assert_array_equal(cudaccl.distance(image, threshold=30), expected)
    numpy.testing.assert_array_equal(cudaccl.distance(wide, threshold=30 * 256), expected)
    numpy.testing.assert_array_equal(cudaccl.distance(image, threshold=30, invert=True),
                                     ndimage.distance_transform_edt(image < 30).astype(numpy.float32))
    numpy.testing.assert_array_equal(cudaccl.distance(image, background=7),
                                     ndimage.distance_transform_edt(image != 7).astype(numpy.float32))
    with pytest.raises(TypeError, match="float32"):
        cudaccl.distance(image.astype(numpy.float32))
    with pytest.raises(ValueError, match="one after the other"):
        cudaccl.distance(image, foreground="motion")
    with pytest.raises(ValueError, match="separate_aspect"):
        cudaccl.distance(image, separate_aspect=17)
    with pytest.raises(TypeError, match="spearate"):
        cudaccl.distance(image, spearate=1)


def test_separated_components_keep_their_distances():
    image = IMAGES["blobs"]
    assert len(cudaccl.label(image, separate=0.97).records) > len(cudaccl.label(image).records)
    numpy.testing.assert_array_equal(cudaccl.distance(image, separate=0.97), cudaccl.distance(image))


def test_batch():
    batch = numpy.stack([noise((60, 70), density) for density in (0.2, 0.7, 0.95)])
    squares = cudaccl.distance(batch, squared=True)
    assert squares.shape == batch.shape
    for image, its in zip(batch, squares):
        numpy.testing.assert_array_equal(its, cudaccl.distance(image, squared=True))


def test_results_are_the_callers():
    first = cudaccl.distance(IMAGES["sparse"], squared=True)
    kept = first.copy()
    cudaccl.distance(IMAGES["dense"], squared=True)
    numpy.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("algorithm", [algorithm.name for algorithm in cudaccl.algorithms() if algorithm.on_cpu])
def test_every_algorithm(algorithm):
    numpy.testing.assert_array_equal(cudaccl.distance(IMAGES["blobs"], algorithm=algorithm, backend="cpu"),
                                     ndimage.distance_transform_edt(IMAGES["blobs"]).astype(numpy.float32))


def test_engine():
    engine = cudaccl.Engine((97, 131), distances=True, output="distance")
    for name in ("sparse", "dense", "sparse"):
        result = engine(IMAGES[name])
        squares = numpy.rint(ndimage.distance_transform_edt(IMAGES[name]) ** 2)
        numpy.testing.assert_array_equal(result.labels, cudaccl.label(IMAGES[name]).labels)
        assert result.distances.dtype == numpy.uint32 and result.image.dtype == numpy.uint16
        numpy.testing.assert_array_equal(result.distances, squares)
        numpy.testing.assert_array_equal(result.image, numpy.floor(16 * numpy.sqrt(squares)))
    assert cudaccl.Engine((97, 131))(IMAGES["sparse"]).distances is None


def test_output_that_is_too_far_for_16_bits():
    image = IMAGES["far"]
    result = cudaccl.Engine(image.shape, labels=False, output="distance")(image)
    assert result.labels is None and result.distances is None
    whole = cudaccl.Engine(image.shape, labels=False, output="distance8")(image).image
    assert whole.dtype == numpy.uint8
    numpy.testing.assert_array_equal(whole, numpy.minimum(numpy.floor(ndimage.distance_transform_edt(image)), 255))
    numpy.testing.assert_array_equal(
        result.image, numpy.minimum(numpy.floor(16 * ndimage.distance_transform_edt(image)), 65535))
