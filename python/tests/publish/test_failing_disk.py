# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sinks whose disk fails for a while, and several writers of one file."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cudaccl.publish import (
    Account, JsonLinesSink, ParquetSink, SinkError, Spooling, json_lines, open_sink, parquet)
from made import PATIENCE, report, until

ERRORS = pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])


@pytest.fixture(scope="session")
def failing_library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("a disk that fails needs a C compiler: install gcc")
    library = tmp_path_factory.mktemp("library") / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


class Writer:
    """writer.py, below a folder that fails when it shall."""

    def __init__(self, address, folder, library=None, content=None):
        environment = dict(os.environ, FAILING_FOLDER=str(folder), FAILING_ERROR=str(folder.with_name("error")))
        environment |= {"LD_PRELOAD": str(library)} if library else {}
        environment |= {"CONTENT": content} if content else {}
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("writer.py"), address, folder], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self):
        """What it has sent, what waits, and what is lost."""
        return tuple(json.loads(self._process.stdout.readline()))

    def ask(self, *lines):
        """The last answer."""
        for line in lines:
            self.say(line)
            answer = self.answer()
        return answer

    def close(self):
        self.ask("close")
        self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 0


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


def frames_of(path):
    return [json.loads(line)["frame"] for line in path.read_text().splitlines()]


@ERRORS
def test_lines_wait_for_a_disk_that_fails(failing_library, disk, error):
    writer = Writer(f"jsonl:{disk}/a.jsonl", disk, failing_library)
    assert writer.ask("put 10") == (10, 0, 0)
    assert writer.ask(f"fail {error}", "put 200") == (10, 200, 0)
    assert frames_of(disk / "a.jsonl") == list(range(10))
    assert writer.ask("heal", "put 1") == (211, 0, 0)
    writer.close()
    assert frames_of(disk / "a.jsonl") == list(range(211))


@ERRORS
@pytest.mark.parametrize("query", ["", "?minutes=0.0001"])
def test_tables_wait_for_a_disk_that_fails(failing_library, disk, error, query):
    """Also if it fails where a part ends."""
    dataset = pytest.importorskip("pyarrow.dataset", reason="pyarrow is missing")
    writer = Writer(f"parquet:{disk}/day{query}", disk, failing_library)
    assert sum(writer.ask("put 10", f"fail {error}", "put 200", "heal", "put 10")[:2]) == 220
    writer.close()
    for table in ("frames", "tracks"):
        found = dataset.dataset(disk / "day" / table).to_table()["frame"].to_pylist()
        assert sorted(set(found)) == list(range(220))


def test_what_a_disk_never_takes_is_counted(failing_library, disk):
    lines = Writer(f"jsonl:{disk}/a.jsonl", disk, failing_library)
    assert lines.ask("put 10", f"fail {errno.EIO}", "put 20", "close") == (10, 0, 20)
    assert frames_of(disk / "a.jsonl") == list(range(10))


def test_a_spool_goes_on_after_its_disk_has_failed(failing_library, disk):
    """As other sinks do. What a camera shows in between is lost, and counted."""
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    writer = Writer("mqtt://127.0.0.1:1", disk, failing_library)
    assert writer.ask("put 10") == (0, 10, 0)
    assert writer.ask(f"fail {errno.EIO}", "put 20") == (0, 10, 20)
    assert writer.ask("heal", "put 10") == (0, 20, 20)
    writer.close()


def test_tables_go_on_where_their_folder_was_removed(tmp_path, monkeypatch):
    """As if another disk came in place of one that was away."""
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    monkeypatch.setattr(parquet, "RETRY_S", 0)
    sink = ParquetSink(tmp_path / "day", minutes=1e-9)  # a part for each frame
    sink.begin("a", "r")
    sink.put(report(0))
    shutil.rmtree(tmp_path / "day")
    assert all(sink.put(report(frame)) for frame in range(1, 5))
    assert "No such file" not in str(sink.error)
    sink.close()
    assert sink.accounts()["a"] == Account(sent=4, disk=1)  # the first was there, and the second in a part that was not
    assert parquet_files.read_table(tmp_path / "day/frames")["frame"].to_pylist() == [2, 3, 4]


