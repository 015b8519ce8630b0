# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brings messages from a spool to a broker, in order, and again where the broker has not acknowledged them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from cudaccl.publish.errors import Refused, Unavailable
from cudaccl.publish.spool import Message, Spool

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 15.0
_WAIT_S = 0.25


class Transport(Protocol):
    """A connection to a broker. All functions but `set_online()` and `wake()` are called by one thread."""

    window: int  #: so many messages may be without an acknowledgement
    trouble: str  #: why nothing is acknowledged now, though the connection goes on trying; else empty

    def connect(self) -> None:
        """Begins from scratch: what was sent without an acknowledgement will be sent again.

        Raises Refused or Unavailable.
        """

    def send(self, message: Message) -> None:
        """Raises Unavailable."""

    def poll(self, timeout: float) -> tuple[list[int], dict[int, str]]:
        """Waits for acknowledgements or for `wake()`.

        Returns the numbers of the messages that the broker has acknowledged, and of those that it does not take at all,
        with its reason. Raises Refused or Unavailable.
        """

    def set_online(self, source: str, online: bool) -> None:
        """Shows subscribers whether frames of a source come, if the broker keeps such a state. Does not wait."""

    def wake(self) -> None:
        """Ends the `poll()` of another thread."""

    def close(self) -> None:
        """Never raises."""


class Forwarder:
    """A thread that keeps a broker up to date with a spool.

    report: is called with a text when the broker is there, is away, or refuses something.
    """

    def __init__(self, name: str, spool: Spool, transport: Transport, report: Callable[[str], None]) -> None:
        self._name = name
        self._spool = spool
        self._transport = transport
        self._report = report
        self._last_report = ""
        self._stopping = threading.Event()
        self.connected = False
        spool.listener = transport.wake
        self._thread = threading.Thread(target=self._run, name=f"cudaccl-{name}", daemon=True)

    def start(self) -> None:
        """Connects once in the calling thread, so that a refusal is seen at once, and starts the thread.

        Raises Refused. A broker that is away is no error: messages wait for it.
        """
        try:
            self._transport.connect()
        except Refused:
            self._transport.close()
            raise
        except Unavailable as away:
            self._say(str(away))
        else:
            self.connected = True
        self._thread.start()

    def stop(self) -> None:
        """What has no acknowledgement yet stays in the spool."""
        self._stopping.set()
        self._transport.wake()
        self._thread.join()

    def _run(self) -> None:
        pause = _FIRST_PAUSE_S
        try:
            while not self._stopping.is_set():
                began = time.monotonic()
                try:
                    if not self.connected:
                        self._transport.connect()
                        self.connected = True
                    self._forward()
                except Unavailable as away:
                    self._say(str(away))
                except Exception as error:  # of a spool that cannot be read, for example; this thread must go on
                    self._say(f"{self._name}: {type(error).__name__}: {error}")
                self.connected = False
                if time.monotonic() - began > _LONGEST_PAUSE_S:
                    pause = _FIRST_PAUSE_S
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        finally:
            self._transport.close()

    def _forward(self) -> None:
        """Until the thread stops; Unavailable ends it too."""
        last = 0  # what was sent over an earlier connection is sent again
        in_flight: dict[int, Message] = {}
        while not self._stopping.is_set():
            messages = self._spool.fetch(last, self._transport.window - len(in_flight))
            for message in messages:
                self._transport.send(message)
                in_flight[message.number] = message
                last = message.number
            sent, refused = self._transport.poll(_WAIT_S)
            for number, reason in refused.items():
                lost = in_flight[number]
                self._report(f"{lost.source[:100]}: {self._name} does not take frame {lost.frame}: {reason}; it is lost")
            self._spool.settle(sent, refused)
            for number in (*sent, *refused):
                in_flight.pop(number, None)
            self._say(self._transport.trouble if in_flight else "")

    def _say(self, text: str) -> None:
        """Once. An empty text: all is well again."""
        if text == self._last_report:
            return
        self._report(f"{text}; messages wait in {self._spool.path}" if text else f"{self._name}: connected again")
        self._last_report = text
