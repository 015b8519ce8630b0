# SPDX-License-Identifier: LGPL-2.1-or-later
"""Engines go on after Ctrl-C, and after a lack of memory."""

import contextlib
import subprocess
import sys
from unittest import mock

import numpy
import pytest
from skimage import measure

import cudaccl
from cudaccl import _core

RANDOM = numpy.random.default_rng(23)
IMAGES = [RANDOM.random((70, 90)) < density for density in (0.2, 0.5)]


@contextlib.contextmanager
def interrupted(name):
    """Ctrl-C is pressed in a call of the compiled part of an engine, and seen when it returns."""
    call = getattr(_core.Engine, name)

    def call_and_interrupt(*arguments):
        call(*arguments)
        raise KeyboardInterrupt

    with mock.patch.object(_core.Engine, name, call_and_interrupt), pytest.raises(KeyboardInterrupt):
        yield


@pytest.mark.parametrize("name", ["push", "pop"])
def test_an_interrupted_call(name):
    """It leaves no image in the engine."""
    expected = measure.label(IMAGES[1])
    for engine, image in (cudaccl.Engine((70, 90)), IMAGES[1]), (cudaccl.Engine((2, 70, 90)), numpy.stack(IMAGES[:2])):
        with interrupted(name):
            engine(image)
        numpy.testing.assert_array_equal(engine(image).labels.reshape(-1, 70, 90)[-1], expected)
    engine = cudaccl.Engine((70, 90), slots=2)
    engine.push(IMAGES[0])
    with interrupted(name):
        getattr(engine, name)(*[IMAGES[1]] * (name == "push"))
    with pytest.raises(IndexError):
        engine.pop()
    for _ in range(2):
        engine.push(IMAGES[1])
    for _ in range(2):
        numpy.testing.assert_array_equal(engine.pop().labels, expected)
    cudaccl.label(IMAGES[1])
    with interrupted(name):
        cudaccl.label(IMAGES[1])
    numpy.testing.assert_array_equal(cudaccl.label(IMAGES[1]).labels, expected)


STARVED = """
import resource, numpy, cudaccl
shape = {shape}
engine = cudaccl.Engine(shape, backend="cpu", threads=1, labels=False, background_model="mixture", slots=2)
image = numpy.zeros(shape, numpy.uint8)
image[..., 5, 5] = 255
engine(image)
engine.set(foreground="motion")
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (16 << 20), resource.RLIM_INFINITY))
try:
    engine(image)
except MemoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
engine(image)
engine.set(foreground="binary")
print(engine(image).n_components)
"""


@pytest.mark.parametrize("shape, count", [((1500, 1500), "1"), ((2, 1500, 1500), "[1, 1]")])
def test_an_engine_without_memory(shape, count):
    """It goes on when there is memory again. In a process of its own, whose memory is limited."""
    done = subprocess.run([sys.executable, "-c", STARVED.format(shape=shape)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert "not enough memory" in first and last == count
