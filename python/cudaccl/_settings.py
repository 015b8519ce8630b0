# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keywords as the C interface has them: numbers in place of names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any

from cudaccl import _core
from cudaccl._keywords import DEFAULTS, Config, Keywords, LabelKeywords, Settings
from cudaccl._property_values import similar

__all__ = ["Config", "Keywords", "LabelKeywords", "Settings"]

_CHOICES = _core.choices()
_CONNECTIVITIES = {4: 4, 8: 8, "4-way": 4, "8-way": 8, 1: 4, 2: 8}

BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}
OUTPUTS = ("none", "colorized", "overlay", "labels16", "mask", "background", "foreground", "distance",
           "distance8")
VALUES = _CHOICES["foreground"]["values"]
ORDERS = ("RGBA", "BGRA", "ARGB", "ABGR")


def number_of(keyword: str, value: Any, names: Iterable[str]) -> int:
    """The index of a name. ValueError if it is none of them."""
    names = tuple(names)
    if value not in names:
        raise ValueError(f"{keyword} is {value!r}; possible are {', '.join(names)}")
    return names.index(value)


def _number_of_choice(keyword: str, value: Any, numbers: Mapping[str, int]) -> int:
    return list(numbers.values())[number_of(keyword, value, numbers)]


def _features(value: Any) -> int:
    all_features = _CHOICES["features"]
    if isinstance(value, int):
        if value & ~sum(all_features.values()):
            possible = ", ".join(all_features)
            raise ValueError(f"features is {value}; possible are {possible}, or the sum of their numbers")
        return value
    if isinstance(value, str):
        value = all_features if value == "all" else value.split("+")  # as the element has them
    names = tuple(value or ())
    return sum(_number_of_choice("a feature", name, all_features) for name in set(names))


def _check_spelling(keyword: str) -> None:
    """A keyword that resembles none is left to the library."""
    if keyword in Settings.__annotations__:
        return
    meant = similar(keyword, Settings.__annotations__)
    if meant:
        raise TypeError(f"unknown keyword {keyword}{meant}")


def split(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of Config, and those of Settings."""
    config = {name: value for name, value in settings.items() if name in Config.__annotations__}
    return config, {name: value for name, value in settings.items() if name not in config}


def numbers(settings: dict[str, Any], others: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The settings with numbers for names and booleans. others: numbers that are in force, where no setting is given.

    ValueError for a wrong name and for limits that no component keeps, TypeError for a wrong keyword.
    """
    found = {}
    for name, value in settings.items():
        _check_spelling(name)
        if name == "features":
            value = _features(value)
        elif name == "connectivity":
            if not isinstance(value, Hashable) or value not in _CONNECTIVITIES:
                raise ValueError(f"connectivity is {value!r}; possible are 4 and 8, or scikit-image's 1 and 2")
            value = _CONNECTIVITIES[value]
        elif name in _CHOICES:
            value = _number_of_choice(name, value, _CHOICES[name])
        elif isinstance(DEFAULTS.get(name), bool) and isinstance(value, str):
            raise TypeError(f"{name} is {value!r}; it is true or false")
        elif isinstance(value, bool):
            value = int(value)
        found[name] = value
    _check_limits({**others, **found})
    return found


def _check_limits(settings: Mapping[str, Any]) -> None:
    """Wrong types are left to the library. A width or height has no upper limit where it is 0, an area always has."""
    for what in ("area", "width", "height"):
        names = f"min_{what}", f"max_{what}"
        least, most = (settings.get(name, DEFAULTS[name]) for name in names)
        if isinstance(least, Integral) and isinstance(most, Integral) and least > most and (most > 0 or what == "area"):
            raise ValueError(f"{names[0]}={least} is more than {names[1]}={most}: no component is kept")
    low, high = (settings.get(name, DEFAULTS[name]) for name in ("threshold_low", "threshold"))
    is_used = settings.get("foreground", _CHOICES["foreground"]["binary"]) == _CHOICES["foreground"]["binary"]
    if is_used and isinstance(low, Integral) and isinstance(high, Integral) and low > high > 0:
        raise ValueError(f"threshold_low={low} is more than threshold={high}: there is no hysteresis")
