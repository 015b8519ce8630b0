# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metadata for the tests of cudaccl.gst, attached as the element does."""

import ctypes

import numpy
from gi.repository import GLib, GObject

import cudaccl


def _library():
    library = ctypes.CDLL("libgstreamer-1.0.so.0")
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, *arguments in (
            ("gst_buffer_add_custom_meta", pointer, pointer, text), ("gst_custom_meta_get_structure", pointer, pointer),
            ("gst_structure_new_from_string", pointer, text), ("gst_structure_get_value", pointer, pointer, text),
            ("gst_structure_set_value", None, pointer, text, pointer), ("gst_structure_free", None, pointer)):
        getattr(library, name).restype = result
        getattr(library, name).argtypes = arguments
    return library


def add_meta(buffer, fields, name=b"GstCudaCclMeta"):
    """PyGObject cannot write the structure of a custom meta.

    fields: by name: a value as GStreamer writes it, with its type, or a pair of a type and a value.
    """
    library = _library()
    structure = library.gst_custom_meta_get_structure(library.gst_buffer_add_custom_meta(hash(buffer), name))
    for field, value in fields.items():
        if isinstance(value, str):
            made = library.gst_structure_new_from_string(f"made, value={value};".encode())
            assert made, value
            library.gst_structure_set_value(
                structure, field.encode(), library.gst_structure_get_value(made, b"value"))
            library.gst_structure_free(made)
        else:
            boxed = GObject.Value(*value)
            library.gst_structure_set_value(structure, field.encode(), hash(boxed))


def in_bytes(data):
    return GLib.Bytes, GLib.Bytes.new(bytes(data))


def good_fields():
    """Metadata with two components, of which nothing is tracked."""
    return {
        "layout-version": "(uint)1", "width": "(uint)64", "height": "(uint)48", "n-components": "(uint)2",
        "overflow": "(boolean)false", "labels-saturated": "(boolean)false", "level": "(uint)0",
        "relearning": "(boolean)false", "source": "(string)made", "frame": "(guint64)5",
        "components": in_bytes(numpy.zeros(2, cudaccl.COMPONENT).tobytes()),
        "zones": "(string)<door>", "lines": "(string)<>",
    }


def all_fields():
    """The same with all that an element can attach."""
    polygons = numpy.array([(2, 7, 2, 1, 3), (2, 7, 4, 0, 1)], cudaccl.POLYGON)
    return good_fields() | {
        "tracks": in_bytes(numpy.zeros(1, cudaccl.TRACK).tobytes()), "events": in_bytes(b"\0\0"),
        "grey": in_bytes(numpy.zeros(2, cudaccl.GREY).tobytes()), "polygons": in_bytes(polygons.tobytes()),
        "vertices": in_bytes(numpy.zeros(4, cudaccl.VERTEX).tobytes()), "polygons-truncated": "(boolean)true",
    }
