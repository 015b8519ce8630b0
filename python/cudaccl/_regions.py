# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regions, zones and lines as docs/regions.md has them, in the form that the library reads."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# A string, which stays, or a comment.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|/\*.*?\*/|//[^\n]*', re.DOTALL)


def source_of(regions: Mapping[str, Any] | str | os.PathLike[str]) -> bytes:
    """regions: the members of docs/regions.md, the path of a JSON file, or its text, which begins with a brace.

    The library checks them. TypeError or ValueError for what is no such thing, or cannot be written as JSON.
    """
    if isinstance(regions, Mapping):
        try:
            return json.dumps(regions, default=_plain, allow_nan=False).encode()
        except RecursionError:
            raise ValueError("regions have too many levels") from None
    try:
        return os.fsencode(regions)
    except TypeError:
        raise TypeError(f"regions are a dictionary, a path or a text, not {type(regions).__name__}") from None


def compact(regions: str) -> str:
    """A document that the library has read, or the path of one, as one line without comments."""
    # Editors may write a mark of the order of bytes, which the library skips.
    text = regions if regions.lstrip().startswith("{") else Path(regions).read_text("utf-8-sig")
    plain = _COMMENT.sub(lambda found: found[1] or "", text)
    return json.dumps(json.loads(plain), separators=(",", ":"), ensure_ascii=False)


def digest(properties: Mapping[str, Any]) -> str:
    """Of the file of regions, whose path stays the same if somebody edits it; "": there is none that can be read."""
    text = str(properties.get("regions", ""))
    if not text or text.lstrip().startswith("{"):
        return ""
    try:
        return hashlib.sha256(Path(text).read_bytes()).hexdigest()
    except OSError:
        return ""


def check(properties: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the element or the engine. Returns the names of zones, and of lines. Raises ValueError for regions that the
    library refuses."""
    if text := str(properties.get("regions", "")):
        from cudaccl import _core  # now: commands without regions do without the library

        return _core.region_names(source_of(text))
    return (), ()


def _plain(value: Any) -> Any:
    """What JSON has, in place of numbers and arrays of NumPy, and of other mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"regions have no {type(value).__name__}: {value!r}")
