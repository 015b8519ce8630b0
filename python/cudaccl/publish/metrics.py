# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures for Prometheus, by prometheus-client."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cudaccl import _host_name
from cudaccl._types import EVENT_TYPES, EVENTS_AT_LINES, TrackFlag
from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.report import Report, events_as_dicts, zone_names
from cudaccl.publish.sink import Sink

# Seconds from the capture of a frame to its records.
_LATENCY_BUCKETS = (.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10)
_AT_ZONE = ("entered", "left", "dwelled", "crowded")
_STAGES = ("upload", "segment", "label", "number", "measure", "track", "paint", "download")


def serve(registry: Any, port: int, host: str) -> Callable[[], None]:
    """Answers at http://HOST:PORT/metrics with what a registry collects; returns a function that ends it. Raises
    SinkError and MissingPackage.
    """
    app = need("prometheus_client", "metrics").make_wsgi_app(registry)
    from cudaccl.publish import metrics_server  # and asyncio, which few commands need

    try:
        return metrics_server.start(app, _host_name.checked(host), port)
    except ValueError as error:
        raise SinkError(f"no metrics: {error}") from None
    except OSError as error:
        raise SinkError(f"no metrics at {host}:{port}: {error.strerror}") from error


class Metrics:
    """Figures of sources and sinks, in a registry of their own.

    MissingPackage: prometheus-client is not installed.
    """

    def __init__(self, sinks: Iterable[Sink] = ()) -> None:
        self._client = need("prometheus_client", "metrics")
        self.registry = self._client.CollectorRegistry()
        self._client.ProcessCollector(registry=self.registry)
        self._client.PlatformCollector(registry=self.registry)
        self._lock = threading.Lock()
        self._before: dict[str, dict[str, float]] = {}  # by source
        self._places: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # by tracked source: zones and lines
        counter, gauge = self._client.Counter, self._client.Gauge

        def of_source(kind: Any, name: str, text: str, *labels: str, **options: Any) -> Any:
            return kind(f"cudaccl_{name}", text, ("source", *labels), registry=self.registry, **options)

        self._frames = of_source(counter, "frames", "Frames that were labelled")
        self._components = of_source(counter, "components", "Components that the filters keep")
        self._overflow = of_source(counter, "overflow_frames", "Frames with more components than records")
        self._events = of_source(counter, "events", "Events", "type", "zone", "line")
        self._tracks = of_source(gauge, "tracks", "Confirmed tracks in the latest frame")
        self._zone_tracks = of_source(gauge, "zone_tracks", "Confirmed tracks in a zone in the latest frame", "zone")
        self._latency = of_source(
            self._client.Histogram, "latency_seconds", "From the capture of a frame of a live source to its records",
            buckets=_LATENCY_BUCKETS)
        self._up = of_source(gauge, "source_up", "1: frames flow; 0: the source is away")
        self._starts = of_source(counter, "source_starts", "How often the source was opened")
        self._late = of_source(counter, "late_frames", "Frames dropped because they came too late")
        self._corrupt = of_source(counter, "corrupt_frames", "Frames dropped because they could not be read")
        self._dropped = of_source(counter, "dropped_frames", "Frames dropped, late or corrupt")
        self._device = of_source(counter, "device_seconds", "Time of the labelling device", "stage")
        self.registry.register(_Sinks(list(sinks)))
        self.registry.register(_DeviceMemory())

    def serve(self, port: int, host: str = "127.0.0.1") -> Callable[[], None]:
        """Answers at http://HOST:PORT/metrics; returns a function that ends it. Raises SinkError."""
        return serve(self.registry, port, host)

    def source_started(self, source: str) -> None:
        """It is opened; frames may come, or not."""
        self._starts.labels(source).inc()
        self._up.labels(source).set(0)
        with self._lock:
            self._before.pop(source, None)

    def source_stopped(self, source: str) -> None:
        self._up.labels(source).set(0)
        if source in self._places:
            self._set_tracks(source, 0, Counter())

    def observe(self, report: Report, latency: float | None = None) -> None:
        """latency: seconds from the capture of the frame to now; None: not known."""
        source = report.source
        self._up.labels(source).set(1)
        self._frames.labels(source).inc()
        self._components.labels(source).inc(report.n_components)
        self._overflow.labels(source).inc(report.overflow)
        self._note_places(report)
        if report.tracks is not None:
            confirmed = report.tracks[(report.tracks["flags"] & int(TrackFlag.CONFIRMED)) != 0]
            inside = Counter(name for bits in confirmed["zones"].tolist() for name in zone_names(report.zones, bits))
            self._set_tracks(source, len(confirmed), inside)
        if report.events is not None:
            for event in events_as_dicts(report.events, report.zones, report.lines, None):
                self._events.labels(source, event["type"], event["zone"] or "", event["line"] or "").inc()
        if latency is not None:
            self._latency.labels(source).observe(latency)

    def _set_tracks(self, source: str, count: int, inside: Counter[str]) -> None:
        self._tracks.labels(source).set(count)
        for zone in self._places[source][0]:
            self._zone_tracks.labels(source, zone).set(inside[zone])

    def _note_places(self, report: Report) -> None:
        """Series begin with 0, so that the first event is an increase, and end with their zone or line, if regions are
        changed, or with tracks."""
        source = report.source
        places = (report.zones, report.lines) if report.tracks is not None else None
        before = self._places.get(source)
        if places == before:
            return
        old, new = _events_of(before), _events_of(places)
        for labels in old - new:
            self._events.remove(source, *labels)
        for labels in new - old:
            self._events.labels(source, *labels)
        for zone in set(before[0] if before else ()) - set(report.zones if places else ()):
            self._zone_tracks.remove(source, zone)
        if places is not None:
            self._places[source] = places
        else:
            self._tracks.remove(source)
            del self._places[source]

    def observe_stats(self, source: str, stats: Mapping[str, Any]) -> None:
        """The element's property `stats` since it started. Call it now and then, and at the end; from any thread."""
        now = {name: float(stats.get(name, 0)) for name in ("late", "corrupt", "dropped")}
        for stage in _STAGES:
            now[stage] = stats.get(f"{stage}-us-mean", 0.0) * stats.get("frames", 0) / 1e6
        with self._lock:
            before = self._before.get(source, {})
            grown = {name: max(0.0, value - before.get(name, 0.0)) for name, value in now.items()}
            self._before[source] = {name: max(value, before.get(name, 0.0)) for name, value in now.items()}
        self._late.labels(source).inc(grown["late"])
        self._corrupt.labels(source).inc(grown["corrupt"])
        self._dropped.labels(source).inc(grown["dropped"])
        for stage in _STAGES:
            self._device.labels(source, stage).inc(grown[stage])


