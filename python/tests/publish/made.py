# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports and brokers for the tests of publishing."""

import contextlib
import dataclasses
import datetime
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pytest

from cudaccl import (
    COMPONENT, EVENT, EVENT_TYPES, GREY, NO_COMPONENT, NO_PLACE, POLYGON, TRACK, VERTEX, ComponentFlag, TrackFlag)
from cudaccl.publish import Account, Report


def report(frame=0, source="a", run="r", n=2, tracked=True):
    """With records that differ from frame to frame."""
    components = numpy.zeros(n, COMPONENT)
    components["label"] = numpy.arange(1, n + 1)
    components["id"] = components["label"] + 100
    components["area"] = 7 + frame
    components["x"], components["y"], components["width"], components["height"] = 1, 2, 3, 4
    components["cx"], components["cy"] = 0.1, 1 / 3
    components["mxx"], components["mxy"], components["myy"] = 1.5, -0.25, 1e-7
    components["perimeter"], components["euler"], components["value"], components["age"] = 14, -1, 255, frame
    components["flags"] = ComponentFlag.TOUCHES_BORDER | ComponentFlag.CUT
    tracks = numpy.zeros(2, TRACK)
    tracks["id"] = 101, 102
    tracks["flags"] = TrackFlag.CONFIRMED, TrackFlag.PREDICTED | TrackFlag.NEWBORN
    tracks["component"] = 0, NO_COMPONENT
    tracks["first_time"], tracks["last_time"] = -5, 40
    tracks["vx"], tracks["vy"], tracks["width"] = 2.5, -3, 65535
    tracks["zones"] = 0b11, 0
    events = numpy.zeros(3, EVENT)
    events["type"] = [EVENT_TYPES.index(name) for name in ("born", "entered", "crossed-left")]
    events["where"] = NO_PLACE, 1, 0
    events["id"], events["time"], events["x"] = 101, 40, 0.5
    return Report(
        source, run, frame, 40 * frame, 320, 240, n, False, False, 0, components, tracks if tracked else None,
        events if tracked else None, ("door", "Gäßchen"), ("gate",))


def report_with_shapes(**options):
    """The same with grey statistics, polygons of the component with the label 2, and the time of day."""
    made = report(**options)
    grey = numpy.zeros(len(made.components), GREY)
    grey["label"], grey["sum"], grey["min"], grey["max"] = made.components["label"], 1 << 40, 1, 65535
    grey["mean"], grey["variance"], grey["cx"], grey["cy"] = 1 / 3, 0.1, 2.5, 3
    polygons = numpy.array([(2, 7, 2, 1, 3), (2, 7, 4, 4, 4)], POLYGON)
    vertices = numpy.array([(9, 9), (0, 0), (2, 0), (0, 2), (1, 1), (1, 2), (2, 2), (2, 0.1)], VERTEX)
    return dataclasses.replace(made, grey=grey, polygons=polygons, vertices=vertices, polygons_truncated=True,
                               utc=1_795_000_000_000_001_789, utc_clock="camera")


_PARTS = {
    "box": ("box_x", "box_y", "box_width", "box_height"), "centroid": ("centroid_x", "centroid_y"),
    "moments": ("moments_xx", "moments_xy", "moments_yy"), "velocity": ("velocity_x", "velocity_y"),
    "position": ("position_x", "position_y")}


def flat(row):
    """The columns that Parquet has of an object of JSON."""
    result = {}
    for key, value in row.items():
        if key == "grey":
            result |= {f"grey_{name}": part for name, part in flat(value).items()}
        elif key == "vertices":
            result |= {"vertices_x": [x for x, _ in value], "vertices_y": [y for _, y in value]}
        else:
            result |= dict(zip(_PARTS[key], value)) if key in _PARTS else {key: value}
    return result


def real(value):
    """As text with the digits of a 32-bit number, so that lists can be compared, too. Times have microseconds."""
    if isinstance(value, datetime.datetime):
        return f"{value.astimezone(datetime.timezone.utc):%Y-%m-%dT%H:%M:%S.%f}"
    if isinstance(value, str) and value.endswith("Z"):
        return value[:-4]
    if isinstance(value, list):
        return [real(one) for one in value]
    return str(numpy.float32(value)) if isinstance(value, float) else value


def assert_parquet_has(folder, reports):
    """Tables in Parquet have all that the JSON of these frames has, and nothing else."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    for name in ("frames", "components", "tracks", "events", "polygons"):
        table = parquet.read_table(folder / name / "part.parquet")
        if name == "frames":
            names = [key for key in table.column_names]
            wanted = [{key: one.get(key) for key in names} for one in reports]
        else:
            wanted = [flat(row) | {key: one.get(key, "") for key in ("source", "run", "frame", "pts")}
                      for one in reports for row in one.get(name, [])]
            wanted = [{key: row.get(key) for key in table.column_names} | row for row in wanted]
        wanted = [row | {"run": row["run"] or ""} for row in wanted]
        found = table.to_pylist()
        assert len(found) == len(wanted)
        for row, want in zip(found, wanted):
            assert {key: real(value) for key, value in row.items()} == {
                key: real(float(value) if isinstance(row[key], float) else value) for key, value in want.items()}


_RESERVED = []


def free_port():
    """One that no other process gets while this one lives: it is bound, but nobody listens. A server of a test can take
    it, because all of them set SO_REUSEADDR."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    _RESERVED.append(probe)
    return probe.getsockname()[1]


