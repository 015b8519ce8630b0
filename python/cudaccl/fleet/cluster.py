# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Ray cluster, or one of this process alone."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from cudaccl import _host_name
from cudaccl._gst_pipeline import gstreamer
from cudaccl.fleet import placement, ray_token
from cudaccl.fleet.config import Config, ConfigError
from cudaccl.fleet.placement import Node, Place
from cudaccl.publish.errors import need

_PROBE_S = 60
_CONNECT_S = 10
_LOOK_AGAIN_S = 2.0


@contextlib.contextmanager
def connected(address: str | None, say: Callable[[str], None]) -> Iterator[Any]:
    """Yields the module ray. address: None: an own cluster on this machine, which nobody else can use, and which ends
    with the context. say: is called with what Ray prints.

    Raises ConfigError if there is no cluster at the address, or one without a token, MissingPackage if Ray is not
    installed.
    """
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # without a share of a GPU, none is hidden
    if address is None:
        ray_token.close_this_machine()
    else:
        ray_token.demand(address)
    ray = need("ray", "fleet")
    if address is not None:
        _check_reachable(address)
        ray_token.demand_of_cluster(address)
    options = {} if address is not None else {"include_dashboard": False}
    with contextlib.redirect_stdout(_Lines(say)):
        try:
            ray.init(address=address or "local", logging_level=logging.ERROR, log_to_driver=False, **options)
        except Exception as error:  # Ray raises this class itself if its processes do not start in time
            where = f"the Ray cluster {address} cannot be reached" if address else "Ray does not start on this machine"
            raise ConfigError(f"{where}: {' '.join(str(error).split())}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


class _Lines(io.TextIOBase):
    """Takes the place of standard output, to which Ray prints in colours. Each line begins with its name."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._begun = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in filter(str.strip, map(without_colors, lines)):
            self._say(f"ray: {line}")
        return len(text)


def without_colors(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes. Raises ConfigError."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if not host or not port.isdigit():
        return  # such as auto, for which Ray has rules of its own
    try:
        name = _host_name.checked(host.strip("[]"))
        socket.create_connection((name, int(port)), _CONNECT_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise ConfigError(f"the Ray cluster {address} cannot be reached: {error}") from None


def on_node(ray: Any, node_id: str) -> Any:
    """The scheduling strategy that holds a task to a node."""
    return ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id, soft=False)


def _probe(look: Callable[[int], tuple[placement.Gpu, ...]], limit: int) -> tuple[placement.Gpu, ...]:
    """Finds the GPUs of the node on which it runs. GStreamer's registry of plugins is written here, once, if the node has none: many
    workers that start at the same time would each look into all plugins."""
    with contextlib.suppress(Exception):  # a task that needs GStreamer says what is missing
        gstreamer()
    return look(limit)


def living_nodes(ray: Any, look: Callable[[int], tuple[placement.Gpu, ...]] | None = None) -> list[Node]:
    """look: finds the GPUs of the machine on which it runs; a node that does not answer is left out."""
    import ray.util.scheduling_strategies  # noqa: F401  (on_node() uses it)

    look = look or placement.gpus_here
    waiting = {}
    for entry in ray.nodes():
        if entry["Alive"]:
            limit = int(entry["Resources"].get("GPU", 0))
            probe = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=on_node(ray, entry["NodeID"]))(_probe)
            waiting[probe.remote(look, limit)] = entry
    done, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=_PROBE_S)
    nodes = []
    for reference in done:
        entry = waiting[reference]
        try:
            gpus = ray.get(reference)
        except ray.exceptions.RayError:
            continue
        names = (entry["NodeManagerHostname"], entry["NodeManagerAddress"])
        nodes.append(Node(entry["NodeID"], names, int(entry["Resources"].get("CPU", 0)), gpus))
    return sorted(nodes, key=lambda node: (node.names, node.id))


class Slots:
    """Which places are free. The cluster is looked at again when a node may have died, or may be there again.

    Raises ConfigError of `place()`.
    """

    def __init__(self, ray: Any, config: Config, say: Callable[[str], None]) -> None:
        self._ray = ray
        self._config = config
        self._say = say
        self._used: dict[str, int] = {}
        self._looked = time.monotonic()
        self.live_waits = False  #: a live source has found no place
        self.places = placement.place(config, living_nodes(ray))

    def look_again(self) -> None:
        """A cluster without a place is no error now: nodes may be there again later."""
        if time.monotonic() - self._looked < _LOOK_AGAIN_S:
            return
        try:
            self.places = placement.place(self._config, living_nodes(self._ray), names_are_checked=True)
        except ConfigError as error:
            if self.places:
                self._say(f"{error}; this waits for nodes")
            self.places = []
        self._looked = time.monotonic()

    @property
    def on_gpu(self) -> bool:
        return any(place.num_gpus > 0 for place in self.places)

    def take(self, is_archive: bool) -> Place | None:
        """The place with the most free slots; None: nothing is free."""
        def free(place: Place) -> int:
            return place.slots - self._used.get(place.node.id, 0)

        if not self.places:
            self.look_again()
        best = max(self.places, key=free, default=None)
        if best is not None and free(best) < _slots(best, is_archive):
            best = None
        if not is_archive:
            self.live_waits = best is None
        if best is None:
            return None
        self._used[best.node.id] = self._used.get(best.node.id, 0) + _slots(best, is_archive)
        return best

    def free(self, place: Place, is_archive: bool) -> None:
        self._used[place.node.id] -= _slots(place, is_archive)

    def options(self, place: Place, is_archive: bool) -> dict[str, Any]:
        """For a task or an actor."""
        return {"num_cpus": place.num_cpus, "num_gpus": _share(place.num_gpus * _slots(place, is_archive)),
                "scheduling_strategy": on_node(self._ray, place.node.id)}


def _slots(place: Place, is_archive: bool) -> int:
    return place.archive_slots if is_archive else 1


def _share(gpus: float) -> float:
    """Rounded down to what Ray can count, so that all shares of a GPU together are at most one."""
    return math.floor(gpus * 10_000) / 10_000
