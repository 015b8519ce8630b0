# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl publish`: records of live sources, to brokers."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cudaccl.cli import outputs, video_options
from cudaccl.cli.operator import say
from cudaccl.cli.running import state_folder
from cudaccl.cli.stopping import reload_on_signal, stop_on_signals
from cudaccl.publish.address import HELP as ADDRESSES
from cudaccl.publish.address import BROKERS, Spooling, file_of, open_sink
from cudaccl.publish.errors import SinkError
from cudaccl.publish.event_lines import EventLinesSink
from cudaccl.publish.metrics import Metrics
from cudaccl.publish.run_name import new_run_name
from cudaccl.publish.sink import Sink
from cudaccl.publish.spool import Account
from cudaccl.record.clip_folder import is_clip
from cudaccl.record.recorder import Recorder
from cudaccl.video import errors, values
from cudaccl.video.follower import Follower, named, stop_all
from cudaccl.video.sources import Source, parse_sources

_STEP_S = 0.1
_LAST_WAIT_S = 2.0  # for threads, at a second signal or an error
_REASONS = {
    "full": "at the limit of the spool", "disk": "because of the disk", "refused": "not taken by the broker"}

_HELP = """\
Labels sources until it is stopped (Ctrl-C or SIGTERM), and sends a message about each frame to brokers and files. A
SOURCE is a URI, a camera such as /dev/video0, the beginning of a GStreamer launch line, or a file. A camera that goes
away is opened again. A file ends; if this program is killed before, the next one goes on where it was. Without a
SOURCE, messages that wait in the spool are sent. SIGHUP: cameras get what the file of --settings and the regions say
now."""

