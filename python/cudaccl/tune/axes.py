# SPDX-License-Identifier: LGPL-2.1-or-later
"""The settings that a search changes, each as a place from 0 to 1."""

from __future__ import annotations

import dataclasses
import math

from cudaccl.tune import description
from cudaccl.tune.description import Description

_WIDE = 1000  # values; ranges with more are spread by their logarithm, as the sliders of the page
_NUMBERS = ("integer", "real")
_KINDS = ("boolean", "choice", *_NUMBERS)
_GROUPS = ("Foreground", "Motion", "Clean-up and regions", "Objects that touch", "Filters")
_LARGEST_VALUE = 65535  # of a setting that is about values of pixels
_CLEAN_UP = ("open-radius", "close-radius")
_OF_RULE = {
    "binary": ("threshold", "invert", *_CLEAN_UP), "otsu": ("invert", *_CLEAN_UP),
    "local": ("local-radius", "local-offset", "invert", *_CLEAN_UP), "motion": ("motion-sensitivity", *_CLEAN_UP),
    "values": ()}

Values = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Size:
    """Of the marked frames: what ends ranges that have no end of their own."""

    width: int
    height: int
    largest: int  #: value of a pixel


def searchable() -> list[str]:
    """Names of the settings that change what is found in a frame. Times are none of them: the frames before a marked
    one do not last long enough."""
    return [one.name for one in description.settings().values() if one.group in _GROUPS and one.kind in _KINDS]


def usual(values: Values) -> list[str]:
    """Those that are searched if none are named."""
    return [*_OF_RULE[values.get("foreground", "binary")], "min-area"]


class Axis:
    """A setting. Texts are values as in a launch line."""

    def __init__(self, setting: Description, size: Size) -> None:
        self._setting = setting
        self._choices = ["false", "true"] if setting.kind == "boolean" else [name for name, _ in setting.choices]
        self._least = 0.0 if setting.least is None else setting.least
        self._largest = 0.0 if setting.largest is None else _end(setting, size)

    @property
    def name(self) -> str:
        return self._setting.name

    @property
    def is_number(self) -> bool:
        return self._setting.kind in _NUMBERS

    @property
    def default(self) -> str:
        return self._setting.default

    @property
    def _is_wide(self) -> bool:
        return self._setting.kind == "integer" and self._largest - self._least > _WIDE

    def text(self, place: float) -> str:
        if not self.is_number:
            return self._choices[min(int(place * len(self._choices)), len(self._choices) - 1)]
        span = self._largest - self._least
        if self._is_wide:
            return str(round(self._least + math.expm1(place * math.log1p(span))))
        value = self._least + place * span
        return str(round(value)) if self._setting.kind == "integer" else f"{value:.3f}"

    def place(self, text: str) -> float:
        """Of a value; the end that is nearer of one outside the range."""
        if not self.is_number:
            return (self._choices.index(text) + 0.5) / len(self._choices) if text in self._choices else 0.0
        above = min(max(float(text), self._least), self._largest) - self._least
        span = self._largest - self._least
        return math.log1p(above) / math.log1p(span) if self._is_wide else above / (span or 1)


def _end(setting: Description, size: Size) -> float:
    """What can occur in a frame."""
    if setting.largest == _LARGEST_VALUE:
        return size.largest
    if setting.largest < 2**20:  # type: ignore[operator]
        return setting.largest  # type: ignore[return-value]
    if "width" in setting.name:
        return size.width
    return size.height if "height" in setting.name else size.width * size.height


def make(names: list[str], size: Size) -> list[Axis]:
    """In the order of the settings. Raises ValueError for a name that is not searchable."""
    possible = searchable()
    for name in names:
        if name not in possible:
            raise ValueError(f"{name} is no setting that can be searched; possible are {', '.join(possible)}")
    return [Axis(description.settings()[name], size) for name in possible if name in names]
