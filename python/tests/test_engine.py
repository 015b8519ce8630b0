# SPDX-License-Identifier: LGPL-2.1-or-later
"""Engine, Tracker and Foreground: images of one size, one after the other."""

import ctypes
import gc
import math
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy
import pytest
from scipy import ndimage
from skimage import filters, measure

import cudaccl

RANDOM = numpy.random.default_rng(21)
IMAGES = [RANDOM.random((70, 90)) < density for density in (0.2, 0.5, 0.05, 0.8)]


def ball(x, shape=(120, 160)):
    rows, columns = numpy.indices(shape)
    return ((columns - x) ** 2 + (rows - 60) ** 2 < 100).astype(numpy.uint8) * numpy.uint8(200)


def test_each_image():
    engine = cudaccl.Engine((70, 90), connectivity=4)
    assert engine.shape == (70, 90) and engine.backend in ("cpu", "cuda") and engine.description
    for image in IMAGES * 3:
        labels, records = engine(image)
        numpy.testing.assert_array_equal(labels, measure.label(image, connectivity=1))
        numpy.testing.assert_array_equal(records["area"], numpy.bincount(labels.ravel())[1:])


def test_memory_is_that_of_the_engine():
    """The same memory for each frame, and no more of it."""
    engine = cudaccl.Engine((70, 90))
    first = engine(IMAGES[0])
    addresses = (first.labels.ctypes.data, first.records.ctypes.data)
    tracemalloc.start()
    try:
        for image in IMAGES:
            engine(image)
        before = tracemalloc.get_traced_memory()[0]
        for image in IMAGES * 25:
            result = engine(image)
        assert tracemalloc.get_traced_memory()[0] - before < 5000  # not one image of labels
    finally:
        tracemalloc.stop()
    assert (result.labels.ctypes.data, result.records.ctypes.data) == addresses
    assert not result.records.flags.writeable


def test_results_keep_the_engine_alive():
    engine = cudaccl.Engine((70, 90))
    result = engine(IMAGES[0])
    areas = result.records["area"].copy()
    del engine
    gc.collect()
    numpy.testing.assert_array_equal(result.records["area"], areas)


def test_no_labels():
    engine = cudaccl.Engine((70, 90), labels=False)
    labels, records = engine(IMAGES[0])
    assert labels is None and len(records) == measure.label(IMAGES[0]).max()
    with pytest.raises(ValueError, match="labels=False"):
        engine(IMAGES[0], out=numpy.zeros((70, 90), numpy.int32))


def test_images_in_flight():
    engine = cudaccl.Engine((70, 90), slots=3)
    for image in IMAGES[:3]:
        engine.push(image)
    with pytest.raises(ValueError, match="slots"):
        engine.push(IMAGES[0])
    with pytest.raises(RuntimeError, match="in flight"):
        engine(IMAGES[0])
    for image in IMAGES[:3]:
        numpy.testing.assert_array_equal(engine.pop().labels, measure.label(image))
    with pytest.raises(IndexError):
        engine.pop()
    engine.push(IMAGES[0])
    engine.flush()
    numpy.testing.assert_array_equal(engine(IMAGES[1]).labels, measure.label(IMAGES[1]))


def test_set_changes_later_images():
    engine = cudaccl.Engine((70, 90))
    engine.set(connectivity=4, features=())
    result = engine(IMAGES[1])
    numpy.testing.assert_array_equal(result.labels, measure.label(IMAGES[1], connectivity=1))
    assert not result.records["perimeter"].any() and "orientation" not in result.table()


def test_times_of_stages():
    engine = cudaccl.Engine((70, 90), algorithm="sauf", backend="cpu")
    begin = time.perf_counter()
    times = engine(IMAGES[1]).times
    whole_us = (time.perf_counter() - begin) * 1e6
    assert list(times) == ["upload", "segment", "label", "number", "measure", "track", "paint", "download"]
    assert times["label"] > 0 and times["measure"] > 0 and sum(times.values()) < whole_us
    assert [set(found) for found in cudaccl.label(numpy.stack(IMAGES[:2])).times] == [set(times)] * 2


def test_types_may_change():
    engine = cudaccl.Engine((70, 90))
    for dtype in (bool, numpy.uint16, numpy.uint8, numpy.uint16):
        image = IMAGES[1].astype(dtype) * numpy.dtype(dtype).type(1)
        numpy.testing.assert_array_equal(engine(image).labels, measure.label(IMAGES[1]))


