# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl fleet`: archives and live sources on many machines."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from cudaccl._gst_pipeline import MissingElement
from cudaccl._redaction import redacted
from cudaccl.cli import outputs, running
from cudaccl.cli.operator import say
from cudaccl.cli.stopping import reload_on_signal, stop_on_signals
from cudaccl.fleet import ray_token
from cudaccl.fleet.config import Config, ConfigError, Live, load
from cudaccl.publish.address import file_of
from cudaccl.publish.errors import need
from cudaccl.video import errors, sources

_STEP_S = 0.25
_MOST_URGENT = (errors.USAGE, errors.OUTPUT_FAILED, errors.SOURCE_FAILED)

_HELP = """\
Labels the archives and the live sources of a YAML file on the machines of a Ray cluster, or on this machine if there is
none. docs/fleet.md describes the file."""

_EXAMPLES = """\
examples:
  cudaccl fleet check fleet.yaml
  cudaccl fleet run fleet.yaml
  cudaccl fleet run --address head:6379 fleet.yaml
  cudaccl fleet reload fleet.yaml

A run that was interrupted goes on where it was, when it is started again. SIGHUP does what `reload` does.

"""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "fleet", help="archives and live sources, on many machines", description=_HELP,
        epilog=_EXAMPLES + errors.HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, function, text in (
            ("run", run, "labels what the file names, until all is done or it is stopped"),
            ("check", check, "reads the file, and shows what it says"),
            ("reload", reload, "lets the run of this file read the properties of live sources, and regions, again")):
        action = actions.add_parser(name, help=text)
        action.add_argument("file", metavar="FILE", help="what to do, in YAML")
        action.add_argument(
            "--address", metavar="HOST:PORT",
            help="of the Ray cluster, in place of the file's; local: this machine alone")
        action.set_defaults(command=function)


def _load(options: argparse.Namespace) -> Config:
    """As far as this machine can check it. Raises UsageError."""
    try:
        config = load(options.file, options.address)
        ray_token.demand(config.address)
    except ConfigError as error:
        raise errors.UsageError(str(error)) from None
    _check_files(options.file, config)
    checked = set()
    missing: Exception | None = None
    for video in config.videos:
        properties = frozenset(video.properties.items())
        if properties in checked:
            continue
        try:
            sources.check_properties(video.properties)
        except (ImportError, MissingElement) as error:
            missing = error
        except ValueError as error:
            raise errors.UsageError(f"{video.name}: {error}") from None
        checked.add(properties)
    if missing is not None:
        say(f"properties are not checked: {missing}")
    return config


def _check_files(file: str, config: Config) -> None:
    """Raises UsageError if lines of a live source would go into a file that is read. Archives have files of names that
    no video has."""
    if config.live is None:
        return
    read = [file, *(video.properties.get("regions", "") for video in config.videos)]
    read += [source.source for source in config.live.sources]
    read += [archive.path for archive in config.archives.files] if config.archives is not None else []
    addresses = [to.replace("{source}", source.name) for source in config.live.sources for to in config.live.to]
    files = [(f"live: {address}", path) for address in addresses if (path := file_of(address)) is not None]
    outputs.check_apart(files, [(path, path) for path in read])


