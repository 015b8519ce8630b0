# SPDX-License-Identifier: LGPL-2.1-or-later
"""What commands about videos have in common."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cudaccl.cli.outputs import Words
from cudaccl.video import presets, values
from cudaccl.video.errors import UsageError
from cudaccl.video.sources import Source, parse_properties


class Preset(argparse.Action):
    """`list` shows those that can be used, and ends the command."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, _option: str | None = None
    ) -> None:
        if value != "list":
            if namespace.preset is not None:
                raise UsageError("--preset is given twice: leave one out")
            namespace.preset = value
            return
        shown = {name: preset for name, preset in presets.find_all().items() if self.suits(preset)}
        if not shown:
            parser.error(presets.NONE)
        for name, preset in sorted(shown.items()):
            print(f"{name}: {preset.comment or preset.file}")
        parser.exit()

    @staticmethod
    def suits(preset: presets.Preset) -> bool:
        """Whether the command can use it."""
        return preset.is_for_commands


class Setting(argparse.Action):
    """NAME=VALUE; may be repeated. It is checked here: else a value behind a blank is an argument that nobody expects."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, _option: str | None = None
    ) -> None:
        name, equals, _ = value.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {value}: a setting is NAME=VALUE")
        given = {one.partition("=")[0].replace("_", "-") for one in getattr(namespace, self.dest)}
        if name.replace("_", "-") in given:
            raise UsageError(f"--set: {name} is given twice: leave one out")
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), value])


def add(parser: argparse.ArgumentParser, stall: float) -> None:
    """Adds the options."""
    parser.add_argument(
        "-s", "--set", action=Setting, default=[], metavar="PROPERTY=VALUE", dest="properties",
        help="a property of the element cudaccl, such as track-lost=2s; may be repeated. gst-inspect-1.0 cudaccl lists"
             " all")
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help="has a line PROPERTY=VALUE for each; --set replaces its values")
    parser.add_argument(
        "--preset", action=Preset, metavar="NAME",
        help="a preset of the element, such as people; --settings and --set come first. list: shows all")
    parser.add_argument(
        "--stall", type=values.option(values.timeout), default=stall, metavar="SECONDS",
        help="a source without a frame for so long has failed (default: %(default)g)")
    parser.add_argument(
        "--start-time", type=values.option(values.time_of_day), metavar="TIME",
        help="when files begin, such as 2026-11-25T08:00:00Z, or without the Z in this machine's local time; their frames"
        " then have the time of day, as those of cameras have")


def properties_of(options: argparse.Namespace) -> dict[str, str]:
    """What the options say now. Raises UsageError."""
    return parse_properties(options.properties, options.settings, options.preset)


def inputs_of(
    options: argparse.Namespace, sources: Iterable[Source], properties: dict[str, str]
) -> list[Words]:
    """What the command reads, for `check_apart()`. Each word of a launch line may be a file."""
    found = [(path, path) for source in sources
             for path in ([source.path] if source.path is not None else re.findall(r'[^\s"=]+', source.text))]
    if options.settings is not None:
        found.append((f"--settings {options.settings}", options.settings))
    return [*found, (f"regions={properties.get('regions')}", properties.get("regions", ""))]
