# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl camera`: `publish` with values that suit a camera."""

from __future__ import annotations

import argparse
from pathlib import Path

from cudaccl.cli import publish, video_options
from cudaccl.video import errors
from cudaccl.video.sources import parse_properties

# What moves; without a preset. docs/live.md has the same values.
_MOVING = ("foreground=motion", "open-radius=1", "close-radius=2", "min-area=200")

_HELP = """\
Follows what moves before cameras until it is stopped (Ctrl-C or SIGTERM), and shows each event as a line; with --to,
brokers and files get messages about all frames instead, as by publish. A SOURCE is a URI, a camera such as /dev/video0,
the beginning of a GStreamer launch line, or a file. A camera that goes away is opened again."""

_EXAMPLES = """\
examples:
  cudaccl camera rtsp://cam1/live
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
    publish.add_options(parser)
    parser.set_defaults(command=camera)


def camera(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    return publish.follow(options, lambda: _properties(options))


def _properties(options: argparse.Namespace) -> dict[str, str]:
    """What the options say now, with the values that this command has where they say nothing. Raises UsageError."""
    regions = [f"regions={options.regions}"] if options.regions is not None else []
    moving = _MOVING if options.preset is None else ()
    return parse_properties(
        [*regions, *options.properties], options.settings, options.preset, first=("track=true", *moving))
