# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl camera`: `publish` with values that suit a camera."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from cudaccl._property_values import is_tracked
from cudaccl.cli import publish
from cudaccl.cli.operator import say
from cudaccl.record.clip_folder import ClipFolder
from cudaccl.record.recorder import Recorder, check_elements
from cudaccl.video import decoders, errors, values
from cudaccl.video.sources import parse_properties

# What moves; without a preset. docs/live.md has the same values.
_MOVING = ("foreground=motion", "open-radius=1", "close-radius=2", "min-area=200")
_NS = 10**9
_BEFORE, _AFTER = 5 * _NS, 10 * _NS
_LEAST_ROOM = 10 << 20  # for clips

_HELP = """\
Follows what moves before cameras until it is stopped (Ctrl-C or SIGTERM), and shows each event as a line; with --to,
brokers and files get messages about all frames instead, as by publish. --record keeps clips around events. A SOURCE is
a URI, a camera such as /dev/video0, the beginning of a GStreamer launch line, or a file. A camera that goes away is
opened again."""

_EXAMPLES = """\
examples:
  cudaccl camera rtsp://cam1/live
  cudaccl camera --preset people --record clips --keep 20G gate=rtsp://cam1/live
  cudaccl camera --preset people --regions regions.json gate=rtsp://cam1/live
  cudaccl camera --to mqtt://localhost -s min-area=400 gate=rtsp://cam1/live /dev/video0

"""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "camera", help="what moves before a camera: events, messages and clips", description=_HELP,
        epilog=_EXAMPLES + errors.HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="[NAME=]SOURCE", help="what to watch")
    parser.add_argument(
        "--to", action="append", metavar="SINK", help="as of publish: where messages go; may be repeated")
    parser.add_argument(
        "--regions", type=Path, metavar="FILE", help="zones and lines for events, and what is not looked at")
    parser.add_argument(
        "--record", type=values.option(values.folder), metavar="FOLDER", help="where clips around events are written")
    parser.add_argument(
        "--before", type=values.option(values.seconds), metavar="SECONDS",
        help="how long before an event a clip begins (default: 5)")
    parser.add_argument(
        "--after", type=values.option(values.seconds), metavar="SECONDS",
        help="how long a clip goes on after the last event (default: 10)")
    parser.add_argument(
        "--keep", type=values.option(values.size), metavar="BYTES",
        help="what clips may take; the oldest ones are removed (default: 10G, or half of the room on the disk)")
    publish.add_options(parser)
    parser.set_defaults(command=camera, needs_frames=True)


def camera(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    decoders.prefer_gpu()
    return publish.follow(options, lambda: _properties(options), lambda: _prepare_recorders(options))


def _prepare_recorders(options: argparse.Namespace) -> Callable[[str], Recorder | None]:
    """Makes the folder. Returns what makes the recorder of the source of a name. Raises UsageError, and SinkError if the
    folder cannot be used."""
    if options.record is None:
        for name in ("before", "after", "keep"):
            if getattr(options, name) is not None:
                raise errors.UsageError(f"--{name} has no effect: --record is missing")
        return lambda source: None
    if options.keep is not None and options.keep < _LEAST_ROOM:
        raise errors.UsageError(f"--keep is {options.keep} bytes; clips need at least 10M")
    check_elements()
    folder = ClipFolder(options.record, options.keep)
    for name in folder.complete_old():
        say(f"{name} was not completed, and ends early")
    before, after = (round(default if given is None else given * _NS) for given, default in (
        (options.before, _BEFORE), (options.after, _AFTER)))
    return lambda source: Recorder(source, folder, before, after, say)


def _properties(options: argparse.Namespace) -> dict[str, str]:
    """What the options say now, with the values that this command has where they say nothing. Raises UsageError."""
    regions = [f"regions={options.regions}"] if options.regions is not None else []
    if regions and any(text.startswith("regions=") for text in options.properties):
        raise errors.UsageError("--regions and --set regions=… exclude each other")
    moving = _MOVING if options.preset is None else ()
    properties = parse_properties(
        [*regions, *options.properties], options.settings, options.preset, first=("track=true", *moving))
    if not is_tracked(properties) and (options.record is not None or not options.to):
        raise errors.UsageError("settings: without track=true there are no events to show or to record")
    return properties
