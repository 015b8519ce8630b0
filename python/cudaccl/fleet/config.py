# SPDX-License-Identifier: LGPL-2.1-or-later
"""What fleet.yaml says. docs/fleet.md describes its keys."""

from __future__ import annotations

import dataclasses
import glob
import os
import re
from fractions import Fraction
from pathlib import Path

from cudaccl import _property_values
from cudaccl._redaction import redacted
from cudaccl.fleet.yaml_tree import ConfigError, Mapping, Value, read
from cudaccl.publish.address import BROKERS, check_sink
from cudaccl.publish.selection import Selection
from cudaccl.video import values
from cudaccl.video.sources import OWN_PROPERTIES

__all__ = ["Archive", "Archives", "Config", "ConfigError", "Live", "LiveSource", "NodeSettings", "load"]

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NS = 10**9

Properties = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Archive:
    """A video file with a name."""

    name: str
    path: str  #: absolute; must be the same on all nodes
    properties: Properties

    @property
    def tracks(self) -> bool:
        return _property_values.is_tracked(self.properties)

    @property
    def moves(self) -> bool:
        """There is a model of the background."""
        return _property_values.needs_earlier_frames(self.properties)

    @property
    def event_hold(self) -> int:
        """Nanoseconds."""
        return _property_values.event_hold(self.properties)


@dataclasses.dataclass(frozen=True)
class Archives:
    """Times are in nanoseconds."""

    files: tuple[Archive, ...]
    output: str  #: absolute
    form: str  #: "jsonl" or "parquet"
    segment: int
    overlap: int
    longest_overlap: int
    tries: int  #: of a task whose worker dies
    stall: float  #: seconds
    to: tuple[str, ...] = ()  #: brokers that get each frame, too
    spool: str = "spool"  #: absolute
    spool_size: int = 1 << 30


@dataclasses.dataclass(frozen=True)
class LiveSource:
    name: str
    source: str
    properties: Properties


@dataclasses.dataclass(frozen=True)
class Live:
    sources: tuple[LiveSource, ...]
    to: tuple[str, ...]
    spool: str
    spool_size: int
    metrics: tuple[str, int] | None
    stall: float  #: seconds
    report: float  #: seconds between two tables in the log


@dataclasses.dataclass(frozen=True)
class NodeSettings:
    """What replaces the rule of placement on a node; None: the rule holds."""

    slots: int | None = None  #: of the node
    slots_per_gpu: int | None = None


@dataclasses.dataclass(frozen=True)
class Config:
    address: str | None  #: of a Ray cluster; None: this machine
    nodes: dict[str, NodeSettings]  #: by host name or IP address
    stream_memory: int  #: bytes of a GPU for one stream
    streams_per_decoder: int
    decoders: int | None  #: of each GPU; None: as its compute capability says
    archives: Archives | None
    live: Live | None

    @property
    def videos(self) -> list[Archive | LiveSource]:
        return [*(self.archives.files if self.archives else ()), *(self.live.sources if self.live else ())]

    @property
    def backends(self) -> set[str]:
        return {one.properties.get("backend", "auto") for one in self.videos}


def load(path: str | os.PathLike[str], address: str | None = None) -> Config:
    """address: takes the place of the one in the file.

    Relative paths begin at the folder of the file. Raises ConfigError, and MissingPackage without PyYAML.
    """
    file = Path(path)
    folder = file.absolute().parent
    root = read(file)
    top = root.mapping()
    properties = _properties(top.take("properties"), {}, folder)
    cluster = top.take("cluster")
    found, nodes = _cluster(cluster) if cluster is not None else (None, {})
    resources = top.take("resources")
    found_resources = _resources(resources) if resources is not None else (_DEFAULT_MEMORY, _DEFAULT_STREAMS, None)
    archives = top.take("archives")
    live = top.take("live")
    config = Config(
        address or found or os.environ.get("RAY_ADDRESS") or None, nodes, *found_resources,
        _archives(archives, properties, folder) if archives is not None else None,
        _live(live, properties, folder) if live is not None else None)
    top.finish()
    if config.archives is None and config.live is None:
        raise root.error("there is nothing to do: archives or live is needed")
    return config if config.address != "local" else dataclasses.replace(config, address=None)


