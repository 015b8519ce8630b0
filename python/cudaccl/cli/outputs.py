# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files for records that `label` and `run` write, and whether the files of a command line are apart."""

from __future__ import annotations

import argparse
import mimetypes
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from cudaccl.cli.stopping import raise_if_interrupted
from cudaccl.publish.csv_table import CsvSink
from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.report import Report
from cudaccl.publish.sink import Sink
from cudaccl.video import values
from cudaccl.video.errors import UsageError

_HEAD = 4096  # bytes of a file, from which its kind is seen
Words = tuple[str, str | os.PathLike[str]]  #: how a command line names a file, and its path; - is standard output


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--jsonl", metavar="FILE", help="write records as JSON lines; - is standard output")
    parser.add_argument("--csv", metavar="FILE", help="write components as CSV; - is standard output")
    parser.add_argument(
        "--parquet", type=values.option(values.folder), metavar="FOLDER",
        help="write tables in Parquet: see docs/publishing.md")


def paths_of(options: argparse.Namespace, default: str) -> dict[str, str]:
    """The path of each form. default: the form that standard output has if there is no option."""
    paths = {"jsonl": options.jsonl, "csv": options.csv, "parquet": options.parquet}
    return {name: path for name, path in paths.items() if path is not None} or {default: "-"}


def check_apart(outputs: Iterable[Words], inputs: Iterable[Words]) -> None:
    """Raises UsageError if an output is also an input, which would be destroyed, or if two outputs are one file."""
    read = {_identity(path): words for words, path in inputs if os.path.isfile(path)}
    written: dict[object, str] = {}
    for words, path in outputs:
        found = _identity(path)
        if found in read:
            raise UsageError(f"{words} and {read[found]} are one file: write to another one")
        if found in written:
            raise UsageError(f"{written[found]} and {words} are one file: each needs its own")
        written[found] = words


def _identity(path: str | os.PathLike[str]) -> object:
    """The same for all names and links of a file; a device, such as /dev/null, takes all outputs."""
    try:
        found = os.fstat(1) if path == "-" else os.stat(path)
    except OSError:  # it will be made
        return os.path.realpath(path)
    if stat.S_ISCHR(found.st_mode):
        return path if path == "-" else object()
    return found.st_dev, found.st_ino


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Gives the path of a file beside it, which takes its place at the end. After an error or Ctrl-C, what was there is
    as before. A device or a pipe is written itself. Raises OSError."""
    path = Path(os.path.realpath(path))  # not the link to it
    if path.exists() and not path.is_file():
        yield path
        return
    beside = path.with_name(f".{os.getpid()}-{path.name}")  # its suffix says which format a picture has
    try:
        yield beside
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _check_is_text(words: str, path: str) -> None:
    """Raises UsageError for a file with something else in it, which was meant as an input."""
    if not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:  # which is an error when it is opened to be written
        return
    kind = (mimetypes.guess_type(path)[0] or "").partition("/")[0]
    if head and (b"\0" in head or kind in ("image", "video", "audio")):
        raise UsageError(f"{words}: this file has no records, and would be replaced by them: name another one")


class Outputs:
    """Opens the files with the first report, or at the end: settings that cannot be used, and sources that cannot be
    read, leave old files as they are.

    default: "csv" or "jsonl" on standard output, if there is no option. A context. Raises SinkError, MissingPackage and
    UsageError.
    """

    def __init__(self, options: argparse.Namespace, default: str) -> None:
        if options.parquet is not None:
            need("pyarrow.parquet", "parquet")
        self._paths = paths_of(options, default)
        for name, path in self._paths.items():
            _check_is_text(f"--{name} {path}", path)
        self._sinks: list[Sink] = []
        self.are_wanted = True  #: False: without a report, no file is opened

    def _open(self) -> None:
        """Old files lose what they have once all are open. Parquet replaces its files at the end."""
        paths, self._paths = self._paths, {}
        lines: list[JsonLinesSink] = []
        for name, path in paths.items():
            if name == "parquet":
                self._sinks.append(ParquetSink(path))
            else:
                lines.append((CsvSink if name == "csv" else JsonLinesSink)(path, clear=False))
                self._sinks.append(lines[-1])
        for sink in lines:
            sink.clear()

    def put(self, report: Report) -> None:
        """Raises SinkError, unlike the sinks: files that are not complete serve nobody."""
        self._open()
        for sink in self._sinks:
            if not sink.put(report):
                raise SinkError(f"{sink.error}; it ends before frame {report.frame} of {report.source}")
        raise_if_interrupted()

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            if error is None and self.are_wanted:
                self._open()
            for sink in self._sinks:
                stack.callback(sink.close)
        for sink in self._sinks if error is None else []:
            if sink.error is not None:
                raise SinkError(sink.error)
