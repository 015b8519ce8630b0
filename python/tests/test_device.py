# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays on a GPU, of CuPy and, where it is installed, PyTorch."""

import gc

import numpy
import pytest

import cudaccl

cupy = pytest.importorskip("cupy", reason="CuPy is missing")
if not cudaccl.has_cuda() or cudaccl.device_count() == 0:
    pytest.skip("this build has no CUDA, or there is no GPU", allow_module_level=True)

RANDOM = numpy.random.default_rng(22)
IMAGES = [RANDOM.random((270, 390)) < density for density in (0.2, 0.5, 0.05, 0.8)]


def labels_of(image):
    """By the CPU, which test_label.py compares with scikit-image: it may be missing on a machine with a GPU."""
    return cudaccl.label(image, backend="cpu").labels


class Interface:
    """Only the CUDA array interface, of a version."""

    def __init__(self, array, version, stream=None):
        self._array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"version": version, "stream": stream}
        if version < 3:
            del self.__cuda_array_interface__["stream"]


class Speaker:
    """Only DLPack."""

    def __init__(self, array):
        self._array = array
        self.streams = []

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **options):
        self.streams.append(stream)
        return self._array.__dlpack__(stream=stream)


@pytest.mark.parametrize("dtype", [bool, numpy.uint8, numpy.uint16])
def test_records_of_cupy_arrays(dtype):
    engine = cudaccl.Engine((270, 390), backend="cuda", labels=False)
    for image in IMAGES:
        records = engine(cupy.asarray(image.astype(dtype))).records
        numpy.testing.assert_array_equal(records, cudaccl.label(image, backend="cpu").records)


def test_memory_that_is_used_again():
    """A call with the last one's memory takes a short way, unless the array has another form."""
    engine = cudaccl.Engine((270, 390), backend="cuda")
    memory = cupy.zeros((540, 780), cupy.uint8)
    image = memory[:270, :390]
    for pixels in IMAGES:
        image[...] = cupy.asarray(pixels)
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(engine(image).labels)), labels_of(pixels))
    wide = memory.view(cupy.uint16)[:270, :390]
    wide[...] = cupy.asarray(IMAGES[1])
    numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(engine(wide).labels)), labels_of(IMAGES[1]))
    with pytest.raises(ValueError, match="shape"):
        engine(memory[:269, :390])
    with pytest.raises(TypeError, match="int8"):
        engine(memory.view(cupy.int8)[:270, :390])


def test_distances_on_the_gpu():
    engine = cudaccl.Engine((270, 390), backend="cuda", distances=True, output="distance")
    for image in IMAGES:
        squares = cudaccl.distance(image, squared=True, backend="cpu")
        array = cupy.asarray(image)
        of_gpu = cudaccl.distance(array, squared=True)
        assert isinstance(of_gpu, cudaccl.DeviceArray)
        result = engine(array)
        for found in (of_gpu, result.distances):
            numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(found)), squares)
            numpy.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(found)), squares)
        heights = numpy.floor(16 * numpy.sqrt(squares))
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(result.image)), heights)
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(result.image)), heights)
        numpy.testing.assert_array_equal(
            cudaccl.distance(image, backend="cuda"), cudaccl.distance(image, backend="cpu"))
    with pytest.raises(ValueError, match="squared"):
        cudaccl.distance(cupy.asarray(IMAGES[0]))


@pytest.mark.parametrize("kind", ["cupy", "interface 2", "interface 3", "dlpack"])
def test_labels_on_the_gpu(kind):
    engine = cudaccl.Engine((270, 390), backend="cuda")
    for image in IMAGES:
        array = cupy.asarray(image.astype(numpy.uint8))
        wrapped = {
            "cupy": lambda: array, "interface 2": lambda: Interface(array, 2),
            "interface 3": lambda: Interface(array, 3, 1), "dlpack": lambda: Speaker(array),
        }[kind]()
        labels = engine(wrapped).labels
        assert isinstance(labels, cudaccl.DeviceArray)
        assert labels.__dlpack_device__() == (2, engine.device)
        expected = labels_of(image)
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(labels)), expected)
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(labels)), expected)
        assert cupy.asarray(labels).data.ptr == labels.address  # no copy
        if kind == "dlpack":
            assert wrapped.streams == [1]


def test_current_stream_is_honoured():
    """The image is written late, on a stream of its own, which waits for nothing."""
    engine = cudaccl.Engine((2000, 2000), backend="cuda", labels=False)
    stream = cupy.cuda.Stream(non_blocking=True)
    image = cupy.zeros((2000, 2000), cupy.uint8)
    engine(image)
    with stream:
        for number in range(1, 6):
            slow = cupy.random.random((4000, 4000), dtype=cupy.float32)
            for _ in range(20):
                slow = cupy.sqrt(slow)
            image[:] = 0
            image[: 100 * number] = 1
            assert list(engine(image).records["area"]) == [100 * number * 2000]


