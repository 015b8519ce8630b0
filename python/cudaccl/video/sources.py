# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sources that a command line names."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cudaccl import _gst_pipeline, _regions
from cudaccl._redaction import name_of, redacted
from cudaccl.video import presets
from cudaccl.video.errors import UsageError
from cudaccl.video.presets import OWN_PROPERTIES

_MOST_SETTINGS = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Source:
    """A video with a name."""

    name: str
    text: str  #: URI, device, file or launch line

    @property
    def path(self) -> str | None:
        """Of a file; None: it is something else. The file of a URI may be missing."""
        if os.path.isfile(self.text):
            return self.text
        try:
            uri = urlsplit(self.text)
        except ValueError:  # an IPv6 address that is wrong, which GStreamer reports
            return None
        return unquote(uri.path) if uri.scheme == "file" else None

    @property
    def is_launch_line(self) -> bool:
        return self.path is None and "://" not in self.text.split("!")[0] and not self.text.startswith("/dev/")

    def content(self, properties: dict[str, str]) -> str | None:
        """Names what is read and how, so that a later process knows it again; None: it cannot be read again."""
        if self.path is None or not os.path.isfile(self.path):
            return None
        status = os.stat(self.path)
        settings = " ".join(f"{name}={value}" for name, value in sorted(properties.items()))
        regions = _regions.digest(properties)
        return f"{os.path.realpath(self.path)} {status.st_size} {status.st_mtime_ns} {settings}" + (
            f" {regions}" if regions else "")


def parse_sources(texts: list[str]) -> list[Source]:
    """Parses texts such as SOURCE or NAME=SOURCE. Raises UsageError."""
    sources: dict[str, Source] = {}
    for text in texts:
        source = _parse_source(text)
        if source.name in sources:
            raise UsageError(
                f"two sources have the name {source.name}: {redacted(sources[source.name].text)} and"
                f" {redacted(source.text)}; give them names: NAME=SOURCE")
        sources[source.name] = source
    return list(sources.values())


def _parse_source(text: str) -> Source:
    named = _NAMED.fullmatch(text)
    if named and not os.path.exists(text):
        return Source(named[1], named[2])
    if "://" in text.split("!")[0]:
        name = name_of(text)
    elif os.path.exists(text):
        name = Path(text).stem
    else:
        name = text.split(maxsplit=1)[0] if text.strip() else ""
    name = "-".join(_NAME.findall(name)).strip("-.")
    if not name:
        raise UsageError(f"the source {redacted(text)!r} needs a name: NAME=SOURCE")
    return Source(name, text)


def parse_properties(
    texts: list[str], file: Path | None = None, preset: str | None = None, first: Iterable[str] = ()
) -> dict[str, str]:
    """Parses texts such as NAME=VALUE, and asks the element whether it takes them.

    Before them come the lines of a file that are no comments, before these a preset, and before that `first`.

    Raises UsageError, and ImportError without GStreamer's bindings.
    """
    properties: dict[str, str] = {}
    places: dict[str, str] = {}
    first_lines = [("", text) for text in first]
    set_lines = [("--set", text) for text in texts]
    for where, text in [*first_lines, *_lines_of_preset(preset), *_lines_of(file), *set_lines]:
        name, equals, value = text.partition("=")
        name = name.replace("_", "-")
        if not equals or not name:
            raise UsageError(f"{where} {text}: a property is set by NAME=VALUE")
        if name in OWN_PROPERTIES:
            raise UsageError(f"{where} {name}=…: this program sets {name} itself")
        properties[name] = value
        places[name] = where.rstrip(":") or "settings"
    try:
        if properties:  # messages of a spool are sent without GStreamer, too
            check_properties(properties)
    except _gst_pipeline.MissingElement as missing:
        raise UsageError(str(missing)) from None
    except ValueError as error:
        raise UsageError(f"{_place_of(str(error), places)}: {error}") from None
    return properties


def _place_of(error: str, places: dict[str, str]) -> str:
    """Of the property that the text of an error names first."""
    found = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", error) for name in places}
    named = [(match.start(), name) for name, match in found.items() if match is not None]
    return places[min(named)[1]] if named else "settings"


def _lines_of_preset(name: str | None) -> list[tuple[str, str]]:
    if name is None:
        return []
    return [(f"--preset {name}:", f"{key}={value}") for key, value in presets.find(name).properties.items()]


def _lines_of(file: Path | None) -> list[tuple[str, str]]:
    """The place of each line, and its text."""
    if file is None:
        return []
    try:
        with open(file, encoding="utf-8-sig") as opened:  # editors may write a mark of the order of bytes
            text = opened.read(_MOST_SETTINGS + 1)
        if len(text) > _MOST_SETTINGS:
            raise UsageError(f"{file}: settings are at most {_MOST_SETTINGS} characters")
        lines = text.split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or 'the file must be UTF-8'}") from None
    stripped = ("=".join(part.strip() for part in line.split("=", 1)) for line in lines)
    found = [(f"{file}:{number}:", line) for number, line in enumerate(stripped, 1) if line and line[0] != "#"]
    names: set[str] = set()
    for place, line in found:
        name = line.partition("=")[0].replace("_", "-")
        if name in names:
            raise UsageError(f"{place} {name} is given twice: leave one out")
        names.add(name)
    return found


def check_source(text: str) -> None:
    """Raises ValueError for what this machine cannot open whatever happens: no file, URI or camera, and no launch line of
    its elements. ImportError without GStreamer's bindings."""
    try:
        _gst_pipeline.parse(f"{_gst_pipeline.source_line(text)} ! fakesink")
    except (FileNotFoundError, _gst_pipeline.PipelineError) as error:
        raise ValueError(redacted(str(error))) from None


def check_properties(properties: dict[str, str]) -> None:
    """Raises ValueError for those that the library or the element refuses, or that have no effect.

    MissingElement and ImportError: only regions can be checked on this machine.
    """
    try:
        _regions.check(properties)
    except ValueError as error:
        raise ValueError(f"regions: {error}") from None
    try:
        _gst_pipeline.check_properties(properties)
    except _gst_pipeline.MissingElement:
        raise
    except (TypeError, _gst_pipeline.PipelineError) as error:
        raise ValueError(str(error)) from None
