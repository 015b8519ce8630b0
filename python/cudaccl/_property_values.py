# SPDX-License-Identifier: LGPL-2.1-or-later
"""Properties of the element whose values this program must know, in all forms that GStreamer takes for them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from cudaccl._keywords import DEFAULTS

_TRUE = ("true", "t", "yes", "1")
# Foregrounds that follow from a frame alone. In the order of the element's numbers; motion has the next one.
_OF_ONE_FRAME = ("binary", "values", "otsu", "local")
_WHOLE_NUMBER = re.compile(r"\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s)")
_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1)}
_EVENT_HOLD_NS = DEFAULTS["event_hold_ms"] * 10**6


def is_tracked(properties: Mapping[str, str]) -> bool:
    """Whether the element follows objects."""
    return properties.get("track", "false").lower() in _TRUE


def needs_earlier_frames(properties: Mapping[str, str]) -> bool:
    """Whether the foreground of a frame depends on those before, as far as this program knows."""
    text = properties.get("foreground", "binary").lower()  # GStreamer 1.28 takes both cases
    return text not in _OF_ONE_FRAME and whole_number(text) not in range(len(_OF_ONE_FRAME))


def event_hold(properties: Mapping[str, str]) -> int:
    """In nanoseconds. The element has its default where it refuses a number."""
    number = whole_number(nanoseconds(properties.get("event-hold", "")))
    return _EVENT_HOLD_NS if number is None or number < 0 else number


def similar(name: str, names: Iterable[str]) -> str:
    """The name that is meant, as the continuation of an error; empty if none is similar."""
    return "".join(f"; did you mean {close}?" for close in difflib.get_close_matches(name, names, 1))


def seconds(text: str) -> Fraction | None:
    """Of a time with its unit, such as 2s or 500ms. None: it has none."""
    match = _DURATION.fullmatch(text)
    return Fraction(match[1]) * _UNITS[match[2]] if match is not None else None


def nanoseconds(text: str) -> str:
    """A time as the element has it; what has no unit stays."""
    time = seconds(text)
    return text if time is None else str(int(time * 10**9))


def whole_number(text: str) -> int | None:
    """As strtoll() reads it: decimal, hexadecimal or octal. None: it is none."""
    match = _WHOLE_NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    base = 16 if hexadecimal else 8 if octal else 10
    return int(sign + (hexadecimal or octal or decimal), base)
