# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values of options and of keys in YAML. A ValueError says what is wrong."""

from __future__ import annotations

import argparse
import datetime
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from cudaccl import _host_name, _property_values

_T = TypeVar("_T")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Bytes."""
    match = re.fullmatch(r"([0-9]+)([KMGT]?)(?:i?B)?", text)
    if match is None or int(match[1]) == 0:
        raise ValueError(f"{text!r} is no size, such as 500M")
    return int(match[1]) * _UNITS[match[2]]


def endpoint(text: str) -> tuple[str, int]:
    """Host and port; only this machine can connect if there is no host."""
    match = re.fullmatch(r"(?:(\[[^\]]+\]|[^:]*):)?([0-9]{1,5})", text)
    if match is None or not 0 < int(match[2]) < 65536:
        raise ValueError(f"{text!r} is no [HOST:]PORT")
    return _host_name.checked((match[1] or "").strip("[]")) or "127.0.0.1", int(match[2])


def folder(text: str) -> Path:
    """An empty one is a variable that is not set, and not the working folder."""
    if not text:
        raise ValueError("the folder has no name")
    return Path(text)


def is_utf_8(text: str) -> bool:
    """False: it has bytes of a file name or an argument that are no UTF-8."""
    return not any(0xD800 <= ord(letter) < 0xE000 for letter in text)


def time_of_day(text: str) -> int:
    """Nanoseconds since 1970, of a time in ISO 8601; without an offset from UTC it is local time."""
    try:
        time = datetime.datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text)).astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time, such as 2026-11-25T08:00:00Z") from None
    since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    if since.days < 0 or time.year >= 2262:  # 64 bits of nanoseconds end there
        raise ValueError(f"{text!r} is not between 1970 and 2262")
    return ((since.days * 86400 + since.seconds) * 10**6 + since.microseconds) * 1000


def seconds(text: str) -> Fraction:
    """With a unit, as 2s or 500ms, or without."""
    is_number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text)
    found = Fraction(text) if is_number else _property_values.seconds(text)
    if found is None or found >= 10**9:
        raise ValueError(f"{text!r} is no time, such as 2s or 500ms")
    return found


def timeout(text: str) -> Fraction:
    """A time above 0."""
    found = seconds(text)
    if not found:
        raise ValueError(f"{text!r} is no time above 0, such as 2s")
    return found


def option(parse: Callable[[str], _T]) -> Callable[[str], _T]:
    """The same for argparse, which shows the text of no other error."""

    def parsed(text: str) -> _T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed
