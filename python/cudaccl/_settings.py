# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keywords as the C interface has them: numbers in place of names."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from typing import Any, Literal, TypedDict

_NAMES = {
    "foreground": ("binary", "values", "otsu", "local", "motion"),
    "background_model": ("sigma-delta", "mixture"),
    "morphology_shape": ("square", "cross"),
    "palette": ("golden", "glasbey", "viridis-by-area", "mono"),
}
_FEATURES = {"moments": 1, "perimeter": 2, "euler": 4}
_CONNECTIVITIES = {4: 4, 8: 8, 1: 4, 2: 8}

BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}
OUTPUTS = ("none", "colorized", "overlay", "labels16", "mask", "background", "foreground")
ORDERS = ("RGBA", "BGRA", "ARGB", "ABGR")


class LabelSettings(TypedDict, total=False):
    """Keywords of `label()`, `Engine`, `Tracker` and `Foreground`. The element has properties of the same names."""

    foreground: Literal["binary", "values", "otsu", "local", "motion"]
    """Which pixels are foreground; see docs/foreground.md. "binary" is the default."""
    threshold: int
    """"binary": pixels of at least this value; 1 is the default."""
    threshold_low: int
    """"binary": hysteresis, 0 for none."""
    invert: bool
    """"binary", "otsu", "local": pixels below the threshold instead."""
    local_radius: int
    local_offset: int
    local_deviation: float
    background_model: Literal["sigma-delta", "mixture"]
    motion_sensitivity: int
    motion_shadows: bool
    motion_learning_ms: int
    motion_warm_up_ms: int
    motion_max_change: float
    open_radius: int
    close_radius: int
    morphology_shape: Literal["square", "cross"]
    fill_holes: int
    """Holes of at most this many pixels are filled."""
    min_area: int
    """Which components have records: see docs/filters.md. In pixels."""
    max_area: int
    min_width: int
    min_height: int
    max_width: int
    max_height: int
    clear_border: bool
    top_n: int
    min_extent: float
    min_circularity: float
    max_eccentricity: float
    features: str | Iterable[str]
    """What is measured beside area, box and centroid: "all", or some of "moments", "perimeter", "euler"."""
    overlay_alpha: float
    """How components are painted, with `output`: see docs/launch-lines.md."""
    palette: Literal["golden", "glasbey", "viridis-by-area", "mono"]
    color_seed: int
    background_color: int
    draw_boxes: bool
    draw_ids: bool
    draw_trails: bool
    draw_regions: bool
    mask_on: int
    mask_off: int
    track_confirm: int
    """How components are followed: see docs/events.md."""
    track_lost_ms: int
    event_hold_ms: int


class Settings(LabelSettings, total=False):
    """Keywords of `Engine`, `Tracker` and `Foreground`."""

    connectivity: int
    """4 or 8 (the default); also scikit-image's 1 and 2."""


def number_of(keyword: str, value: Any, names: Iterable[str]) -> int:
    """The index of a name. ValueError if it is none of them."""
    names = tuple(names)
    if value not in names:
        raise ValueError(f"{keyword} is {value!r}; possible are {', '.join(names)}")
    return names.index(value)


def _features(value: Any) -> int:
    if isinstance(value, int):
        return value
    names = tuple(_FEATURES) if value == "all" else (value,) if isinstance(value, str) else tuple(value or ())
    for name in names:
        number_of("a feature", name, _FEATURES)
    return sum(_FEATURES[name] for name in set(names))


def _check_spelling(keyword: str) -> None:
    """A keyword that resembles none is left to the library."""
    if keyword in Settings.__annotations__:
        return
    for close in difflib.get_close_matches(keyword, Settings.__annotations__, 1):
        raise TypeError(f"unknown keyword {keyword}; did you mean {close}?")


def numbers(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with numbers for names and booleans. ValueError for a wrong name, TypeError for a wrong keyword."""
    found = {}
    for name, value in settings.items():
        _check_spelling(name)
        if name in _NAMES:
            value = number_of(name, value, _NAMES[name])
        elif name == "features":
            value = _features(value)
        elif name == "connectivity":
            if not isinstance(value, Hashable) or value not in _CONNECTIVITIES:
                raise ValueError(f"connectivity is {value!r}; possible are 4 and 8, or scikit-image's 1 and 2")
            value = _CONNECTIVITIES[value]
        elif isinstance(value, bool):
            value = int(value)
        found[name] = value
    return found
