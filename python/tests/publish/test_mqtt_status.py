# SPDX-License-Identifier: LGPL-2.1-or-later
"""`online` and `offline` of sources, with a real mosquitto."""

import os
import signal
import subprocess
import sys
import types
from unittest import mock

import pytest

pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")

from cudaccl.publish import Account, BrokerSink, MqttSettings, MqttTransport, mqtt_status  # noqa: E402
from made import PATIENCE, Mosquitto, Subscriber, free_port, make_password, report, until  # noqa: E402


def open_sink(path, port, **settings):
    return BrokerSink("mqtt", MqttTransport(MqttSettings("127.0.0.1", port, **settings)), path)


def kept(port, topic="#", count=None, **options):
    """What a new subscriber gets: {topic: state}."""
    subscriber = Subscriber(port, topic, client="late", **options)
    until(lambda: len(dict(subscriber.statuses)) >= count)  # one may be said twice
    subscriber.stop()
    return dict(subscriber.statuses)


def states(subscriber, topic):
    """Without those that are said twice."""
    found = [state for name, state in subscriber.statuses if name == topic]
    return [state for before, state in zip([None, *found], found) if state != before]


def test_the_broker_keeps_the_state_of_each_source(mosquitto, tmp_path):
    subscriber = Subscriber(mosquitto.port)
    sink = open_sink(tmp_path / "a.db", mosquitto.port, topic="site/{source}/x", what="events")
    sink.set_online("a", True)
    sink.set_online("bad/#", True)  # has no topic
    sink.set_online("b", False)
    until(lambda: len({topic for topic, _ in subscriber.statuses}) == 2)
    assert kept(mosquitto.port, count=2) == {"site/a/x/status": "online", "site/b/x/status": "offline"}
    sink.set_online("a", False)
    sink.set_online("a", True)
    until(lambda: states(subscriber, "site/a/x/status") == ["online", "offline", "online"])
    sink.close()
    until(lambda: states(subscriber, "site/a/x/status")[-1] == "offline")
    assert kept(mosquitto.port, count=2) == {"site/a/x/status": "offline", "site/b/x/status": "offline"}
    assert set(states(subscriber, "site/b/x/status")) == {"offline"}
    subscriber.stop()


def test_sources_of_one_topic_have_states_of_their_own(mosquitto, tmp_path):
    sink = open_sink(tmp_path / "a.db", mosquitto.port, topic="all")
    for source in "ab":
        sink.set_online(source, True)
    assert kept(mosquitto.port, count=2) == {"all/a/status": "online", "all/b/status": "online"}
    sink.close()


LIFE = """
import sys
from pathlib import Path
from test_mqtt_status import open_sink

sink = open_sink(Path(sys.argv[1]), int(sys.argv[2]))
for source in sys.argv[3:]:
    sink.set_online(source, True)
print("ready", flush=True)
sys.stdin.readline()
"""


def start(path, port, *sources):
    process = subprocess.Popen([sys.executable, "-c", LIFE, path, str(port), *sources], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(__file__))
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_publisher_that_is_killed_leaves_its_sources_offline(mosquitto, tmp_path):
    """And only its own."""
    subscriber = Subscriber(mosquitto.port)
    other = start(tmp_path / "other.db", mosquitto.port, "c")
    process = start(tmp_path / "a.db", mosquitto.port, "a", "b")
    wanted = {"cudaccl/a/status": "offline", "cudaccl/b/status": "offline", "cudaccl/c/status": "online"}
    until(lambda: dict(subscriber.statuses) == dict.fromkeys(wanted, "online"))
    process.kill()
    process.communicate()
    until(lambda: dict(subscriber.statuses) == wanted)
    assert kept(mosquitto.port, count=3) == wanted
    again = start(tmp_path / "a.db", mosquitto.port, "a", "b")
    until(lambda: dict(subscriber.statuses) == dict.fromkeys(wanted, "online"))
    for process in (again, other):
        process.kill()
        process.communicate()
    subscriber.stop()


