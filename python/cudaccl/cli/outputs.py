# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files for records that `label` and `run` write."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from types import TracebackType

from cudaccl.publish.csv_table import CsvSink
from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.report import Report
from cudaccl.publish.sink import Sink


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--jsonl", metavar="FILE", help="write records as JSON lines; - is standard output")
    parser.add_argument("--csv", metavar="FILE", help="write components as CSV; - is standard output")
    parser.add_argument("--parquet", metavar="FOLDER", help="write tables in Parquet: see docs/publishing.md")


class Outputs:
    """Opens the files with the first report, or at the end: settings that cannot be used leave old files as they are.

    default: "csv" or "jsonl" on standard output, if there is no option. A context. Raises SinkError and MissingPackage.
    """

    def __init__(self, options: argparse.Namespace, default: str) -> None:
        paths = {"jsonl": options.jsonl, "csv": options.csv, "parquet": options.parquet}
        if not any(path is not None for path in paths.values()):
            paths[default] = "-"
        if options.parquet is not None:
            need("pyarrow.parquet", "parquet")
        self._paths = {name: path for name, path in paths.items() if path is not None}
        self._sinks: list[Sink] = []

    def _open(self) -> None:
        kinds = {"jsonl": JsonLinesSink, "csv": CsvSink, "parquet": ParquetSink}
        while self._paths:
            name = next(iter(self._paths))
            self._sinks.append(kinds[name](self._paths.pop(name)))

    def put(self, report: Report) -> None:
        """Raises SinkError, unlike the sinks: files that are not complete serve nobody."""
        self._open()
        for sink in self._sinks:
            if not sink.put(report):
                raise SinkError(f"{sink.error}; it ends before frame {report.frame} of {report.source}")

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            if error is None:
                self._open()
            for sink in self._sinks:
                stack.callback(sink.close)
        for sink in self._sinks if error is None else []:
            if sink.error is not None:
                raise SinkError(sink.error)
