# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages to a real mosquitto: delivery, restarts, refusals."""

import random
import re
import socket
import subprocess

import pytest

pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")

from cudaccl.publish import Account, BrokerSink, MqttSettings, MqttTransport, Refused, Spool  # noqa: E402
from made import (  # noqa: E402
    PATIENCE, Mosquitto, Subscriber, expect_refusal_of_source, feeder, kill_after, make_certificate,
    make_password, report, until)


def open_sink(folder, port, say=lambda text: None, limit=1 << 30, **settings):
    transport = MqttTransport(MqttSettings(settings.pop("host", "127.0.0.1"), port, **settings))
    return BrokerSink("mqtt", transport, folder / "spool.db", limit, say=say)


def key(message):
    return dict(message.properties.UserProperty)["key"]


def test_messages_arrive_in_order(mosquitto, tmp_path):
    subscriber = Subscriber(mosquitto.port)
    sink = open_sink(tmp_path, mosquitto.port, topic="site/{source}/records")
    for source in ("a", "b"):
        sink.begin(source, "r")
    for frame in range(300):
        for source in ("a", "b"):
            assert sink.put(report(frame, source))
    assert sink.drain(PATIENCE)
    sink.close()
    until(lambda: len(subscriber.messages) >= 600)
    subscriber.stop()
    assert [key(message) for message in subscriber.messages] == [f"{s}/r/{i}" for i in range(300) for s in ("a", "b")]
    last = subscriber.messages[-1]
    assert (last.topic, last.qos, last.payload) == ("site/b/records", 1, report(299, "b").json)
    assert last.properties.ContentType == "application/json"


@pytest.mark.parametrize("name", ["bad/+", "#", "null\0", "line\nbreak", "\ufffe", "long" * 20000])
def test_a_source_that_is_no_topic_does_not_stop_others(mosquitto, tmp_path, name):
    expect_refusal_of_source(open_sink(tmp_path, mosquitto.port), name)


def test_broker_that_is_away(tmp_path):
    broker = Mosquitto(tmp_path)
    try:
        subscriber = Subscriber(broker.port)  # before all messages: the broker keeps them for it from then on
        broker.stop()
        said = []
        sink = open_sink(tmp_path, broker.port, said.append, limit=20 * len(report().json) + 200)
        sink.begin("a", "r")
        kept = [sink.put(report(frame)) for frame in range(30)]
        assert kept == [True] * 20 + [False] * 10
        until(lambda: said)
        assert "cannot be reached: Connection refused" in said[0] and len(said) == 1
        broker.start()
        until(lambda: sink.spool.count() == 0)
        until(lambda: said[1:] == ["mqtt: connected again"])
        assert sink.accounts()["a"] == Account(sent=20, full=10)
        broker.stop()
        sink.put(report(30))
        broker.start()
        until(lambda: sink.spool.count() == 0)
        until(lambda: subscriber.messages and key(subscriber.messages[-1]) == "a/r/30")
        subscriber.stop()
        # A message that the subscriber has, and the broker does not know that yet when it stops, comes again.
        assert list(dict.fromkeys(map(key, subscriber.messages))) == [f"a/r/{i}" for i in [*range(20), 30]]
        sink.close()
    finally:
        broker.stop()


