# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many streams a node takes: by the memory and the decoders of its GPUs, as NVIDIA's libraries say."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from cudaccl.fleet.config import Config, ConfigError, NodeSettings


@dataclasses.dataclass(frozen=True)
class Gpu:
    """A GPU of a node."""

    free_memory: int  #: bytes
    decoders: int  #: engines that decode video


@dataclasses.dataclass(frozen=True)
class Node:
    """A machine of the cluster."""

    id: str  #: Ray's
    names: tuple[str, ...]  #: host name and IP address
    cpus: int
    gpus: tuple[Gpu, ...]  #: as many as Ray may use


@dataclasses.dataclass(frozen=True)
class Place:
    """Where streams run at once. `num_cpus` and `num_gpus` are what a live stream takes of Ray's resources."""

    node: Node
    slots: int  #: so many live streams
    num_cpus: float
    num_gpus: float
    archive_slots: int = 1  #: that a segment of an archive takes: it is decoded as fast as a whole decoder can


def gpus_here(limit: int) -> tuple[Gpu, ...]:
    """The first `limit` GPUs of this machine. Tests put another function in its place."""
    if limit == 0:
        return ()
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # no package, or no driver
        return ()
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(min(limit, pynvml.nvmlDeviceGetCount()))]
        return tuple(
            Gpu(pynvml.nvmlDeviceGetMemoryInfo(handle).free,
                _FEWEST_DECODERS.get(tuple(pynvml.nvmlDeviceGetCudaComputeCapability(handle)), 1))
            for handle in handles)
    finally:
        pynvml.nvmlShutdown()


# By compute capability: those of the product that has the fewest, because NVML does not count them; others count as one.
# https://developer.nvidia.com/video-encode-and-decode-gpu-support-matrix-new has the number of each product.
_FEWEST_DECODERS = {(8, 0): 4, (9, 0): 7}


def place(config: Config, nodes: list[Node], names_are_checked: bool = False) -> list[Place]:
    """Nodes without room are left out. names_are_checked: a node of the file may have died since.

    Raises ConfigError if `backend: cuda` is wanted and no node has a GPU, if a node in the file is not in the cluster,
    or if nothing has room.
    """
    if not names_are_checked:
        _check_names(config, nodes)
    with_gpu = any(node.gpus for node in nodes)
    if "cuda" in config.backends and not with_gpu:
        raise ConfigError("backend: cuda needs a GPU, and no node of the cluster has one")
    on_gpu = with_gpu and config.backends != {"cpu"}
    if on_gpu:
        nodes = [node for node in nodes if node.gpus]
    places = [_place(config, node, on_gpu) for node in nodes]
    found = [one for one in places if one.slots > 0]
    if not found:
        raise ConfigError(
            f"no node has room for a stream: {config.stream_memory >> 20} MiB of a GPU are needed" if on_gpu
            else "no node of the cluster has a CPU to use")
    return found


def _check_names(config: Config, nodes: list[Node]) -> None:
    known = {name for node in nodes for name in node.names}
    for name in config.nodes:
        if name not in known:
            raise ConfigError(f"the cluster has no node {name}; its nodes are {', '.join(sorted(known))}")


def _settings(nodes: Mapping[str, NodeSettings], node: Node) -> NodeSettings:
    return next((nodes[name] for name in node.names if name in nodes), NodeSettings())


def _place(config: Config, node: Node, on_gpu: bool) -> Place:
    settings = _settings(config.nodes, node)
    if not on_gpu:
        slots = settings.slots if settings.slots is not None else node.cpus
        return Place(node, slots, min(1.0, node.cpus / slots) if slots else 0.0, 0.0)
    # One share for all GPUs of a node: Ray chooses among them.
    per_gpu = settings.slots_per_gpu or min(
        min(gpu.free_memory // config.stream_memory, (config.decoders or gpu.decoders) * config.streams_per_decoder)
        for gpu in node.gpus)
    slots = per_gpu * len(node.gpus)
    most = min(slots, settings.slots or slots)
    return Place(node, most, 0.0, 1 / per_gpu if per_gpu else 0.0, min(config.streams_per_decoder, per_gpu, most))
