# SPDX-License-Identifier: LGPL-2.1-or-later
"""The actor of a live source, without a cluster, and figures of a source that is complete."""

import types

import pytest

pytest.importorskip("yaml", reason="PyYAML is missing")
pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")

import gst_element  # noqa: E402, F401
from cudaccl.fleet.config import Live, LiveSource  # noqa: E402
from cudaccl.fleet.follow import FollowActor  # noqa: E402
from made import free_port, until  # noqa: E402

BALL = "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,width=160,height=120"


def test_frames_that_wait_from_an_earlier_actor_are_not_counted_again(tmp_path):
    live = Live((), (f"mqtt://127.0.0.1:{free_port()}",), str(tmp_path), 1 << 20, None, 60.0, 0.0)
    for waiting in (20, 40):
        actor = FollowActor(LiveSource("a", BALL, {}), live)
        until(lambda: actor.health().ended)
        health = actor.stop(0.0)
        assert (health.frames, health.waiting, health.lost) == (20, waiting, 0)


def test_frames_that_any_sink_has_lost_are_counted(tmp_path):
    to = (f"jsonl:{tmp_path}/a.jsonl", f"mqtt://127.0.0.1:{free_port()}")
    actor = FollowActor(LiveSource("a", BALL, {}), Live((), to, str(tmp_path), 10, None, 60.0, 0.0))
    until(lambda: actor.health().ended)
    health = actor.stop(0.0)
    assert (health.frames, health.waiting, health.lost) == (20, 0, 20)


def test_what_waits_in_any_spool_is_reported(tmp_path):
    from cudaccl.cli import fleet
    from cudaccl.fleet.live import Supervised

    to = (f"jsonl:{tmp_path}/a.jsonl", f"mqtt://127.0.0.1:{free_port()}")
    actor = FollowActor(LiveSource("a", BALL, {}), Live((), to, str(tmp_path), 1 << 20, None, 60.0, 0.0))
    until(lambda: actor.health().ended)
    one = Supervised(LiveSource("a", BALL, {}), health=actor.stop(0.0))
    assert one.waiting == 20
    archives, live = types.SimpleNamespace(states=[]), types.SimpleNamespace(sources=[one])
    assert fleet._status(archives, live, False, 0) == 3


def test_a_source_that_is_complete_is_not_followed():
    pytest.importorskip("prometheus_client", reason="prometheus-client is missing")
    from cudaccl.fleet.figures import FleetFigures
    from cudaccl.fleet.live import Supervised

    one = Supervised(LiveSource("a", "x", {}), health=types.SimpleNamespace(figures=()), done=True)
    families = {family.name: family for family in FleetFigures(types.SimpleNamespace(sources=[one])).collect()}
    assert [sample.value for sample in families["cudaccl_fleet_source_up"].samples] == [0]
