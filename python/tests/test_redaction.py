# SPDX-License-Identifier: LGPL-2.1-or-later
"""No secret of an address gets into a name, a log or an error."""

import logging

import pytest

from cudaccl import _redaction
from cudaccl.cli import main, operator
from cudaccl.publish import AddressError, SinkError, Spooling, open_sink
from cudaccl.publish import address as address_module
from cudaccl.video.follower import one_line
from cudaccl.video.sources import parse_sources


def test_a_name_moves_no_cursor_of_the_operator(capsys):
    operator.say("a\x1b[2J\rb\n  c\td\x9b")
    assert capsys.readouterr().err == "cudaccl: a\\x1b[2J\\x0db\n  c\td\\x9b\n"


ADDRESSES = [
    "rtsp://admin:X-5@cam/live", "rtsp://cam/user=admin&password=X-5&channel=1", "rtsp://cam:554/a?token=X-5",
    "rtsp://cam/user=admin_password=X-5_channel=1", "rtsp://admin:X-5/6@cam/live", "rtsp://cam/password=a@X-5@cam/live",
    "rtspsrc location=rtsp://admin:X-5@cam/live user-pw=X-5 ! decodebin",
    "rtspsrc user-pw=X-5 location=rtsp://cam/live",
    "rtsp://me:it's-X-5@cam/live", "rtsp://me:X-5'@cam/live", "rtsp://cam/live?token=it's-X-5",
    "srtsrc uri=srt://cam:99 passphrase=X-5", "rtspsrc location=rtsp://cam/live user-pw = X-5 ! decodebin",
    "rtspsrc user-pw= 'X-5 X-5' location='rtsp://me:it's-X-5@cam/live'",
    "souphttpsrc location=http://cam/live proxy-pw='X-5 X-5'", 'rtspsrc location="rtsp://cam/live?password=X-5"',
]


@pytest.mark.parametrize("text", ADDRESSES)
def test_names_of_sources(text):
    [source] = parse_sources([text])
    assert "X-5" not in source.name and "cam" in source.name


def test_names_of_sources_say_host_and_path():
    texts = ["rtsp://me:X@cam1:554/live/main", "http://cam/a.mjpg?size=5&token=X", "rtspsrc location=rtsp://cam2/x ! a"]
    assert [source.name for source in parse_sources(texts)] == ["cam1-554-live-main", "cam-a.mjpg", "cam2-x"]


@pytest.mark.parametrize("text", ADDRESSES)
def test_texts_for_the_operator(text):
    assert "X-5" not in one_line(f"uridecodebin: cannot open {text}\nnow") and "cam" in one_line(text)
    record = logging.LogRecord("a", 1, "a", 1, "%s: no answer", (text,), None)
    assert "X-5" not in _redaction.Formatter("%(message)s").format(record)
    with pytest.raises(ValueError) as error:
        parse_sources([text, text])
    assert "X-5" not in str(error.value)


@pytest.mark.parametrize("text", [
    "a file C:/b.avi: 5 frames, 3 wait", "jsonl:/home/me@work/all.jsonl: No space left", "--set threshold=5: it is",
    "kafka://one:9092,two:9092/records", "'rtsp://cam/live' and 'rtsp://cam2/live': no answer",
    "mqtt://localhost:1883/cudaccl/{source}: connected again",
])
def test_other_texts_stay(text):
    assert _redaction.redacted(text) == text


@pytest.mark.parametrize("address", [
    "mqtt://u:X-5@h?foo=1", "mqtt://u:X-5@h/a", "mqtt:u:X-5@h", "mqtt://u:X-5/6@h", "mqtt://u:7/X-5@h",
    "mqtt://u:X-5#6@h",
    "kafka://u:X-5/6@h/t", "kafka://u:7/X-5@h/t", "kafka://h/t?sasl.password=X-5", "kafka://h/t?ssl.key.password=X-5",
    "kafka://h/t?nothing=X-5", "mqtt://h/a+b?client-id=X-5", "mqtt://u:X-5@[::1", "kafka://u:X-5#6@h/t",
    "kafka://h/t?sasl.oauthbearer.client.secret=X-5",
])
def test_addresses_of_brokers(address, tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")
    with pytest.raises(AddressError) as error:
        open_sink(address, Spooling(tmp_path))
    assert "X-5" not in str(error.value)


def test_secrets_of_kafka_are_in_files(tmp_path, monkeypatch):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")
    made = []
    monkeypatch.setattr(address_module, "KafkaTransport", lambda settings: made.append(settings) or None)
    monkeypatch.setattr(address_module, "BrokerSink", lambda *arguments: arguments[0])
    (tmp_path / "secret").write_text("X-5\n")
    name = open_sink(f"kafka://h/t?ssl.key.password-file={tmp_path}/secret", Spooling(tmp_path))
    assert made[0].options == {"ssl.key.password": "X-5"} and name == "kafka://h:9092/t"
    with pytest.raises(SinkError, match="none"):
        open_sink(f"kafka://h/t?ssl.key.password-file={tmp_path}/none", Spooling(tmp_path))


def test_a_password_without_encryption_warns_once(tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    (tmp_path / "secret").write_text("X-5")
    said = []
    for topic in ("a", "b"):
        address = f"mqtt://me@broker.invalid/{topic}?password-file={tmp_path}/secret"
        open_sink(address, Spooling(tmp_path), say=said.append).close()
    open_sink("mqtt://me@other.invalid/a", Spooling(tmp_path), say=said.append).close()
    assert len([text for text in said if "mqtts://" in text]) == 1 and "X-5" not in " ".join(said)


def test_fleet_check(tmp_path, capsys):
    pytest.importorskip("yaml", reason="PyYAML is missing")
    file = tmp_path / "fleet.yaml"
    file.write_text("live: {sources: [{name: a, source: 'rtsp://u:X-5@cam/live'}], to: ['mqtt://u@broker']}")
    assert main(["fleet", "check", str(file)]) == 0
    found = capsys.readouterr()
    assert "cam/live" in found.out and "broker" in found.out and "X-5" not in found.out + found.err
    for to in ("mqtt://u:X-5@broker", "ftp://u:X-5@h", "mqtt:u:X-5@h', 'ftp://u:X-5@h"):
        file.write_text(f"live: {{sources: [{{name: a, source: none}}], to: ['{to}']}}")
        assert main(["fleet", "check", str(file)]) == 2
        assert "X-5" not in capsys.readouterr().err
