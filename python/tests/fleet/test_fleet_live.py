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

gi = pytest.importorskip("gi", reason="python3-gi is missing")
pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")
pytest.importorskip("prometheus_client", reason="prometheus-client is missing")
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from cudaccl.fleet.figures import FleetFigures  # noqa: E402
from cudaccl.fleet.follow import FollowActor  # noqa: E402
from cudaccl.fleet.live import LiveRun  # noqa: E402
from made import until  # noqa: E402
from test_fleet_run import FLEET  # noqa: E402

Gst.init(None)
if Gst.ElementFactory.find("cudaccl") is None:
    pytest.skip("GStreamer has no element cudaccl", allow_module_level=True)

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
            "to": ["jsonl:{source}.jsonl"], "metrics": f"127.0.0.1:{port}", "report": "1",
            "sources": [
                {"name": "one", "source": BALL.format("")},
                {"name": "short", "source": BALL.format(" num-buffers=20")},
                {"name": "wrong", "source": BALL.format(""), "properties": {"no-such": "1"}}]}}))
    process = subprocess.Popen([*FLEET, fleet], stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: len(lines_of(tmp_path / "one.jsonl")) > 10)
        os.kill(actor_that_writes(process.pid, tmp_path / "one.jsonl"), signal.SIGKILL)
        until(lambda: len({one["run"] for one in lines_of(tmp_path / "one.jsonl")}) == 2)
        figures = ""

        def served():
            nonlocal figures
            figures = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
            return re.search(r'cudaccl_frames_total{source="one"} [1-9]', figures)

        until(served)
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=60)[1]
    assert process.returncode == 1, error  # of the wrong one
    assert 'cudaccl_fleet_restarts_total{source="one"} 1.0' in figures
    assert "error: wrong: --set: the element cudaccl has no property no-such" in error
    assert "one: " in error and "it is started again in 0.5 seconds" in error
    assert "short: is complete, 20 frames" in error and len(lines_of(tmp_path / "short.jsonl")) == 20
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


def test_a_sink_that_cannot_be_opened(tmp_path):
    from cudaccl.fleet.config import Live, LiveSource
    from cudaccl.publish import SinkError

    live = Live((), (f"jsonl:{tmp_path}/no/such.jsonl",), str(tmp_path), 1 << 20, None, 1.0, 0.0)
    with pytest.raises(SinkError, match="No such file"):
        FollowActor(LiveSource("a", "videotestsrc", {}), live)
