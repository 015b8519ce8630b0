# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of archives arrive at a broker: all frames, in order, whatever dies."""

import dataclasses
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
sys.path.insert(0, str(Path(__file__).parents[1] / "publish"))

from cudaccl.cli import fleet  # noqa: E402
from cudaccl.fleet.sender import Sender  # noqa: E402
from cudaccl.publish import Account, Spool  # noqa: E402
from fleet_made import TRACKED, job, run_here, run_one_process  # noqa: E402
from made import (  # noqa: E402
    PATIENCE, Mosquitto, Subscriber, count_spooled, free_port, kill_after, report, until)

FRAMES = 400


def to_broker(one, port, folder, **more):
    """The job with a broker."""
    settings = dataclasses.replace(
        one.settings, to=(f"mqtt://127.0.0.1:{port}/site/{{source}}",), spool=str(folder / "spool"), **more)
    return dataclasses.replace(one, settings=settings)


@pytest.fixture
def broker(tmp_path):
    running = Mosquitto(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def labelled(tmp_path):
    """Makes a job whose messages are there, of a file that nobody reads."""
    def make(port, **more):
        (tmp_path / "clip.mkv").write_text("video")
        one = to_broker(job(tmp_path / "clip.mkv", tmp_path / "out"), port, tmp_path, **more)
        one.messages.parent.mkdir(parents=True)
        one.messages.write_bytes(b"".join(
            report(frame, "clip", one.run).json + b"\n" for frame in range(FRAMES)))
        return one

    return make


def keys_of(subscriber):
    return [dict(message.properties.UserProperty)["key"] for message in subscriber.messages]


def spools(folder):
    return folder.glob("spool/.archives/*.db")


def account_in(folder):
    path, = spools(folder)
    spool = Spool(path)
    found = spool.accounts()["clip"]
    spool.close()
    return found


def send(one, stopped=lambda: False):
    sender = Sender(one.settings, lambda text: None)
    sender.send(one)
    return sender.finish(stopped)


def test_frames_are_those_of_one_process(clip, broker, tmp_path):
    import gst_element  # noqa: F401

    one = to_broker(job(clip, tmp_path / "out", TRACKED), broker.port, tmp_path)
    run_here(one)
    subscriber = Subscriber(broker.port)
    assert send(one) == 0 and not one.messages.exists()
    until(lambda: len(subscriber.messages) >= FRAMES)
    assert keys_of(subscriber) == [f"clip/{one.run}/{frame}" for frame in range(FRAMES)]
    expected = run_one_process(one, tmp_path).read_text().splitlines()
    for message, line in zip(subscriber.messages, expected):
        found = json.loads(message.payload)
        assert (message.topic, found.pop("run")) == ("site/clip", one.run)
        assert found == json.loads(line)
    assert send(one) == 0  # again: there is nothing to send
    subscriber.stop()
    assert len(subscriber.messages) == FRAMES and account_in(tmp_path) == Account(sent=FRAMES)


SENDING = """
import pickle, sys
from cudaccl.fleet.sender import Sender
from cudaccl.publish.sink import BrokerSink
put = BrokerSink.put_message
def asking(self, source, frame, payload):
    if frame % 20 == 0:
        print(frame, flush=True)
        sys.stdin.readline()
    return put(self, source, frame, payload)
BrokerSink.put_message = asking
one = pickle.loads(bytes.fromhex(sys.argv[1]))
sender = Sender(one.settings, lambda text: None)
sender.send(one)
assert sender.finish(lambda: False) == 0
"""


def test_a_command_that_is_killed_goes_on(broker, labelled, tmp_path):
    """The spool knows what it has, so it gets each frame once."""
    import pickle

    subscriber = Subscriber(broker.port)
    one = labelled(broker.port)
    command = [sys.executable, "-c", SENDING, pickle.dumps(one).hex()]
    for lines in (3, 8, 14):
        kill_after(command, lines, pause=0.002)
        assert one.messages.exists()
    subprocess.run(command, check=True, timeout=2 * PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert not one.messages.exists() and account_in(tmp_path) == Account(sent=FRAMES)
    wanted = [f"clip/{one.run}/{frame}" for frame in range(FRAMES)]
    until(lambda: subscriber.messages and keys_of(subscriber)[-1] == wanted[-1])
    subscriber.stop()
    assert list(dict.fromkeys(keys_of(subscriber))) == wanted


def test_a_broker_that_is_away(labelled, tmp_path):
    """Frames wait in the spool, and where it has no room, in their file."""
    port = free_port()
    one = labelled(port, spool_size=100 * len(report().json))
    deadline = time.monotonic() + PATIENCE

    def is_enough():
        return sum(map(count_spooled, spools(tmp_path))) > 50 or time.monotonic() > deadline

    assert send(one, is_enough) == 0
    waiting = account_in(tmp_path)
    assert 50 < waiting.spooled <= 100 and waiting.lost == 0 and one.messages.exists()
    broker = Mosquitto(tmp_path, port=port)
    try:
        assert send(one) == 0 and not one.messages.exists()
        assert account_in(tmp_path) == Account(sent=FRAMES)
    finally:
        broker.stop()


@pytest.mark.parametrize("fits", [True, False])
def test_a_command_says_that_messages_wait(labelled, tmp_path, capfd, fits):
    """In a spool, or in the file of an archive."""
    port = free_port()
    one = labelled(port, **({} if fits else {"spool_size": 100 * len(report().json)}))

    class Stopping:
        def is_set(self):
            return not one.messages.exists() if fits else sum(map(count_spooled, spools(tmp_path))) > 50

    sender = Sender(one.settings, lambda text: None)
    sender.send(one)
    assert fleet._finish(sender, Stopping()) == 3
    assert capfd.readouterr().err == "cudaccl: messages wait for brokers; the next run sends them\n"
    broker = Mosquitto(tmp_path, port=port)
    try:
        sender = Sender(one.settings, lambda text: None)
        sender.send(one)
        assert fleet._finish(sender, threading.Event()) == 0
    finally:
        broker.stop()


def test_frames_that_never_fit_are_counted(broker, labelled, tmp_path):
    assert send(labelled(broker.port, spool_size=10)) == FRAMES
    assert account_in(tmp_path) == Account(full=FRAMES)