def test_nothing_is_lost_if_both_are_killed_at_random_times(mosquitto, tmp_path):
    """The publisher by SIGKILL. The broker is restarted in a way that keeps what it has acknowledged."""
    count = 2000
    chance = random.Random(7)
    subscriber = Subscriber(mosquitto.port)
    command = feeder(tmp_path, count, "mqtt", mosquitto.port)
    for _ in range(6):  # at most 300 frames each: a publisher that has ended its source must not be killed
        kill_after(command, chance.randint(1, 5), pause=0.015 * chance.random())
        if chance.random() < 0.5:
            mosquitto.stop()
            mosquitto.start()
    subprocess.run(command, timeout=2 * PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    until(lambda: subscriber.messages and key(subscriber.messages[-1]) == f"a/r/{count - 1}")
    subscriber.stop()
    keys = list(map(key, subscriber.messages))
    assert list(dict.fromkeys(keys)) == [f"a/r/{i}" for i in range(count)]  # the first time that each comes
    spool = Spool(tmp_path / "spool.db")
    assert spool.accounts() == {"a": Account(sent=count)}
    spool.close()
    print(f"{len(keys) - count} messages twice")


@pytest.fixture
def guarded(tmp_path):
    """A broker that wants a password, and lets the user write below `open/` only."""
    passwords, access = make_password(tmp_path, "me", "secret"), tmp_path / "access"
    access.write_text("user me\ntopic readwrite open/#\n")
    access.chmod(0o600)
    broker = Mosquitto(
        tmp_path, "allow_anonymous false", f"password_file {passwords}", f"acl_file {access}", "max_packet_size 2000")
    yield broker
    broker.stop()


@pytest.mark.parametrize("user,password,text", [
    ("me", "wrong", "does not accept the user name|not authorized"), (None, None, "password missing")])
def test_wrong_password_is_an_error_at_once(guarded, tmp_path, user, password, text):
    with pytest.raises(Refused, match=text):
        open_sink(tmp_path, guarded.port, user=user, password=password)
    # The spool is free again.
    open_sink(tmp_path, guarded.port, user="me", password="secret").close()


def test_topic_that_is_not_allowed_is_reported_and_nothing_is_lost(guarded, tmp_path):
    said = []
    sink = open_sink(tmp_path, guarded.port, said.append, user="me", password="secret", topic="closed/{source}")
    sink.begin("a", "r")
    sink.put(report())
    until(lambda: said)
    assert "refuses messages: Not authorized" in said[0]
    sink.close()
    sink = open_sink(tmp_path, guarded.port, user="me", password="secret", topic="open/{source}")
    until(lambda: sink.spool.count() == 0)
    assert sink.accounts()["a"] == Account(sent=1)
    sink.close()


def test_message_that_is_too_large_is_counted(guarded, tmp_path):
    """A line that begins with the name of the source."""
    said = []
    sink = open_sink(tmp_path, guarded.port, said.append, user="me", password="secret", topic="open/{source}")
    sink.begin("a", "r")
    sink.put(report(0))
    sink.put(report(1, n=100))
    sink.put(report(2))
    until(lambda: sink.spool.count() == 0)
    sink.close()
    assert sink._forwarder._transport.window == 20  # the broker's limit
    assert len(said) == 1 and re.fullmatch(
        r"a: mqtt does not take frame 1: \d+ bytes are more than its limit of 2000; it is lost", said[0]), said
    spool = Spool(tmp_path / "spool.db")
    assert spool.accounts()["a"] == Account(sent=2, refused=1)
    spool.close()


def test_tls(tmp_path):
    for name in ("server", "other"):
        make_certificate(tmp_path, name)
    broker = Mosquitto(
        tmp_path, "allow_anonymous true", f"certfile {tmp_path}/server.pem", f"keyfile {tmp_path}/server.key")
    try:
        subscriber = Subscriber(broker.port, ca=tmp_path / "server.pem")
        sink = open_sink(tmp_path, broker.port, host="localhost", tls=True, ca=str(tmp_path / "server.pem"))
        sink.begin("a", "r")
        sink.set_online("a", True)
        for frame in range(200):
            sink.put(report(frame))
        assert sink.drain(PATIENCE)
        until(lambda: ("cudaccl/a/status", "online") in subscriber.statuses)
        sink.close()
        until(lambda: len(subscriber.messages) == 200)
        subscriber.stop()
        with pytest.raises(Refused, match="certificate is not trusted"):
            open_sink(tmp_path, broker.port, host="localhost", tls=True, ca=str(tmp_path / "other.pem"))
    finally:
        broker.stop()


def test_host_that_does_not_answer(tmp_path, monkeypatch):
    """It accepts the connection and is silent."""
    monkeypatch.setattr("cudaccl.publish.mqtt._CONNECT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = []
        sink = open_sink(tmp_path, silent.getsockname()[1], said.append)
        assert "does not answer" in said[0]
        sink.close()


@pytest.mark.parametrize("topic", ["a/#", "+/a", "", "{camera}/a"])
def test_topic_that_is_wrong(topic):
    with pytest.raises(ValueError, match="is no topic"):
        MqttSettings("localhost", topic=topic)
