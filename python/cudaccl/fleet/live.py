# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps an actor alive for each live source."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

from cudaccl.fleet.cluster import Slots, without_colors
from cudaccl.fleet.config import Live, LiveSource
from cudaccl.fleet.follow import FollowActor, Health
from cudaccl.video import errors
from cudaccl.video.follower import named

_ASK_S = 1.0
_SILENT_S = 60.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_DRAIN_S = 5.0


@dataclasses.dataclass(eq=False)
class Supervised:
    """A source and its actor."""

    source: LiveSource
    state: str = "waits for a free place"
    actor: Any = None
    place: Any = None
    question: Any = None  #: a call of health() that is not answered
    asked: float = 0.0
    answered: float = 0.0
    started: float = 0.0
    deaths: int = 0  #: one after the other
    restarts: int = 0
    not_before: float = 0.0
    health: Health | None = None
    frames: int = 0  #: of earlier actors
    lost: int = 0
    fps: float = 0.0
    done: bool = False
    status: int = errors.OK  #: of the command: it has been given up, or has never worked

    @property
    def all_frames(self) -> int:
        return self.frames + (self.health.frames if self.health else 0)

    @property
    def all_lost(self) -> int:
        return self.lost + (self.health.lost if self.health else 0)

    @property
    def waiting(self) -> int:
        """Messages in its spools, as far as an actor says it."""
        return self.health.waiting if self.health else 0


class LiveRun:
    """Call `step()` about once a second until it returns False.

    say: is called with a text for the operator.
    """

    def __init__(self, ray: Any, slots: Slots, live: Live, say: Callable[[str], None]) -> None:
        self._ray = ray
        self._slots = slots
        self._live = live
        self._say = say
        self._reported = time.monotonic()
        self._actor_class = ray.remote(FollowActor)
        self.sources = [Supervised(source) for source in live.sources]

    def step(self) -> bool:
        """False: all sources have ended."""
        now = time.monotonic()
        for one in self.sources:
            if one.done:
                continue
            if one.actor is None:
                self._start(one, now)
            elif one.question is None:
                if now - one.asked >= _ASK_S:
                    one.question, one.asked = one.actor.health.remote(), now
            else:
                self._look(one, now)
        if self._live.report and now - self._reported >= self._live.report:
            self._reported = now
            for line in self.table():
                self._say(line)
        return not all(one.done for one in self.sources)

    def _start(self, one: Supervised, now: float) -> None:
        if now < one.not_before:
            return
        one.place = self._slots.take(is_archive=False)
        if one.place is None:
            one.state = "waits for a free place"
            return
        options = self._slots.options(one.place, is_archive=False) | {"max_restarts": 0}
        one.actor = self._actor_class.options(**options).remote(one.source, self._live)
        one.state, one.started, one.health = "starts", now, None
        one.question, one.asked = one.actor.health.remote(), now

    def _look(self, one: Supervised, now: float) -> None:
        """Whether the answer is there."""
        if not self._ray.wait([one.question], timeout=0)[0]:
            if now - one.asked > _SILENT_S:
                self._died(one, f"no answer in {_SILENT_S:g} seconds")
            return
        try:
            health = self._ray.get(one.question)
        except self._ray.exceptions.RayTaskError as error:
            self._died(one, error.cause or error)
            return
        except self._ray.exceptions.RayError as error:
            self._died(one, _reason(error))
            return
        if one.health is not None:
            one.fps = (health.frames - one.health.frames) / (now - one.answered)
        one.answered = now
        one.health, one.question, one.state = health, None, health.state
        if one.all_frames:
            one.status = errors.OK
        for text in health.texts:
            self._say(text)
        if now - one.started > _LONGEST_PAUSE_S:
            one.deaths = 0
        if health.ended:
            self._ended(one, health)

    def _ended(self, one: Supervised, health: Health) -> None:
        if health.error:
            # A disk may have room again, but one that had none from the beginning is a mistake.
            never_worked = health.status == errors.OUTPUT_FAILED and not one.all_frames
            self._died(one, health.error, health.final or never_worked, health.status)
        else:
            self._stop([one])
            one.done, one.state, one.fps = True, "complete", 0.0
            self._say(f"{one.source.name}: is complete, {one.all_frames} frames")

    def _died(self, one: Supervised, reason: object, final: bool = False, status: int | None = None) -> None:
        """The actor, its node or its source."""
        text = named(one.source.name, str(reason) or type(reason).__name__)
        if final or not one.all_frames:
            one.status = errors.status_of(reason) if status is None else status
        one.frames, one.lost, one.health, one.fps = one.all_frames, one.all_lost, None, 0.0
        self._ray.kill(one.actor)
        self._slots.free(one.place, is_archive=False)
        one.actor = one.question = one.place = None
        if final:
            one.done, one.state = True, "failed"
            self._say(f"error: {text}")
            return
        pause = min(_FIRST_PAUSE_S * 2 ** one.deaths, _LONGEST_PAUSE_S)
        one.deaths += 1
        one.restarts += 1
        one.not_before = time.monotonic() + pause
        one.state = "waits to be started again"
        self._say(f"{text}; it is started again in {pause:g} seconds")
        self._slots.look_again()

    def change(self, live: Live) -> None:
        """The properties of the sources are read again; all else waits for the next run."""
        if dataclasses.replace(live, sources=()) != dataclasses.replace(self._live, sources=()):
            self._say("what live has beside properties is read when the fleet is started again")
        wanted = {source.name: source for source in live.sources}
        for one in self.sources:
            source = wanted.pop(one.source.name, None)
            if source is None or source.source != one.source.source:
                self._say(f"{one.source.name}: is gone from the file, or is another source there; it goes on until the"
                          " fleet is started again")
                continue
            one.source = source
            if one.actor is not None:
                one.actor.change.remote(source.properties)
        for name in wanted:
            self._say(f"{name}: is new in the file; it begins when the fleet is started again")

    def _stop(self, sources: list[Supervised]) -> None:
        """Messages that a broker has not taken stay in the spool of the node."""
        answers = {one.actor.stop.remote(_DRAIN_S): one for one in sources if one.actor is not None}
        if not answers:
            return
        self._ray.wait(list(answers), num_returns=len(answers), timeout=4 * _DRAIN_S)
        for answer, one in answers.items():
            try:
                one.health = self._ray.get(answer, timeout=0)
                for text in one.health.texts:
                    self._say(text)
            except self._ray.exceptions.RayError as error:
                self._say(f"{one.source.name}: did not stop in time ({type(error).__name__})")
            self._ray.kill(one.actor)
            self._slots.free(one.place, is_archive=False)
            one.actor = one.question = one.place = None

    def stop(self) -> None:
        """Ends all sources."""
        self._stop([one for one in self.sources if not one.done])
        for line in self.table():
            self._say(line)

    def table(self) -> Iterator[str]:
        """Health of all sources."""
        yield f"{'source':<20} {'node':<16} {'frames':>10} {'fps':>7} {'lost':>8} {'restarts':>8} state"
        for one in self.sources:
            node = one.place.node.names[0] if one.place is not None else "-"
            yield (f"{one.source.name:<20} {node:<16} {one.all_frames:>10} {one.fps:>7.1f} {one.all_lost:>8}"
                   f" {one.restarts:>8} {one.state}")


def _reason(error: Exception) -> str:
    """One line of what Ray says of an actor: of the traceback of a constructor the last one."""
    lines = [line.strip() for line in without_colors(str(error)).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if "creation task" in lines[0] else 0]
