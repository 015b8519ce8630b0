# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of GstCudaCclMeta as NumPy arrays, for tests that have no package installed."""

import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from cudaccl import COMPONENT, EVENT, GREY, POLYGON, TRACK  # noqa: E402, F401

VERTEX = numpy.dtype((numpy.float32, 2))


def table_of(structure, field: str, dtype: numpy.dtype) -> numpy.ndarray:
    """The records of a field, without the padding behind them; none if the metadata lacks the field."""
    value = structure.get_value(field) if structure.has_field(field) else None
    data = value.get_data() or b"" if value else b""
    size = dtype.itemsize
    return numpy.frombuffer(data[: len(data) // size * size], dtype)