# Measured on an H200: docs/fleet.md.
_DEFAULT_MEMORY = 1 << 30
_DEFAULT_STREAMS = 8


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text) or int(text) == 0:
        raise ValueError(f"{text!r} is no positive whole number")
    return int(text)


def _nanoseconds(text: str) -> int:
    return int(values.seconds(text) * _NS)


def _name(text: str) -> str:
    if not _NAME.fullmatch(text) or text.startswith("."):
        raise ValueError(f"{text!r} is no name: letters, digits, _, . and - are possible")
    return text


def _one_of(*values: str):
    def check(text: str) -> str:
        if text not in values:
            raise ValueError(f"{text!r} is not possible here; possible are {', '.join(values)}")
        return text

    return check


def _properties(value: Value | None, common: Properties, folder: Path) -> Properties:
    """common: hold where `value` does not say otherwise. folder: where the path of regions begins."""
    found = dict(common)
    for name, item in value.mapping().items() if value is not None else ():
        name = name.replace("_", "-")
        if name in OWN_PROPERTIES:
            raise item.error(f"{name}: this program sets {name} itself")
        found[name] = text = item.text()
        if name == "regions" and text and not text.lstrip().startswith("{"):
            found[name] = str(folder / text)
        if name == "backend":
            item.parse(_one_of("auto", "cpu", "cuda"))
    return found


def _cluster(value: Value) -> tuple[str | None, dict[str, NodeSettings]]:
    cluster = value.mapping()
    address = cluster.parse("address", str, None)
    nodes = {}
    taken = cluster.take("nodes")
    for name, item in taken.mapping().items() if taken is not None else ():
        node = item.mapping()
        nodes[name] = NodeSettings(
            node.parse("slots", _positive, None), node.parse("slots-per-gpu", _positive, None))
        node.finish()
    cluster.finish()
    return address, nodes


def _resources(value: Value) -> tuple[int, int, int | None]:
    resources = value.mapping()
    found = (resources.parse("stream-memory", values.size, _DEFAULT_MEMORY),
             resources.parse("streams-per-decoder", _positive, _DEFAULT_STREAMS),
             resources.parse("decoders", _positive, None))
    resources.finish()
    return found


def _archives(value: Value, properties: Properties, folder: Path) -> Archives:
    archives = value.mapping()
    properties = _properties(archives.take("properties"), properties, folder)
    files: dict[str, Archive] = {}
    for item in archives.require("files").list():
        for archive in _files(item, properties, folder):
            if archive.name in files:
                raise item.error(
                    f"two files have the name {archive.name}: {files[archive.name].path} and {archive.path};"
                    " give them names")
            files[archive.name] = archive
    if not files:
        raise value.error("files names no file")
    overlap = archives.parse("overlap", _nanoseconds, 10 * _NS)
    longest = archives.take("longest-overlap")
    to = archives.take("to")
    found = Archives(
        tuple(files.values()), str(folder / archives.require("output").text()),
        archives.parse("form", _one_of("jsonl", "parquet"), "jsonl"),
        archives.parse("segment", _nanoseconds, 60 * _NS), overlap,
        longest.parse(_nanoseconds) if longest is not None else 4 * overlap,
        archives.parse("tries", _positive, 5),
        float(archives.parse("stall", values.timeout, Fraction(60))),
        tuple(map(_broker, to.list())) if to is not None else (),
        str(folder / archives.parse("spool", str, "spool")), archives.parse("spool-size", values.size, 1 << 30))
    archives.finish()
    if os.path.isfile(found.output):
        raise value.error(f"output is a folder, and {found.output} is a file")
    if found.form == "parquet" and "manifest" in files:  # which is written beside the tables
        raise value.error(f"the folder manifest is not for a file: give {files['manifest'].path} another name")
    if found.longest_overlap < overlap:
        raise longest.error("longest-overlap is less than overlap")
    return found


