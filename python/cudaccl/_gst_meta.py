# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads GstCudaCclMeta and GstCudaCclLabelMap of a buffer by GStreamer's C functions.

PyGObject cannot list several metas of one name: it binds gst_buffer_get_custom_meta(), which returns the first one,
and its callback of gst_buffer_foreach_meta() does not get the meta. So the list is walked with ctypes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from types import SimpleNamespace

import numpy

NAME = b"GstCudaCclMeta"
LABEL_MAP_NAME = b"GstCudaCclLabelMap"

_POINTER = ctypes.c_void_p
_TEXT = ctypes.c_char_p
_FUNCTIONS = {
    # name: (type of the result, types of the arguments)
    "gst_meta_get_info": (_POINTER, _TEXT),
    "gst_buffer_iterate_meta": (_POINTER, _POINTER, _POINTER),
    "gst_custom_meta_get_structure": (_POINTER, _POINTER),
    "gst_structure_get_value": (_POINTER, _POINTER, _TEXT),
    "gst_structure_get_string": (_TEXT, _POINTER, _TEXT),
    "gst_structure_get_uint": (ctypes.c_int, _POINTER, _TEXT, _POINTER),
    "gst_structure_get_uint64": (ctypes.c_int, _POINTER, _TEXT, _POINTER),
    "gst_structure_get_boolean": (ctypes.c_int, _POINTER, _TEXT, _POINTER),
    "gst_value_array_get_size": (ctypes.c_uint, _POINTER),
    "gst_value_array_get_value": (_POINTER, _POINTER, ctypes.c_uint),
    "gst_buffer_list_length": (ctypes.c_uint, _POINTER),
    "gst_buffer_list_get": (_POINTER, _POINTER, ctypes.c_uint),
    "gst_buffer_extract": (ctypes.c_size_t, _POINTER, ctypes.c_size_t, _POINTER, ctypes.c_size_t),
    "g_value_get_string": (_TEXT, _POINTER),
    "g_value_get_boxed": (_POINTER, _POINTER),
    "g_bytes_get_data": (_POINTER, _POINTER, _POINTER),
}


class _Meta(ctypes.Structure):
    """The public head of each GstMeta."""

    _fields_ = [("flags", ctypes.c_int), ("info", ctypes.c_void_p)]


@functools.cache
def _library() -> SimpleNamespace:
    """The functions. The caller has loaded GStreamer, so this finds the copy that is in use."""
    library = ctypes.CDLL("libgstreamer-1.0.so.0")  # finds symbols of GLib too: it depends on it
    found = SimpleNamespace()
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
        setattr(found, name, function)
    return found


class Fields:
    """The fields of one meta. Valid as long as the buffer that has it."""

    def __init__(self, structure: int) -> None:
        self._structure = structure

    def _number(self, read, kind, name: str):
        value = kind()
        return value.value if read(self._structure, name.encode(), ctypes.byref(value)) else None

    def has(self, name: str) -> bool:
        return bool(_library().gst_structure_get_value(self._structure, name.encode()))

    def uint(self, name: str) -> int | None:
        return self._number(_library().gst_structure_get_uint, ctypes.c_uint, name)

    def uint64(self, name: str) -> int | None:
        return self._number(_library().gst_structure_get_uint64, ctypes.c_uint64, name)

    def boolean(self, name: str) -> bool:
        return bool(self._number(_library().gst_structure_get_boolean, ctypes.c_int, name))

    def string(self, name: str) -> str | None:
        text = _library().gst_structure_get_string(self._structure, name.encode())
        return text.decode() if text is not None else None

    def strings(self, name: str) -> tuple[str, ...]:
        """Of a GstValueArray; empty if there is none."""
        library = _library()
        array = library.gst_structure_get_value(self._structure, name.encode())
        if not array:
            return ()
        values = (library.gst_value_array_get_value(array, i) for i in range(library.gst_value_array_get_size(array)))
        return tuple(library.g_value_get_string(value).decode() for value in values)

    def data(self, name: str) -> bytes:
        """A copy of a GBytes; empty if there is none."""
        library = _library()
        value = library.gst_structure_get_value(self._structure, name.encode())
        boxed = library.g_value_get_boxed(value) if value else None
        if not boxed:
            return b""
        size = ctypes.c_size_t()
        start = library.g_bytes_get_data(boxed, ctypes.byref(size))
        return ctypes.string_at(start, size.value) if start else b""

    def pixels(self, name: str, width: int, height: int, stride: int) -> numpy.ndarray | None:
        """A copy of an image of 32-bit values in the first buffer of a GstBufferList; None if it is not whole."""
        library = _library()
        value = library.gst_structure_get_value(self._structure, name.encode())
        buffers = library.g_value_get_boxed(value) if value else None
        if not buffers or library.gst_buffer_list_length(buffers) == 0:
            return None
        rows = numpy.empty((height, stride // 4), numpy.int32)
        needed = (height - 1) * stride + 4 * width  # the last row may have no padding
        buffer = library.gst_buffer_list_get(buffers, 0)
        if library.gst_buffer_extract(buffer, 0, rows.ctypes.data, needed) < needed:
            return None
        return rows if stride == 4 * width else rows[:, :width].copy()


def metas(buffer: int, name: bytes = NAME) -> Iterator[Fields]:
    """Of a GstBuffer at this address, in the order in which they were attached."""
    library = _library()
    info = library.gst_meta_get_info(name)
    if not info:  # the plugin is not loaded, so nothing has this meta
        return
    state = ctypes.c_void_p()
    while meta := library.gst_buffer_iterate_meta(buffer, ctypes.byref(state)):
        if _Meta.from_address(meta).info == info:
            yield Fields(library.gst_custom_meta_get_structure(meta))


def find(buffer: int, source: str | None, name: bytes = NAME) -> Fields | None:
    """The last one attached, or the last one of this source; None if there is none."""
    found = None
    for fields in metas(buffer, name):
        if source is None or fields.string("source") == source:
            found = fields
    return found
