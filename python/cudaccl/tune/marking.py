# SPDX-License-Identifier: LGPL-2.1-or-later
"""The marks that all pages share, and the search that runs on them."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import PipelineError
from cudaccl.tune import fit, marks
from cudaccl.tune.agreement import Agreement
from cudaccl.tune.fit import Outcome, Progress, Proposal, Task
from cudaccl.tune.kept import Stopped
from cudaccl.video.errors import UsageError
from cudaccl.video.follower import one_line

_REPORT_S = 0.2  # between two reports of progress

Message = dict[str, Any]


class Marking:
    """Its methods are for one thread; the search has its own."""

    def __init__(self, changed: Callable[[Message], None]) -> None:
        """changed: is called with messages for the pages, also by the thread of the search."""
        self._changed = changed
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._state: Message = {"state": "none"}
        self._reported = 0.0
        self.frames: list[marks.MarkedFrame] = []

    def hello(self) -> list[Message]:
        """For a page that is new."""
        return [self._marks(), self._fit()]

    def mark(self, document: Any) -> None:
        """In place of all marks. Raises MarksError."""
        self.frames = marks.parse(document)
        self._changed(self._marks())

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, task: Task) -> None:
        """Raises MarksError, ValueError, and MissingPackage."""
        if self.is_running:
            raise marks.MarksError("a search is running: stop it first")
        fit.check(task)
        self._stopping.clear()
        self._set({"state": "running", "phase": "reading", "trials": 0, "most": task.trials, "best": None})
        self._thread = threading.Thread(target=self._run, args=[task], name="cudaccl-fit", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """What was found until then is shown."""
        self._stopping.set()

    def close(self) -> None:
        """Blocks until the thread has ended."""
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def _run(self, task: Task) -> None:
        try:
            outcome = fit.fit(task, self._progress, self._stopping.is_set)
        except Stopped:
            self._set({"state": "none"})
        except (marks.MarksError, UsageError, PipelineError, FileNotFoundError) as error:
            self._set({"state": "failed", "text": one_line(error)})
        else:
            self._set(_found(outcome))

    def _progress(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._reported >= _REPORT_S or progress.phase != self._state.get("phase"):
            self._reported = now
            best = progress.best.f1 if progress.best is not None else None
            self._set({"state": "running", **vars(progress), "best": best})

    def _set(self, state: Message) -> None:
        self._state = state
        self._changed(self._fit())

    def _marks(self) -> Message:
        return {"type": "marks", "document": marks.as_document(self.frames), "text": marks.count_text(self.frames)}

    def _fit(self) -> Message:
        return {"type": "fit", **self._state}


def _found(outcome: Outcome) -> Message:
    return {
        "state": "found", "isComplete": outcome.is_complete, "trials": outcome.trials, "restsOn": outcome.rests_on,
        "now": _shown(outcome.now), "proposals": [_shown(one) for one in outcome.proposals]}


def _shown(proposal: Proposal) -> Message:
    return {
        "values": proposal.values, **numbers(proposal.agreement), "ranges": proposal.ranges,
        "wrong": [{"source": mark.source, "time": mark.time, "missed": one.missed, "extra": one.extra}
                  for mark, one in proposal.frames.items() if one.missed or one.extra]}


def numbers(found: Agreement) -> Message:
    """What describes how well settings agree."""
    return {"f1": found.f1, "precision": found.precision, "recall": found.recall, **{
        name: value for name, value in dataclasses.asdict(found).items() if name != "closeness"}}
