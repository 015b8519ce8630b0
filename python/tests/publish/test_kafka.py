# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages to librdkafka's mock cluster, over TCP.

There is no Kafka broker among Debian's packages or on PyPI; test_kafka_broker.py takes one that runs. The mock speaks
Kafka's protocol (metadata, idempotent produce, fetch), so requests, acknowledgements, order, a broker that is away and
refusals of topics are tested. It has no authentication, no TLS, no disk and no replicas: these are not.
"""

import subprocess

import pytest

pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")

from cudaccl.publish import (  # noqa: E402
    Account, BrokerSink, KafkaSettings, KafkaTransport, SinkError, Spool)
from made import PATIENCE, expect_refusal_of_source, feeder, free_port, kill_after, report, until  # noqa: E402


def open_sink(folder, servers, say=lambda text: None, **settings):
    return BrokerSink("kafka", KafkaTransport(KafkaSettings(servers, **settings)), folder / "spool.db", say=say)


def expect_order_of_each_source(sink, read, frames):
    """Sends frames of three sources in turn. read(): what has arrived, as of `read_kafka()`."""
    for source in ("a", "b", "c"):
        sink.begin(source, "r")
    for frame in range(frames):
        for source in ("a", "b", "c"):
            sink.put(report(frame, source))
    assert sink.drain(PATIENCE)
    sink.close()
    found = read()
    for source in ("a", "b", "c"):
        own = [one for one in found if one[1] == source.encode()]
        assert len({partition for partition, *_ in own}) == 1
        assert [headers for _, _, headers, _ in own] == [[("key", f"{source}/r/{i}".encode())] for i in range(frames)]
        assert [value for *_, value in own] == [report(i, source).json for i in range(frames)]


def test_messages_arrive_in_order_of_each_source(kafka, tmp_path):
    expect_order_of_each_source(open_sink(tmp_path, kafka.servers), lambda: kafka.read("cudaccl"), 100)


@pytest.mark.parametrize("name", ["bad/+", "..", "long" * 100])
def test_a_source_that_is_no_topic_does_not_stop_others(kafka, tmp_path, name):
    expect_refusal_of_source(open_sink(tmp_path, kafka.servers, topic="{source}"), name)


def test_broker_that_is_away(kafka, tmp_path):
    said = []
    sink = open_sink(tmp_path, kafka.servers, said.append)
    sink.begin("a", "r")
    sink.put(report(0))
    until(lambda: sink.spool.count() == 0)
    kafka.say("down")
    for frame in range(1, 50):
        sink.put(report(frame))
    until(lambda: said)
    assert "messages wait in" in said[0]
    assert sink.accounts()["a"] == Account(sent=1, spooled=49)
    kafka.say("up")
    until(lambda: sink.spool.count() == 0)
    sink.close()
    assert said[-1] == "kafka: connected again"
    keys = [headers[0][1] for _, _, headers, _ in kafka.read("cudaccl")]
    assert keys == [f"a/r/{i}".encode() for i in range(50)]


def test_nobody_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("cudaccl.publish.kafka._CONNECT_S", 0.5)
    said = []
    sink = open_sink(tmp_path, f"127.0.0.1:{free_port()}", said.append)
    assert "cannot be reached" in said[0] and "Connection refused" in said[0]
    sink.begin("a", "r")
    sink.put(report())
    sink.close()
    spool = Spool(tmp_path / "spool.db")
    assert spool.accounts()["a"] == Account(spooled=1)
    spool.close()


def test_nothing_is_lost_if_the_publisher_is_killed(kafka, tmp_path):
    command = feeder(tmp_path, 1000, "kafka", kafka.servers, "cudaccl")
    for life in (3, 5, 4):  # in lines of 50 frames; a publisher that has ended its source must not be killed
        kill_after(command, life, pause=0.001 * life)
    subprocess.run(command, timeout=2 * PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    spool = Spool(tmp_path / "spool.db")
    assert spool.accounts() == {"a": Account(sent=1000)}
    spool.close()
    found = kafka.read("cudaccl")
    keys = [headers[0][1] for _, _, headers, _ in found]
    assert list(dict.fromkeys(keys)) == [f"a/r/{i}".encode() for i in range(1000)]
    print(f"{len(keys) - 1000} messages twice")


def test_topic_that_is_not_allowed_is_reported_and_nothing_is_lost(kafka, tmp_path):
    said = []
    sink = open_sink(tmp_path, kafka.servers, said.append)
    sink.begin("a", "r")
    kafka.say("refuse")
    sink.put(report())
    until(lambda: said)
    assert "refuses messages" in said[0] and "authorization" in said[0].lower()
    until(lambda: sink.spool.count() == 0)
    assert sink.accounts()["a"] == Account(sent=1)
    sink.close()


def test_message_that_is_too_large_is_counted(kafka, tmp_path):
    sink = open_sink(tmp_path, kafka.servers, options={"message.max.bytes": "2000"})
    sink.begin("a", "r")
    sink.put(report(0))
    sink.put(report(1, n=100))
    sink.put(report(2))
    until(lambda: sink.spool.count() == 0)
    assert sink.accounts()["a"] == Account(sent=2, refused=1)
    sink.close()


def test_producer_is_idempotent_and_never_gives_up(monkeypatch):
    """The mock takes everything at once, so it does not show this."""
    import confluent_kafka

    made = []

    def note(options):
        made.append(options)
        raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(confluent_kafka.KafkaError._INVALID_ARG))

    monkeypatch.setattr(confluent_kafka, "Producer", note)
    settings = KafkaSettings("host:1", user="me", password="secret", options={"sasl.mechanism": "SCRAM-SHA-256"})
    with pytest.raises(SinkError):
        KafkaTransport(settings).connect()
    del made[0]["error_cb"]
    assert made[0] == {
        "bootstrap.servers": "host:1", "enable.idempotence": True, "message.timeout.ms": 0, "log_level": 0,
        "linger.ms": 5, "compression.type": "zstd", "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "me", "sasl.password": "secret"}


def test_settings_that_are_wrong(tmp_path):
    with pytest.raises(SinkError, match='No such configuration property: "no.such"'):
        open_sink(tmp_path, "127.0.0.1:1", options={"no.such": "1"})
    with pytest.raises(ValueError, match="is no Kafka topic"):
        KafkaSettings("127.0.0.1:1", topic="a/b")
