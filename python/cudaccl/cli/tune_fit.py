# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl tune --fit MARKS`: the search for settings, without a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from cudaccl.cli import outputs, video_options
from cudaccl.cli.operator import fail, show
from cudaccl.cli.stopping import stop_on_signals
from cudaccl.gst import PipelineError
from cudaccl.publish.errors import SinkError
from cudaccl.video import errors, values
from cudaccl.video.follower import one_line
from cudaccl.video.sources import Source

_MOST_TRIALS = 10**6
_PHASES = {"reading": "reading the marked frames", "searching": "searching", "refining": "refining",
           "running": "running from the beginning"}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    group = parser.add_argument_group("search", "without a page; needs SciPy")
    group.add_argument(
        "--fit", type=Path, metavar="MARKS",
        help="search settings that find what is marked in this file, which the panel Fit of the page saves")
    group.add_argument(
        "--search", metavar="NAME,...", default=[], type=_names,
        help="settings that are searched (default: threshold or what else the rule of the foreground has, invert,"
        " open-radius, close-radius, min-area); all others stay as they are")
    group.add_argument(
        "--trials", type=values.option(_count), metavar="N", help="how many to try (default: 300)")
    group.add_argument(
        "--write", type=Path, metavar="FILE", help="the best settings, for --settings (default: standard output)")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST_TRIALS:
        raise ValueError(f"{text!r} is no whole number from 1 to {_MOST_TRIALS}")
    return int(text)


def check(options: argparse.Namespace) -> None:
    """Raises UsageError for options that need --fit."""
    for name in ("search", "trials", "write"):
        if options.fit is None and getattr(options, name):
            raise errors.UsageError(f"--{name} is for --fit")


def fit(options: argparse.Namespace, sources: list[Source], properties: dict[str, str]) -> int:
    """Returns the exit status."""
    from cudaccl.tune import fit as search
    from cudaccl.tune import marks
    from cudaccl.tune.kept import Stopped
    from cudaccl.tune.settings import checked

    if options.write is not None:
        if options.write.is_dir():
            raise SinkError(f"--write {options.write}: it is a folder")
        if not options.write.parent.is_dir():
            raise SinkError(f"--write {options.write}: there is no folder {options.write.parent}")
        marked = f"--fit {options.fit}", options.fit
        outputs.check_apart([(f"--write {options.write}", options.write)],
                            [marked, *video_options.inputs_of(options, sources, properties)])
    try:
        task = search.Task(sources, marks.load(options.fit), checked([], properties), options.search,
                           options.trials or search.TRIALS, float(options.stall))
        search.check(task)
    except marks.MarksError as error:
        raise errors.UsageError(f"--fit: {error}") from None
    except ValueError as error:
        raise errors.UsageError(f"--search: {error}") from None
    with stop_on_signals() as stopping, _Line() as line:
        try:
            outcome = search.fit(task, line.show, stopping.is_set)
        except Stopped:
            return fail("interrupted before anything was found", errors.INTERRUPTED)
        except (marks.MarksError, PipelineError, FileNotFoundError) as error:
            return fail(one_line(error), errors.SOURCE_FAILED)
    return _give_out(outcome, options.write)


class _Line:
    """Shows on a terminal how far the search is. A context."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_error: object) -> None:
        self._print("")

    def show(self, progress: Any) -> None:
        best = f", best F1 {progress.best.f1:.3f}" if progress.best is not None else ""
        of = f" of {progress.most}" if progress.phase == "searching" else ""
        self._print(f"{_PHASES[progress.phase]}: {progress.trials}{of} trials{best}")

    def _print(self, text: str) -> None:
        if self._is_shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _give_out(outcome: Any, path: Path | None) -> int:
    """The report goes to standard error, the best settings to the file, or to standard output. Raises SinkError."""
    from cudaccl.tune.export import settings_file

    show("\n".join(_report(outcome)))
    best = outcome.proposals[0] if outcome.proposals else outcome.now
    if best.agreement.hits == 0:
        if not outcome.is_complete:
            return fail(f"interrupted after {outcome.trials} trials, before anything was found", errors.INTERRUPTED)
        return fail("no settings were found that find a marked object", errors.SOURCE_FAILED)
    _write(settings_file(best.values), path)
    if not outcome.is_complete:
        return fail(f"interrupted after {outcome.trials} trials: these are the best until then", errors.INTERRUPTED)
    return errors.OK


def _write(text: str, path: Path | None) -> None:
    """Raises SinkError. A file that is there keeps what it has until the text is written."""
    try:
        if path is None:
            print(text, end="", flush=True)
        else:
            with outputs.replaced(path) as beside:
                beside.write_text(text, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output cannot be written" if path is None else f"--write {path}"
        raise SinkError(f"{where}: {error.strerror}") from error


def _report(outcome: Any) -> list[str]:
    """The settings beside each other, and what is wrong with the best ones."""
    columns = [outcome.now, *outcome.proposals]
    rows = [["", "now", *(str(number) for number in range(1, len(columns)))]]
    rows += [[name, *(f"{getattr(one.agreement, name.lower()):.3f}" for one in columns)]
             for name in ("F1", "precision", "recall")]
    rows += [[name, *(str(getattr(one.agreement, name)) for one in columns)] for name in ("hits", "missed", "extra")]
    names = sorted({name for one in columns for name in one.values if name != "regions"})
    rows += [[name, *(_value(one, name) for one in columns)] for name in names]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    if outcome.proposals:
        best = outcome.proposals[0]
        lines += [f"1: {mark}: {one.missed} missed, {one.extra} extra" for mark, one in best.frames.items()
                  if one.missed or one.extra]
        if best.values == outcome.now.values:
            lines.append("Nothing is better than the settings of now.")
    return [*lines, outcome.rests_on]


def _value(proposal: Any, name: str) -> str:
    """With the range in which F1 is the same."""
    found = proposal.values.get(name, "")
    return f"{found} ({' to '.join(proposal.ranges[name])})" if name in proposal.ranges and found else found
