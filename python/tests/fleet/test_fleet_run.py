# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl fleet run` on this machine, with workers that are killed. CUDACCL_FLEET_KILLS=20 kills so many."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")

import gst_element  # noqa: E402, F401
from cudaccl.publish.parquet_part import TABLES  # noqa: E402
from made import PATIENCE, until  # noqa: E402

KILLS = int(os.environ.get("CUDACCL_FLEET_KILLS", "3"))
FLEET = [sys.executable, "-m", "cudaccl", "fleet", "run", "--address", "local"]


def write_fleet(folder, clip, copies, form="jsonl", **more):
    lines = [f"  - {{name: clip{i}, path: {clip}}}" for i in range(copies)]
    path = folder / "fleet.yaml"
    path.write_text("\n".join([
        "properties: {threshold: 128, backend: cpu, track: true, event-hold: 100000000, track-lost: 200000000}",
        "archives:", "  output: out", f"  form: {form}", "  segment: 2", "  overlap: 1", "  tries: 100",
        *(f"  {key}: {value}" for key, value in more.items()), "  files:", *lines]) + "\n")
    return path


def start(path):
    return subprocess.Popen([*FLEET, path], stderr=subprocess.PIPE, text=True)


def workers(pid):
    """Process ids of Ray's workers that do something for this driver."""
    return workers_by_title(pid, "ray::label", "ray::survey", "ray::put_together")


def workers_by_title(pid, *begin):
    parents, titles = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                titles[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue

    def is_below(child):
        while child in parents:
            child = parents[child]
            if child == pid:
                return True
        return False

    return [child for child, title in titles.items() if title.startswith(begin) and is_below(child)]


def expected(folder, clip, name, form="jsonl"):
    path = folder / f"expected-{form}"
    subprocess.run(
        [sys.executable, "-m", "cudaccl", "run", f"--{form}", path, "-s", "threshold=128", "-s", "backend=cpu", "-s",
         "track=true", "-s", "event-hold=100000000", "-s", "track-lost=200000000", f"{name}={clip}"],
        check=True, capture_output=True)
    return path


def test_workers_that_are_killed(clip, tmp_path):
    """Nothing is lost, nothing is there twice: the file is that of one process, byte for byte."""
    copies = 1 + KILLS // 3
    process = start(write_fleet(tmp_path, clip, copies))
    chance = random.Random(22)
    kills = 0
    while kills < KILLS and process.poll() is None:
        found = workers(process.pid)
        if not found:
            time.sleep(0.02)
            continue
        time.sleep(chance.uniform(0, 0.4))
        try:
            os.kill(chance.choice(found), signal.SIGKILL)
            kills += 1
        except ProcessLookupError:
            pass
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    assert kills == KILLS and error.count("a worker died") >= 1
    for i in range(copies):
        one = expected(tmp_path, clip, f"clip{i}")
        assert (tmp_path / f"out/clip{i}.jsonl").read_bytes() == one.read_bytes()
        manifest = json.loads((tmp_path / f"out/manifest/clip{i}.json").read_text())
        assert manifest["frames"] == 400 and len(manifest["segments"]) == 8
    assert list((tmp_path / "out/.pieces").iterdir()) == []


def test_a_run_goes_on_after_a_kill(clip, tmp_path):
    """Also of the program itself; and a third run does nothing."""
    fleet = write_fleet(tmp_path, clip, 2, "parquet")
    process = start(fleet)
    until(lambda: list(tmp_path.glob("out/.pieces/clip0/*.npz")) or process.poll() is not None)
    process.kill()
    process.communicate()
    assert len(list(tmp_path.glob("out/manifest/*.json"))) < 2
    done = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    for name in ("clip0", "clip1"):
        one = expected(tmp_path, clip, name, "parquet")
        for table in TABLES:
            path = f"{table}/part.parquet"
            assert (tmp_path / "out" / name / path).read_bytes() == (one / path).read_bytes()
    again = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
    assert again.returncode == 0 and "clip0: is complete, 400 frames" in again.stderr


def test_results_go_to_a_broker(clip, tmp_path):
    """Also what an earlier run has not sent; then no cluster is needed."""
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    from made import Mosquitto, Subscriber

    broker = Mosquitto(tmp_path)
    try:
        subscriber = Subscriber(broker.port, "archive/#")
        fleet = write_fleet(tmp_path, clip, 2, to=f'["mqtt://127.0.0.1:{broker.port}/archive/{{source}}"]')
        done = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0 and "800 frames sent" in done.stderr, done.stderr
        until(lambda: len(subscriber.messages) >= 800)
        for i in range(2):
            name = f"clip{i}"
            own = [json.loads(one.payload) for one in subscriber.messages if one.topic == f"archive/{name}"]
            assert len({one.pop("run") for one in own}) == 1
            assert own == [json.loads(line) for line in expected(tmp_path, clip, name).read_text().splitlines()]
        again = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
        assert again.returncode == 0 and "node " not in again.stderr and "clip0: is complete" in again.stderr
        subscriber.stop()
        assert len(subscriber.messages) == 800
    finally:
        broker.stop()


def test_a_file_that_cannot_be_read(clip, tmp_path):
    (tmp_path / "bad.mkv").write_text("no video\n" * 50)
    fleet = write_fleet(tmp_path, clip, 1)
    fleet.write_text(fleet.read_text() + f"  - {tmp_path}/bad.mkv\n")
    done = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "error: bad: " in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "out/clip0.jsonl").exists()


def test_a_file_that_ends_early(clip, tmp_path):
    """Its result is there, and each run reports it."""
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(clip.read_bytes()[:clip.stat().st_size // 2])
    fleet = write_fleet(tmp_path, cut, 1)
    for text in ("segments", "is complete"):
        done = subprocess.run([*FLEET, fleet], capture_output=True, text=True, timeout=PATIENCE)
        frames = (tmp_path / "out/clip0.jsonl").read_text().count("\n")
        assert done.returncode == 1 and text in done.stderr
        assert f"error: clip0: the file ends early: {frames} frames came, at least " in done.stderr


def test_no_gpu_for_cuda(clip, tmp_path, monkeypatch, capfd):
    from cudaccl.cli import main
    from cudaccl.fleet import cluster
    from cudaccl.fleet.placement import Node

    monkeypatch.setattr(cluster, "connected", lambda address, say: contextlib.nullcontext())
    monkeypatch.setattr(cluster, "living_nodes", lambda ray: [Node("1", ("a",), 4, ())])
    fleet = write_fleet(tmp_path, clip, 1)
    fleet.write_text(fleet.read_text().replace("backend: cpu", "backend: cuda"))
    assert main(["fleet", "run", str(fleet)]) == 2
    assert "backend: cuda needs a GPU, and no node" in capfd.readouterr().err


def test_the_status_says_what_has_failed():
    from cudaccl.video import errors
    from cudaccl.gst import PipelineError
    from cudaccl.publish import SinkError
    from cudaccl.publish.address import AddressError

    assert errors.status_of(PipelineError("x")) == errors.status_of(FileNotFoundError("x")) == errors.SOURCE_FAILED
    assert errors.status_of(SinkError("x")) == errors.status_of(OSError(28, "full")) == errors.OUTPUT_FAILED
    assert errors.status_of(errors.UsageError("x")) == errors.status_of(AddressError("x")) == errors.USAGE
