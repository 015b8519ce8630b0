# SPDX-License-Identifier: LGPL-2.1-or-later
"""Live sources of `cudaccl fleet run`: actors that are killed, sources that fail, health in one place."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")
pytest.importorskip("prometheus_client", reason="prometheus-client is missing")

import gst_element  # noqa: E402, F401
from cudaccl.fleet.figures import FleetFigures  # noqa: E402
from cudaccl.fleet.follow import FollowActor  # noqa: E402
from cudaccl.fleet.live import LiveRun  # noqa: E402
from made import PATIENCE, until  # noqa: E402
from test_fleet_run import FLEET  # noqa: E402

BALL = "videotestsrc is-live=true pattern=ball{} ! video/x-raw,width=160,height=120,framerate=50/1"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def actors(pid, title):
    from test_fleet_run import workers_by_title

    return workers_by_title(pid, title)


def open_files(pid):
    found = set()
    with contextlib.suppress(FileNotFoundError):  # the process has just ended
        for one in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # or has closed it
                found.add(os.readlink(one))
    return found


def actor_that_writes(pid, path):
    """Not another one, which a source that has failed or ended still has for a moment."""
    return next(actor for actor in actors(pid, "ray::FollowActor") if str(path.resolve()) in open_files(actor))


def test_an_actor_that_is_killed_is_started_again(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(json.dumps({
        "properties": {"threshold": "200", "backend": "cpu"},
        "cluster": {"nodes": {os.uname().nodename: {"slots": "4"}}},
        "live": {
            "to": ["jsonl:live/{source}.jsonl"], "metrics": f"127.0.0.1:{port}", "report": "1",
            "sources": [
                {"name": "one", "source": BALL.format("")},
                {"name": "short", "source": BALL.format(" num-buffers=20")},
                {"name": "wrong", "source": BALL.format(""), "properties": {"threshold": "300"}}]}}))
    process = subprocess.Popen([*FLEET, fleet], stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: len(lines_of(tmp_path / "live/one.jsonl")) > 10)
        os.kill(actor_that_writes(process.pid, tmp_path / "live/one.jsonl"), signal.SIGKILL)
        until(lambda: len({one["run"] for one in lines_of(tmp_path / "live/one.jsonl")}) == 2)
        figures = ""

        def served():
            nonlocal figures
            figures = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
            return re.search(r'cudaccl_frames_total{source="one"} [1-9]', figures)

        until(served)
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2, error  # of the wrong one
    assert 'cudaccl_fleet_restarts_total{source="one"} 1.0' in figures
    assert error.count("cudaccl: error: wrong: threshold=300 cannot be used: the largest value of") == 1
    assert "\x1b" not in error and all(line.startswith("cudaccl: ") for line in error.splitlines()), error
    assert "one: " in error and "it is started again in 0.5 seconds" in error
    assert "short: is complete, 20 frames" in error and len(lines_of(tmp_path / "live/short.jsonl")) == 20
    assert re.search(r"cudaccl: one +\S+ +\d+ +\d+\.\d +0 +1 ", error)


class Cluster:
    """Has no actors."""

    def remote(self, _class):
        return self


def test_a_source_that_waits_for_a_place():
    from cudaccl.fleet.config import Live, LiveSource

    class Full:
        def take(self, is_archive):
            return None

    run = LiveRun(Cluster(), Full(), Live((LiveSource("a", "x", {}),), ("jsonl:x",), "", 1, None, 1.0, 0.0), print)
    assert run.step() and run.sources[0].state == "waits for a free place"
    families = {family.name: family for family in FleetFigures(run).collect()}
    assert families["cudaccl_fleet_source_up"].samples[0].value == 0


@pytest.fixture
def live_of():
    from cudaccl.fleet.config import Live, LiveSource

    def make(tmp_path, to, properties=None, **more):
        source = LiveSource("a", more.pop("source", "videotestsrc num-buffers=2"), properties or {})
        return Live((source,), (to,), str(tmp_path), 1 << 20, None, 1.0, 0.0, **more)

    return make


def test_an_actor_makes_the_folder_of_a_file(tmp_path, live_of):
    live = live_of(tmp_path, f"jsonl:{tmp_path}/no/such/{{source}}.jsonl")
    actor = FollowActor(live.sources[0], live)
    until(lambda: actor.health().ended)
    assert actor.stop(1).error == "" and len(lines_of(tmp_path / "no/such/a.jsonl")) == 2


def test_a_sink_that_cannot_be_opened_is_reported(tmp_path, live_of):
    (tmp_path / "file").touch()
    live = live_of(tmp_path, f"jsonl:{tmp_path}/file/{{source}}.jsonl")
    actor = FollowActor(live.sources[0], live)
    health = actor.health()
    assert (health.ended, health.status, health.final) == (True, 3, False)
    assert health.error == f"{tmp_path}/file cannot be made: File exists"
    assert actor.stop(1).error == health.error


class Actors:
    """Ray, as far as a LiveRun needs it, with actors in this process."""

    exceptions = type("exceptions", (), {"RayTaskError": KeyError, "RayError": OSError})

    def remote(self, of):
        self.of = of
        return self

    def options(self, **_options):
        return type("Maker", (), {"remote": lambda _, *arguments: Actors.Handle(self.of(*arguments))})()

    class Handle:
        def __init__(self, actor):
            self._actor = actor

        def __getattr__(self, name):
            return type("Method", (), {"remote": lambda _, *a: getattr(self._actor, name)(*a)})()

    def wait(self, references, **_options):
        return references, []

    def get(self, reference, **_options):
        return reference

    def kill(self, actor):
        pass


class Place:
    class node:
        names = ("here",)

    def take(self, is_archive):
        return self

    def options(self, place, is_archive):
        return {}

    def free(self, place, is_archive):
        pass

    def look_again(self):
        pass


@pytest.fixture
def live_run(monkeypatch):
    from cudaccl.fleet import live as module

    monkeypatch.setattr(module, "_ASK_S", 0.0)
    monkeypatch.setattr(module, "_FIRST_PAUSE_S", 0.0)

    def make(live, said):
        return LiveRun(Actors(), Place(), live, said.append)

    return make


def test_a_sink_that_never_worked_ends_its_source_with_a_status(tmp_path, live_of, live_run):
    """Also if the command is stopped then."""
    (tmp_path / "file").touch()
    said = []
    run = live_run(live_of(tmp_path, f"jsonl:{tmp_path}/file/a.jsonl"), said)
    while run.step():
        pass
    assert said == [f"error: a: {tmp_path}/file cannot be made: File exists"]
    assert run.sources[0].status == 3


def test_the_last_lines_of_an_actor_are_shown(tmp_path, live_of, live_run):
    said = []
    run = live_run(live_of(tmp_path, f"jsonl:{tmp_path}/a.jsonl", source=BALL.format("")), said)
    until(lambda: run.step() and run.sources[0].all_frames)
    run.sources[0].actor._actor._texts.append("a: the last line")
    run.stop()
    assert said[0] == "a: the last line"


def test_an_actor_that_dies_before_its_first_frame_has_a_status(tmp_path, live_of, live_run):
    """The status is that of the next SIGTERM, until a frame comes."""
    run = live_run(live_of(tmp_path, f"jsonl:{tmp_path}/a.jsonl"), [])
    run.step()
    run._died(run.sources[0], "The actor died")
    assert run.sources[0].status == 1
    until(lambda: not run.step())
    assert run.sources[0].status == 0 and run.sources[0].all_frames == 2


def test_the_table_says_which_source_is_away(tmp_path, live_of, live_run):
    run = live_run(live_of(tmp_path, f"jsonl:{tmp_path}/a.jsonl", source="rtsp://127.0.0.1:9/none"), [])
    until(lambda: run.step() and run.sources[0].state == "away")
    assert list(run.table())[1].endswith(" away")
    run.stop()


def test_the_last_line_of_a_traceback_is_the_reason():
    from cudaccl.fleet.live import _reason

    text = "The actor died because of an error raised in its creation task, \x1b[36mray::A.__init__()\x1b[39m\n  x\n"
    assert _reason(OSError(text + "KeyError: 'x'")) == "KeyError: 'x'"
    assert _reason(OSError("The actor died unexpectedly.\n\tclass_name: A")) == "The actor died unexpectedly."


def test_what_ray_prints_has_no_colours_and_its_name():
    from cudaccl.fleet.cluster import _Lines

    said = []
    print("\x1b[33m(raylet)\x1b[0m A worker died.\n", "next", file=_Lines(said.append))
    assert said == ["ray: (raylet) A worker died.", "ray:  next"]


def test_a_fleet_reads_its_file_again(tmp_path):
    """By a signal, or by `cudaccl fleet reload`."""
    fleet = tmp_path / "fleet.yaml"
    path = tmp_path / "live/one.jsonl"
    content = {"properties": {"threshold": "200", "backend": "cpu"},
               "live": {"to": ["jsonl:live/{source}.jsonl"], "sources": [{"name": "one", "source": BALL.format("")}]}}
    fleet.write_text(json.dumps(content))
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}

    def reload():
        return subprocess.run([sys.executable, "-m", "cudaccl", "fleet", "reload", fleet], capture_output=True,
                              text=True, env=environment)

    assert reload().returncode == 2 and "nothing on this machine runs" in reload().stderr
    process = subprocess.Popen([*FLEET, fleet], stderr=subprocess.PIPE, text=True, env=environment)
    try:
        until(lambda: lines_of(path))
        content["properties"]["track"] = "true"
        fleet.write_text(json.dumps(content))
        done = reload()
        assert done.returncode == 0 and f"process {process.pid} reads" in done.stderr, done.stderr
        until(lambda: "tracks" in lines_of(path)[-1])
        content["properties"]["draw-idz"] = "true"
        fleet.write_text(json.dumps(content))
        assert reload().returncode == 2
        process.send_signal(signal.SIGHUP)
        line = next(line for line in process.stderr if "draw-idz" in line)
        assert line.endswith("; the old settings stay\n")
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    assert len({one["run"] for one in lines_of(path)}) == 1
    assert reload().returncode == 2
