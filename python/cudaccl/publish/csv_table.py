# SPDX-License-Identifier: LGPL-2.1-or-later
"""One line for each component, in a CSV file or on standard output."""

from __future__ import annotations

import csv
import io
import os

from cudaccl.publish.columns import COMPONENT_COLUMNS
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.report import Report, components_as_dicts

_PARTS = {"box": ("box_x", "box_y", "box_width", "box_height"), "centroid": ("centroid_x", "centroid_y"),
          "moments": ("moments_xx", "moments_xy", "moments_yy")}
_HEADER = ("source", "frame", "pts", *COMPONENT_COLUMNS, "flags")


class CsvSink(JsonLinesSink):
    """The columns of the table `components` in Parquet; flags are in one column, with blanks between them.

    path: "-" is standard output. clear and errors are those of JsonLinesSink.
    """

    def __init__(self, path: str | os.PathLike[str], clear: bool = True) -> None:
        super().__init__(path, clear=False)
        self.name = f"csv:{os.fspath(path)}"
        if clear:
            self.clear()

    def clear(self) -> None:
        super().clear()
        try:
            self._write(_text([_HEADER]))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failure(error) from error

    def _lines(self, report: Report) -> bytes:
        rows = []
        for component in components_as_dicts(report.components):
            flags = " ".join(component.pop("flags"))
            row = dict(component)
            for key, names in _PARTS.items():
                row |= dict(zip(names, row.pop(key)))
            rows.append((_cell(report.source), report.frame, report.pts, *(row[name] for name in COMPONENT_COLUMNS), flags))
        return _text(rows)


def _cell(text: str) -> str:
    """A spreadsheet would run what begins so as a formula; it does not show the quote."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _text(rows: list[tuple[object, ...]]) -> bytes:
    """None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
