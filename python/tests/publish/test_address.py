# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sinks by their address."""

import subprocess
import sys

import pytest

from cudaccl.publish import (
    AddressError, JsonLinesSink, MissingPackage, ParquetSink, SinkError, Spooling, address, open_sink)
from cudaccl.video.sources import parse_sources
from made import report


@pytest.fixture
def opened(monkeypatch):
    """open_sink() without brokers: (name, settings) of the transport."""

    def make(text, folder):
        made = []
        monkeypatch.setattr(address, "BrokerSink", lambda name, transport, *_: made.append((name, transport._settings)))
        open_sink(text, Spooling(folder))
        return made[0]

    return make


def test_mqtt(opened, tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    name, settings = opened("mqtt://host", tmp_path)
    assert name == "mqtt://host:1883/cudaccl/{source}"
    assert (settings.host, settings.port, settings.topic, settings.user, settings.tls) == (
        "host", 1883, "cudaccl/{source}", None, False)
    (tmp_path / "password").write_text("se:cret \n")
    options = f"password-file={tmp_path}/password&client-id=x&keepalive=7"
    name, settings = opened(f"mqtts://me%40site@[::1]:99/a/{{source}}/b?{options}", tmp_path)
    assert name == "mqtts://::1:99/a/{source}/b"
    assert (settings.user, settings.password, settings.client_id, settings.keepalive, settings.tls) == (
        "me@site", "se:cret ", "x", 7, True)


def test_kafka(opened, tmp_path):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")
    name, settings = opened("kafka://one,two:19092/records?security.protocol=SSL&linger.ms=0", tmp_path)
    assert name == "kafka://one:9092,two:19092/records"
    assert settings.servers == "one:9092,two:19092"
    assert settings.options == {"security.protocol": "SSL", "linger.ms": "0"}


def test_files(tmp_path):
    sink = open_sink(f"jsonl:{tmp_path}/a b.jsonl", Spooling(tmp_path))
    assert isinstance(sink, JsonLinesSink)
    sink.close()
    assert isinstance(open_sink("-", Spooling(tmp_path)), JsonLinesSink)
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = open_sink(f"parquet:{tmp_path}/p?minutes=60", Spooling(tmp_path), "now")
    assert isinstance(sink, ParquetSink)
    sink.put(report())
    sink.close()
    assert (tmp_path / "p/frames/now.parquet").is_file()


def test_files_below_the_home(tmp_path, monkeypatch):
    """The shell does not see the ~ behind a scheme."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    open_sink("jsonl:~/a.jsonl", Spooling(tmp_path)).close()
    assert (tmp_path / "home/a.jsonl").is_file()
    assert address.file_of("jsonl:~/a.jsonl?rate=1") == str(tmp_path / "home/a.jsonl")
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    open_sink("parquet:~/day", Spooling(tmp_path)).close()
    assert (tmp_path / "home/day/frames/part.parquet").is_file()


@pytest.mark.parametrize("text,reason", [
    ("amqp://host", "is no sink"), ("mqtt:host", "is no sink"), ("jsonl:", "is no sink"), ("", "is no sink"),
    ("mqtt:///topic", "host is missing"), ("kafka:///topic", "host is missing"),
    ("mqtt://me:secret@host", "password in an address"),
    ("jsonl:a?what=events&what=frames", "'what' is given 2 times"), ("mqtt://host?keepalive=7&keepalive=8", "given 2 times"),
    ("mqtt://host?qos=2", "no option 'qos'"), ("kafka://host/topic?acks=1", "no option 'acks'"),
    ("mqtt://host?keepalive=no", "'no' is no number"), ("parquet:x?minutes=0", "'0' is no number"),
    ("mqtt://a..b", "'a..b' is no name of a host"), ("mqtts://.local/t", "is no name of a host"),
    (f"mqtt://{64 * 'x'}.org", "is no name of a host"),
    ("mqtt://host:99999", "the port is no number up to 65535"), ("mqtt://host/a/%23", "is no topic"), ("mqtt://host?ca", "NAME=VALUE"),
    ("mqtt://host/a/#", "# is %23"),
    ("mqtt://host?ca=file", "need mqtts"), ("mqtt://host?password-file=/dev/null", "but no user"),
])
def test_addresses_that_are_wrong(text, reason, tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    with pytest.raises(AddressError, match=reason) as error:
        open_sink(text, Spooling(tmp_path))
    assert "secret" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    with pytest.raises(SinkError, match="password file .*none cannot be read"):
        open_sink(f"mqtt://me@host?password-file={tmp_path}/none", Spooling(tmp_path))
    with pytest.raises(SinkError, match="certificates for host:8883 cannot be read"):
        open_sink(f"mqtts://host?ca={tmp_path}/none", Spooling(tmp_path))


@pytest.mark.parametrize("text,package,extra", [
    ("mqtt://host", "paho", "mqtt"), ("kafka://host", "confluent_kafka", "kafka"),
    ("parquet:folder", "pyarrow", "parquet")])
def test_missing_package_names_the_extra(text, package, extra, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Without(package), *sys.meta_path])
    with pytest.raises(MissingPackage, match=rf"cudaccl\[{extra}\]"):
        open_sink(text, Spooling(tmp_path))


class Without:
    """Finds no package of this name."""

    def __init__(self, package):
        self._package = package

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == self._package:
            raise ImportError(f"No module named {name!r}")


def test_nothing_optional_is_imported_early():
    code = ("import sys, cudaccl.publish, cudaccl.cli;"
            "optional = {'paho', 'confluent_kafka', 'pyarrow', 'prometheus_client', 'tqdm', 'PIL', 'gi'};"
            "print(optional & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_kafka_with_ipv6(opened, tmp_path):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")
    name, _ = opened("kafka://[::1],[fe80::2]:9093,one/t", tmp_path)
    assert name == "kafka://[::1]:9092,[fe80::2]:9093,one:9092/t"


@pytest.mark.parametrize("text", ["mqtt://[::1", "kafka://::1/t", "kafka://[::1/t"])
def test_ipv6_that_is_wrong(text, tmp_path):
    with pytest.raises(AddressError, match="host"):
        open_sink(text, Spooling(tmp_path))


def test_source_with_a_wrong_address():
    [source] = parse_sources(["rtsp://[::1/x"])
    assert source.path is None and source.content({}) is None
