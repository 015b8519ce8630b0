# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processes that label archives. Each one stays from task to task, in its place.

As a task of its own, a segment on a GPU would have a new process: Ray ends the process of each task that has a share of
a GPU, because a process that has used one GPU cannot be given another one. An actor keeps its GPU.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import gstreamer
from cudaccl.fleet import cuda_context
from cudaccl.fleet.cluster import Slots
from cudaccl.fleet.placement import Place

_IDLE_S = 5.0
_PAUSE_S = 0.5


class Worker:
    """An actor. What a process needs once is done while files are still indexed."""

    def __init__(self, on_gpu: bool) -> None:
        with contextlib.suppress(Exception):  # the first task fails for the same reason, and reports it
            gstreamer().Gst.ElementFactory.make("cudaccl")
            if on_gpu:
                cuda_context.open_for_process()

    def is_ready(self) -> bool:
        return True

    def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)


@dataclasses.dataclass(eq=False)
class Process:
    """A worker, seen from the command."""

    actor: Any
    place: Place
    idle_since: float = 0.0


class Pool:
    """Has a worker for each place that tasks wait for. It keeps its places until it is ended."""

    def __init__(self, ray: Any, slots: Slots) -> None:
        self._ray = ray
        self._slots = slots
        self._actor_class = ray.remote(Worker)
        self._all: list[Process] = []
        self._idle: list[Process] = []
        self._not_before = 0.0
        self.starting: dict[Any, Process] = {}  #: by the call that returns when it is ready

    def start(self, count: int) -> None:
        """So that this many workers are idle soon, as far as places are free."""
        if time.monotonic() < self._not_before:
            return
        while len(self.starting) + len(self._idle) < count:
            place = self._slots.take(is_archive=True)
            if place is None:
                return
            options = self._slots.options(place, is_archive=True) | {"max_restarts": 0}
            process = Process(self._actor_class.options(**options).remote(place.num_gpus > 0), place)
            self._all.append(process)
            self.starting[process.actor.is_ready.remote()] = process

    def started(self, reference: Any) -> Exception | None:
        """For one of `starting` that has returned: why it has died, if it has."""
        process = self.starting.pop(reference)
        try:
            self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._not_before = time.monotonic() + _PAUSE_S
            self.end(process)
            return error
        self.give_back(process)
        return None

    def take(self) -> Process | None:
        """An idle one, the last that was used; None: there is none."""
        return self._idle.pop() if self._idle else None

    def give_back(self, process: Process) -> None:
        """It has done its task."""
        process.idle_since = time.monotonic()
        self._idle.append(process)

    def trim(self) -> None:
        """Ends idle workers after a while, or at once if a live source waits for a place."""
        now = time.monotonic()
        for process in list(self._idle):
            if self._slots.live_waits or now - process.idle_since > _IDLE_S:
                self._idle.remove(process)
                self.end(process)

    def end(self, process: Process) -> None:
        """Frees its place. It is not idle."""
        self._all.remove(process)
        self._ray.kill(process.actor)
        self._slots.free(process.place, is_archive=True)

    def end_all(self) -> None:
        """Also those that do something."""
        self._idle.clear()
        self.starting.clear()
        for process in list(self._all):
            self.end(process)
