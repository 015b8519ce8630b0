# SPDX-License-Identifier: LGPL-2.1-or-later
"""What helps to choose a value: all components of a frame, also those that the filters remove, and its grey values."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy
from numpy.lib.recfunctions import repack_fields

from cudaccl._keywords import GROUPS
from cudaccl.tune.luma import luma, otsu
from cudaccl.tune.side import SecondElement

_KEPT = 6  # frames, until that of the same time is shown
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


class AllComponents:
    """A second element that keeps what the filters of the first one remove. For any thread."""

    def __init__(self) -> None:
        self._element: SecondElement | None = None
        self._lock = threading.Lock()
        self._frames: deque[tuple[int, Any]] = deque(maxlen=_KEPT)

    def start(self, values: Values) -> None:
        if self._element is None:
            self._element = SecondElement(unfiltered(values), self._taken)

    def change(self, values: Values) -> None:
        if self._element is not None:
            self._element.change(unfiltered(values))

    def stop(self) -> None:
        element, self._element = self._element, None
        if element is not None:
            element.close()
        with self._lock:
            self._frames.clear()

    def push(self, buffer: Any, caps: Any) -> None:
        element = self._element
        if element is None:
            return
        with self._lock:  # a frame that enters once more has other settings
            old = [one for one in self._frames if one[0] != buffer.pts]
            self._frames.clear()
            self._frames.extend(old)
        element.push(buffer, caps)

    def _taken(self, _picture: Any, frame: Any) -> None:
        with self._lock:
            self._frames.append((frame.time, frame))

    def of(self, pts: int | None) -> Any:
        """The frame with all components, of this time; None: there is none, or not yet."""
        with self._lock:
            for time, frame in reversed(self._frames):
                if time == pts:
                    return frame
        return None


def eccentricity(records: numpy.ndarray) -> numpy.ndarray:
    """As `max-eccentricity` compares it, from the second moments."""
    mxx, mxy, myy = (records[name].astype(float) for name in ("mxx", "mxy", "myy"))
    half = numpy.sqrt(((mxx - myy) / 2) ** 2 + mxy ** 2)
    major, minor = (mxx + myy) / 2 + half, (mxx + myy) / 2 - half
    with numpy.errstate(divide="ignore", invalid="ignore"):
        found = numpy.sqrt(numpy.clip(1 - minor / major, 0, 1))
    return numpy.nan_to_num(found)


def same_as(record: Any, records: numpy.ndarray) -> int | None:
    """The index of the component that is this one in another description of the frame; None: none is. Labels cannot be
    compared: a background that was learned a little differently has other components."""
    right, below = (records[at] + records[size] for at, size in (("x", "width"), ("y", "height")))
    width, height = (numpy.minimum(end, int(record[at]) + int(record[size])).astype(int) - numpy.maximum(
        records[at], record[at]) for end, at, size in ((right, "x", "width"), (below, "y", "height")))
    common = numpy.clip(width, 0, None) * numpy.clip(height, 0, None)
    both = (records["width"] * records["height"]).astype(int) + int(record["width"]) * int(record["height"]) - common
    if len(records) == 0 or (common / both).max() <= _SAME_BOX:
        return None
    return int(numpy.argmax(common / both))


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
    """Of the frame that is shown, for the page. everything: of `AllComponents`, or None."""
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