def _files(item: Value, properties: Properties, folder: Path) -> list[Archive]:
    """A path or a pattern, or a mapping with a name."""
    if not item.is_text:
        mapping = item.mapping()
        path = mapping.require("path")
        full = str(folder / path.text())
        if not os.path.isfile(full):
            raise path.error(f"there is no file {full}")
        name = mapping.parse("name", _name, None) or _name_of(path, full)
        archive = Archive(name, full, _properties(mapping.take("properties"), properties, folder))
        mapping.finish()
        return [archive]
    full = str(folder / item.text())
    pattern = os.path.join(glob.escape(str(folder)), item.text())
    found = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    if not found and os.path.isfile(full):
        found = [full]
    if not found:
        raise item.error(f"there is no file {full}")
    return [Archive(_name_of(item, path), path, properties) for path in found]


def _name_of(item: Value, path: str) -> str:
    if not values.is_utf_8(path):
        raise item.error(f"the name of {path!r} is no UTF-8: rename the file")
    name = "-".join(_NAME.findall(Path(path).stem)).strip("-.")
    if not name:
        raise item.error(f"{path} needs a name")
    return name


def _live(value: Value, properties: Properties, folder: Path) -> Live:
    live = value.mapping()
    properties = _properties(live.take("properties"), properties, folder)
    sources: dict[str, LiveSource] = {}
    for item in live.require("sources").list():
        source = _live_source(item.mapping(), properties, folder)
        if source.name in sources:
            raise item.error(f"two sources have the name {source.name}")
        sources[source.name] = source
    to = tuple(_address(address, folder, list(sources.values())) for address in live.require("to").list())
    if not to:
        raise value.error("to names no sink")
    found = Live(
        tuple(sources.values()), to,
        str(folder / live.parse("spool", str, "spool")), live.parse("spool-size", values.size, 1 << 30),
        live.parse("metrics", values.endpoint, None), float(live.parse("stall", values.timeout, Fraction(10))),
        float(live.parse("report", values.seconds, Fraction(60))))
    live.finish()
    return found


def _live_source(item: Mapping, properties: Properties, folder: Path) -> LiveSource:
    text = item.require("source").text()
    file = str(folder / text)
    source = LiveSource(
        item.require("name").parse(_name), file if os.path.isfile(file) else text,
        _properties(item.take("properties"), properties, folder))
    item.finish()
    return source


def _broker(value: Value) -> str:
    text = value.text()
    if text.partition(":")[0] not in BROKERS:
        raise value.error(f"{redacted(text)} is no broker; possible are {', '.join(BROKERS)}")
    if value.parse(check_sink) != Selection():
        raise value.error("archives send each frame; what, rate and changes are for live sources")
    return text


def _address(value: Value, folder: Path, sources: list[LiveSource]) -> str:
    """Paths begin at the folder of the file."""
    text = value.text()
    kind, _, rest = text.partition(":")
    if kind not in ("jsonl", "parquet", *BROKERS):
        raise value.error(f"{redacted(text)} is no sink; possible are {', '.join(BROKERS)}, jsonl and parquet")
    if kind == "jsonl" and len(sources) > 1 and "{source}" not in rest:
        raise value.error(f"{text}: each source needs a file of its own: put {{source}} into the name")
    selection = value.parse(check_sink)
    for source in sources:
        if selection.needs_tracks and not _property_values.is_tracked(source.properties):
            raise value.error(f"what={selection.what} needs track=true, which {source.name} does not have")
    return f"{kind}:{folder / os.path.expanduser(rest)}" if kind in ("jsonl", "parquet") else text
