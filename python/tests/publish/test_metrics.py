# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures for Prometheus, over HTTP."""

import dataclasses
import errno
import os
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.error
import urllib.request

import pytest

pytest.importorskip("prometheus_client", reason="prometheus-client is missing")

from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

from cudaccl.publish import Metrics, SinkError, metrics_server  # noqa: E402
from cudaccl.publish.spool import Account  # noqa: E402
from cudaccl.video import values  # noqa: E402
from made import PATIENCE, free_port, report, until  # noqa: E402


class BrokerSinkOfTest:
    name = "mqtt://host"
    connected = True

    class spool:
        size = staticmethod(lambda: 77)

    def accounts(self):
        return {"a": Account(sent=5, spooled=2, full=3, disk=0, refused=1, skipped=4)}


def scrape(port):
    """{(name, labels): value}"""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        text = answer.read().decode()
    return {(sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples}


@pytest.fixture
def served():
    metrics = Metrics([BrokerSinkOfTest()])
    port = free_port()
    stop = metrics.serve(port, "127.0.0.1")
    yield metrics, port
    stop()


def events_of(source, counts, zones=("door", "Gäßchen"), lines=("gate",)):
    """All series of a source, with 0 unless `counts` has them."""
    kinds = [(kind, "", "") for kind in ("born", "died", "merged", "split", "started", "stopped")]
    kinds += [(kind, zone, "") for kind in ("entered", "left", "dwelled", "crowded") for zone in zones]
    kinds += [(kind, "", line) for kind in ("crossed-left", "crossed-right") for line in lines]
    names = {
        f"{kind} {zone}{line}".strip():
            ("cudaccl_events_total", ("line", line), ("source", source), ("type", kind), ("zone", zone))
        for kind, zone, line in kinds}
    assert counts.keys() <= names.keys()
    return {key: counts.get(name, 0) for name, key in names.items()}


def test_figures(served):
    metrics, port = served
    metrics.source_started("a")
    metrics.source_started("b")
    metrics.observe(report(0), latency=0.03125)
    metrics.observe(report(1), latency=0.25)
    metrics.observe(report(0, "b", tracked=False))
    metrics.source_stopped("b")
    found = scrape(port)
    a, b = ("source", "a"), ("source", "b")
    assert {key: found[key] for key in found if key[0].startswith("cudaccl_") and "created" not in key[0]
            and "bucket" not in key[0] and "device" not in key[0]} == {
        ("cudaccl_frames_total", a): 2, ("cudaccl_frames_total", b): 1,
        ("cudaccl_components_total", a): 4, ("cudaccl_components_total", b): 2,
        ("cudaccl_overflow_frames_total", a): 0, ("cudaccl_overflow_frames_total", b): 0,
        **events_of("a", {"born": 2, "entered Gäßchen": 2, "crossed-left gate": 2}),
        ("cudaccl_tracks", a): 1,
        ("cudaccl_zone_tracks", a, ("zone", "door")): 1, ("cudaccl_zone_tracks", a, ("zone", "Gäßchen")): 1,
        ("cudaccl_latency_seconds_count", a): 2, ("cudaccl_latency_seconds_sum", a): 0.28125,
        ("cudaccl_source_up", a): 1, ("cudaccl_source_up", b): 0,
        ("cudaccl_source_starts_total", a): 1, ("cudaccl_source_starts_total", b): 1,
        **{("cudaccl_sink_frames_total", ("outcome", outcome), ("sink", "mqtt://host"), a): count
           for outcome, count in (("sent", 5), ("full", 3), ("disk", 0), ("refused", 1), ("skipped", 4))},
        ("cudaccl_sink_spooled_frames", ("sink", "mqtt://host"), a): 2,
        ("cudaccl_sink_spooled_bytes", ("sink", "mqtt://host")): 77,
        ("cudaccl_sink_up", ("sink", "mqtt://host")): 1,
    }
    assert found["cudaccl_latency_seconds_bucket", ("le", "0.05"), a] == 1
    assert found["process_resident_memory_bytes",] > 1e6


def test_stats_of_the_element_grow_over_restarts(served):
    metrics, port = served
    stats = {"frames": 10, "late": 2, "corrupt": 1, "dropped": 3, "label-us-mean": 500.0, "upload-us-mean": 0.0}
    metrics.source_started("a")
    metrics.observe_stats("a", stats)
    metrics.observe_stats("a", stats | {"frames": 20, "late": 3, "dropped": 4})
    metrics.source_started("a")  # counts of the element begin again
    metrics.observe_stats("a", stats)
    found = scrape(port)
    a = ("source", "a")
    assert found["cudaccl_late_frames_total", a] == 5
    assert found["cudaccl_corrupt_frames_total", a] == 2
    assert found["cudaccl_dropped_frames_total", a] == 7
    assert found["cudaccl_device_seconds_total", a, ("stage", "label")] == pytest.approx(0.015)


class SlowCounts(dict):
    """Lets other threads go on when it has been read."""

    def get(self, name, default=None):
        found = super().get(name, default)
        time.sleep(0.05)
        return found


def test_stats_are_counted_once_if_two_threads_bring_them(served):
    metrics, port = served
    metrics._before = SlowCounts()
    stats = {"frames": 10, "late": 2, "corrupt": 1, "dropped": 3, "label-us-mean": 500.0}
    threads = [threading.Thread(target=metrics.observe_stats, args=("a", stats)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = scrape(port)
    a = ("source", "a")
    assert (found["cudaccl_late_frames_total", a], found["cudaccl_dropped_frames_total", a]) == (2, 3)
    assert found["cudaccl_device_seconds_total", a, ("stage", "label")] == pytest.approx(0.005)


def test_a_source_that_is_away_has_no_frames_and_no_tracks(served):
    metrics, port = served
    up, tracks = ("cudaccl_source_up", ("source", "a")), ("cudaccl_tracks", ("source", "a"))
    metrics.source_started("a")
    assert scrape(port)[up] == 0  # it is opened; perhaps nobody answers
    metrics.observe(report())
    assert (scrape(port)[up], scrape(port)[tracks]) == (1, 1)
    metrics.source_stopped("a")
    metrics.source_started("a")
    assert (scrape(port)[up], scrape(port)[tracks]) == (0, 0)


def about(found, name):
    return {key: value for key, value in found.items() if key[0] == name}


def test_series_of_zones_and_lines_end_with_them(served):
    """Those that stay go on. So there are as many as regions have places, whatever names they have had."""
    metrics, port = served
    metrics.observe(report())
    metrics.observe(report(source="b"))
    metrics.observe(dataclasses.replace(report(1), zones=("door", "yard"), lines=("fence",)))
    found = scrape(port)
    counts = {"born": 2, "entered yard": 1, "crossed-left fence": 1}
    places = ("door", "yard"), ("fence",)
    others = events_of("b", {"born": 1, "entered Gäßchen": 1, "crossed-left gate": 1})
    assert about(found, "cudaccl_events_total") == events_of("a", counts, *places) | others
    zones = about(found, "cudaccl_zone_tracks")
    a, b = ("source", "a"), ("source", "b")
    assert zones == {("cudaccl_zone_tracks", source, ("zone", zone)): 1
                     for source, zone in ((a, "door"), (a, "yard"), (b, "door"), (b, "Gäßchen"))}
    metrics.source_stopped("a")
    assert sum(about(scrape(port), "cudaccl_zone_tracks").values()) == 2  # those of the other one
    metrics.observe(report(2, tracked=False))
    found = scrape(port)
    assert about(found, "cudaccl_events_total") == others
    assert about(found, "cudaccl_tracks") == {("cudaccl_tracks", b): 1}
    assert len(about(found, "cudaccl_zone_tracks")) == 2


def test_memory_of_gpus(served, monkeypatch):
    """With a library that answers as NVIDIA's does."""
    _, port = served
    library = types.SimpleNamespace(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetMemoryInfo=lambda handle: types.SimpleNamespace(used=1000 + handle))
    monkeypatch.setitem(sys.modules, "pynvml", library)
    found = scrape(port)
    assert [found["cudaccl_device_memory_bytes", ("device", index)] for index in "01"] == [1000, 1001]


def test_port_that_is_in_use(served):
    _, port = served
    with pytest.raises(SinkError, match="Address already in use"):
        Metrics().serve(port, "127.0.0.1")


def test_a_name_that_no_host_has():
    with pytest.raises(SinkError, match="no metrics: 'a..b' is no name of a host"):
        Metrics().serve(free_port(), "a..b")


def test_a_server_that_cannot_begin(monkeypatch):
    """It says why, and its port is free again."""
    async def no_server(*_arguments, **_options):
        raise OSError(errno.EMFILE, "Too many open files")

    port = free_port()
    with monkeypatch.context() as patch:
        patch.setattr(metrics_server.asyncio, "start_server", no_server)
        with pytest.raises(SinkError, match="Too many open files"):
            Metrics().serve(port, "127.0.0.1")
    Metrics().serve(port, "127.0.0.1")()


def test_only_this_machine_connects_unless_an_address_says_otherwise():
    assert values.endpoint("9464") == values.endpoint(":9464") == ("127.0.0.1", 9464)
    assert values.endpoint("0.0.0.0:9464") == ("0.0.0.0", 9464) and values.endpoint("[::]:9464") == ("::", 9464)
    port = free_port()
    stop = Metrics().serve(port)
    try:
        assert scrape(port)
        with pytest.raises(ConnectionRefusedError):  # this machine, but not the address of the server
            socket.create_connection(("127.0.0.2", port), 5)
    finally:
        stop()


def half_open(port, text=b"GET /metrics HTTP/1.1\r\nHost: "):
    """A connection whose request never ends."""
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
    connection.sendall(text)
    return connection


def is_open(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def test_half_open_requests_take_neither_threads_nor_the_place_of_others(served):
    _, port = served
    threads = threading.active_count()
    connections = [half_open(port) for _ in range(300)]
    assert threading.active_count() <= threads  # one of an earlier test may end meanwhile
    assert scrape(port)  # the oldest ones have given way
    until(lambda: sum(map(is_open, connections)) <= metrics_server._CONNECTIONS)
    for connection in connections:
        connection.close()


def count_descriptors():
    return len(os.listdir("/proc/self/fd"))


def answered(port):
    """A connection whose answer has begun. This process may stand still for as long as the server waits."""
    for _ in range(20):
        connection = half_open(port, b"GET / HTTP/1.1\r\n\r\n")
        if connection.recv(1) == b"H":
            return connection
        connection.close()
    raise AssertionError("no answer")


def test_requests_and_answers_have_a_time_limit(monkeypatch):
    monkeypatch.setattr(metrics_server, "_TIME_S", 0.05)
    size = 64 << 20  # more than the system buffers
    port = free_port()
    stop = metrics_server.start(lambda _, begin: (begin("200 OK", []), [bytes(size)])[1], "127.0.0.1", port)
    try:
        with half_open(port) as connection:
            assert connection.recv(1) == b""
        before = count_descriptors()
        with answered(port) as connection:
            until(lambda: count_descriptors() == before + 1)  # that of the connection here
            assert sum(len(part) for part in iter(lambda: connection.recv(1 << 20), b"")) < size
    finally:
        stop()


@pytest.mark.parametrize("text", [
    b"\r\n\r\n", b"GET /\r\n\r\n", b"GET //[ HTTP/1.1\r\n\r\n", b"\xff\xff \0 x\r\n\r\n",
    pytest.param(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", id="many fields"),
])
def test_bad_request(served, text):
    with half_open(served[1], text) as connection:
        assert connection.recv(100).startswith((b"HTTP/1.1 400 Bad Request\r\n", b"HTTP/1.1 405 "))
    assert scrape(served[1])


def test_endless_request(served):
    with half_open(served[1], b"GET / HTTP/1.1\r\nA: " + b"b" * (1 << 16)) as connection:
        with pytest.raises(ConnectionError):
            connection.recv(1)
            until(lambda: connection.sendall(b"b"))  # until the answer to the first one is here
    assert scrape(served[1])


def test_figures_that_fail_once(served):
    metrics, port = served

    class Broken:
        def collect(self):
            raise OSError("no")

    broken = Broken()
    metrics.registry._collector_to_names[broken] = []
    with pytest.raises(urllib.error.HTTPError, match="500"):
        scrape(port)
    del metrics.registry._collector_to_names[broken]
    assert scrape(port)


FEW_DESCRIPTORS = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from cudaccl.publish import BrokerSink, Metrics, MqttSettings, MqttTransport, ParquetSink
from made import PATIENCE, report

folder, metrics_port, broker_port = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
tables = ParquetSink(folder, minutes=1e-9)  # opens files for each frame
stop = Metrics([tables]).serve(metrics_port)
print("serves", flush=True)
sys.stdin.readline()
broker = BrokerSink("mqtt", MqttTransport(MqttSettings("127.0.0.1", broker_port)), folder / "spool.db")
for sink in (tables, broker):
    sink.begin("a", "r")
    for frame in range(20):
        sink.put(report(frame))
    sink.end("a")
broker.drain(PATIENCE)
for sink in (tables, broker):
    sink.close()
    print(sink.accounts()["a"])
stop()
"""


def test_clients_leave_descriptors_to_sinks(mosquitto, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is missing")
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", FEW_DESCRIPTORS, tmp_path, str(port), str(mosquitto.port)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "serves\n", process.stderr.read()
    connections = [half_open(port) for _ in range(200)]
    output, error = process.communicate("go on\n", timeout=2 * PATIENCE)
    for connection in connections:
        connection.close()
    assert output.splitlines() == [str(Account(sent=20))] * 2, error
