# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of the caller, into which an engine writes labels."""

import types

import numpy
import pytest
from skimage import measure

import cudaccl
from cudaccl._arrays import describe

RANDOM = numpy.random.default_rng(21)
IMAGES = [RANDOM.random((70, 90)) < density for density in (0.2, 0.5, 0.05, 0.8)]


def test_out():
    engine = cudaccl.Engine((70, 90))
    expected = measure.label(IMAGES[0])
    for dtype in (numpy.int32, numpy.uint32):
        labels = numpy.zeros((70, 90), dtype)
        assert engine(IMAGES[0], out=labels).labels is labels
        numpy.testing.assert_array_equal(labels, expected)
    assert engine(IMAGES[0]).labels is not labels


def test_out_is_the_callers():
    """Later calls do not write into it, and calls with it take no memory."""
    engine = cudaccl.Engine((70, 90), output="colorized", slots=2)
    first = engine(IMAGES[0])
    out = [numpy.zeros((70, 90), numpy.int32) for _ in range(4)]
    painted = {engine(IMAGES[1], out=out[0]).image.ctypes.data}
    for number in (1, 2):
        engine.push(IMAGES[1], out=out[number])
    painted |= {engine.pop().image.ctypes.data for _ in range(2)}
    engine.push(IMAGES[1], out=out[3])
    engine.flush()
    with pytest.raises(TypeError):
        engine(IMAGES[1], time="now", out=out[3])
    expected = measure.label(IMAGES[1])
    for _ in range(4):
        last = engine(IMAGES[2])
        assert not any(last.labels is one for one in out)
    assert all(numpy.array_equal(one, expected) for one in out[:3])
    assert len(painted) <= 2 and len(engine._free) == 2
    assert first.labels.ctypes.data in {engine(IMAGES[2]).labels.ctypes.data for _ in range(2)}


def test_out_with_padding():
    engine = cudaccl.Engine((70, 90))
    expected = measure.label(IMAGES[0])
    large = numpy.full((72, 100), -1, numpy.int32)
    result = engine(IMAGES[0], out=large[1:71, 5:95])
    numpy.testing.assert_array_equal(large[1:71, 5:95], expected)
    assert (large[0] == -1).all() and (large[:, :5] == -1).all() and (large[:, 95:] == -1).all()
    assert result.labels.base is large


class Interface:
    """Only NumPy's array interface."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = array.__array_interface__


class OnDevice:
    """What an array on a GPU says of itself. Nothing reads its memory here."""

    def __init__(self, shape, device_id=0, read_only=False, address=1 << 20):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": "<i4", "data": (address, read_only), "strides": None, "stream": None,
            "version": 3,
        }
        self._device = (2, device_id)

    def __dlpack_device__(self):
        return self._device


class Speaker:
    """Only DLPack, as other libraries' arrays on the host."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)


@pytest.mark.parametrize("wrap", [Interface, Speaker])
def test_out_of_other_libraries(wrap):
    if wrap is Speaker and not numpy.from_dlpack(Speaker(numpy.zeros(1))).flags.writeable:
        pytest.skip("this NumPy imports all arrays of DLPack read-only")
    labels = numpy.zeros((3, 70, 90), numpy.int32)
    cudaccl.Engine((70, 90))(IMAGES[0], out=wrap(labels[0]))
    numpy.testing.assert_array_equal(labels[0], measure.label(IMAGES[0]))
    cudaccl.Engine((3, 70, 90))(numpy.stack(IMAGES[:3]), out=wrap(labels))
    for image, one in zip(IMAGES, labels):
        numpy.testing.assert_array_equal(one, measure.label(image))


def test_read_only_out_of_other_libraries():
    labels = numpy.zeros((70, 90), numpy.int32)
    labels.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cudaccl.Engine((70, 90))(IMAGES[0], out=Interface(labels))