def _events_of(places: tuple[tuple[str, ...], tuple[str, ...]] | None) -> set[tuple[str, str, str]]:
    """What may happen at zones and lines, and elsewhere: type, zone, line."""
    if places is None:
        return set()
    zones, lines = places
    others = [name for name in EVENT_TYPES[1:] if name not in (*_AT_ZONE, *EVENTS_AT_LINES)]
    return {*itertools.product(others, [""], [""]), *itertools.product(_AT_ZONE, zones, [""]),
            *itertools.product(EVENTS_AT_LINES, [""], lines)}


class _Sinks:
    """Asks the sinks when somebody asks for figures."""

    def __init__(self, sinks: list[Sink]) -> None:
        self._sinks = sinks
        self._core = need("prometheus_client.core", "metrics")

    def collect(self) -> Iterator[Any]:
        frames = self._core.CounterMetricFamily(
            "cudaccl_sink_frames", "Frames sent, lost by reason, and not asked for, since the spool was made",
            labels=("sink", "source", "outcome"))
        spooled = self._core.GaugeMetricFamily(
            "cudaccl_sink_spooled_frames", "Frames that wait for the broker", labels=("sink", "source"))
        size = self._core.GaugeMetricFamily(
            "cudaccl_sink_spooled_bytes", "Messages that wait for the broker", labels=("sink",))
        up = self._core.GaugeMetricFamily("cudaccl_sink_up", "1: the broker is connected", labels=("sink",))
        for sink in self._sinks:
            for source, account in sink.accounts().items():
                for outcome in ("sent", "full", "disk", "refused", "skipped"):
                    frames.add_metric((sink.name, source, outcome), getattr(account, outcome))
                spooled.add_metric((sink.name, source), account.spooled)
            spool = getattr(sink, "spool", None)
            if spool is not None:
                size.add_metric((sink.name,), spool.size())
                up.add_metric((sink.name,), float(sink.connected))
        yield from (frames, spooled, size, up)


class _DeviceMemory:
    """Memory in use of each GPU, where NVIDIA's library answers."""

    def collect(self) -> Iterator[Any]:
        core = need("prometheus_client.core", "metrics")
        used = core.GaugeMetricFamily("cudaccl_device_memory_bytes", "Memory in use of a GPU", labels=("device",))
        try:
            import pynvml

            pynvml.nvmlInit()
        except Exception:  # no package, no driver or no GPU: there is nothing to report
            return
        try:
            for index in range(pynvml.nvmlDeviceGetCount()):
                memory = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index))
                used.add_metric((str(index),), memory.used)
            yield used
        finally:
            pynvml.nvmlShutdown()