def test_label_and_batch_on_the_gpu():
    images = cupy.asarray(numpy.stack(IMAGES))
    result = cudaccl.label(images)
    for labels, records, image in zip(cupy.asnumpy(cupy.asarray(result.labels)), result.records, IMAGES):
        numpy.testing.assert_array_equal(labels, labels_of(image))
        assert len(records) == labels.max()
    first = cudaccl.label(images[0])
    cudaccl.label(images[1])
    numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(first.labels)), labels_of(IMAGES[0]))


def test_labels_outlive_the_engine():
    engine = cudaccl.Engine((270, 390), backend="cuda")
    labels = cupy.asarray(engine(cupy.asarray(IMAGES[0])).labels)
    del engine
    gc.collect()
    numpy.testing.assert_array_equal(cupy.asnumpy(labels), labels_of(IMAGES[0]))


def test_out_on_the_gpu():
    engine = cudaccl.Engine((270, 390), backend="cuda")
    out = cupy.zeros((270, 390), cupy.int32)
    result = engine(cupy.asarray(IMAGES[0]), out=out)
    assert result.labels is out
    numpy.testing.assert_array_equal(cupy.asnumpy(out), labels_of(IMAGES[0]))
    with pytest.raises(ValueError, match="where the image is"):
        engine(cupy.asarray(IMAGES[0]), out=numpy.zeros((270, 390), numpy.int32))


def test_filters_remove_from_labels_on_the_gpu():
    for image in IMAGES:
        kept = cudaccl.label(cupy.asarray(image), min_area=5)
        expected = cudaccl.label(image, backend="cpu", min_area=5)
        numpy.testing.assert_array_equal(kept.records, expected.records)
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(kept.labels)), expected.labels)


def test_padded_out_on_the_gpu():
    engine = cudaccl.Engine((270, 390), backend="cuda")
    large = cupy.full((272, 400), -1, cupy.int32)
    engine(cupy.asarray(IMAGES[1]), out=large[1:271, 5:395])
    found = cupy.asnumpy(large)
    numpy.testing.assert_array_equal(found[1:271, 5:395], labels_of(IMAGES[1]))
    assert (found[0] == -1).all() and (found[:, :5] == -1).all() and (found[:, 395:] == -1).all()


def test_ids_of_a_tracker_on_the_gpu():
    host = cudaccl.Tracker((270, 390), backend="cpu", ids=True, min_area=3)
    device = cudaccl.Tracker((270, 390), backend="cuda", ids=True, min_area=3)
    for number, image in enumerate(IMAGES):
        expected = host(image, time=number * 40_000_000)
        found = device(cupy.asarray(image), time=number * 40_000_000)
        numpy.testing.assert_array_equal(found.records["id"], expected.records["id"])
        numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(found.ids)), expected.ids)


def test_host_arrays_on_the_gpu():
    engine = cudaccl.Engine((270, 390), backend="cuda")
    for image in IMAGES:
        labels, records = engine(image)
        numpy.testing.assert_array_equal(labels, labels_of(image))
        numpy.testing.assert_array_equal(records, cudaccl.label(image, backend="cpu").records)


def test_slots_on_the_gpu():
    engine = cudaccl.Engine((270, 390), backend="cuda", labels=False, slots=4)
    arrays = [cupy.asarray(image) for image in IMAGES]
    for array in arrays:
        engine.push(array)
    for image in IMAGES:
        assert len(engine.pop().records) == labels_of(image).max()


def test_mask_on_the_gpu():
    foreground = cudaccl.Foreground((270, 390), "binary", backend="cuda")
    mask = foreground(cupy.asarray(IMAGES[0].astype(numpy.uint8)))
    numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(mask)), IMAGES[0])


def test_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is missing")
    engine = cudaccl.Engine((270, 390), backend="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        labels = engine(torch.from_numpy(IMAGES[0]).cuda(non_blocking=True)).labels
    numpy.testing.assert_array_equal(torch.from_dlpack(labels).cpu().numpy(), labels_of(IMAGES[0]))


@pytest.mark.parametrize("image, error, text", [
    (lambda: cupy.zeros((270, 390), cupy.float32), TypeError, "f4"),
    (lambda: cupy.zeros((270, 391), cupy.uint8), ValueError, "shape"),
    (lambda: cupy.zeros((390, 270), cupy.uint8).T, ValueError, "ascontiguousarray"),
    (lambda: cupy.zeros((270, 390), cupy.uint8)[::-1], ValueError, "ascontiguousarray"),
])
def test_bad_device_image(image, error, text):
    with pytest.raises(error, match=text):
        cudaccl.Engine((270, 390), backend="cuda", labels=False)(image())
    with pytest.raises(ValueError, match="on a GPU"):
        cudaccl.Engine((270, 390), backend="cpu")(cupy.zeros((270, 390), cupy.uint8))