_SINKS = f"""\
sinks:
{ADDRESSES}

Messages for a broker that is away wait in the spool, in order. At its limit, frames of cameras are lost and counted,
and files wait.

examples:
  cudaccl publish --to mqtt://localhost -s foreground=motion -s track=true door=rtsp://cam1/live
  cudaccl publish --to 'kafka://one,two/records' --to jsonl:all.jsonl --metrics 9464 /dev/video0
  cudaccl publish --to 'mqtts://me@broker/site/{{source}}?password-file=secret' clip.mp4
  cudaccl publish --to mqtt://localhost --drain 60

"""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "publish", help="records of live sources, to brokers", description=_HELP, epilog=_SINKS + errors.HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="[NAME=]SOURCE", help="what to read")
    parser.add_argument("--to", action="append", required=True, metavar="SINK", help="may be repeated; see below")
    add_options(parser)
    parser.set_defaults(command=publish)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of `publish` and `camera`."""
    parser.add_argument(
        "--spool", type=Path, default=state_folder() / "spool", metavar="FOLDER",
        help="where messages wait for brokers (default: %(default)s)")
    parser.add_argument(
        "--spool-size", type=values.option(values.size), default="1G", metavar="BYTES",
        help="limit for each broker; K, M, G and T are powers of 1024 (default: %(default)s)")
    parser.add_argument(
        "--metrics", type=values.option(values.endpoint), metavar="[HOST:]PORT",
        help="figures for Prometheus, at http://HOST:PORT/metrics; without HOST for this machine only")
    parser.add_argument(
        "--drain", type=values.option(values.seconds), default=10.0, metavar="SECONDS",
        help="how long to wait at the end until brokers have all messages (default: %(default)g)")
    video_options.add(parser, stall=10.0)
    parser.set_defaults(record=None, needs_frames=False)


def publish(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    return follow(options, lambda: video_options.properties_of(options))


def _check_files(options: argparse.Namespace, sources: list[Source], properties: dict[str, str]) -> None:
    """Raises UsageError."""
    for address in options.to or []:
        if address.startswith(("jsonl:", "parquet:")) and "{source}" in address:
            raise errors.UsageError(f"--to {address}: all sources of a command have one file; {{source}} is for topics, and"
                                    " for fleets")
    inputs = video_options.inputs_of(options, sources, properties)
    named = [(f"--to {address}", file_of(address)) for address in options.to or ["-"]]
    written = [(words, path) for words, path in named if path is not None]
    if options.record is not None:  # old clips in it are removed
        written += [(f"a clip of --record {options.record}", path) for source in sources if source.path is not None
                    and is_clip(path := options.record / Path(source.path).name)]
    outputs.check_apart(written, inputs)


def follow(
    options: argparse.Namespace, read_properties: Callable[[], dict[str, str]],
    prepare_recorders: Callable[[], Callable[[str], Recorder | None]] = lambda: lambda source: None,
) -> int:
    """Of `publish` and `camera`. Returns the exit status.

    read_properties: is called at the start and by each SIGHUP. prepare_recorders: is called when all options are
    checked; it returns what makes that of the source of a name. Without an address of a sink, events are shown.
    """
    sources = parse_sources(options.sources)
    if not sources and not any(address.partition(":")[0] in BROKERS for address in options.to or []):
        raise errors.UsageError("a SOURCE is needed: only for brokers messages may wait in the spool")
    properties = read_properties()
    _check_files(options, sources, properties)
    make_recorder = prepare_recorders()
    sinks: list[Sink] = []
    with ExitStack() as stack:
        reloading = stack.enter_context(reload_on_signal())  # now: a broker may be waited for
        for address in options.to or [None]:
            spooling = Spooling(options.spool, options.spool_size)
            sinks.append(EventLinesSink() if address is None else open_sink(address, spooling, new_run_name(), say))
            stack.callback(sinks[-1].close)
        metrics = Metrics(sinks) if options.metrics else None
        if metrics is not None:
            host, port = options.metrics
            stack.callback(metrics.serve(port, host))
        recorders = [make_recorder(source.name) for source in sources]
        followers = [Follower(source, properties, sinks, say, options.stall, metrics, options.start_time, recorder)
                     for source, recorder in zip(sources, recorders)]
        stack.callback(stop_all, followers, sinks, _LAST_WAIT_S)  # before a sink is closed, also by an error
        stopping = stack.enter_context(stop_on_signals())
        _run(followers, sinks, stopping, reloading, read_properties)
        _drain(sinks, options.drain, stopping)
    is_delivered = all([_print_account(sink) for sink in sinks])
    is_recorded = not any(recorder is not None and recorder.failed for recorder in recorders)
    status = _status(followers, is_delivered and is_recorded)
    silent = [follower.name for follower in followers if not follower.has_flowed and follower.error is None]
    if not options.needs_frames or not silent:
        return status
    say(f"error: no frame came from {', '.join(silent)}")
    return status or errors.SOURCE_FAILED


def _run(
    followers: list[Follower], sinks: list[Sink], stopping: threading.Event, reloading: threading.Event,
    read_properties: Callable[[], dict[str, str]],
) -> None:
    """Until all sources have ended, or the process shall stop."""
    for follower in followers:
        follower.start()
    reported: set[str] = set()
    ticks = 0
    while not stopping.wait(_STEP_S) and any(follower.running for follower in followers):
        ticks += 1
        if reloading.is_set():
            reloading.clear()
            _reload(followers, read_properties)
        for follower in followers:
            if follower.running and ticks % round(1 / _STEP_S) == 0:
                follower.tick()
            elif not follower.running:
                _report(follower, reported)
                if isinstance(follower.error, BrokenPipeError):
                    stopping.set()
    stop_all(followers, sinks)
    for follower in followers:
        _report(follower, reported)


def _report(follower: Follower, reported: set[str]) -> None:
    """Why it has ended, once. A reader of standard output that has enough is no error of the source."""
    if follower.error is None or isinstance(follower.error, BrokenPipeError) or follower.name in reported:
        return
    say(f"error: {named(follower.name, follower.error)}")
    reported.add(follower.name)


def _reload(followers: list[Follower], read_properties: Callable[[], dict[str, str]]) -> None:
    """What cannot be used changes nothing."""
    try:
        properties = read_properties()
    except errors.UsageError as error:
        say(f"error: {error}; the old settings stay")
        return
    for follower in followers:
        if follower.running:
            follower.change(properties)


def _drain(sinks: list[Sink], timeout: float, stopping: threading.Event) -> None:
    """Waits for brokers; a signal ends that, unless it has ended the sources."""
    deadline = time.monotonic() + timeout
    was_stopped = stopping.is_set()
    for sink in sinks:
        while not sink.drain(_STEP_S) and time.monotonic() < deadline and (was_stopped or not stopping.is_set()):
            pass


def _print_account(sink: Sink) -> bool:
    """Prints the account of this process. Returns whether all frames have arrived: none is lost, and none waits."""
    missing = 0
    for source, now in sorted(sink.accounts().items()):
        old = sink.before.get(source, Account())
        lines = getattr(sink, "lines", None)
        shown = "" if lines is None else f"{lines[source]} lines about "
        text = f"{shown}{now.sent - old.sent} frames sent, {now.spooled} wait, {now.lost - old.lost} lost"
        reasons = {"full": now.full - old.full, "disk": now.disk - old.disk, "refused": now.refused - old.refused}
        parts = [f"{count} {_REASONS[reason]}" for reason, count in reasons.items() if count]
        missing += now.lost - old.lost + now.spooled
        skipped = f", {now.skipped - old.skipped} not asked for" if now.skipped > old.skipped else ""
        say(f"{sink.name}: {source}: {text}{' (' + ', '.join(parts) + ')' if parts else ''}{skipped}")
    spool = getattr(sink, "spool", None)
    return missing == 0 and not (spool is not None and spool.is_damaged)


def _status(followers: list[Follower], is_delivered: bool) -> int:
    wrong = [follower.error for follower in followers if follower.error is not None]
    for error in wrong:
        if isinstance(error, BrokenPipeError):
            raise error
    if any(isinstance(error, (errors.UsageError, ImportError)) for error in wrong):
        return errors.USAGE
    if not is_delivered or any(isinstance(error, SinkError) for error in wrong):
        return errors.OUTPUT_FAILED
    return errors.SOURCE_FAILED if wrong else errors.OK