# Generous: the machine may do something else at the same time.
PATIENCE = 300  # seconds


def until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def count_spooled(path):
    """Messages in the spool of another process, which has it to itself, so this reads a copy; 0 if that is none yet."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "spool.db"
        try:
            for suffix in ("", "-wal"):  # the log comes last: it has what the file does not
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
            with contextlib.closing(sqlite3.connect(copy)) as database:
                return database.execute("SELECT count(*) FROM messages").fetchone()[0]
        except (OSError, sqlite3.DatabaseError):
            return 0


def write_clip(path, frames, muxer="avimux"):
    """A file of a ball."""
    line = f"videotestsrc pattern=ball num-buffers={frames} ! video/x-raw,width=160,height=120 ! jpegenc ! {muxer}"
    subprocess.run(["gst-launch-1.0", "-q", *line.split(), "!", "filesink", f"location={path}"], check=True)
    return path


def program(name, package):
    """Its path; daemons are not on every PATH."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is missing: install the package {package}")
    return found


def make_password(folder, user, password):
    """A password file for mosquitto."""
    path = Path(folder) / "passwords"
    path.touch(mode=0o600)
    subprocess.run([program("mosquitto_passwd", "mosquitto"), "-b", path, user, password], check=True)
    return path


def make_certificate(folder, name):
    """NAME.pem and NAME.key, for localhost."""
    subprocess.run(
        [program("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key",
         "-out", f"{name}.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"],
        check=True, capture_output=True, cwd=folder)


class Mosquitto:
    """The broker of the package mosquitto, on a port of its own."""

    def __init__(self, folder, *lines, port=None):
        self.port = port or free_port()
        self._config = Path(folder) / "mosquitto.conf"
        self._config.write_text("\n".join([
            "per_listener_settings false", "user root", "persistence true", f"persistence_location {folder}/",
            "max_queued_messages 0", f"listener {self.port} 127.0.0.1",
            *(lines or ["allow_anonymous true"])]) + "\n")
        self._command = [program("mosquitto", "mosquitto"), "-c", self._config]
        self._log = Path(folder) / "mosquitto.log"
        self._process = None
        self.start()

    def start(self):
        with open(self._log, "a") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        until(self._answers)

    def _answers(self):
        assert self._process.poll() is None, self._log.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self):
        """It keeps the messages of subscribers that are away."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None


class Subscriber:
    """Keeps its session, so that messages wait for it in the broker. What sources say of themselves is in `statuses`:
    topic and state."""

    def __init__(self, port, topic="#", **options):
        from paho.mqtt.client import CallbackAPIVersion, Client, MQTTv5
        from paho.mqtt.properties import PacketTypes, Properties

        self.messages = []
        self.statuses = []
        client_id = options.get("client", "the-subscriber")
        self._client = Client(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTv5)
        self._client.on_message = self._on_message
        subscribed = []
        self._client.on_connect = lambda client, *_: client.subscribe(topic, qos=1)
        self._client.on_subscribe = lambda *_: subscribed.append(True)
        self._client.reconnect_delay_set(1, 1)
        if "user" in options:
            self._client.username_pw_set(options["user"], options["password"])
        if "ca" in options:
            self._client.tls_set(options["ca"])
        lasting = Properties(PacketTypes.CONNECT)
        lasting.SessionExpiryInterval = 3600
        host = "localhost" if "ca" in options else "127.0.0.1"
        self._client.connect(host, port, clean_start=False, properties=lasting)
        self._client.loop_start()
        until(lambda: subscribed)

    def _on_message(self, _client, _data, message):
        if message.topic.endswith("/status"):
            self.statuses.append((message.topic, message.payload.decode()))
        else:
            self.messages.append(message)

    def stop(self):
        self._client.disconnect()
        self._client.loop_stop()


class MockKafka:
    """librdkafka's own mock cluster in another process: kafka_mock.py."""

    def __init__(self):
        pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("kafka_mock.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.servers = self._process.stdout.readline().strip()

    def say(self, command):
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def stop(self):
        self._process.stdin.close()
        self._process.wait(PATIENCE)

    def read(self, topic):
        return read_kafka(self.servers, topic)


def read_kafka(servers, topic):
    """(partition, key, headers, value) of all messages of a topic."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "reader", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    count = sum(consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE)[1]
                for partition in partitions)
    found = []
    while len(found) < count:
        message = consumer.poll(PATIENCE)
        assert message is not None and message.error() is None, message and message.error()
        found.append((message.partition(), message.key(), message.headers(), message.value()))
    consumer.close()
    return found


def feeder(*arguments):
    """The command of feeder.py."""
    return [sys.executable, Path(__file__).with_name("feeder.py"), *map(str, arguments)]


def kill_after(command, lines, pause=0.0, condition=lambda: True):
    """Runs a program that prints a line and waits for one before it goes on. Allows so many, and kills it `pause`
    seconds after the condition holds: behind as many lines, and not behind one more."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write("\n" * lines)
    process.stdin.flush()
    for _ in range(lines):
        assert process.stdout.readline(), "it ended too early to be killed"
    until(condition)
    time.sleep(pause)
    process.kill()
    process.communicate()


def expect_refusal_of_source(sink, name):
    """Gives a sink a source whose name the broker cannot have, and one that it can."""
    for source in (name, "a"):
        sink.begin(source, "r")
        sink.put(report(source=source))
    assert sink.drain(PATIENCE)
    sink.close()
    assert sink.accounts() == {name: Account(refused=1), "a": Account(sent=1)}