@pytest.mark.parametrize("call", ["replace", "pwrite", "ftruncate"])
@pytest.mark.parametrize("is_last", [False, True])
def test_tables_are_completed_when_their_disk_lets_them(tmp_path, monkeypatch, call, is_last):
    """It fails when the writers of the part have given all that they have."""
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    monkeypatch.setattr(parquet, "RETRY_S", 0)
    sink = ParquetSink(tmp_path, minutes=60)
    sink.begin("a", "r")
    assert sink.put(report(0))
    complete = sink._part.complete

    def failing(*_arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def complete_on_a_bad_disk():
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            complete()

    monkeypatch.setattr(sink._part, "complete", complete_on_a_bad_disk)
    sink._seconds = 0
    assert sink.put(report(1)) and "Input/output error" in sink.error
    sink._seconds = 3600
    if not is_last:
        assert sink.put(report(2)) and "Input/output error" in sink.error
    monkeypatch.setattr(sink._part, "complete", complete)
    frames = [0, 1] if is_last else [0, 1, 2, 3]
    assert is_last or sink.put(report(3)) and sink.error is None
    sink.close()
    assert sink.accounts()["a"] == Account(sent=len(frames))
    for table in ("frames", "tracks"):
        assert sorted(set(parquet_files.read_table(tmp_path / table)["frame"].to_pylist())) == frames
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("address", ["-", "jsonl:a.jsonl", "parquet:p"])
def test_a_sink_that_is_closed_takes_nothing(tmp_path, monkeypatch, address):
    """Its file is not opened again, and nothing waits."""
    monkeypatch.chdir(tmp_path)
    if address == "parquet:p":
        pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = open_sink(address, Spooling(tmp_path))
    sink.begin("camera", "r")
    sink.begin("file", "r", "content")
    sink.close()
    files = sorted(tmp_path.rglob("*"))
    assert not any([sink.put(report(0, source)) for source in ("camera", "file", "nobody")])
    assert sink.accounts() == {name: Account(disk=1) for name in ("camera", "nobody")}
    assert sorted(tmp_path.rglob("*")) == files


def test_memory_for_lines_is_bounded(small_disk, monkeypatch):
    """Then cameras lose frames, and files wait."""
    monkeypatch.setattr(json_lines, "_MEMORY", 20 * len(report(n=10).json))
    sink = JsonLinesSink(small_disk / "a.jsonl", append=True)
    sink.begin("camera", "r")
    sink.begin("file", "r", "content")
    assert not all(sink.put(report(frame, "camera", n=10)) for frame in range(400))
    assert "No space left" in sink.error
    account = sink.accounts()["camera"]
    assert account.lost == 1 and 15 < account.spooled < 25
    thread = threading.Thread(target=lambda: [sink.put(report(frame, "file", n=10)) for frame in range(30)])
    thread.start()
    os.unlink(small_disk / "filler")
    thread.join(PATIENCE)
    assert sink.accounts()["file"] == Account(sent=30)
    frames = account.frames
    assert sink.accounts()["camera"] == Account(sent=frames - 1, disk=1)
    sink.close()
    assert len(frames_of(small_disk / "a.jsonl")) == frames - 1 + 30


def test_a_file_that_waits_ends_with_the_process(small_disk, monkeypatch):
    monkeypatch.setattr(json_lines, "_MEMORY", 1)
    sink = JsonLinesSink(small_disk / "a.jsonl", append=True)
    sink.begin("a", "r", "content")
    accepted = []
    thread = threading.Thread(target=lambda: accepted.extend(sink.put(report(i, n=10)) for i in range(400)))
    thread.start()
    until(lambda: sink.error)
    sink.release()
    thread.join(PATIENCE)
    assert 0 < sum(accepted) < 400 and sink.accounts()["a"] == Account(sent=sum(accepted))
    sink.close()


def test_tables_are_completed_on_a_full_disk(medium_disk, monkeypatch):
    """What does not fit is lost, and counted; what was there before can be read."""
    dataset = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2000)
    sink = ParquetSink(medium_disk / "day")
    sink.begin("a", "r")
    offered = 0
    while sink.put(report(offered, n=50)):
        offered += 1
        assert offered < 20_000, "the disk never was full"
    (medium_disk / "more").write_bytes(bytes(os.statvfs(medium_disk).f_bavail * 4096))
    sink.close()
    assert "No space left" in sink.error
    account = sink.accounts()["a"]
    assert account.frames == offered + 1 and account.spooled == 0 and account.lost > 1
    for table, per_frame in (("frames", 1), ("components", 50), ("events", 3)):
        found = dataset.read_table(medium_disk / "day" / table)
        assert found["frame"].to_pylist() == [i for i in range(account.sent) for _ in range(per_frame)]
    assert account.sent > 100


def test_tables_grow_again_when_there_is_room(medium_disk, monkeypatch):
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2000)
    monkeypatch.setattr(parquet, "RETRY_S", 0)
    sink = ParquetSink(medium_disk / "day")
    sink.begin("a", "r")
    offered = 0
    while sink.put(report(offered, n=50)):
        offered += 1
    os.unlink(medium_disk / "filler")
    assert all(sink.put(report(frame, n=50)) for frame in range(offered + 1, offered + 200))
    sink.close()
    assert sink.error is None and sink.accounts()["a"] == Account(sent=offered + 199, disk=1)
    assert parquet_files.read_table(medium_disk / "day/frames").num_rows == offered + 199


def test_two_publishers_append_to_one_file(disk):
    """Lines of both are whole, and none is lost."""
    writers = [Writer(f"jsonl:{disk}/a.jsonl", disk) for _ in range(2)]
    for writer in writers:
        assert writer.ask("put 1") == (1, 0, 0)
    for writer in writers:  # now at the same time
        writer.say("put 199")
    for writer in writers:
        assert writer.answer() == (200, 0, 0)
        writer.close()
    assert sorted(frames_of(disk / "a.jsonl")) == sorted(2 * list(range(200)))


def test_a_file_that_is_replaced_has_one_writer(tmp_path):
    for first, second in ((False, False), (False, True), (True, False)):
        sink = JsonLinesSink(tmp_path / "a.jsonl", append=first)
        with pytest.raises(SinkError, match="a.jsonl cannot be written: another process writes it"):
            JsonLinesSink(tmp_path / "a.jsonl", append=second)
        sink.put(report())
        sink.close()
        assert frames_of(tmp_path / "a.jsonl")[-1] == 0
    sinks = [JsonLinesSink(tmp_path / "a.jsonl", append=True) for _ in range(2)]
    for sink in sinks:
        sink.put(report(1))
        sink.close()
    assert frames_of(tmp_path / "a.jsonl") == [0, 0, 1, 1]


def test_tables_have_one_writer(tmp_path):
    parquet_files = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    sink = ParquetSink(tmp_path)
    with pytest.raises(SinkError, match="cannot be written: another process writes it"):
        ParquetSink(tmp_path)
    sink.put(report())
    sink.close()
    assert parquet_files.read_table(tmp_path / "frames/part.parquet").num_rows == 1
    ParquetSink(tmp_path).close()
