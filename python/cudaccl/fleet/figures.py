# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of all live sources for Prometheus, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cudaccl.fleet.live import LiveRun
from cudaccl.publish import metrics
from cudaccl.publish.errors import need


class FleetFigures:
    """A collector of prometheus_client: what the actors answered last, and how they are."""

    def __init__(self, run: LiveRun) -> None:
        self._run = run
        self._core = need("prometheus_client.core", "metrics")

    def collect(self) -> Iterator[Any]:
        up = self._core.GaugeMetricFamily(
            "cudaccl_fleet_source_up", "1: an actor follows the source", labels=("source", "node"))
        restarts = self._core.CounterMetricFamily(
            "cudaccl_fleet_restarts", "How often an actor was started again", labels=("source",))
        families: dict[str, Any] = {}
        for one in self._run.sources:
            place, health = one.place, one.health
            node = place.node.names[0] if place is not None else ""
            up.add_metric((one.source.name, node), float(health is not None and one.actor is not None))
            restarts.add_metric((one.source.name,), one.restarts)
            for family in health.figures if health is not None else ():
                self._merge(families, family, one.source.name, node)
        yield from (up, restarts, *families.values())

    def _merge(self, families: dict[str, Any], family: Any, source: str, node: str) -> None:
        """A sample that does not name a source gets one, or its node if it is about a GPU."""
        merged = families.setdefault(family.name, self._core.Metric(family.name, family.documentation, family.type))
        for sample in family.samples:
            more = {"node": node} if "device" in sample.labels else {"source": source}
            labelled = sample._replace(labels=more | sample.labels)
            if not any(other.name == labelled.name and other.labels == labelled.labels for other in merged.samples):
                merged.samples.append(labelled)


def serve(run: LiveRun, port: int, host: str) -> Callable[[], None]:
    """As `cudaccl.publish.metrics.serve()`, with the figures of the run."""
    registry = need("prometheus_client", "metrics").CollectorRegistry()
    registry.register(FleetFigures(run))
    return metrics.serve(registry, port, host)
