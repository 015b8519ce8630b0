# SPDX-License-Identifier: LGPL-2.1-or-later
"""What helps to choose a value: all components of a frame, also those that the filters remove, and its grey values."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.recfunctions import repack_fields

from cudaccl._keywords import GROUPS
from cudaccl._result import eccentricity
from cudaccl.tune.agreement import overlaps
from cudaccl.tune.luma import luma, otsu

_MOST = 2000  # components that a page gets, of each kind
_SAME_BOX = 0.5  # part of two boxes that is common, from which on they are of one component
_FILTERS = frozenset(GROUPS["Filters"])
_OF_THE_PICTURE = frozenset(GROUPS["Picture"])
_OF_TRACKS = frozenset(GROUPS["Tracks and events"])

Values = dict[str, str]


def unfiltered(values: Values) -> Values:
    """The settings that find the same components, and keep all of them."""
    left_out = _FILTERS | _OF_THE_PICTURE | _OF_TRACKS | {"post-messages", "max-objects", "object-type", "backend"}
    return {name: text for name, text in values.items() if name not in left_out} | {
        "min-area": "0", "output": "passthrough", "label-map": "labels", "features": "moments+perimeter+euler+grey"}


def same_as(record: Any, records: numpy.ndarray) -> int | None:
    """The index of the component that is this one in another description of the frame; None: none is. Labels cannot be
    compared: a background that was learned a little differently has other components."""
    if len(records) == 0:
        return None
    common, = overlaps(_box(record), _box(records))
    return int(common.argmax()) if common.max() > _SAME_BOX else None


def _box(records: Any) -> numpy.ndarray:
    """Of a record, or a row of each."""
    return numpy.stack([records[name] for name in ("x", "y", "width", "height")], axis=-1)


def removed(everything: numpy.ndarray, kept: numpy.ndarray) -> numpy.ndarray:
    """Those records of `everything` whose component is none of `kept`."""
    fields = ["area", "x", "y", "width", "height"]
    others = everything[~numpy.isin(_tuples(everything[fields]), _tuples(kept[fields]))]
    return others[[same_as(one, kept) is None for one in others[:_MOST]]]


def _tuples(records: numpy.ndarray) -> numpy.ndarray:
    """Each record as one value."""
    packed = numpy.ascontiguousarray(repack_fields(records))
    return packed.view(f"V{packed.dtype.itemsize}")


def describe(shown: Any, everything: Any, frame: tuple[Any, Any] | None) -> dict[str, Any]:
    """Of the frame that is shown, for the page. everything: the same frame with `unfiltered()` settings, or None."""
    grey = luma(*frame) if frame is not None else None
    found: dict[str, Any] = {"type": "aids", "level": shown.info.level}
    if grey is not None:
        histogram = numpy.bincount(grey.ravel(), minlength=256)
        found |= {"grey": histogram.tolist(), "otsu": otsu(histogram)}
    if everything is not None:
        kept = shown.records[:_MOST]
        records = numpy.concatenate([kept, removed(everything.records[:_MOST], kept)])
        found["components"] = {
            "area": records["area"].tolist(), "width": records["width"].tolist(),
            "height": records["height"].tolist(), "eccentricity": eccentricity(records).round(4).tolist(),
            "kept": [True] * len(kept) + [False] * (len(records) - len(kept))}
    return found
