# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends the results of archives to brokers, each file when it is complete, its frames in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

from cudaccl.fleet.config import Archives
from cudaccl.fleet.pieces import sync_folder
from cudaccl.fleet.work import Job
from cudaccl.publish.address import Spooling, open_sink
from cudaccl.publish.sink import BrokerSink

_STEP_S = 0.25
# No name of a live source, each of which has a folder in the same place, begins with a dot.
_FOLDER = ".archives"


class Sender:
    """One thread, and a spool for each broker. Files are the only state:

    - `put_together()` leaves all messages of a file, with its result;
    - they are copied to the spools, which know the next frame of the file, so that nothing is copied twice;
    - when the spools have all of them, the file of messages is deleted.

    say: is called with a text for the operator. Raises AddressError, SinkError and MissingPackage.
    """

    def __init__(self, settings: Archives, say: Callable[[str], None]) -> None:
        self._say = say
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._sinks: list[BrokerSink] = []
        self._closed = False
        self._given: list[Job] = []
        self.error = ""
        self.waits = False  #: behind `finish()`: messages wait for a broker, in a spool or in their file
        spooling = Spooling(Path(settings.spool, _FOLDER), settings.spool_size)
        try:
            for address in settings.to:
                self._sinks.append(cast(BrokerSink, open_sink(address, spooling, say=say)))
        except BaseException:
            self._close_sinks()
            raise
        self._thread = threading.Thread(target=self._run, name="cudaccl-sender", daemon=True)
        self._thread.start()

    def send(self, job: Job) -> None:
        """Later, if its messages are there. A file that was sent has none."""
        self._given.append(job)
        self._jobs.put(job)

    def finish(self, stopped: Callable[[], bool]) -> int:
        """Waits until the brokers have acknowledged everything, or until `stopped()`, and ends.

        Returns how many frames are lost since the beginning: those that a broker does not take, and those of a damaged
        spool. What waits stays in the spools and files for the next run.
        """
        self._jobs.put(None)
        while self._thread.is_alive() and not stopped():
            self._thread.join(_STEP_S)
        for sink in self._sinks:
            while not self.error and not stopped() and not sink.drain(_STEP_S):
                pass
        return self._close()

    @property
    def is_damaged(self) -> bool:
        """A spool was put aside: frames may be lost that nobody can count."""
        return any(sink.spool.is_damaged for sink in self._sinks)

    def _close(self) -> int:
        self._closed = True
        for sink in self._sinks:
            sink.release()
        self._thread.join()
        self._close_sinks()
        lost = 0
        self.waits = any(job.messages.exists() for job in self._given)
        for sink in self._sinks:
            before = sum(account.lost for account in sink.before.values())
            accounts = sink.accounts().values()
            lost += sum(account.lost for account in accounts) - before
            waiting = sum(account.spooled for account in accounts)
            self.waits = self.waits or waiting > 0
            text = f"{sum(account.sent for account in accounts)} frames sent"
            self._say(f"{sink.name}: {text}" + (f", {waiting} wait" if waiting else ""))
        return lost

    def _close_sinks(self) -> None:
        for sink in self._sinks:
            sink.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                self._copy(job)
            except Exception as error:  # of a disk; the next run goes on
                self.error = f"{job.archive.name}: {type(error).__name__}: {error}"
                self._say(f"error: {self.error}")
                return

    def _copy(self, job: Job) -> None:
        """To all spools. After `release()` they take nothing that would wait."""
        try:
            messages = open(job.messages, "rb")
        except FileNotFoundError:
            return
        name, run = job.archive.name, job.run
        with messages:
            for sink in self._sinks:
                sink.begin(name, run, run)
            for frame, line in enumerate(messages):
                for sink in self._sinks:
                    is_taken = not self._closed and sink.put_message(name, frame, line[:-1])
                    if not is_taken and self._closed:  # else it is larger than the spool, and counted
                        return
        job.messages.unlink()
        sync_folder(job.messages.parent)
        for sink in self._sinks:
            sink.end(name)
