# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of GstCudaCclMeta as NumPy arrays, for tests: the layouts of the headers in cuda/ccl/."""

import numpy

# cuda/ccl/component.h
COMPONENT = numpy.dtype([
    ("label", "u4"), ("id", "u4"), ("area", "u4"),
    ("x", "u4"), ("y", "u4"), ("width", "u4"), ("height", "u4"),
    ("cx", "f4"), ("cy", "f4"), ("mxx", "f4"), ("mxy", "f4"), ("myy", "f4"),
    ("perimeter", "u4"), ("euler", "i4"), ("flags", "u2"), ("value", "u2"), ("age", "u4"),
])

# cuda/ccl/track.h
TRACK = numpy.dtype([
    ("id", "u4"), ("flags", "u4"), ("age", "u4"), ("component", "u4"), ("first_time", "i8"), ("last_time", "i8"),
    ("cx", "f4"), ("cy", "f4"), ("vx", "f4"), ("vy", "f4"),
    ("x", "u2"), ("y", "u2"), ("width", "u2"), ("height", "u2"), ("parent", "u4"), ("zones", "u4"),
])
EVENT = numpy.dtype([
    ("type", "u4"), ("id", "u4"), ("other", "u4"), ("where", "u4"), ("time", "i8"), ("x", "f4"), ("y", "f4"),
])

# cuda/ccl/grey.h
GREY = numpy.dtype([
    ("sum", "u8"), ("label", "u4"), ("min", "u2"), ("max", "u2"),
    ("mean", "f4"), ("variance", "f4"), ("cx", "f4"), ("cy", "f4"),
])

# cuda/ccl/polygon.h
POLYGON = numpy.dtype([("label", "u4"), ("id", "u4"), ("kind", "u4"), ("first", "u4"), ("n_vertices", "u4")])
VERTEX = numpy.dtype((numpy.float32, 2))


def table_of(structure, field: str, dtype: numpy.dtype) -> numpy.ndarray:
    """The records of a field, without the padding behind them; none if the metadata lacks the field."""
    value = structure.get_value(field) if structure.has_field(field) else None
    data = value.get_data() or b"" if value else b""
    size = dtype.itemsize
    return numpy.frombuffer(data[: len(data) // size * size], dtype)
