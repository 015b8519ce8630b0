# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads GstCudaCclMeta and GstCudaCclLabelMap of a buffer by GStreamer's C functions.

It refuses what gst/cudaccl/gstcudacclmeta.h and gstcudaccllabelmap.h refuse: metadata may come from another process.
The alignment of records does not matter here, because they are copied.

PyGObject cannot list several metas of one name: it binds gst_buffer_get_custom_meta(), which returns the first one,
and its callback of gst_buffer_foreach_meta() does not get the meta. So the list is walked with ctypes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy

from cudaccl._types import COMPONENT, EVENT, GREY, POLYGON, TRACK, VERTEX

_MAX_PADDING = 3  # bytes behind the records of a field
_STRING = 16 << 2  # G_TYPE_STRING

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
    "gst_buffer_list_get_type": (ctypes.c_size_t,),
    "gst_value_array_get_type": (ctypes.c_size_t,),
    "gst_value_array_get_size": (ctypes.c_uint, _POINTER),
    "gst_value_array_get_value": (_POINTER, _POINTER, ctypes.c_uint),
    "gst_buffer_list_length": (ctypes.c_uint, _POINTER),
    "gst_buffer_list_get": (_POINTER, _POINTER, ctypes.c_uint),
    "gst_buffer_get_size": (ctypes.c_size_t, _POINTER),
    "gst_buffer_extract": (ctypes.c_size_t, _POINTER, ctypes.c_size_t, _POINTER, ctypes.c_size_t),
    "g_bytes_get_type": (ctypes.c_size_t,),
    "g_type_check_value_holds": (ctypes.c_int, _POINTER, ctypes.c_size_t),
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


class _Refused(Exception):
    """A field is missing, or not as it must be."""


class _Fields:
    """The fields of a GstStructure. All functions raise _Refused."""

    def __init__(self, structure: int) -> None:
        self._structure = structure

    def has(self, name: str) -> bool:
        return bool(_library().gst_structure_get_value(self._structure, name.encode()))

    def _number(self, read: Any, kind: Any, name: str) -> int:
        value = kind()
        if not read(self._structure, name.encode(), ctypes.byref(value)):
            raise _Refused(name)
        return value.value

    def uint(self, name: str, least: int = 0) -> int:
        value = self._number(_library().gst_structure_get_uint, ctypes.c_uint, name)
        if value < least:
            raise _Refused(name)
        return value

    def uint64(self, name: str) -> int:
        return self._number(_library().gst_structure_get_uint64, ctypes.c_uint64, name)

    def boolean(self, name: str) -> bool:
        return bool(self._number(_library().gst_structure_get_boolean, ctypes.c_int, name))

    def string(self, name: str) -> str:
        text = _library().gst_structure_get_string(self._structure, name.encode())
        if text is None:
            raise _Refused(name)
        return text.decode(errors="replace")

    def _value(self, name: str, kind: int) -> int:
        """The address of a GValue of this type."""
        value = _library().gst_structure_get_value(self._structure, name.encode())
        if not value or not _library().g_type_check_value_holds(value, kind):
            raise _Refused(name)
        return value

    def strings(self, name: str) -> tuple[str, ...]:
        library = _library()
        array = self._value(name, library.gst_value_array_get_type())
        found = []
        for index in range(library.gst_value_array_get_size(array)):
            value = library.gst_value_array_get_value(array, index)
            text = library.g_value_get_string(value) if library.g_type_check_value_holds(value, _STRING) else None
            if text is None:
                raise _Refused(name)
            found.append(text.decode(errors="replace"))
        return tuple(found)

    def records(self, name: str, dtype: numpy.dtype) -> numpy.ndarray:
        """A view of a GBytes: it dies with the buffer."""
        library = _library()
        boxed = library.g_value_get_boxed(self._value(name, library.g_bytes_get_type()))
        size = ctypes.c_size_t()
        start = library.g_bytes_get_data(boxed, ctypes.byref(size)) if boxed else None
        if size.value % dtype.itemsize > _MAX_PADDING:
            raise _Refused(name)
        count = size.value // dtype.itemsize
        if not start or count == 0:
            return numpy.empty(0, dtype)
        return numpy.frombuffer(memoryview((ctypes.c_char * (count * dtype.itemsize)).from_address(start)), dtype)

    def first_buffer(self, name: str) -> int:
        """The address of the first GstBuffer in a GstBufferList."""
        library = _library()
        buffers = library.g_value_get_boxed(self._value(name, library.gst_buffer_list_get_type()))
        if not buffers or library.gst_buffer_list_length(buffers) == 0:
            raise _Refused(name)
        return library.gst_buffer_list_get(buffers, 0)


