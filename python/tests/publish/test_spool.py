# SPDX-License-Identifier: LGPL-2.1-or-later
"""The spool: order, limit, full disks, restarts."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from cudaccl.publish import Account, BrokerSink, SinkError, Spool
from cudaccl.publish.errors import Unavailable
from made import PATIENCE, report, until

CONTENT = "clip.avi 1234"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spool.db"


def fill(spool, frames, source="a", size=100):
    return [spool.put(source, frame, bytes([frame % 256]) * size) for frame in frames]


def test_messages_wait_in_order_over_a_restart(path):
    spool = Spool(path)
    spool.begin("a", "r1")
    spool.begin("b", "r1")
    for frame in range(3):
        fill(spool, [frame])
        fill(spool, [frame], "b")
    spool.settle([message.number for message in spool.fetch(0, 2)])
    spool.close()
    spool = Spool(path)
    assert [message.key for message in spool.fetch(0, 9)] == ["a/r1/1", "b/r1/1", "a/r1/2", "b/r1/2"]
    assert spool.accounts() == {"a": Account(sent=1, spooled=2), "b": Account(sent=1, spooled=2)}
    assert spool.size() == 400
    assert [message.key for message in spool.fetch(spool.fetch(0, 9)[1].number, 1)] == ["a/r1/2"]
    spool.close()


def test_only_the_user_can_read(path):
    for name in (path, f"{path}.lock", f"{path}-wal"):  # of an earlier version
        with open(name, "w"):
            os.chmod(name, 0o644)
    spool = Spool(path)
    spool.begin("a", "r")
    fill(spool, range(3))
    files = sorted(path.parent.iterdir())
    assert len(files) == 3 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
    spool.close()


def test_what_does_not_fit_is_lost_and_counted(path):
    spool = Spool(path, limit=1000)
    spool.begin("a", "r")
    assert fill(spool, range(15)) == [True] * 10 + [False] * 5
    spool.close()
    spool = Spool(path, limit=1000)
    assert spool.accounts()["a"] == Account(spooled=10, full=5)
    spool.settle([spool.fetch(0, 1)[0].number])
    assert spool.begin("a", "r") == 15
    assert fill(spool, [15, 16]) == [True, False]
    assert spool.accounts()["a"] == Account(sent=1, spooled=10, full=6)
    assert spool.accounts()["a"].frames == 17
    spool.close()


def test_a_source_that_can_wait_loses_nothing(path):
    spool = Spool(path, limit=1000)
    said = []
    spool.say = said.append
    spool.begin("a", "r", CONTENT)
    thread = threading.Thread(target=fill, args=(spool, range(50)))
    thread.start()
    until(lambda: said)
    assert spool.count() == 10 and thread.is_alive()  # it waits: 40 frames are left
    seen = []
    while len(seen) < 50:
        messages = spool.fetch(0, 3)
        seen += [message.frame for message in messages]
        spool.settle([message.number for message in messages])
    thread.join(PATIENCE)
    assert seen == list(range(50))
    assert said == [f"a waits: the spool {path} has reached its limit of 1000 bytes"], "once, and not for each message"
    assert spool.accounts()["a"] == Account(sent=50)
    # What can never fit is not waited for.
    assert not spool.put("a", 50, bytes(1001))
    assert spool.accounts()["a"] == Account(sent=50, full=1)
    spool.close()


def test_waiting_ends_with_the_process_and_nothing_is_counted(path):
    spool = Spool(path, limit=1000)
    spool.begin("a", "r", CONTENT)
    results = []
    thread = threading.Thread(target=lambda: results.extend(fill(spool, range(11))))
    thread.start()
    until(lambda: spool.count() == 10)
    spool.stop_waiting()
    thread.join(PATIENCE)
    assert results == [True] * 10 + [False]
    spool.close()
    spool = Spool(path)
    assert spool.accounts()["a"] == Account(spooled=10)
    assert spool.begin("a", spool.interrupted("a", CONTENT), CONTENT) == 10
    spool.close()


def test_nothing_follows_a_frame_that_was_not_accepted(path):
    """There would be a gap: the next process goes on behind the last frame that the spool has."""
    spool = Spool(path, limit=1000)
    spool.begin("a", "r", CONTENT)
    fill(spool, range(10))
    spool.stop_waiting()
    assert fill(spool, [10]) == [False]
    spool.settle([message.number for message in spool.fetch(0, 9)])  # there is room again
    assert fill(spool, [11, 12]) == [False, False]
    spool.end("a")  # its file was read to the end meanwhile
    spool.close()
    spool = Spool(path)
    assert spool.interrupted("a", CONTENT) == "r" and spool.begin("a", "r", CONTENT) == 10
    assert spool.accounts()["a"].frames == 10
    spool.close()


def test_an_interrupted_stream_goes_on_and_a_complete_one_does_not(path):
    spool = Spool(path)
    assert spool.interrupted("a", CONTENT) is None
    assert spool.begin("a", "r1", CONTENT) == 0
    fill(spool, range(5))
    spool.close()
    spool = Spool(path)
    assert spool.interrupted("a", "another clip") is None
    assert spool.interrupted("a", CONTENT) == "r1"
    assert spool.begin("a", "r1", CONTENT) == 5
    assert fill(spool, range(8)) == [True] * 8
    assert [message.frame for message in spool.fetch(0, 99)] == list(range(8))
    spool.end("a")
    assert spool.interrupted("a", CONTENT) is None
    assert spool.begin("a", "r2", CONTENT) == 0
    assert spool.accounts()["a"] == Account(spooled=8)
    spool.close()


def test_streams_without_messages_are_forgotten(path):
    spool = Spool(path)
    for run in range(20):
        spool.begin("a", f"r{run}")
        fill(spool, range(2))
        spool.settle([message.number for message in spool.fetch(0, 9)])
    spool.close()
    count = sqlite3.connect(path).execute("SELECT count(*) FROM streams").fetchone()[0]
    assert count == 1


def test_numbers_are_not_used_again(path):
    spool = Spool(path)
    spool.begin("a", "r")
    fill(spool, [0])
    number = spool.fetch(0, 1)[0].number
    spool.settle([number])
    spool.close()
    spool = Spool(path)
    spool.begin("a", "r2")
    fill(spool, [0])
    assert spool.fetch(number, 1)[0].number > number
    spool.close()


def test_a_full_disk_is_counted_and_goes_on(small_disk):
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    kept = [frame for frame, ok in enumerate(fill(spool, range(100), size=10_000)) if ok]
    assert 0 < len(kept) < 100
    assert "No space left on device" in spool.disk_error
    assert spool.accounts()["a"] == Account(spooled=len(kept), disk=100 - len(kept))
    os.unlink(small_disk / "filler")
    assert fill(spool, [100]) == [True] and spool.disk_error is None
    assert [message.frame for message in spool.fetch(0, 999)] == [*kept, 100]
    spool.close()
    spool = Spool(small_disk / "spool.db")
    assert spool.accounts()["a"] == Account(spooled=len(kept) + 1, disk=100 - len(kept))
    spool.close()


def test_a_source_that_waits_for_a_full_disk_reports_it(small_disk):
    said = []
    sink = BrokerSink("broker", Away(), small_disk / "spool.db", say=said.append)
    sink.begin("a", "r", CONTENT)

    def waits():
        return any(" waits: " in text for text in said)

    def put_until_it_waits():
        frame = 0
        while not waits():
            sink.put_message("a", frame, bytes(10_000))
            frame += 1

    thread = threading.Thread(target=put_until_it_waits, daemon=True)
    thread.start()
    until(waits)
    os.unlink(small_disk / "filler")
    thread.join(PATIENCE)
    assert not thread.is_alive()
    sink.release()
    sink.close()
    waits_text, goes_on = [text for text in said if text.startswith("broker: a ")]
    assert waits_text.startswith(f"broker: a waits: the spool {small_disk}/spool.db has no room: ")
    assert goes_on == "broker: a goes on: the spool has room again"


def deliver(spool, window=100):
    """As a broker that takes everything, and returns the frames."""
    frames = []
    while messages := spool.fetch(0, window):
        frames += [message.frame for message in messages]
        spool.settle([message.number for message in messages])
    return frames


@pytest.mark.parametrize("size", [500, 10_000])
def test_a_spool_that_has_filled_its_disk_drains(small_disk, size):
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    kept = [frame for frame, ok in enumerate(fill(spool, range(1000), size=size)) if ok]
    assert 0 < len(kept) < 1000
    assert deliver(spool) == kept
    assert spool.accounts()["a"] == Account(sent=len(kept), disk=1000 - len(kept)) and spool.size() == 0
    assert fill(spool, range(1000, 1005), size=size) == [True] * 5  # there is room again
    spool.close()
    spool = Spool(small_disk / "spool.db")
    assert spool.accounts()["a"] == Account(sent=len(kept), spooled=5, disk=1000 - len(kept))
    spool.close()


def fill_up(disk):
    """To the last byte."""
    with open(disk / "more", "ab", buffering=0) as more:
        for size in (4096, 1):
            with contextlib.suppress(OSError):
                while more.write(bytes(size)) == size:
                    pass


def test_a_disk_that_others_have_filled_at_a_restart(small_disk):
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    fill(spool, range(10), size=5_000)
    spool.close()
    fill_up(small_disk)
    spool = Spool(small_disk / "spool.db")
    spool.begin("b", "r")
    assert not any(fill(spool, range(100), "b", size=5_000))
    assert deliver(spool, 3) == list(range(10))
    assert spool.accounts() == {"a": Account(sent=10), "b": Account(disk=100)}
    spool.close()
    spool = Spool(small_disk / "spool.db")
    assert spool.accounts() == {"a": Account(sent=10), "b": Account(disk=100)}
    spool.close()


def test_messages_pass_through_a_full_disk(small_disk):
    """Where others have left, while the broker is there."""
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    fill(spool, range(10), size=10_000)
    fill_up(small_disk)
    deliver(spool)
    fill_up(small_disk)  # also what was head-room
    for frame in range(10, 100):
        assert fill(spool, [frame], size=10_000) == [True], spool.disk_error
        assert deliver(spool) == [frame]
    assert spool.accounts()["a"] == Account(sent=100)
    spool.close()


def test_acknowledgements_that_cannot_be_written_are_counted(small_disk):
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    fill(spool, range(3), size=5_000)
    spool.close()
    fill_up(small_disk)
    os.truncate(small_disk / "spool.db.lock", 0)
    fill_up(small_disk)  # as if there had never been any head-room
    spool = Spool(small_disk / "spool.db")
    assert deliver(spool) == [0, 1, 2]
    assert spool.accounts()["a"] == Account(sent=3) and spool.count() == 0 and spool.drain(0)
    os.unlink(small_disk / "filler")
    spool.settle([])
    spool.close()
    spool = Spool(small_disk / "spool.db")
    assert spool.accounts()["a"] == Account(sent=3)
    spool.close()


def test_counts_are_exact_whatever_the_disk_does(small_disk):
    chance = random.Random(5)
    spool = Spool(small_disk / "spool.db")
    spool.begin("a", "r")
    sent = 0
    for frame in range(600):
        spool.put("a", frame, bytes(chance.choice((10, 1000, 30_000))))
        if chance.random() < 0.1:
            messages = spool.fetch(0, chance.randrange(1, 30))
            spool.settle([message.number for message in messages])
            sent += len(messages)
        if chance.random() < 0.05:
            fill_up(small_disk)
        elif chance.random() < 0.05:
            (small_disk / "more").unlink(missing_ok=True)
        account = spool.accounts()["a"]
        assert (account.frames, account.sent, account.spooled) == (frame + 1, sent, spool.count())
    assert account.disk > 0 and account.sent > 0
    (small_disk / "more").unlink(missing_ok=True)
    sent += len(deliver(spool))
    final = spool.accounts()
    assert final["a"] == Account(sent=sent, disk=600 - sent)
    spool.close()
    spool = Spool(small_disk / "spool.db")
    assert spool.accounts() == final
    spool.close()


def test_files_that_cannot_be_used(path, tmp_path):
    spool = Spool(path)
    with pytest.raises(SinkError, match="in use by another sink of this process: two have one broker and topic"):
        Spool(path)
    code = f"from cudaccl.publish import Spool; Spool({str(path)!r})"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "in use by another process" in other.stderr
    spool.close()
    Spool(path).close()
    (tmp_path / "file").touch()
    with pytest.raises(SinkError, match="cannot be made: File exists: .*file"):
        Spool(tmp_path / "file" / "spool.db")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=9")
    with pytest.raises(SinkError, match="version 9"):
        Spool(path)


def test_what_is_no_database_is_put_aside(path):
    path.write_text("This is no database, but a text of some length." * 9)
    said = []
    spool = Spool(path, say=said.append)
    spool.begin("a", "r")
    assert fill(spool, [0]) == [True] and spool.is_damaged
    spool.close()
    assert "is damaged (file is not a database), and a new one begins; 0 messages" in said[0] and len(said) == 1
    assert path.with_name("spool.db.damaged-1").read_text().startswith("This is")
    spool = Spool(path)
    assert spool.accounts() == {"a": Account(spooled=1)} and not spool.is_damaged
    spool.close()


def damage(path):
    """The second half of a database."""
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size - size // 2))


def test_a_damaged_spool_is_put_aside_and_what_waits_is_counted(path):
    spool = Spool(path)
    spool.begin("a", "r")
    fill(spool, range(500), size=900)
    spool.settle([message.number for message in spool.fetch(0, 5)])
    spool.close()
    damage(path)
    said = []
    spool = Spool(path, say=said.append)
    account = spool.accounts()["a"]
    assert account.sent == 5 and 100 < account.disk <= 495 and account.spooled == 0
    assert spool.before["a"] == Account(sent=5, spooled=account.disk)
    assert f"{account.disk} messages that could be counted are lost" in said[0]
    assert spool.begin("a", "r") == 0 and fill(spool, [0]) == [True]
    spool.close()
    spool = Spool(path)
    assert spool.accounts()["a"] == Account(sent=5, spooled=1, disk=account.disk)
    spool.close()


def test_a_spool_that_is_damaged_while_it_is_used(path):
    """All that waits is counted, numbers go on, and so do streams."""
    spool = Spool(path)
    spool.begin("a", "r", CONTENT)
    spool.begin("b", "r")
    fill(spool, range(300), size=20_000)
    fill(spool, range(7), "b")
    first = spool.fetch(0, 2)
    spool.settle([first[0].number])
    damage(path)
    while spool.fetch(first[-1].number, 300) and not spool.is_damaged:
        pytest.fail("the damage was not seen")
    assert spool.accounts() == {"a": Account(sent=1, disk=299), "b": Account(disk=7)}
    spool.settle([first[1].number])  # is counted already
    assert fill(spool, [300], size=10) == [True] and fill(spool, [7], "b", size=10) == [True]
    assert [message.key for message in spool.fetch(first[-1].number, 9)] == ["a/r/300", "b/r/7"]
    spool.close()
    spool = Spool(path)
    assert spool.accounts() == {"a": Account(sent=1, spooled=1, disk=299), "b": Account(spooled=1, disk=7)}
    assert spool.interrupted("a", CONTENT) == "r" and spool.begin("a", "r", CONTENT) == 301
    spool.close()


class Moody:
    """A transport without a broker: it takes a message only after it has failed in each way."""

    window = 4
    trouble = ""

    def __init__(self):
        self.sent = []
        self.moods = [RuntimeError("a mistake"), sqlite3.OperationalError("disk I/O error")]
        self.waiting = []

    def connect(self):
        self.waiting.clear()

    def send(self, message):
        self.sent.append(message.frame)
        self.waiting.append(message.number)

    def poll(self, timeout):
        if self.waiting and self.moods:
            raise self.moods.pop(0)
        time.sleep(0.01)
        acknowledged, self.waiting = self.waiting[1::-1], self.waiting[2:]  # not in their order
        return acknowledged, {}

    def wake(self):
        pass

    def close(self):
        pass


class Away(Moody):
    """The broker is not there."""

    def connect(self):
        raise Unavailable("away")


def test_forwarding_goes_on_after_any_error(path):
    said = []
    transport = Moody()
    sink = BrokerSink("moody", transport, path, say=said.append)
    sink.begin("a", "r")
    for frame in range(6):
        sink.put(report(frame))
    until(lambda: sink.spool.count() == 0)
    sink.close()
    assert sink.accounts()["a"] == Account(sent=6)
    assert ["RuntimeError: a mistake" in said[0], "disk I/O error" in said[1], said[2:]] == [
        True, True, ["moody: connected again"]]
    last = len(transport.sent) - 1 - transport.sent[::-1].index(0)
    assert transport.sent[last:] == list(range(6)) and transport.sent.count(0) == 3
