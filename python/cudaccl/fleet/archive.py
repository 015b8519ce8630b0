# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brings archives through a cluster: index, segments, result, each as a task that can be done again."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from cudaccl.fleet import join, work
from cudaccl.fleet.cluster import Slots
from cudaccl.fleet.pieces import Span
from cudaccl.fleet.video_index import VideoIndex
from cudaccl.fleet.work import Job
from cudaccl.fleet.workers import Pool, Process
from cudaccl.publish.errors import SinkError
from cudaccl.video import errors
from cudaccl.video.follower import named

_LOOK_S = 1.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0


@dataclasses.dataclass(eq=False)
class _Task:
    """Something to do for an archive."""

    state: _State
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    deaths: int = 0  #: of its workers
    not_before: float = 0.0
    process: Process | None = None  #: that does it; None: a task of Ray


@dataclasses.dataclass(eq=False)
class _State:
    """How far an archive is."""

    job: Job
    index: VideoIndex | None = None
    reference: Any = None  #: of the index in the cluster
    obstacle: str = ""
    open: int = 0  #: tasks that are not done
    spans: int = 0
    damaged: set[Span] = dataclasses.field(default_factory=set)  #: that were made again
    manifest: dict[str, Any] | None = None
    warnings: set[str] = dataclasses.field(default_factory=set)  #: that were passed on
    error: str = ""
    status: int = errors.OK  #: of the command


