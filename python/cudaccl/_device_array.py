# SPDX-License-Identifier: LGPL-2.1-or-later
"""An image in GPU memory, for any library that reads DLPack or the CUDA array interface."""

from __future__ import annotations

from typing import Any

import numpy

from cudaccl import _core
from cudaccl._arrays import size_in_bytes


class DeviceArray:
    """An image in GPU memory: `cupy.asarray(array)` and `torch.from_dlpack(array)` read it without a copy.

    It is complete: a reader needs to wait for no stream. shape is (height, width), or (images, height, width) of a
    batch; dtype is int32 for labels and ids, uint32 for squared distances, uint8 for what is painted, uint16 for
    output="distance". The memory lives as long as this object and the arrays that were made from it.
    """

    __slots__ = ("_memory", "address", "shape", "dtype", "device_id")

    def __init__(self, engine: _core.Engine, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = numpy.dtype(dtype)
        self.device_id: int = engine.device_id
        self._memory = _core.Memory(engine, True, self.nbytes)
        self.address: int = self._memory.address

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return size_in_bytes(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"<cudaccl.DeviceArray: {self.shape} of {self.dtype} on GPU {self.device_id}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": None,
            "stream": None, "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device_id)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("a cudaccl.DeviceArray is not copied: its reader does that")
        return self._memory.export(self.shape, self.dtype.str[1:], self.device_id)
