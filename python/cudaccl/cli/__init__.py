# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from cudaccl._gst_pipeline import MissingElement
from cudaccl._redaction import Formatter
from cudaccl.cli import camera, fleet, label, operator, publish, run, stopping, tune
from cudaccl.cli.operator import fail
from cudaccl.publish.address import AddressError
from cudaccl.publish.errors import MissingPackage, SinkError
from cudaccl.video import errors, values

# Each has add(subparsers), which sets the default `command` to a function of the arguments that returns a status.
COMMANDS = (label, run, tune, camera, publish, fleet)


class _Version(argparse.Action):
    """Loads the library only if it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        import cudaccl

        print(f"cudaccl {cudaccl.__version__}")
        parser.exit()


class _Once(argparse.Action):
    """A second option of a name would replace the first one without a word."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if option is not None and self.dest in given:
            raise errors.UsageError(f"{option} is given twice: leave one out")
        given.add(self.dest)
        setattr(namespace, self.dest, value)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register("action", None, _Once)  # of options that name no action


def make_parser() -> argparse.ArgumentParser:
    """All options of all commands."""
    parser = _Parser(
        prog="cudaccl", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=errors.HELP,
        description="Finds the connected components of images and videos, and follows them.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit status. Wrong options end in SystemExit(2), as argparse does."""
    if sys.stdout is None:
        _replace_standard_output()
    operator.replace_missing()
    try:
        with ExitStack() as stack, stopping.interruptible():
            stack.callback(_flush)
            return _run(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:  # of standard output: its reader has enough
        _drop_output()
        return errors.OUTPUT_FAILED
    except SinkError as error:
        _drop_output()
        return fail(error, errors.OUTPUT_FAILED)
    finally:
        operator.drop_unwritten()


def _replace_standard_output() -> None:
    """Of a process that has none: the next file that it opens would be taken for it. Nobody reads this one."""
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    for end in (reader, writer):
        if end != 1:
            os.close(end)
    sys.stdout = open(1, "w")


def _flush() -> None:
    """What is printed may wait; at the end of Python, errors cannot be caught."""
    try:
        print(end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SinkError(f"standard output cannot be written: {error.strerror}") from error


def _drop_output() -> None:
    """What could not be written is not tried again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str]) -> int:
    for text in arguments:
        if not values.is_utf_8(text):
            return fail(f"{text!r} is no UTF-8: rename the file, or link it", errors.USAGE)
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter("cudaccl: %(message)s"))
    logging.basicConfig(handlers=[handler])
    try:
        options = make_parser().parse_args(arguments)
        return options.command(options)
    except (errors.UsageError, AddressError, MissingPackage) as error:
        return fail(error, errors.USAGE)
    except SinkError as error:
        return fail(error, errors.OUTPUT_FAILED)
    except KeyboardInterrupt:
        return fail("interrupted", errors.INTERRUPTED)
    except (ImportError, MissingElement) as missing:  # GStreamer's bindings, or the plugin
        return fail(missing, errors.USAGE)
