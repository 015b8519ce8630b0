# SPDX-License-Identifier: LGPL-2.1-or-later
"""The actor of a live source: it labels the source on a node until `stop()`."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Any

from cudaccl.fleet.config import Live, LiveSource
from cudaccl.publish.address import AddressError, Spooling, open_sink
from cudaccl.publish.errors import MissingPackage, SinkError
from cudaccl.publish.metrics import Metrics
from cudaccl.publish.run_name import new_run_name
from cudaccl.publish.sink import Sink
from cudaccl.publish.spool import Account
from cudaccl.video.errors import OK, UsageError, status_of
from cudaccl.video.follower import Follower, named, one_line, stop_all
from cudaccl.video.sources import Source

_TICK_S = 1.0
_OWN_METRICS = "cudaccl_"

FINAL_ERRORS = (AddressError, MissingPackage, UsageError)  #: another try does not help


@dataclasses.dataclass(frozen=True)
class Health:
    """How a source is."""

    frames: int  #: that the first sink has taken since the actor began, or has not asked for
    waiting: int  #: in its spools, also those of earlier actors
    lost: int  #: that a sink has lost since the actor began; of all sinks
    texts: tuple[str, ...]  #: for the operator, since the last call
    ended: bool
    error: str  #: why it has ended; "": it was complete
    status: int  #: of the command, for this error
    final: bool  #: another try does not help
    state: str  #: for the operator
    figures: tuple[Any, ...]  #: of prometheus_client


class FollowActor:
    """A sink that cannot be opened is an error of `health()`: of an exception in a constructor, Ray keeps the text of a
    traceback alone."""

    def __init__(self, source: LiveSource, live: Live) -> None:
        self._texts: list[str] = []
        self._name = source.name
        self._failure: Exception | None = None
        self._sinks: list[Sink] = []
        self._metrics: Metrics | None = None
        spooling = Spooling(Path(live.spool, source.name), live.spool_size)
        try:
            for address in live.to:
                self._sinks.append(self._open(address, spooling))
            self._metrics = Metrics(self._sinks) if live.metrics is not None else None
        except (SinkError, *FINAL_ERRORS) as error:
            self._failure = error
        self._follower = Follower(
            Source(source.name, source.source), source.properties, self._sinks, self._texts.append, live.stall,
            self._metrics)
        self._stopping = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        if self._failure is None:
            self._follower.start()
            self._ticker.start()

    def _open(self, address: str, spooling: Spooling) -> Sink:
        make_folder(address, self._name)
        return open_sink(
            _of_source(address, self._name), spooling, f"{self._name}-{new_run_name()}",
            lambda text: self._texts.append(named(self._name, text)))

    def change(self, properties: dict[str, str]) -> None:
        """As of `Follower`."""
        self._follower.change(properties)

    def _tick(self) -> None:
        while not self._stopping.wait(_TICK_S):
            if self._follower.running:
                self._follower.tick()

    def health(self) -> Health:
        ended = not self._follower.running
        error = self._failure or (self._follower.error if ended else None)
        accounts = self._accounts()
        before, now = accounts[0] if accounts else (Account(), Account())
        frames = now.frames - now.lost - before.frames + before.lost
        texts = tuple(self._texts)
        del self._texts[:len(texts)]
        figures = () if self._metrics is None else tuple(
            family for family in self._metrics.registry.collect() if family.name.startswith(_OWN_METRICS))
        waiting = sum(now.spooled for _, now in accounts)
        lost = sum(now.lost - before.lost for before, now in accounts)
        return Health(
            frames, waiting, lost, texts, ended,
            one_line(error) if error is not None else "", status_of(error) if error is not None else OK,
            isinstance(error, (*FINAL_ERRORS, ImportError, FileNotFoundError)), self._follower.state, figures)

    def _accounts(self) -> list[tuple[Account, Account]]:
        """Of each sink: when the actor began, and now. The spool may have frames of earlier actors."""
        name = self._name
        return [(sink.before.get(name, Account()), sink.accounts().get(name, Account())) for sink in self._sinks]

    def stop(self, drain: float) -> Health:
        """drain: seconds to wait for brokers."""
        self._stopping.set()
        if self._failure is None:
            stop_all([self._follower], self._sinks)
            self._ticker.join()
        for sink in self._sinks:
            sink.drain(drain)
            sink.close()
        return self.health()


def make_folder(address: str, name: str) -> None:
    """That of the file of a source. Raises SinkError."""
    scheme, _, path = _of_source(address, name).partition(":")
    if scheme == "jsonl":
        folder = Path(path).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SinkError(f"{folder} cannot be made: {error.strerror}") from None


def _of_source(address: str, name: str) -> str:
    """Brokers have their own rule for {source} in a topic."""
    is_file = address.startswith(("jsonl:", "parquet:"))
    return address.replace("{source}", name) if is_file else address
