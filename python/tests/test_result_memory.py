# SPDX-License-Identifier: LGPL-2.1-or-later
"""The memory of label()'s results: used again when they die, and never before."""

import collections
import gc
import queue
import resource
import subprocess
import sys
import threading

import numpy
import pytest

import cudaccl
from cudaccl._core import ResultMemory

RANDOM = numpy.random.default_rng(22)
LARGE = RANDOM.random((1080, 1920)) < 0.01
DENSE = RANDOM.random((700, 900)) < 0.3  # 1.9 MB of records
BATCH = RANDOM.random((6, 1080, 1920)) < 0.001  # labels of 50 MB, which malloc() never keeps


@pytest.fixture(autouse=True)
def nothing_idle():
    gc.collect()
    cudaccl.clear_engines()
    assert ResultMemory.idle_bytes() == 0


@pytest.fixture
def no_collector():
    """Memory that only the collector of cycles frees is not there for the next call."""
    gc.disable()
    yield
    gc.enable()


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("image", [LARGE, DENSE, BATCH], ids=["large", "dense", "batch"])
def test_no_page_faults(no_collector, image, is_kept):
    """Of some rounds the best one counts: the system, too, takes pages away for a moment, to move them."""
    counts = []
    for _ in range(6):
        before = faults()
        for _ in range(5):
            result = cudaccl.label(image, threads=1)
            if not is_kept:
                del result
        counts.append(faults() - before)
        if len(counts) > 1 and counts[-1] <= 2:
            return
    pytest.fail(f"page faults of each round: {counts}")


def test_results_die_with_their_last_user(no_collector):
    for image in (LARGE, BATCH):
        result = cudaccl.label(image)
        labels = result.labels
        before = ResultMemory.idle_bytes()
        del result
        del labels
        assert ResultMemory.idle_bytes() - before >= 4 * image.size
        cudaccl.clear_engines()
        assert ResultMemory.idle_bytes() == 0


