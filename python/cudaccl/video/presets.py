# SPDX-License-Identifier: LGPL-2.1-or-later
"""Presets of the element: GStreamer's, so that launch lines have the same ones, by @preset=NAME."""

from __future__ import annotations

import configparser
import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

from cudaccl.video.errors import UsageError

OWN_PROPERTIES = ("name", "meta-name", "output", "metadata")  #: which this program sets

_FILE = "GstCudaCcl.prs"
_FOLDER = Path("gstreamer-1.0", "presets")
_HEADER = "_presets_"
_COMMENT = "_meta/comment"


NONE = f"GStreamer has no presets of cudaccl: install the plugin, or set GST_PRESET_PATH to the folder of {_FILE}"


@dataclasses.dataclass(frozen=True)
class Preset:
    """Properties with a name."""

    file: Path
    comment: str
    properties: dict[str, str]

    @property
    def is_for_commands(self) -> bool:
        """Others are for launch lines: they choose what comes out of the element."""
        return self.properties.keys().isdisjoint(OWN_PROPERTIES)


def user_file() -> Path:
    """Where GStreamer keeps the presets of this user."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local/share") / _FOLDER / _FILE


def _files() -> Iterator[Path]:
    """In the order in which GStreamer looks for a name: of the user, of GST_PRESET_PATH, of the system."""
    yield user_file()
    for folder in filter(None, os.environ.get("GST_PRESET_PATH", "").split(os.pathsep)):
        yield Path(folder) / _FILE
    for folder in (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(os.pathsep):
        yield Path(folder) / _FOLDER / _FILE


def find_all() -> dict[str, Preset]:
    """By name. Raises UsageError for a file that cannot be read."""
    found: dict[str, Preset] = {}
    for file in _files():
        if file.is_file():
            found = _read(file) | found
    return found


def _read(file: Path) -> dict[str, Preset]:
    parser = configparser.RawConfigParser(
        delimiters="=", comment_prefixes="#", default_section=_HEADER, empty_lines_in_values=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise UsageError(f"{file}: {' '.join(str(error).split())}") from None
    header = parser.defaults()
    return {
        name: Preset(file, section.get(_COMMENT, ""), {
            key: value for key, value in section.items() if key not in header and not key.startswith("_meta/")})
        for name, section in parser.items() if name != _HEADER}


def find(name: str) -> Preset:
    """Raises UsageError, which lists those that there are."""
    presets = find_all()
    if name not in presets:
        names = sorted(one for one, preset in presets.items() if preset.is_for_commands)
        there = f"possible are {', '.join(names)}" if names else NONE
        raise UsageError(f"there is no preset {name!r}; {there}. Your own ones are in {user_file()}")
    return presets[name]