def test_a_will_that_comes_late_does_not_last(mosquitto, tmp_path):
    """That of a process before, whose machine lost its power: the broker notices it after the next one is there."""
    before = start(tmp_path / "before.db", mosquitto.port, "a")
    subscriber = Subscriber(mosquitto.port)
    until(lambda: dict(subscriber.statuses) == {"cudaccl/a/status": "online"})
    before.send_signal(signal.SIGSTOP)
    subscriber.statuses.clear()
    sink = open_sink(tmp_path / "a.db", mosquitto.port)
    sink.set_online("a", True)
    until(lambda: dict(subscriber.statuses) == {"cudaccl/a/status": "online"})
    before.kill()
    before.communicate()
    until(lambda: states(subscriber, "cudaccl/a/status")[-2:] == ["offline", "online"])
    assert kept(mosquitto.port, count=1) == {"cudaccl/a/status": "online"}
    sink.close()
    subscriber.stop()


def test_a_broker_that_comes_again_has_the_state_of_now(tmp_path):
    port = free_port()
    sink = open_sink(tmp_path / "a.db", port)
    for source in "ab":
        sink.set_online(source, True)
    broker = Mosquitto(tmp_path, "allow_anonymous true", port=port)
    try:
        assert kept(port, count=2) == {"cudaccl/a/status": "online", "cudaccl/b/status": "online"}
        broker.stop()
        sink.set_online("b", False)
        broker.start()
        subscriber = Subscriber(port)
        until(lambda: dict(subscriber.statuses) == {"cudaccl/a/status": "online", "cudaccl/b/status": "offline"})
        subscriber.stop()
        sink.close()
    finally:
        broker.stop()


def test_a_user_and_a_client_id(tmp_path):
    passwords = make_password(tmp_path, "me", "secret")
    broker = Mosquitto(tmp_path, "allow_anonymous false", f"password_file {passwords}")
    try:
        sink = open_sink(tmp_path / "a.db", broker.port, user="me", password="secret", client_id="street")
        sink.set_online("a", True)
        assert kept(broker.port, count=1, user="me", password="secret") == {"cudaccl/a/status": "online"}
        sink.close()
        assert "as street-a " in (tmp_path / "mosquitto.log").read_text()
    finally:
        broker.stop()


def test_connections_that_do_not_last_are_tried_less_and_less_often(monkeypatch):
    """Mosquitto 2.0 ends that of a user who may not write the state; 2.1 only leaves the state out."""
    clock, client = [100.0], mock.Mock()
    monkeypatch.setattr(mqtt_status, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    status = mqtt_status.MqttStatus(client, "host", 1883, 60, "topic", True)
    pauses = []
    for seconds in (0, 0, 0, 60, 0, 0, 0, 61, 0):
        status._on_connect(client, None, None, types.SimpleNamespace(is_failure=False), None)
        clock[0] += seconds
        status._on_disconnect(client)
        pauses.append(client.reconnect_delay_set.call_args.args)
    assert pauses == [(pause, 60) for pause in (2, 4, 8, 16, 32, 60, 60, 1, 2)]


def test_a_user_who_may_not_write_the_state_sends_messages(tmp_path):
    passwords, access = make_password(tmp_path, "me", "secret"), tmp_path / "access"
    access.write_text("user me\ntopic write cudaccl/a\n")
    access.chmod(0o600)
    broker = Mosquitto(tmp_path, "allow_anonymous false", f"password_file {passwords}", f"acl_file {access}")
    try:
        sink = open_sink(tmp_path / "a.db", broker.port, user="me", password="secret")
        sink.begin("a", "r")
        sink.set_online("a", True)
        for frame in range(20):
            sink.put(report(frame))
        assert sink.drain(PATIENCE)
        assert sink.accounts()["a"] == Account(sent=20)
        if "version 2.0" in (tmp_path / "mosquitto.log").read_text():
            until(lambda: sink._transport._statuses["a"]._pause >= 4)
        sink.close()
    finally:
        broker.stop()


def test_a_broker_that_is_away_keeps_nobody_waiting(tmp_path):
    """At the end, too: this returns, although nobody answers."""
    sink = open_sink(tmp_path / "a.db", free_port())
    sink.set_online("a", True)
    sink.close()