VIEWS = {
    "array": lambda array: array, "slice": lambda array: array[3:700, ::2], "view": lambda array: array.view("u1"),
    "memoryview": memoryview, "bytes of it": lambda array: memoryview(array).cast("B")[:999],
    "dlpack": numpy.from_dlpack, "field": lambda array: array["area"],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views_keep_the_memory(kind):
    result = cudaccl.label(LARGE)
    array = result.records if kind == "field" else result.labels
    expected = numpy.array(VIEWS[kind](array))
    view = VIEWS[kind](array)
    del result, array
    others = [cudaccl.label(~LARGE), cudaccl.label(DENSE), cudaccl.label(numpy.zeros_like(LARGE))]
    numpy.testing.assert_array_equal(numpy.asarray(view), expected)
    del others
    cudaccl.clear_engines()
    numpy.testing.assert_array_equal(numpy.asarray(view), expected)


def test_live_results_share_nothing():
    """Whatever dies between them."""
    live = collections.deque()
    for number in range(60):
        image = numpy.zeros((200 + number % 7, 300), bool)
        image[number, ::2] = True
        image[number + 1, number] = True
        result = cudaccl.label(image)
        live.append((image, result))
        if number % 3 == 0:
            del live[number % len(live)]
        result.records["value"] = number
    ranges = sorted((array.ctypes.data, array.nbytes) for _, result in live for array in result)
    for (address, size), (following, _) in zip(ranges, ranges[1:]):
        assert address + size <= following
    for image, result in live:
        numpy.testing.assert_array_equal(result.labels != 0, image)
        assert len(set(result.records["value"])) == 1


def test_idle_memory_is_bounded():
    most = ResultMemory.most_idle
    kept = [ResultMemory(most // 5) for _ in range(12)]
    assert ResultMemory.idle_bytes() == 0
    while kept:
        kept.pop()
        assert ResultMemory.idle_bytes() <= most
    assert ResultMemory.idle_bytes() >= most // 2
    before = ResultMemory.idle_bytes()
    del kept
    ResultMemory(most + 1)  # never idle
    assert ResultMemory.idle_bytes() == before
    ResultMemory.free_idle()
    assert ResultMemory.idle_bytes() == 0


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_sizes_that_vary():
    before = resident_bytes()
    largest = 0
    for size in RANDOM.integers(1 << 15, 1 << 25, 400):
        numpy.frombuffer(ResultMemory(int(size)), "u1").fill(1)
        largest = max(largest, resident_bytes())
        assert ResultMemory.idle_bytes() <= ResultMemory.most_idle
    assert largest - before < ResultMemory.most_idle + (100 << 20)
    ResultMemory.free_idle()
    assert resident_bytes() - before < 100 << 20


def test_memory_returns_to_the_system():
    """Also where newer objects lie above it in the heap."""
    numpy.ones(31 << 20, "u1")  # it dies at once: from then on, malloc() takes such sizes from its heap
    results, newer = [], []
    for _ in range(12):
        results.append(ResultMemory(12 << 20))
        numpy.frombuffer(results[-1], "u1").fill(1)
        newer.append(numpy.ones(1 << 20, "u1"))
    before = resident_bytes()
    results.clear()
    ResultMemory.free_idle()
    assert before - resident_bytes() > 140 << 20


def test_the_oldest_is_freed_first():
    quarter = ResultMemory.most_idle // 4
    for size in (quarter, quarter // 2, quarter // 4):
        ResultMemory(size)
    sizes = [ResultMemory(3 * quarter // 4) for _ in range(4)]
    sizes.clear()
    idle = ResultMemory.idle_bytes()
    kept = ResultMemory(quarter // 4)
    assert ResultMemory.idle_bytes() == idle - quarter // 4
    del kept
    oldest = ResultMemory(quarter)
    assert ResultMemory.idle_bytes() == idle
    del oldest


def test_too_much():
    for size in (1 << 50, 1 << 62, (1 << 63) - 1, (1 << 63) + 1, (1 << 64) - 1):
        with pytest.raises(MemoryError):
            ResultMemory(size)


def test_threads():
    """Results die in other threads than those that made them."""
    images = [RANDOM.random((300 + 40 * index, 400)) < 0.1 for index in range(4)]
    expected = [cudaccl.label(image).labels.copy() for image in images]
    results = queue.Queue(6)
    failures = []

    def make(index):
        for _ in range(60):
            results.put((index, cudaccl.label(images[index], threads=1)))

    def check():
        while (found := results.get()) is not None:
            if not numpy.array_equal(found[1].labels, expected[found[0]]):
                failures.append(found[0])
            del found

    makers = [threading.Thread(target=make, args=[index]) for index in range(4)]
    checkers = [threading.Thread(target=check) for _ in range(2)]
    for thread in makers + checkers:
        thread.start()
    for thread in makers:
        thread.join()
    for _ in checkers:
        results.put(None)
    for thread in checkers:
        thread.join()
    assert not failures


def run(program):
    """In an interpreter of its own, which must end without a word."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


BEGIN = """
import os, sys
import numpy
import cudaccl

image = numpy.random.default_rng(1).random((600, 800)) < 0.2
other = ~image
kept = cudaccl.label(image, threads=1)
expected, expected_other = kept.labels.copy(), cudaccl.label(other, threads=1).labels.copy()
"""


def test_fork():
    """Parent and child have the same idle memory at the same addresses, and neither sees what the other writes."""
    run(BEGIN + """
def work():
    for _ in range(20):
        assert (cudaccl.label(other, threads=1).labels == expected_other).all()
        assert (kept.labels == expected).all()

child = os.fork()
if child == 0:
    status = 1
    try:
        work()
        kept.labels[:] = 7
        kept = None
        cudaccl.label(image, threads=1).labels[:] = 8
        cudaccl.clear_engines()
        status = 0
    finally:
        os._exit(status)
work()
assert os.waitpid(child, 0)[1] == 0
work()
""")


def test_end_of_the_interpreter():
    """Results that live until, and after, the module is gone, and daemon threads that are in a call."""
    run(BEGIN + """
import atexit, threading

class Cycle:
    pass

cycle = Cycle()
cycle.own, cycle.result = cycle, cudaccl.label(image)
sys.kept = cudaccl.label(image).labels[3:]
numpy.kept = memoryview(cudaccl.label(image).labels)
local = threading.local()
local.result = cudaccl.label(image)

def work():
    while True:
        work.result = cudaccl.label(image)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
atexit.register(lambda result=cudaccl.label(image): result.labels.fill(1))
""")
