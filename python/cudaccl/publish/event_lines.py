# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events on standard output, for a person: a line for each."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy

from cudaccl._visible import visible
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.report import Report, events_as_dicts

_OTHER = {"merged": "with {}", "split": "from {}", "crowded": "by {} in"}


class EventLinesSink(JsonLinesSink):
    """A line also says that a source was opened, so that one sees at once that frames come."""

    def __init__(self) -> None:
        super().__init__("-")
        self.name = "standard output"
        self._opened: set[str] = set()  # of which no frame has come yet
        self.lines: Counter[str] = Counter()  #: of each source

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        self._opened.add(source)
        return super().begin(source, run, content)

    def put(self, report: Report) -> bool:
        is_kept = super().put(report)
        if is_kept:
            self.lines[report.source] += self._lines(report).count(b"\n")
            self._opened.discard(report.source)
        return is_kept

    def _lines(self, report: Report) -> bytes:
        texts = []
        if report.source in self._opened:
            texts.append(f"opened, {report.width}x{report.height} pixels")
        if report.events is not None:
            events = events_as_dicts(report.events, report.zones, report.lines, None)
            texts += [described(event) for event in events]
        head = f"{time_text(report)} {report.source}: "
        return "".join(f"{head}{text}\n" for text in texts).encode()


def time_text(report: Report) -> str:
    """The time of day in UTC, to a tenth of a second; where it is not known, the time since the source began."""
    if report.utc is None:
        return "-" if report.pts is None else f"{report.pts / 1e9:.1f} s"
    return f"{numpy.datetime64(report.utc, 'ns')}"[:21] + "Z"


def described(event: dict[str, Any]) -> str:
    """An event of `Report.as_dict()`."""
    words = [event["type"]]
    if event["id"]:
        words.append(str(event["id"]))
    if event["other"]:
        words.append(_OTHER[event["type"]].format(event["other"]))
    if event["zone"] or event["line"]:
        words.append(visible(event["zone"] or event["line"]))
    if event["id"]:
        x, y = event["position"]
        words.append(f"at {x:.0f},{y:.0f}")
    return " ".join(words)