class ArchiveRun:
    """Call `step()` until it returns False.

    say: is called with a text for the operator. completed: with each archive whose result is there.
    """

    def __init__(
        self, ray: Any, slots: Slots, jobs: list[Job], say: Callable[[str], None],
        completed: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self._ray = ray
        self._slots = slots
        self._pool = Pool(ray, slots)
        self._say = say
        self._completed = completed
        self.states = [_State(job) for job in jobs]
        self.deaths = 0  #: of workers
        self._todo: deque[_Task] = deque()
        self._running: dict[Any, _Task] = {}
        for state in self.states:
            self._begin(state)

    def _begin(self, state: _State) -> None:
        name = state.job.archive.name
        try:
            state.manifest = work.complete(state.job, self._say)
        except OSError as error:
            self._fail(state, error)
            return
        if state.manifest is not None:
            self._say(f"{name}: is complete, {state.manifest['frames']} frames")
            self._complete(state)
        else:
            self._add(state, work.survey, state.job)

    def _add(self, state: _State, function: Callable[..., Any], *arguments: Any, first: bool = False) -> None:
        state.open += 1
        task = _Task(state, function, arguments)
        if first:
            self._todo.appendleft(task)
        else:
            self._todo.append(task)

    def step(self) -> bool:
        """Waits for a task. False: there is nothing left to do. Raises ConfigError if the cluster has no room now."""
        self._pool.trim()
        self._start_tasks()
        waiting = [*self._running, *self._pool.starting]
        if not waiting and self._todo:
            time.sleep(_LOOK_S / 4)
        if waiting:
            done, _ = self._ray.wait(waiting, timeout=_LOOK_S)
            for reference in done:
                if reference in self._running:
                    self._finish(self._running.pop(reference), reference)
                else:
                    self._started(reference)
        is_all = not self._running and not self._todo
        if is_all:
            self._pool.end_all()
        return not is_all

    def cancel(self) -> None:
        """What runs is stopped; files stay, so that the next run goes on."""
        for reference, task in self._running.items():
            if task.process is None:
                self._ray.cancel(reference, force=True)
        self._pool.end_all()

    def _start_tasks(self) -> None:
        now = time.monotonic()
        on_gpu = self._slots.on_gpu
        waiting = 0
        for task in [task for task in self._todo if task.not_before <= now]:
            if on_gpu and task.function is not work.label:  # needs no decoder: Ray finds a CPU
                task.process = None
                reference = self._ray.remote(num_cpus=1, max_retries=0)(task.function).remote(*task.arguments)
            else:
                task.process = self._pool.take()
                if task.process is None:
                    waiting += 1
                    continue
                call = task.process.actor.do.options(name=task.function.__name__)
                reference = call.remote(task.function, *task.arguments)
            self._todo.remove(task)
            self._running[reference] = task
        # Each file that is indexed on a CPU will need a GPU.
        soon = sum(task.function is work.survey for task in self._running.values()) if on_gpu else 0
        self._pool.start(waiting + soon)

    def _started(self, reference: Any) -> None:
        """A worker that dies at its start counts for a task, so that there is an end."""
        error = self._pool.started(reference)
        if error is None:
            return
        task = next((task for task in self._todo if task.function is work.label or not self._slots.on_gpu), None)
        if task is None:
            self._slots.look_again()
        else:
            self._todo.remove(task)
            self._retry(task, error)

    def _finish(self, task: _Task, reference: Any) -> None:
        state = task.state
        exceptions = self._ray.exceptions
        try:
            result = self._ray.get(reference)
        except exceptions.RayTaskError as error:
            # What failed may be the GPU, and then every later call of this process fails.
            self._release(task, is_usable=task.process is not None and task.process.place.num_gpus == 0)
            state.open -= 1
            self._fail(state, error.cause or error)
            return
        except exceptions.RayError as error:
            self._release(task, is_usable=False)
            self._retry(task, error)
            return
        self._release(task, is_usable=True)
        state.open -= 1
        if not state.error:
            self._go_on(state, task.function, result)

    def _release(self, task: _Task, is_usable: bool) -> None:
        if task.process is not None and is_usable:
            self._pool.give_back(task.process)
        elif task.process is not None:
            self._pool.end(task.process)
        task.process = None

    def _retry(self, task: _Task, error: Exception) -> None:
        """The worker or its node has died."""
        self.deaths += 1
        task.deaths += 1
        name = task.state.job.archive.name
        reason = type(error).__name__
        if task.deaths >= task.state.job.settings.tries:
            task.state.open -= 1
            self._fail(task.state, f"its worker died {task.deaths} times ({reason}: {' '.join(str(error).split())})")
            return
        pause = min(_FIRST_PAUSE_S * 2 ** (task.deaths - 1), _LONGEST_PAUSE_S)
        self._say(f"{name}: a worker died ({reason}); it is tried again in {pause:g} seconds")
        task.not_before = time.monotonic() + pause
        self._todo.append(task)
        self._slots.look_again()

    def _fail(self, state: _State, error: object) -> None:
        if not state.error:
            state.error = str(error) or type(error).__name__
            state.status = errors.status_of(error)
            self._say(f"error: {named(state.job.archive.name, state.error)}")
        for task in [task for task in self._todo if task.state is state]:
            self._todo.remove(task)

    def _go_on(self, state: _State, function: Callable[..., Any], result: Any) -> None:
        job = state.job
        if function is work.survey:
            state.index = result
            state.reference = self._ray.put(result)
            state.obstacle = join.obstacle(job.archive, job.settings, result)
            spans = [work.WHOLE] if state.obstacle else join.first_spans(job.archive, job.settings, result)
            self._label(state, spans)
        elif function is work.label:
            for text in result.warnings:
                if text not in state.warnings:
                    state.warnings.add(text)
                    self._say(named(job.archive.name, text))
            if result.uneven and not state.obstacle:
                state.obstacle = result.uneven
                for task in [task for task in self._todo if task.state is state]:
                    self._todo.remove(task)
                    state.open -= 1
                self._label(state, [work.WHOLE])
            elif state.open == 0:
                self._add(state, work.put_together, job, state.reference, state.obstacle, first=True)
        elif isinstance(result, work.Missing):
            self._make_again(state, result)
        else:
            state.manifest = result
            given_up = sum(not cut["equal"] for cut in result["cuts"])
            text = f"{len(result['segments'])} segments" + (f", {given_up} cuts given up" if given_up else "")
            why = f" (not cut: {result['uncut']})" if result["uncut"] else ""
            self._say(f"{job.archive.name}: {result['frames']} frames in {text}{why}")
            self._complete(state)

    def _complete(self, state: _State) -> None:
        """Its result is there, also if the file is only a part of what it should be."""
        early_end = state.manifest.get("early_end") if state.manifest else None
        if early_end:
            state.status = errors.SOURCE_FAILED
            self._say(f"error: {state.job.archive.name}: {early_end}")
        self._completed(state.job)

    def _make_again(self, state: _State, missing: work.Missing) -> None:
        """What is missing, or damaged, but not for ever: the disk may be bad."""
        for span, reason in missing.damaged.items():
            if span in state.damaged:
                self._fail(state, SinkError(f"the piece {span.text} is damaged again: {reason}"))
                return
            state.damaged.add(span)
            self._say(f"{state.job.archive.name}: the piece {span.text} is damaged ({reason}); it is made again")
        self._label(state, missing.spans, first=True)

    def _label(self, state: _State, spans: list[Span], first: bool = False) -> None:
        state.spans += len(spans)
        for span in spans:
            self._add(state, work.label, state.job, state.reference, span, first=first)
