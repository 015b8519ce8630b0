# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the element itself says about its settings: kinds, ranges, defaults, texts. Nothing is typed here again."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from cudaccl import _gst_pipeline
from cudaccl._keywords import GROUPS
from cudaccl.video.presets import OWN_PROPERTIES

OUTPUT = "output"  #: a choice of the page, and no setting: commands set it themselves
_LARGEST = 2**32 - 1  # only times can be larger


@dataclasses.dataclass(frozen=True)
class Description:
    """Of a setting. Values are texts as in a launch line."""

    name: str
    group: str
    kind: str  #: "boolean", "choice", "flags", "integer", "real", "time" or "text"
    text: str
    default: str
    least: float | None
    largest: float | None
    choices: tuple[tuple[str, str], ...]  #: value and what it means
    is_live: bool  #: takes effect at the next frame; else at the next start


def _choices(value: Any) -> tuple[tuple[str, str], ...]:
    """Of the type of a value of an enumeration or of flags: names, and what they mean."""
    kind = type(value)
    members = getattr(kind, "__enum_values__", None) or getattr(kind, "__flags_values__", None)
    found = list(members.values()) if members else list(kind)  # from PyGObject 3.52 on it is Python's enumeration
    if hasattr(found[0], "first_value_nick"):
        return tuple((one.first_value_nick, one.first_value_name) for one in found)
    return tuple((one.value_nick, one.value_name) for one in found)


def _kind(spec: Any, value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if hasattr(value, "first_value_nick") or hasattr(value, "value_nicks"):
        return "flags"
    if hasattr(value, "value_nick"):
        return "choice"
    if isinstance(value, float):
        return "real"
    if isinstance(value, int):
        return "time" if spec.maximum > _LARGEST else "integer"
    return "text"


def text_of(value: Any) -> str:
    """Of a property's value, as a launch line has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "value_nicks"):
        return "+".join(value.value_nicks) or "0"
    if hasattr(value, "value_nick"):
        return value.value_nick
    if isinstance(value, float):
        return f"{value:.9g}"  # a float of 32 bits has no more digits
    return str(value)


@functools.cache
def settings() -> dict[str, Description]:
    """By name, in the order of docs/properties.md. Raises PipelineError without the plugin."""
    bindings = _gst_pipeline.gstreamer()
    element = _gst_pipeline.make_element({})
    found = {}
    for group, names in GROUPS.items():
        for name in names:
            spec = element.find_property(name)
            if name in OWN_PROPERTIES or not spec.flags & bindings.GObject.ParamFlags.WRITABLE:
                continue
            found[name] = _describe(element, spec, group, bool(spec.flags & bindings.Gst.PARAM_MUTABLE_PLAYING))
    return found


def outputs() -> tuple[tuple[str, str], ...]:
    """The choices of the property `output`, and what they mean."""
    return _choices(_gst_pipeline.make_element({}).get_property(OUTPUT))


def _describe(element: Any, spec: Any, group: str, is_live: bool) -> Description:
    value = element.get_property(spec.name)
    kind = _kind(spec, value)
    has_range = kind in ("integer", "real", "time")
    return Description(
        spec.name, group, kind, spec.blurb, text_of(value), spec.minimum if has_range else None,
        spec.maximum if has_range else None, _choices(value) if kind in ("choice", "flags") else (), is_live)


def canonical(values: dict[str, str]) -> dict[str, str]:
    """The values as the element shows them, without those that are its defaults. They were checked."""
    element = _gst_pipeline.make_element(values)
    found = {}
    for name, text in values.items():
        described = settings()[name]
        shown = text if described.kind == "text" else text_of(element.get_property(name))
        if shown != described.default:
            found[name] = shown
    return found
