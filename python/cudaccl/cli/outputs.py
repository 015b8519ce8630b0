# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files for records that `label` and `run` write."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from cudaccl.publish.csv_table import CsvSink
from cudaccl.publish.errors import SinkError
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.report import Report
from cudaccl.publish.sink import Sink


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--jsonl", metavar="FILE", help="write records as JSON lines; - is standard output")
    parser.add_argument("--csv", metavar="FILE", help="write components as CSV; - is standard output")
    parser.add_argument("--parquet", metavar="FOLDER", help="write tables in Parquet: see docs/publishing.md")


def open_sinks(options: argparse.Namespace, default: str) -> list[Sink]:
    """default: "csv" or "jsonl" on standard output, if there is no option. Raises SinkError, MissingPackage."""
    paths = {"jsonl": options.jsonl, "csv": options.csv, "parquet": options.parquet}
    if not any(path is not None for path in paths.values()):
        paths[default] = "-"
    kinds = {"jsonl": JsonLinesSink, "csv": CsvSink, "parquet": ParquetSink}
    return [kinds[name](path) for name, path in paths.items() if path is not None]


def put(sinks: Iterable[Sink], report: Report) -> None:
    """Raises SinkError, unlike the sinks: files that are not complete serve nobody."""
    for sink in sinks:
        if not sink.put(report):
            raise SinkError(f"{sink.error}; it ends before frame {report.frame} of {report.source}")


def check(sinks: Iterable[Sink]) -> None:
    """Once they are closed. Raises SinkError if one is not complete."""
    for sink in sinks:
        if sink.error is not None:
            raise SinkError(sink.error)