class Metadata:
    """A GstCudaCclMeta. Its arrays are views, valid as long as the buffer that has it; a field that is not there is
    empty or None. The constructor raises _Refused."""

    NAME = b"GstCudaCclMeta"

    def __init__(self, fields: _Fields) -> None:
        self.layout_version = fields.uint("layout-version", least=1)
        self.width = fields.uint("width", least=1)
        self.height = fields.uint("height", least=1)
        self.n_components = fields.uint("n-components")
        self.overflow = fields.boolean("overflow")
        self.labels_saturated = fields.boolean("labels-saturated")
        self.level = fields.uint("level")
        self.relearning = fields.boolean("relearning")
        self.components = fields.records("components", COMPONENT)
        is_tracked = fields.has("tracks")
        self.tracks = fields.records("tracks", TRACK) if is_tracked else numpy.empty(0, TRACK)
        self.events = fields.records("events", EVENT) if is_tracked else numpy.empty(0, EVENT)
        self.zones = fields.strings("zones") if is_tracked else ()
        self.lines = fields.strings("lines") if is_tracked else ()
        self.source = fields.string("source")
        self.frame = fields.uint64("frame")
        self.utc = fields.uint64("utc") if fields.has("utc") else None
        self.utc_clock = fields.string("utc-clock") if self.utc is not None else None
        self.grey = fields.records("grey", GREY) if fields.has("grey") else None
        if self.grey is not None and len(self.grey) != len(self.components):
            raise _Refused("grey")
        self.polygons = fields.records("polygons", POLYGON) if fields.has("polygons") else None
        if self.polygons is not None:
            self.vertices = fields.records("vertices", VERTEX)
            self.polygons_truncated = fields.boolean("polygons-truncated")
            ends = self.polygons["first"].astype("u8") + self.polygons["n_vertices"]
            total = self.polygons["n_vertices"].sum(dtype="u8")  # polygons that share vertices would have no bound
            if max(ends.max(initial=0), total) > len(self.vertices):
                raise _Refused("polygons")


class LabelMap:
    """A GstCudaCclLabelMap. Valid as long as the buffer that has it. The constructor raises _Refused."""

    NAME = b"GstCudaCclLabelMap"

    def __init__(self, fields: _Fields) -> None:
        self.source = fields.string("source")
        self.frame = fields.uint64("frame")
        self._width, self._height = fields.uint("width", least=1), fields.uint("height", least=1)
        self._stride = fields.uint("stride", least=4 * self._width)
        self._labels = fields.first_buffer("labels")
        self._size = (self._height - 1) * self._stride + 4 * self._width  # the last row may have no padding
        if self._stride % 4 != 0 or self._size > _library().gst_buffer_get_size(self._labels):
            raise _Refused("stride")
        if fields.string("kind") not in ("labels", "ids"):
            raise _Refused("kind")

    def pixels(self) -> numpy.ndarray | None:
        """A copy, of int32; None if the memory cannot be read."""
        data = numpy.empty(self._size, numpy.uint8)
        if _library().gst_buffer_extract(self._labels, 0, data.ctypes.data, self._size) < self._size:
            return None
        view: numpy.ndarray = numpy.ndarray(
            (self._height, self._width), numpy.int32, data.data, strides=(self._stride, 4))
        return view if self._stride == 4 * self._width else view.copy()


_Kind = TypeVar("_Kind", Metadata, LabelMap)


def metas(buffer: int, kind: type[_Kind]) -> Iterator[_Kind]:
    """Of a GstBuffer at this address, in the order in which they were attached. Those that are refused are left out."""
    library = _library()
    info = library.gst_meta_get_info(kind.NAME)
    if not info:  # the plugin is not loaded, so nothing has this meta
        return
    state = ctypes.c_void_p()
    while meta := library.gst_buffer_iterate_meta(buffer, ctypes.byref(state)):
        if _Meta.from_address(meta).info == info:
            with contextlib.suppress(_Refused):
                yield kind(_Fields(library.gst_custom_meta_get_structure(meta)))


def find(buffer: int, source: str | None, kind: type[_Kind]) -> _Kind | None:
    """The last one attached, or the last one of this source; None if there is none."""
    found = None
    for meta in metas(buffer, kind):
        if source is None or meta.source == source:
            found = meta
    return found
