# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of any library as addresses: NumPy's, and those that speak DLPack or the CUDA array interface."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any, NamedTuple

import numpy

from cudaccl import _core

_CPU = 1  # kDLCPU
_CUDA = 2  # kDLCUDA
_CUDA_HOST = 3  # kDLCUDAHost: page-locked
_CUDA_MANAGED = 13  # kDLCUDAManaged

LEGACY_STREAM = 1  # CUDA's default stream, in both protocols and for the engine

_MASKED = "an array with a mask has no pixels where it is masked: fill them"
_KINDS = {"|b1": "b1", "|u1": "u1", "<u2": "u2"}


class Array(NamedTuple):
    """Where an array lies."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: bytes
    kind: str  #: b1, u1 or u2; else what the library calls it
    on_device: bool
    stream: int  #: a CUstream whose work must be done before it is read, or 0
    device_id: int  #: −1 if not known
    keep: Any  #: keeps the memory alive
    read_only: bool = False  #: as far as is known


def describe(array: Any) -> Array:
    """TypeError if it is no array."""
    if isinstance(array, numpy.ndarray):
        return _of_numpy(array)
    interface = getattr(array, "__cuda_array_interface__", None)
    # Before version 3 the interface does not name a stream; DLPack, where there is both, orders it.
    if interface is not None and (interface.get("version", 0) >= 3 or not hasattr(array, "__dlpack__")):
        return _of_interface(array, interface)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(array)
    if hasattr(array, "__array_interface__"):
        return _of_numpy(numpy.asarray(array))
    raise TypeError(f"an array is needed, not {type(array).__name__}: numpy.asarray() makes one")


def _of_numpy(array: numpy.ndarray) -> Array:
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(_MASKED)
    kind = _KINDS.get(array.dtype.str, str(array.dtype))
    return Array(
        array.__array_interface__["data"][0], array.shape, array.strides, kind, False, 0, -1, array,
        not array.flags.writeable,
    )


def _contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def _of_interface(array: Any, interface: dict[str, Any]) -> Array:
    if interface.get("mask") is not None:
        raise TypeError(_MASKED)
    shape = tuple(interface["shape"])
    text = interface["typestr"]
    strides = interface.get("strides") or _contiguous_strides(shape, int(text[2:]))
    stream = interface.get("stream") if interface.get("version", 0) >= 3 else LEGACY_STREAM
    device_id = -1
    if hasattr(array, "__dlpack_device__"):
        device_id = int(array.__dlpack_device__()[1])
    address, read_only = interface["data"]
    return Array(
        address, shape, tuple(strides), _KINDS.get(text, text), True, stream or 0, device_id, array, bool(read_only)
    )


def _of_dlpack(array: Any) -> Array:
    device_type, device_id = array.__dlpack_device__()
    if device_type == _CPU:
        return _of_numpy(numpy.from_dlpack(array))
    if device_type not in (_CUDA, _CUDA_HOST, _CUDA_MANAGED):
        raise ValueError(f"the array is on a device of DLPack's type {int(device_type)}: only the CPU and CUDA serve")
    on_device = device_type != _CUDA_HOST
    imported = _core.Imported(array.__dlpack__(stream=LEGACY_STREAM) if on_device else array.__dlpack__())
    return Array(
        imported.address, imported.shape, imported.strides, imported.kind, on_device,
        LEGACY_STREAM if on_device else 0, int(device_id) if on_device else -1, imported,
    )


_CHANNELS = {"gray": 1, "rgb": 3, "bgr": 3, "rgba": 4, "bgra": 4}


def channels_of(pixel_format: str) -> int:
    if pixel_format not in _CHANNELS:
        raise ValueError(f"format is {pixel_format!r}; possible are {', '.join(_CHANNELS)}")
    return _CHANNELS[pixel_format]


_NARROW = 4  # as the last axis of images in colours, which are no batch


def warn_of_colors(shape: tuple[int, ...], stacklevel: int) -> None:
    """If it is probably that of an image in colours."""
    if len(shape) == 3 and shape[1] > _NARROW >= shape[2] >= 3:
        warnings.warn(
            f"an array of shape {shape} is a batch of {shape[0]} images, {shape[2]} pixels wide; of an image in colours"
            " take its grey values or one channel, or an Engine with format=\"rgb\"", stacklevel=stacklevel + 1)


def check_image(image: Array, shape: tuple[int, ...], channels: int) -> None:
    """TypeError or ValueError if it is no image of this shape, channels not counted, whose rows can be read."""
    possible = ("b1", "u1", "u2") if channels == 1 else ("u1",)
    if image.kind not in possible:
        needed, how = (("bool, uint8 or uint16", "a comparison, such as `image > 100`, makes one") if channels == 1 else
                       ("uint8", "`image.astype(numpy.uint8)` makes one of numbers from 0 to 255"))
        raise TypeError(f"an image of {needed} is needed, not {image.kind}: {how}")
    wanted = (*shape, channels) if channels > 1 else shape
    if image.shape != wanted:
        hint = "; the engine's shape has no channels" if channels > 1 and image.shape == shape else ""
        raise ValueError(f"an image of shape {wanted} is needed, not {image.shape}{hint}")
    check_rows(image, channels, "image")


def check_rows(image: Array, channels: int, name: str) -> None:
    """ValueError unless each row is consecutive in memory and rows follow each other."""
    shape, strides = (image.shape, image.strides) if channels == 1 else (image.shape[:-1], image.strides[:-1])
    size = 2 if image.kind == "u2" else 4 if image.kind == "i4" else 1
    row = shape[-1] * size * channels
    is_row = (shape[-1] == 1 or strides[-1] == size * channels) and (channels == 1 or image.strides[-1] == size)
    if not is_row or (shape[-2] > 1 and strides[-2] < row):
        raise ValueError(
            f"the rows of the {name} must be consecutive, top to bottom, with no step between pixels"
            f" (strides are {image.strides}): numpy.ascontiguousarray() makes such an array"
        )
    if image.address % size != 0 or (shape[-2] > 1 and strides[-2] % size != 0):
        raise ValueError(f"the {name} is not aligned: a copy() is")


def check_labels(out: Array, image: Array, shape: tuple[int, ...]) -> None:
    """TypeError or ValueError if the labels of the image, or batch, cannot be written into `out`."""
    if out.kind not in ("int32", "uint32", "<i4", "<u4", "i4", "u4"):
        raise TypeError(f"out must be int32 or uint32, not {out.kind}")
    if out.on_device != image.on_device:
        raise ValueError("out must be where the image is: both on the host, or both on the GPU")
    if out.shape != shape:
        raise ValueError(f"out must have the shape {shape}, not {out.shape}")
    if out.read_only:
        raise ValueError("out is read-only; numpy.asarray() of an array of another library may be writable")
    out = out._replace(kind="i4")
    check_rows(out, 1, "array out")
    _check_distances(out)
    if numpy.may_share_memory(_bytes_of(out), _bytes_of(image), max_work=10_000):
        raise ValueError("out overlaps the image: the engine writes labels while it reads pixels")


def _check_distances(out: Array) -> None:
    """ValueError if images of a batch are not aligned, or share a pixel. The rows of each image are right."""
    distances = sorted((abs(stride), count) for stride, count in zip(out.strides[:-1], out.shape[:-1]) if count > 1)
    if any(distance % 4 != 0 for distance, _ in distances):
        raise ValueError("the array out is not aligned: a copy() is")
    span = 4 * out.shape[-1]
    for distance, count in distances:
        if distance < span:
            raise ValueError(f"the images of the array out overlap each other (strides are {out.strides})")
        span += distance * (count - 1)


class _Interface:
    def __init__(self, array: Array) -> None:
        self.__array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": f"|V{array.kind[-1]}",
            "data": (array.address, True), "version": 3,
        }


def _bytes_of(array: Array) -> numpy.ndarray:
    """Its addresses as an array of NumPy, which cannot be read if they are on a GPU."""
    return numpy.asarray(_Interface(array))


def row_stride(image: Array, axis: int, row_bytes: int) -> int:
    """Bytes from one row to the next. A single row may have any stride."""
    return image.strides[axis] if image.shape[axis] > 1 else row_bytes


def size_in_bytes(shape: tuple[int, ...], dtype: Any) -> int:
    """Of an array without padding. MemoryError if no memory has so many: an array that repeats itself, as
    numpy.broadcast_to() makes it, may have such a shape."""
    size = math.prod(shape) * numpy.dtype(dtype).itemsize
    if size > sys.maxsize:
        raise MemoryError(f"not enough memory for an array of {shape}")
    return size


def result_array(shape: tuple[int, ...], dtype: Any) -> numpy.ndarray:
    """A new array whose memory, when nothing refers to it any more, serves a later one: see result_memory.h."""
    return numpy.ndarray(shape, dtype, _core.ResultMemory(size_in_bytes(shape, dtype)))


def result_copy(array: numpy.ndarray) -> numpy.ndarray:
    copy = result_array(array.shape, array.dtype)
    copy[...] = array
    return copy
