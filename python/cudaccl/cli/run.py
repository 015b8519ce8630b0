# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl run`: records, tracks and events of videos, into files."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from contextlib import closing

from cudaccl._property_values import is_tracked
from cudaccl.cli import outputs, video_options
from cudaccl.cli.operator import say, show
from cudaccl.cli.progress import Progress
from cudaccl.gst import PipelineError
from cudaccl.publish.report import Report, events_as_dicts
from cudaccl.video import errors
from cudaccl.video.follower import one_line
from cudaccl.video.sources import Source, parse_sources
from cudaccl.video.stream import Stream, Watchdog

_HELP = """\
Labels every frame of videos, one after the other, as fast as possible. Records are written as JSON lines (the default:
on standard output), CSV or tables in Parquet. A SOURCE is a file, a URI, a camera such as /dev/video0, or the beginning
of a GStreamer launch line; NAME=SOURCE gives it the name that is the key `source` of its records."""

_EXAMPLES = """\
examples:
  cudaccl run clip.mp4 > clip.jsonl
  cudaccl run --jsonl street.jsonl -s foreground=motion -s min-area=150 -s track=true street.mp4
  cudaccl run --parquet day/ -s threshold=128 door=cam1.mkv yard=cam2.mkv
  cudaccl run -s threshold=200 'videotestsrc num-buffers=100 pattern=ball'

"""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "run", help="records, tracks and events of videos, into files", description=_HELP,
        epilog=_EXAMPLES + errors.HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="[NAME=]SOURCE", help="what to read")
    outputs.add(parser)
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None,
        help="show a progress bar; without this option only on a terminal")
    video_options.add(parser, stall=30.0)
    parser.set_defaults(command=run)


@dataclasses.dataclass
class _Counts:
    """What one source has given."""

    frames: int = 0
    components: int = 0
    events: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)  # by type and place
    sizes: set[tuple[int, int]] = dataclasses.field(default_factory=set)

    def add(self, report: Report) -> None:
        self.frames += 1
        self.components += report.n_components
        self.sizes.add((report.width, report.height))
        if report.events is not None:
            for event in events_as_dicts(report.events, report.zones, report.lines, None):
                self.events[event["type"], event["zone"] or event["line"] or ""] += 1

    def __str__(self) -> str:
        sizes = ", ".join(f"{width}x{height}" for width, height in sorted(self.sizes)) or "no size"
        events = "".join(f", {count} {kind}" + (f" {place}" if place else "")
                         for (kind, place), count in self.events.items())
        return f"{self.frames} frames ({sizes}), {self.components} components{events}"


def run(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    sources = parse_sources(options.sources)
    properties = video_options.properties_of(options)
    outputs.check_apart([(f"--{name} {path}", path) for name, path in outputs.paths_of(options, "jsonl").items()],
                        video_options.inputs_of(options, sources, properties))
    failed = False
    with outputs.Outputs(options, default="jsonl") as files:
        for source in sources:
            failed = not _label(source, properties, files, options) or failed
            files.are_wanted = not failed
    return errors.SOURCE_FAILED if failed else errors.OK


def _label(
    source: Source, properties: dict[str, str], files: outputs.Outputs, options: argparse.Namespace
) -> bool:
    """False, and a message, if the source cannot be read to its end."""
    counts = _Counts()
    try:
        with Progress(source.name, options.progress) as progress:
            stream = Stream(source, properties)
            with closing(stream), Watchdog(stream, options.stall):
                for frame in stream:
                    if counts.frames == 0:
                        progress.expect(stream.expected_frames())
                    number = counts.frames if frame.info.frame is None else frame.info.frame
                    report = Report.of_frame(frame, source.name, "", number, is_tracked(properties),
                                             options.start_time)
                    files.put(report)
                    counts.add(report)
                    progress.step()
            progress.complete()
        missing = stream.early_end(counts.frames) or ("it has no frame" if counts.frames == 0 else "")
        if missing:
            say(f"error: {source.name}: {missing}")
            return False
    except (FileNotFoundError, PipelineError) as error:
        after = f" (after {counts.frames} frames)" if counts.frames else ""
        say(f"error: {source.name}: {one_line(error)}{after}")
        return False
    show(f"{source.name}: {counts}")
    return True