@pytest.mark.parametrize("pixel_format, channels", [("rgb", 3), ("bgr", 3), ("rgba", 4), ("bgra", 4)])
def test_colours(pixel_format, channels):
    image = numpy.zeros((70, 90, channels), numpy.uint8)
    image[IMAGES[0]] = 255
    engine = cudaccl.Engine((70, 90), format=pixel_format, threshold=128)
    numpy.testing.assert_array_equal(engine(image).labels, measure.label(IMAGES[0]))
    with pytest.raises(ValueError, match="shape"):
        engine(IMAGES[0].astype(numpy.uint8))


def test_painted_images():
    engine = cudaccl.Engine((70, 90), output="colorized", background_color=0xff102030)
    image = engine(IMAGES[0]).image
    assert image.shape == (70, 90, 4) and image.dtype == numpy.uint8
    assert (image[~IMAGES[0]] == (0x10, 0x20, 0x30, 0xff)).all()
    mask = cudaccl.Engine((70, 90), output="mask", labels=False)(IMAGES[0]).image
    numpy.testing.assert_array_equal(mask, IMAGES[0] * numpy.uint8(255))


def test_regions():
    box = [[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.0, 1.0]]
    engine = cudaccl.Engine((70, 90), regions={"version": 1, "include": [{"polygon": box}]})
    inside = IMAGES[0].copy()
    inside[:, 45:] = False
    numpy.testing.assert_array_equal(engine(IMAGES[0]).labels, measure.label(inside))


@pytest.mark.parametrize("arguments, error, text", [
    ({"shape": (70,)}, ValueError, "shape"),
    ({"shape": (0, 90)}, ValueError, "shape"),
    ({"shape": (70, 40000)}, ValueError, "32768"),
    ({"shape": (70.5, 90)}, TypeError, "float"),
    ({"format": "cmyk"}, ValueError, "cmyk"),
    ({"output": "paint"}, ValueError, "paint"),
    ({"order": "RGB"}, ValueError, "RGB"),
    ({"slots": 0}, ValueError, "slots"),
    ({"threads": 1000}, ValueError, "threads"),
    ({"threads": "all"}, TypeError, "threads"),
    ({"no_such": 1}, TypeError, "no_such"),
    ({"motion_learning_time": 1}, TypeError, "did you mean motion_learning_ms"),
    ({"track_lost": 1}, TypeError, "did you mean track_lost_ms"),
    ({"algorithm": None}, TypeError, "algorithm is None"),
    ({"connectivity": [8]}, ValueError, r"connectivity is \[8\]"),
])
def test_bad_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        cudaccl.Engine(**{"shape": (70, 90), "backend": "cpu"} | arguments)


@pytest.mark.parametrize("set_later", [False, True])
def test_values_have_8_bits(set_later):
    engine = cudaccl.Engine((70, 90), backend="cpu", **({} if set_later else {"foreground": "values"}))
    image = numpy.zeros((70, 90), numpy.uint16)
    if set_later:
        engine(image)
        engine.set(foreground="values")
    with pytest.raises(ValueError, match="uint8, not uint16"):
        engine(image)
    engine.set(foreground="binary")
    engine(image)


@pytest.mark.parametrize("limits, text", [
    ({"min_area": 5, "max_area": 2}, "min_area=5 is more than max_area=2: no component is kept"),
    ({"min_width": numpy.int64(5), "max_width": 2}, "min_width=5 is more than max_width=2"),
    ({"min_height": 5, "max_height": 2}, "min_height=5 is more than max_height=2"),
    ({"max_area": 0}, "min_area=1 is more than max_area=0"),
])
def test_limits_that_keep_no_component(limits, text):
    for take in (lambda **settings: cudaccl.Engine((70, 90), **settings), cudaccl.Engine((70, 90)).set,
                 lambda **settings: cudaccl.Tracker((70, 90), **settings),
                 lambda **settings: cudaccl.Foreground((70, 90), **settings),
                 lambda **settings: cudaccl.label(numpy.zeros((4, 4), numpy.uint8), **settings),
                 lambda **settings: cudaccl.distance(numpy.zeros((4, 4), numpy.uint8), **settings)):
        with pytest.raises(ValueError, match=text):
            take(**limits)


@pytest.mark.parametrize("settings, error, text", [
    ({"mask_on": 2}, TypeError, "mask_on"), ({"labels": True}, TypeError, "labels"),
    ({"max_components": 4}, TypeError, "max_components"), ({"method": "values"}, ValueError, "method"),
])
def test_what_foreground_is_not(settings, error, text):
    with pytest.raises(error, match=text):
        cudaccl.Foreground((70, 90), **settings)


