# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sources that a command line names."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cudaccl import _regions
from cudaccl._redaction import name_of, redacted
from cudaccl.video.errors import UsageError

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
        return f"{os.path.realpath(self.path)} {status.st_size} {status.st_mtime_ns} {settings}"


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


def parse_properties(texts: list[str]) -> dict[str, str]:
    """Parses texts such as NAME=VALUE. Raises UsageError."""
    properties = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {text}: a property is set by NAME=VALUE")
        properties[name.replace("_", "-")] = value
    for name in ("name", "meta-name", "output", "metadata"):
        if name in properties:
            raise UsageError(f"--set {name}=…: this program sets {name} itself")
    try:
        _regions.check(properties)
    except ValueError as error:
        raise UsageError(f"--set regions: {error}") from error
    return properties