def check(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    config = _load(options)
    print(f"cluster: {config.address or 'this machine'}")
    if config.archives is not None:
        print(f"archives: {len(config.archives.files)} files, as {config.archives.form} in {config.archives.output}")
        if config.archives.to:
            print(f"  and to {', '.join(map(redacted, config.archives.to))}")
        for archive in config.archives.files:
            print(f"  {archive.name}: {archive.path}")
    if config.live is not None:
        print(f"live: {len(config.live.sources)} sources, to {', '.join(map(redacted, config.live.to))}")
        for source in config.live.sources:
            print(f"  {source.name}: {redacted(source.source)}")
    return _check_sources(config)


def _check_sources(config: Config) -> int:
    """Returns the exit status. Nothing is opened: a camera may be away. What this machine lacks, those of a cluster may
    have."""
    status = errors.OK
    for source in config.live.sources if config.live is not None else ():
        try:
            sources.check_source(source.source)
        except ImportError:  # _load() has said it
            break
        except ValueError as error:
            if config.address is not None:
                say(f"{source.name}: this machine could not open it: {error}")
                continue
            say(f"error: {source.name}: {error}")
            status = errors.SOURCE_FAILED
    return status


def reload(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    _load(options)
    process = running.find(options.file)
    if process is None:
        raise errors.UsageError(f"nothing on this machine runs {options.file}")
    os.kill(process, signal.SIGHUP)
    say(f"process {process} reads {options.file} again")
    return errors.OK


def run(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    from cudaccl.fleet import cluster
    from cudaccl.fleet.output_lock import locked

    config = _load(options)
    if config.archives is not None and config.archives.form == "parquet":
        need("pyarrow.parquet", "parquet")  # now, not when all is labelled
    if config.live is not None and config.address is None:
        _make_folders(config.live)
    try:
        with ExitStack() as stack:
            if config.archives is not None:
                stack.enter_context(locked(config.archives.output, say))
            earlier = _earlier_results(config)
            if earlier is not None:
                return max(earlier, _send_all(config, stack.enter_context(stop_on_signals())))
            ray = stack.enter_context(cluster.connected(config.address, say))
            stopping = stack.enter_context(stop_on_signals())  # now: Ray has set handlers of its own
            reloading = stack.enter_context(reload_on_signal())
            stack.enter_context(running.announced(options.file))
            slots = cluster.Slots(ray, config, say)
            for place in slots.places:
                kind = f"{len(place.node.gpus)} GPUs" if place.num_gpus else "the CPU"
                say(f"node {place.node.names[0]}: {place.slots} streams at once, on {kind}")
            return _run_all(ray, slots, config, stopping, lambda live: _reload(live, options, reloading))
    except ConfigError as error:
        raise errors.UsageError(str(error)) from None


def _make_folders(live: Live) -> None:
    """Raises SinkError."""
    from cudaccl.fleet.follow import make_folder

    for source in live.sources:
        for address in live.to:
            make_folder(address, source.name)


def _reload(live: Any, options: argparse.Namespace, wanted: threading.Event) -> None:
    """If it is wanted. What cannot be used changes nothing."""
    if not wanted.is_set():
        return
    wanted.clear()
    try:
        config = _load(options)
    except errors.UsageError as error:
        say(f"error: {error}; the old settings stay")
        return
    if config.archives is not None:
        say("archives keep their settings until the fleet is started again")
    if live is not None and config.live is not None:
        live.change(config.live)


def _jobs(config: Config) -> list[Any]:
    from cudaccl.fleet.work import Job

    return [Job(archive, config.archives) for archive in config.archives.files] if config.archives else []


def _earlier_results(config: Config) -> int | None:
    """The status, if an earlier run has labelled everything, so that no cluster is needed; else None."""
    from cudaccl.fleet import work

    if config.live is not None:
        return None
    try:
        manifests = {job.archive.name: work.complete(job) for job in _jobs(config)}
    except OSError:  # of a file that is away, which its archive reports
        return None
    if None in manifests.values():
        return None
    status = errors.OK
    for name, manifest in manifests.items():
        say(f"{name}: is complete, {manifest['frames']} frames")
        if manifest.get("early_end"):
            say(f"error: {name}: {manifest['early_end']}")
            status = errors.SOURCE_FAILED
    return status


def _sender(config: Config) -> Any:
    """None: the archives have no broker."""
    if config.archives is None or not config.archives.to:
        return None
    from cudaccl.fleet.sender import Sender

    return Sender(config.archives, say)


def _send_all(config: Config, stopping: threading.Event) -> int:
    """What an earlier run has not sent."""
    sender = _sender(config)
    if sender is None:
        return errors.OK
    for job in _jobs(config):
        sender.send(job)
    return _finish(sender, stopping)


def _finish(sender: Any, stopping: threading.Event) -> int:
    lost = sender.finish(stopping.is_set)
    if lost:
        say(f"error: {lost} frames are lost, because a broker does not take them or a spool is damaged")
    if sender.waits:
        say("messages wait for brokers; the next run sends them")
    return errors.OUTPUT_FAILED if lost or sender.waits or sender.error or sender.is_damaged else errors.OK


def _run_all(
    ray: Any, slots: Any, config: Config, stopping: threading.Event, look: Callable[[Any], None]
) -> int:
    """Live sources take their places first. look: is called now and then, with the LiveRun or None."""
    from cudaccl.fleet.archive import ArchiveRun
    from cudaccl.fleet.live import LiveRun

    sender = _sender(config)
    with ExitStack() as stack:
        live = LiveRun(ray, slots, config.live, say) if config.live is not None else None
        if live is not None and config.live.metrics is not None:
            from cudaccl.fleet.figures import serve

            host, port = config.live.metrics
            stack.callback(serve(live, port, host))
        more_live = live is not None and live.step()
        archives = ArchiveRun(ray, slots, _jobs(config), say, sender.send if sender is not None else lambda job: None)
        more_archives = True
        while more_live or more_archives:
            look(live)
            more_archives = more_archives and archives.step()
            more_live = live is not None and live.step()
            if stopping.wait(_STEP_S if more_live and not more_archives else 0):
                break
        archives.cancel()
        if live is not None:
            live.stop()
        sent = _finish(sender, stopping) if sender is not None else errors.OK
    return _status(archives, live, more_archives, sent)


def _status(archives: Any, live: Any, interrupted: bool, sent: int) -> int:
    if interrupted:
        say("interrupted; the next run goes on")
        return errors.INTERRUPTED
    followed = live.sources if live is not None else []
    found = {sent} | {state.status for state in archives.states} | {one.status for one in followed}
    found |= {errors.OUTPUT_FAILED for one in followed if one.all_lost or one.waiting}
    return next((status for status in _MOST_URGENT if status in found), errors.OK)