def test_limits_that_no_component_passes_with_those_in_force():
    engine = cudaccl.Engine((70, 90), min_area=50)
    with pytest.raises(ValueError, match="min_area=50 is more than max_area=10"):
        engine.set(max_area=10)
    engine.set(min_area=5, max_area=10)
    engine.set(min_area=0)
    engine.set(max_area=0)  # no false alarm: it keeps nothing, which was asked for
    engine = cudaccl.Engine((70, 90), threshold=10)
    with pytest.raises(ValueError, match="threshold_low=200 is more than threshold=10"):
        engine.set(threshold_low=200)
    engine.set(foreground="otsu")
    engine.set(threshold_low=200)  # which otsu does not read


def test_hysteresis_needs_a_threshold():
    with pytest.raises(ValueError, match="threshold_low=100 is more than threshold=1: there is no hysteresis"):
        cudaccl.label(numpy.zeros((4, 4), numpy.uint8), threshold_low=100)


def test_limits_that_are_open():
    """0 is no limit of a width and a height."""
    cudaccl.Engine((70, 90), min_area=5, max_area=5, min_width=5, max_width=0, min_height=5, max_height=0)


def test_wrong_image():
    engine = cudaccl.Engine((70, 90))
    with pytest.raises(ValueError, match="shape"):
        engine(IMAGES[0][1:])
    with pytest.raises(ValueError, match="time"):
        cudaccl.Engine((2, 70, 90))(numpy.stack(IMAGES[:2]), time=0)
    with pytest.raises(TypeError, match="float"):
        engine(IMAGES[0], time=0.5)
    with pytest.raises(ValueError, match="time is .* 64 bits"):
        engine(IMAGES[0], time=1 << 63)
    with pytest.raises(TypeError, match="mask"):
        engine(numpy.ma.array(IMAGES[0], mask=IMAGES[1]))
    numpy.testing.assert_array_equal(engine(IMAGES[0]).labels, measure.label(IMAGES[0]))


@pytest.mark.skipif(cudaccl.device_count() > 0, reason="there is a GPU")
def test_no_gpu():
    """Also in a build without CUDA: a program that then takes the CPU has one exception to catch."""
    with pytest.raises(cudaccl.DeviceError, match="CUDA|driver|GPU"):
        cudaccl.Engine((70, 90), backend="cuda")
    with pytest.raises(cudaccl.DeviceError):
        cudaccl.label(RANDOM.random((70, 90)) < 0.5, backend="cuda")


class OnDevice:
    """Says that it is on a GPU."""

    def __init__(self, **fields):
        self.__cuda_array_interface__ = {
            "shape": (70, 90), "typestr": "|u1", "data": (4096, False), "version": 3, "stream": None,
        } | fields


@pytest.mark.parametrize("fields, error, text", [
    ({}, ValueError, "on a GPU"), ({"mask": 5}, TypeError, "mask"), ({"typestr": "<f4"}, TypeError, "f4"),
    ({"shape": (90, 70)}, ValueError, "shape"), ({"strides": (1, 70)}, ValueError, "ascontiguousarray"),
])
def test_image_on_a_gpu_needs_one(fields, error, text):
    """An engine on the CPU refuses an image on a GPU, without looking at its address."""
    with pytest.raises(error, match=text):
        cudaccl.Engine((70, 90), backend="cpu")(OnDevice(**fields))


def test_gil_is_released():
    """Another thread goes on while an engine works."""
    engine = cudaccl.Engine((4000, 4000), threads=1)
    image = RANDOM.random((4000, 4000)) < 0.5
    is_done = threading.Event()
    moments = []

    def watch():
        while not is_done.is_set():
            moments.append(time.perf_counter())
            time.sleep(0.0005)

    def moments_of_a_call():
        begin = time.perf_counter()
        engine(image)
        end = time.perf_counter()
        return sum(begin < moment < end for moment in moments)

    watcher = threading.Thread(target=watch)
    engine(image)
    watcher.start()
    # On a busy machine the watcher may sleep through some calls.
    seen = any(moments_of_a_call() >= 3 for _ in range(100))
    is_done.set()
    watcher.join()
    assert seen


