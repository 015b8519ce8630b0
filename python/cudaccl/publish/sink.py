# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all sinks have in common, and the sink of a broker."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from cudaccl.publish.forward import Forwarder, Transport
from cudaccl.publish.report import Report
from cudaccl.publish.spool import DEFAULT_LIMIT, Account, Spool


class Sink(Protocol):
    """Where reports go. Threads of several sources may share it."""

    name: str
    error: str | None  #: why the last report did not get through; None after one that did
    before: dict[str, Account]  #: accounts() when it was opened: what earlier processes did

    def interrupted(self, source: str, content: str) -> str | None:
        """The run of a stream that a process before this one began and did not end; None if there is none."""

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        """Begins a stream; returns the number of the first frame that is missing here.

        content: names what is read if it can be read again, such as a file. See `Spool.begin()`.
        """

    def put(self, report: Report) -> bool:
        """False: the frame is lost here, and counted."""

    def skip(self, source: str, frame: int) -> None:
        """Counts a frame that this sink does not get, because its address does not ask for it."""

    def set_online(self, source: str, online: bool) -> None:
        """Whether frames of a source come now, for subscribers of a broker. Does not wait."""

    def end(self, source: str) -> None:
        """The stream is complete."""

    def accounts(self) -> dict[str, Account]:
        """Where the frames of each source are."""

    def release(self) -> None:
        """Callers that wait in `put()` return. For the end of the process."""

    def drain(self, timeout: float) -> bool:
        """Waits until nothing waits for a broker; False if the time is over before."""

    def close(self) -> None:
        """No call follows but `accounts()`."""


class BrokerSink:
    """Messages in JSON for a broker, by way of a spool.

    path, limit: as of `Spool`. say: is called with a text when the broker comes or goes, when a source waits for the
    spool, and if the spool is damaged.

    Raises SinkError if the spool cannot be used, and Refused if the broker refuses the connection now.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        path: str | os.PathLike[str],
        limit: int = DEFAULT_LIMIT,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.name = name
        self._final: dict[str, Account] | None = None
        self.spool = Spool(path, limit, lambda text: say(f"{name}: {text}"))
        self.before = self.spool.before
        self._transport = transport
        self._forwarder = Forwarder(name, self.spool, transport, say)
        try:
            self._forwarder.start()
        except BaseException:
            self.spool.close()
            raise

    @property
    def error(self) -> str | None:
        """Of the spool's disk; a broker that is away is no error."""
        return self.spool.disk_error

    @property
    def connected(self) -> bool:
        return self._forwarder.connected

    def interrupted(self, source: str, content: str) -> str | None:
        return self.spool.interrupted(source, content)

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        return self.spool.begin(source, run, content)

    def put(self, report: Report) -> bool:
        return self.put_message(report.source, report.frame, report.json)

    def put_message(self, source: str, frame: int, payload: bytes) -> bool:
        """As `put()`, of a report that is JSON already."""
        return self.spool.put(source, frame, payload)

    def skip(self, source: str, frame: int) -> None:
        self.spool.skip(source, frame)

    def set_online(self, source: str, online: bool) -> None:
        self._transport.set_online(source, online)

    def end(self, source: str) -> None:
        self.spool.end(source)

    def accounts(self) -> dict[str, Account]:
        return self.spool.accounts() if self._final is None else self._final

    def release(self) -> None:
        self.spool.stop_waiting()

    def drain(self, timeout: float) -> bool:
        return self.spool.drain(timeout)

    def close(self) -> None:
        """What is not acknowledged stays in the spool for the next process."""
        self._forwarder.stop()
        self._final = self.spool.accounts()
        self.spool.close()
