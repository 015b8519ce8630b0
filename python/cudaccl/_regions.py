# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regions, zones and lines as docs/regions.md has them, checked and made ready for the C interface."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

_ANCHORS = ("bottom", "centroid")
_MEMBERS = {"version", "units", "include", "exclude", "zones", "lines", "comment", "$schema"}
_NO_CROWD = 0xffffffff
_LARGEST = 1_000_000

# A string, which is kept, or a comment, which becomes a blank; line breaks in it stay, so that lines keep their number.
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)


def prepared(regions: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """regions: the members of docs/regions.md, the path of a JSON file, or its text, which begins with a brace.

    ValueError says which member is wrong, TypeError that it is no such value; OSError if a file cannot be read.
    """
    if not isinstance(regions, Mapping):
        regions = _parsed(regions)
    _check_members("regions", regions, _MEMBERS)
    if regions.get("version", 1) != 1:
        raise ValueError(f"regions: version is {regions['version']!r}; it can be 1")
    units = regions.get("units", "relative")
    if units not in ("relative", "pixels"):
        raise ValueError(f"regions: units is {units!r}; it can be relative or pixels")
    return {
        "is_relative": units == "relative",
        "include": _list(regions, "include", _region),
        "exclude": _list(regions, "exclude", _region),
        "zones": _list(regions, "zones", _zone),
        "lines": _list(regions, "lines", _line),
    }


def _parsed(source: str | os.PathLike[str]) -> Mapping[str, Any]:
    text = os.fspath(source)
    if not isinstance(text, str):
        raise TypeError(f"regions are a dictionary, a path or a text, not {type(source).__name__}")
    name = "regions"
    if not text.lstrip().startswith("{"):
        name = text
        with open(text, encoding="utf-8") as file:
            text = file.read()

    def without_comment(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else " " + "\n" * found.count("\n")

    try:
        parsed = json.loads(_STRING_OR_COMMENT.sub(without_comment, text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}: {error}") from None
    if not isinstance(parsed, dict):
        raise ValueError(f"{name}: it is no JSON object")
    return parsed


def _check_members(place: str, entry: Any, known: set[str], required: tuple[str, ...] = ()) -> None:
    if not isinstance(entry, Mapping):
        raise TypeError(f"{place} is {entry!r}; it must be a dictionary")
    for name in entry:
        if name not in known:
            raise ValueError(f"{place}: unknown member {name!r}")
    for name in required:
        if name not in entry:
            raise ValueError(f"{place}: {name} is missing")


def _list(regions: Mapping[str, Any], name: str, make: Callable[[str, Any], Any]) -> list[Any]:
    entries = regions.get(name, ())
    if not isinstance(entries, (list, tuple)):
        raise TypeError(f"{name} is {entries!r}; it must be a list")
    return [make(f"{name}[{i}]", entry) for i, entry in enumerate(entries)]


def _name(place: str, entry: Mapping[str, Any]) -> Any:
    name = entry.get("name")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{place}.name is {name!r}; it must be a text")
    return name


def _point(place: str, value: Any) -> tuple[float, float]:
    try:
        x, y = map(float, value)
    except (TypeError, ValueError):
        raise ValueError(f"{place} is {value!r}; it must be a pair of numbers") from None
    if not (abs(x) <= _LARGEST and abs(y) <= _LARGEST):
        raise ValueError(f"{place} is {value!r}; coordinates lie between -{_LARGEST} and {_LARGEST}")
    return x, y


def _polygon(place: str, entry: Mapping[str, Any]) -> tuple[str | None, list[tuple[float, float]]]:
    try:
        points = [_point(f"{place}.polygon[{i}]", point) for i, point in enumerate(entry["polygon"])]
    except TypeError:
        raise TypeError(f"{place}.polygon is {entry['polygon']!r}; it must be a list of points") from None
    if len(points) < 3:
        raise ValueError(f"{place}.polygon has {len(points)} points; it needs at least 3")
    return _name(place, entry), points


def _region(place: str, entry: Any) -> tuple[str | None, list[tuple[float, float]]]:
    _check_members(place, entry, {"name", "polygon", "comment"}, ("polygon",))
    return _polygon(place, entry)


def _anchor(place: str, entry: Mapping[str, Any]) -> int:
    anchor = entry.get("anchor", "bottom")
    if anchor not in _ANCHORS:
        raise ValueError(f"{place}.anchor is {anchor!r}; it can be bottom or centroid")
    return _ANCHORS.index(anchor)


def _zone(place: str, entry: Any) -> tuple[Any, int, int, int]:
    _check_members(place, entry, {"name", "polygon", "anchor", "dwell", "crowd", "comment"}, ("name", "polygon"))
    dwell, crowd = entry.get("dwell"), entry.get("crowd")
    if dwell is not None and not (isinstance(dwell, (int, float)) and 0.001 <= dwell <= _LARGEST):
        raise ValueError(f"{place}.dwell is {dwell!r}; it is from 0.001 to {_LARGEST} seconds")
    if crowd is not None and not (isinstance(crowd, int) and 0 <= crowd <= _LARGEST):
        raise ValueError(f"{place}.crowd is {crowd!r}; it is an integer from 0 to {_LARGEST}")
    return (
        _polygon(place, entry), _anchor(place, entry), _NO_CROWD if crowd is None else crowd,
        0 if dwell is None else round(dwell * 1e9),
    )


def _line(place: str, entry: Any) -> tuple[str, tuple[float, float], tuple[float, float], int]:
    _check_members(place, entry, {"name", "from", "to", "anchor", "comment"}, ("name", "from", "to"))
    return (
        _name(place, entry) or "", _point(f"{place}.from", entry["from"]), _point(f"{place}.to", entry["to"]),
        _anchor(place, entry),
    )