def test_two_threads_are_refused():
    engine = cudaccl.Engine((4000, 4000), threads=1, slots=8)
    image = RANDOM.random((4000, 4000)) < 0.5
    refused = []
    begin = threading.Barrier(2)

    def work():
        begin.wait()
        try:
            for _ in range(100):  # until the two meet
                if not refused:
                    engine(image)
        except RuntimeError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused and ("thread" in refused[0] or "in flight" in refused[0])


def test_tracker():
    gate = {"version": 1, "units": "pixels", "lines": [{"name": "gate", "from": [80, 0], "to": [80, 120]}],
            "zones": [{"name": "left", "polygon": [[0, 0], [60, 0], [60, 120], [0, 120]], "anchor": "centroid"}]}
    tracker = cudaccl.Tracker((120, 160), regions=gate, threshold=100)
    assert tracker.zones == ("left",) and tracker.lines == ("gate",)
    events = []
    for number in range(16):
        result = tracker(ball(40 + 6 * number), time=number * 40_000_000)
        assert list(result.records["id"]) == [1] and list(result.tracks["id"]) == [1]
        assert result.labels is None and result.tracks["last_time"][0] == number * 40_000_000
        events += [(cudaccl.EVENT_TYPES[event["type"]], int(event["where"])) for event in result.events]
    nowhere = cudaccl.NO_PLACE
    assert events == [
        ("started", nowhere), ("born", nowhere), ("entered", 0), ("left", 0), ("crossed-left", 0)]
    numpy.testing.assert_allclose(result.tracks["vx"], 150, rtol=0.05)  # 6 px in 40 ms
    tracker.reset()
    assert list(tracker(ball(40), time=500_000_000).records["id"]) == [2]


def test_ids_of_a_tracker():
    tracker = cudaccl.Tracker((120, 160), threshold=100, labels=True, ids=True, min_area=30)
    for number, other in enumerate([False, True, True]):
        image = ball(60 + 6 * number)
        image[:2, :10] = 255 * other  # appears later, comes first in raster order, and is too small to be kept
        image[100:110, 5:15] = 255 * other
        result = tracker(image, time=number * 40_000_000)
        assert result.ids.dtype == numpy.int32 and result.ids.shape == (120, 160)
        assert len(result.records) == 1 + other
        ids = numpy.zeros(result.n_labels + 1, numpy.int32)
        ids[result.records["label"]] = result.records["id"]
        numpy.testing.assert_array_equal(result.ids, ids[result.labels])
        for record in result.records:
            assert numpy.count_nonzero(result.ids == record["id"]) == record["area"]
        assert not result.ids[:2].any()
    assert tracker(image, time=10**9).ids is result.ids  # the engine's memory
    assert cudaccl.Tracker((120, 160))(image).ids is None


@pytest.mark.parametrize("arguments, text", [
    ({"shape": (3, 120, 160)}, "shape"), ({"max_tracks": 0}, "max_tracks"), ({"max_tracks": 20000}, "tracks"),
])
def test_bad_tracker(arguments, text):
    with pytest.raises(ValueError, match=text):
        cudaccl.Tracker(**{"shape": (120, 160)} | arguments)


def test_otsu_and_local_foreground():
    image = numpy.clip(RANDOM.normal(90, 10, (120, 160)) + ball(50) / 2.0, 0, 255).astype(numpy.uint8)
    otsu = cudaccl.Foreground((120, 160), "otsu")
    mask = otsu(image)
    assert mask.dtype == bool and mask.shape == (120, 160)
    assert abs(otsu.level - 1 - filters.threshold_otsu(image)) <= 1
    numpy.testing.assert_array_equal(mask, image >= otsu.level)
    opened = cudaccl.Foreground((120, 160), "binary", threshold=100, open_radius=1)
    expected = ndimage.binary_opening(image >= 100, numpy.ones((3, 3)))
    numpy.testing.assert_array_equal(opened(image)[2:-2, 2:-2], expected[2:-2, 2:-2])


def test_motion_foreground():
    motion = cudaccl.Foreground((120, 160), "motion", motion_warm_up_ms=400)
    still = numpy.full((120, 160), 60, numpy.uint8)
    for number in range(15):
        motion(still, time=number * 40_000_000)
    assert not motion.is_learning
    mask = motion(still + ball(70), time=600_000_000)
    numpy.testing.assert_array_equal(mask, ball(70) > 0)
    motion.reset()
    assert not motion(still + ball(70), time=640_000_000).any() and motion.is_learning
    model = cudaccl.Foreground((120, 160), "motion", output="background", motion_warm_up_ms=400)
    for number in range(15):
        picture = model(still, time=number * 40_000_000)
    assert picture.shape == (120, 160, 4) and abs(int(picture[5, 5, 0]) - 60) <= 2