@pytest.mark.parametrize("out, text", [
    (OnDevice((70, 90), read_only=True), "read-only"),
    (OnDevice((70, 90), device_id=1), "the array out is on GPU 1, and the engine on GPU 0"),
    (OnDevice((70, 90), address=8192), "overlaps"),
])
def test_bad_out_on_a_gpu(out, text):
    engine = cudaccl.Engine((70, 90), backend="cpu")
    engine._on_gpu, engine._core = True, types.SimpleNamespace(device_id=0)
    image = describe(OnDevice((70, 90), address=8192 + 6300))
    with pytest.raises(ValueError, match=text):
        engine._planes_of(out, image)


def test_out_that_overlaps_the_image():
    engine = cudaccl.Engine((70, 90))
    memory = numpy.zeros((70, 90, 8), numpy.uint8)
    rows = numpy.zeros((70, 3 * 90), numpy.int32)
    apart = rows.view(numpy.uint8)[:, 400:490]  # in the same rows, after the labels
    for image, out in (
        (memory.reshape(-1)[:6300].reshape(70, 90), memory.reshape(-1).view(numpy.int32)[:6300].reshape(70, 90)),
        (rows.view(numpy.uint8)[:, 300:390], rows[:, :90]),
        (apart, rows[:, :90]),
    ):
        image[...] = IMAGES[0]
        if image is apart:
            numpy.testing.assert_array_equal(engine(image, out=out).labels, measure.label(IMAGES[0]))
            continue
        with pytest.raises(ValueError, match="overlaps"):
            engine(image, out=out)
        numpy.testing.assert_array_equal(image, IMAGES[0])


@pytest.mark.parametrize("strides", [(0, 360, 4), (360, 360, 4), (35 * 360, 360, 4), (-360, 720, 4)])
def test_batch_into_images_that_overlap(strides):
    engine = cudaccl.Engine((3, 70, 90))
    memory = numpy.zeros((300, 90), numpy.int32)
    out = numpy.lib.stride_tricks.as_strided(memory[3:], (3, 70, 90), strides)
    with pytest.raises(ValueError, match="overlap"):
        engine(numpy.stack(IMAGES[:3]), out=out)


def test_batch_into_images_in_any_order():
    engine = cudaccl.Engine((3, 70, 90))
    for out in (numpy.zeros((3, 70, 90), numpy.int32)[::-1], numpy.zeros((70, 3, 90), numpy.int32).transpose(1, 0, 2)):
        engine(numpy.stack(IMAGES[:3]), out=out)
        for image, labels in zip(IMAGES, out):
            numpy.testing.assert_array_equal(labels, measure.label(image))
    memory = numpy.zeros(3 * 6300 * 4 + 100, numpy.uint8)
    odd = numpy.ndarray((3, 70, 90), numpy.int32, memory, strides=(6301 * 4 + 2, 360, 4))
    with pytest.raises(ValueError, match="not aligned"):
        engine(numpy.stack(IMAGES[:3]), out=odd)


@pytest.mark.parametrize("out, error, text", [
    (numpy.zeros((70, 90), numpy.int64), TypeError, "int64"),
    (numpy.zeros((90, 70), numpy.int32), ValueError, "shape"),
    (numpy.zeros((90, 70), numpy.int32).T, ValueError, "ascontiguousarray"),
    (numpy.broadcast_to(numpy.int32(0), (70, 90)), ValueError, "read-only"),
    ("labels", TypeError, "str"),
])
def test_bad_out(out, error, text):
    with pytest.raises(error, match=text):
        cudaccl.Engine((70, 90))(IMAGES[0], out=out)


def test_batch_into_out():
    engine = cudaccl.Engine((3, 70, 90))
    large = numpy.full((3, 75, 90), -1, numpy.int32)
    result = engine(numpy.stack(IMAGES[:3]), out=large[:, :70])
    for image, labels in zip(IMAGES, large):
        numpy.testing.assert_array_equal(labels[:70], measure.label(image))
        assert (labels[70:] == -1).all()
    before = large.copy()
    engine(numpy.stack(IMAGES[1:]))
    numpy.testing.assert_array_equal(large, before)
    assert [len(records) for records in result.records] == result.n_components
