# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of Arrow, made of their buffers.

The conversions of pyarrow import pandas where it is installed. Parquet does not need it, and the import fails where
pandas was built for another version of NumPy.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy
import pyarrow

_DTYPES = {pyarrow.from_numpy_dtype(dtype): dtype for dtype in map(numpy.dtype, ("u2", "i4", "u4", "i8", "u8", "f4"))}
UTC = pyarrow.timestamp("us", tz="UTC")  # the datetime of Python has no nanoseconds
_DTYPES[UTC] = numpy.dtype("i8")


def _bits(values: Any) -> pyarrow.Buffer:
    return pyarrow.py_buffer(numpy.packbits(numpy.asarray(values, bool), bitorder="little"))


def _ends(lengths: Any) -> pyarrow.Buffer:
    """Where the first value begins, and where each one ends."""
    ends = numpy.cumsum(numpy.fromiter(chain([0], lengths), "i8"))
    if ends[-1] > numpy.iinfo("i4").max:
        raise OverflowError(f"{ends[-1]} bytes or items are too many for a column")
    return pyarrow.py_buffer(ends.astype("i4"))


def column(values: Any, kind: pyarrow.DataType, missing: Any = None) -> pyarrow.Array:
    """Of numbers, bools or strings.

    values: an array of NumPy, or a list, in which None is null.
    missing: whether a value of the array is null, for each; None: no value is.
    """
    if isinstance(values, list):
        missing = numpy.array([value is None for value in values], bool)
    validity = _bits(~missing) if missing is not None and missing.any() else None
    if pyarrow.types.is_string(kind):
        texts = [b"" if value is None else value.encode() for value in values]
        buffers = [validity, _ends(map(len, texts)), pyarrow.py_buffer(b"".join(texts))]
    elif pyarrow.types.is_boolean(kind):
        buffers = [validity, _bits(values)]  # None is false, and not valid
    else:
        numbers = [0 if value is None else value for value in values] if isinstance(values, list) else values
        buffers = [validity, pyarrow.py_buffer(numpy.ascontiguousarray(numbers, _DTYPES[kind]))]
    return pyarrow.Array.from_buffers(kind, len(values), buffers)


def lists(items: pyarrow.Array, lengths: Any) -> pyarrow.Array:
    """Lists of so many items each."""
    ends = pyarrow.Array.from_buffers(pyarrow.int32(), len(lengths) + 1, [None, _ends(lengths)])
    return pyarrow.ListArray.from_arrays(ends, items)


def lists_of_names(values: list[Any]) -> pyarrow.Array:
    """Of a list of sequences of strings."""
    return lists(column(list(chain.from_iterable(values)), pyarrow.string()), list(map(len, values)))
