# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many engines of a GPU decode video. NVML does not count them; NVIDIA's decoder library does.

Source: CUVIDDECODECAPS::nNumNVDECs in cuviddec.h of NVIDIA's Video Codec SDK (11 or newer). The numbers of each product
are in NVIDIA's Video Encode and Decode GPU Support Matrix,
https://developer.nvidia.com/video-encode-and-decode-gpu-support-matrix-new: they differ within one architecture, for
example of Ada between GeForce, L4 and L40, so the compute capability does not say it.

As a program it prints a number for each PCI bus id: `python -m cudaccl.fleet.decoders 0000:01:00.0`. It is a process of
its own, because it makes a CUDA context, and because Ray hides the GPUs from tasks that take none.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

_LIMIT_S = 60.0
_H264 = 4  # cudaVideoCodec_H264
_420 = 1  # cudaVideoChromaFormat_420


class _Caps(ctypes.Structure):
    """CUVIDDECODECAPS."""

    _fields_ = [
        ("codec", ctypes.c_int), ("chroma", ctypes.c_int), ("bits_minus_8", ctypes.c_uint),
        ("reserved1", ctypes.c_uint * 3), ("is_supported", ctypes.c_ubyte), ("engines", ctypes.c_ubyte),
        ("formats", ctypes.c_ushort), ("width", ctypes.c_uint), ("height", ctypes.c_uint), ("blocks", ctypes.c_uint),
        ("least_width", ctypes.c_ushort), ("least_height", ctypes.c_ushort), ("reserved2", ctypes.c_uint * 11)]


def count_decoders(bus_ids: list[str]) -> list[int | None]:
    """Of each GPU, for H.264. None: the driver does not say."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cudaccl.fleet.decoders", *bus_ids], env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return [None] * len(bus_ids)
    counts = [int(word) if word.isdigit() else None for word in done.stdout.split()]
    return counts if done.returncode == 0 and len(counts) == len(bus_ids) else [None] * len(bus_ids)


def _check(result: int) -> None:
    if result != 0:
        raise OSError(f"CUDA error {result}")


def _count(cuda: ctypes.CDLL, decoder: ctypes.CDLL, bus_id: str) -> int:
    """Raises OSError."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _check(cuda.cuDeviceGetByPCIBusId(ctypes.byref(device), bus_id.encode()))
    _check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    _check(cuda.cuCtxSetCurrent(context))
    caps = _Caps(codec=_H264, chroma=_420)
    _check(decoder.cuvidGetDecoderCaps(ctypes.byref(caps)))
    if not caps.is_supported or caps.engines == 0:
        raise OSError("this GPU or its driver does not say")
    return caps.engines


def main(bus_ids: list[str]) -> int:
    """Returns the exit status."""
    try:
        cuda, decoder = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvcuvid.so.1")
        _check(cuda.cuInit(0))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    for bus_id in bus_ids:
        try:
            print(_count(cuda, decoder, bus_id))
        except OSError as error:
            print(f"{bus_id}: {error}", file=sys.stderr)
            print("none")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