def test_algorithms():
    found = {algorithm.name: algorithm for algorithm in cudaccl.algorithms()}
    assert found["auto"].on_cpu and found["sauf"].on_cpu and not found["union-find"].on_cpu
    for name, algorithm in found.items():
        if algorithm.on_cpu:
            engine = cudaccl.Engine((70, 90), algorithm=name, backend="cpu")
            numpy.testing.assert_array_equal(engine(IMAGES[1]).labels, measure.label(IMAGES[1]))


class DLPack(ctypes.Structure):
    """DLManagedTensor, of DLPack's dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


@pytest.mark.parametrize("stride, strides", [
    (40, (80, 2)), (-40, (-80, 2)), (2**62 - 1, (2**63 - 2, 2)), (2**62, None), (2**63 - 1, None), (-(2**62) - 1, None)])
def test_strides_of_other_libraries(stride, strides):
    """Two bytes for each pixel: the others would wrap to a stride that an image may have."""
    from cudaccl import _core

    pixels = (ctypes.c_uint16 * 120)()
    pair = ctypes.c_int64 * 2
    array = DLPack(ctypes.addressof(pixels), 1, 0, 2, 1, 16, 1, pair(3, 40), pair(stride, 1))
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.argtypes, new_capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
    imported = _core.Imported(new_capsule(ctypes.addressof(array), b"dltensor", None))
    if strides is not None:
        assert imported.strides == strides
    else:
        with pytest.raises(ValueError, match="no memory has"):
            imported.strides
    del imported


def test_device_memory_of_more_images_than_there_is(monkeypatch):
    from cudaccl import _core

    class Memory:
        address = 0

        def __init__(self, engine, on_device, size):
            assert size == math.prod((2**62 + 1, 2, 2)), "modulo 2**64, it is 4"

    class Engine:
        device_id = 5

    monkeypatch.setattr(_core, "Memory", Memory)
    with pytest.raises(MemoryError, match="not enough memory"):
        cudaccl.DeviceArray(Engine(), (2**62 + 1, 2, 2), numpy.uint8)


@pytest.mark.parametrize("dtype", [numpy.int32, numpy.uint8])
def test_description_of_device_memory(dtype, monkeypatch):
    """What DLPack and the CUDA array interface say about an array of this package. No GPU: nothing reads the memory."""
    from cudaccl import _core

    class Engine:
        device_id = 5

    engine = _core.Engine(1, -1)
    memory = _core.Memory
    monkeypatch.setattr(_core, "Memory", lambda _, on_device, size: memory(engine, not on_device, size))
    array = cudaccl.DeviceArray(Engine(), (2, 3), dtype)
    size = array.dtype.itemsize
    assert (array.ndim, array.nbytes, array.__dlpack_device__()) == (2, 6 * size, (2, 5))
    interface = array.__cuda_array_interface__
    assert interface["data"] == (array.address, False) and interface["typestr"] == numpy.dtype(dtype).str
    for _ in range(2):  # it may have several readers
        imported = _core.Imported(array.__dlpack__(stream=1, max_version=(1, 0)))
        assert (imported.address, imported.shape, imported.strides) == (array.address, (2, 3), (3 * size, size))
        assert (imported.kind, imported.device_type, imported.device_id) == (array.dtype.str[1:], 2, 5)
    with pytest.raises(BufferError, match="not copied"):
        array.__dlpack__(copy=True)
    assert "dltensor" in repr(array.__dlpack__())
    references = sys.getrefcount(array._memory)
    del imported
    gc.collect()
    left = sys.getrefcount(array._memory)  # not in the assertion, whose values pytest keeps
    assert left == references - 1  # a reader keeps the memory alive, and frees it


FORK = """
import gc, os, signal, sys
import numpy
import cudaccl

image = numpy.full((200, 300), 255, numpy.uint8)
engine = cudaccl.Engine((200, 300), backend="cpu", threads=3)
engine(image)
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that hangs
    found = engine(image).n_labels
    del engine
    gc.collect()
    own = cudaccl.Engine((200, 300), backend="cpu", threads=3)
    os._exit(0 if found == 1 and own(image).n_labels == 1 else 1)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_child_of_fork():
    """It has none of the threads of its parent's engine."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True)
