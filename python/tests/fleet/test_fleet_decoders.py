# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many decoders a GPU has, with libraries in the place of NVIDIA's."""

import ctypes
import os
import subprocess
import sys
import types

import pytest

pytest.importorskip("yaml", reason="PyYAML is missing")

from cudaccl.fleet import decoders, placement  # noqa: E402

CUDA = """
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return getenv("CUDA_VISIBLE_DEVICES") ? 100 : (int)flags; }
int cuDeviceGetByPCIBusId(int *device, const char *id) { *device = id[5] - '0'; return *device < 3 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (char *)0 + 100 + device; return 0; }
extern int current;
int current;
int cuCtxSetCurrent(void *context) { current = (int)((char *)context - (char *)0) - 100; return 0; }
"""
# As cuviddec.h has it. The GPU 0 has four engines, and GPU 1 does not say.
DECODER = """
struct Caps {
  int codec, chroma;
  unsigned bits, reserved1[3];
  unsigned char is_supported, engines;
  unsigned short formats;
  unsigned width, height, blocks;
  unsigned short least_width, least_height;
  unsigned char histogram, counter_bits;
  unsigned short bins;
  unsigned reserved3[10];
};
extern int current;
int cuvidGetDecoderCaps(struct Caps *caps) {
  if (sizeof *caps != 88 || caps->codec != 4 || caps->chroma != 1 || caps->bits != 0) return 1;
  caps->is_supported = 1;
  caps->engines = current == 0 ? 4 : 0;
  caps->bins = 256;
  caps->reserved3[9] = 1;
  return 0;
}
"""


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    for name, text, flags in (("libcuda.so.1", CUDA, []), ("libnvcuvid.so.1", DECODER, [tmp_path / "libcuda.so.1"])):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", tmp_path / name, *flags], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


def test_the_driver_counts(libraries, monkeypatch):
    """Also where Ray hides the GPUs."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert decoders.count_decoders(["0000:0", "0000:1", "0000:9"]) == [4, None, None]


def test_no_driver(monkeypatch):
    monkeypatch.setattr(sys, "executable", os.devnull)
    assert decoders.count_decoders(["0000:0"]) == [None]


def test_gpus_here(monkeypatch):
    """Without an answer of the driver, the fewest of the kind."""
    assert ctypes.sizeof(decoders._Caps) == 88
    capabilities = [(8, 9), (9, 0), (8, 9)]
    nvml = types.SimpleNamespace(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: 4,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetPciInfo=lambda index: types.SimpleNamespace(busId=f"id{index}".encode()),
        nvmlDeviceGetCudaComputeCapability=lambda index: capabilities[index],
        nvmlDeviceGetMemoryInfo=lambda index: types.SimpleNamespace(free=index << 30))
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    counts = {"id0": 4, "id1": None, "id2": None}
    monkeypatch.setattr(placement, "count_decoders", lambda ids: [counts[one] for one in ids])
    assert placement.gpus_here(3) == tuple(placement.Gpu(i << 30, n) for i, n in enumerate([4, 7, 1]))
    assert placement.gpus_here(0) == ()
