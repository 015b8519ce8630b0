# SPDX-License-Identifier: LGPL-2.1-or-later
"""A follower with a source and sinks of the test: how it ends."""

import itertools
import os
import signal
import threading
import time
import types

import pytest

from cudaccl.cli import publish
from cudaccl.cli.stopping import stop_on_signals
from cudaccl.publish import Account, Metrics, SinkError
from cudaccl.publish.selection import Selection
from cudaccl.video import follower as follower_module
from cudaccl.video.bounded_lines import BoundedLines
from cudaccl.video.errors import UsageError
from cudaccl.video.follower import Follower, stop_all
from cudaccl.video.sources import Source
from made import report, until


class StreamOfTest:
    """Has so many frames."""

    stalled = False
    is_live = False
    frames = 2
    widths = itertools.repeat(8)
    late = 0

    def __init__(self, source, properties, warn=None, strict=True):
        self.stopped = False
        self.properties = dict(properties)

    def change(self, before, after):
        self.properties = after
        return []

    def __iter__(self):
        made = report()
        self.late = 1
        for number in range(self.frames):
            info = types.SimpleNamespace(
                frame=number, utc=None, utc_clock=None, width=next(self.widths), height=8, n_components=2,
                overflow=False, relearning=False, level=0, zones=(), lines=())
            yield types.SimpleNamespace(
                time=number, info=info, records=made.components, tracks=made.tracks, events=made.events, grey=None,
                polygons=None)
        self.late = 5

    def stop(self):
        """Too late: the last frame is labelled."""

    def stop_if_silent(self, seconds):
        pass

    def close(self):
        pass

    def stats(self):
        return {"late": self.late}

    def early_end(self, frames):
        return ""


class SinkOfTest:
    """Waits in `put()` of the last frame until `release()`, if it is busy."""

    error = None
    before: dict = {}

    def __init__(self, name, busy=False):
        self.name = name
        self.kept = []
        self.states = []
        self.is_complete = False
        self.is_waiting = threading.Event()
        self._released = threading.Event()
        self._busy = busy

    def interrupted(self, source, content):
        return None

    def begin(self, source, run, content=None):
        return 0

    def put(self, report):
        if self._busy and report.frame == StreamOfTest.frames - 1:
            self.is_waiting.set()
            self._released.wait()
            return False
        self.kept.append(report.frame)
        return True

    def set_online(self, source, online):
        self.states.append(online)

    def end(self, source):
        self.is_complete = True

    def accounts(self):
        return {"a": Account(sent=len(self.kept))}

    def release(self):
        self._released.set()


@pytest.fixture
def clip(tmp_path, monkeypatch):
    """A source that can be read again."""
    pytest.importorskip("gi", reason="python3-gi is missing")
    monkeypatch.setattr(follower_module, "Stream", StreamOfTest)
    path = tmp_path / "clip.avi"
    path.touch()
    return Source("a", str(path))


def test_a_file_whose_last_frame_waits_at_a_signal_goes_on_later(clip):
    """So no sink takes it for complete, and nothing is said to be lost."""
    said = []
    sinks = [SinkOfTest("free"), SinkOfTest("busy", busy=True)]
    follower = Follower(clip, {}, sinks, said.append, 10.0, None)
    follower.start()
    assert sinks[1].is_waiting.wait(60)
    stop_all([follower], sinks)
    assert not follower.running and follower.error is None
    assert [sink.is_complete for sink in sinks] == [False, False]
    assert said == [] and [sink.kept for sink in sinks] == [[0, 1], [0]]


def test_a_file_that_is_read_to_its_end_is_complete(clip):
    sinks = [SinkOfTest("free")]
    follower = Follower(clip, {}, sinks, print, 10.0, None)
    follower.start()
    until(lambda: not follower.running)
    assert sinks[0].is_complete and sinks[0].kept == [0, 1]


def test_what_a_camera_does_fills_no_log(clip, monkeypatch):
    """What the operator does has its answer nevertheless."""
    monkeypatch.setattr(StreamOfTest, "frames", 500)
    monkeypatch.setattr(StreamOfTest, "widths", itertools.count())
    said = []
    follower = Follower(clip, {}, [SinkOfTest("free")], said.append, 10.0, None)
    follower.start()
    until(lambda: not follower.running)
    assert said[0] == "a: frames have 1x8 pixels now" and len(said) == 61
    assert said[-1] == "a: more lines follow, which are left out until a minute is over"
    follower.change({})
    assert len(said) == 62


def test_lines_that_were_left_out_are_counted():
    said, now = [], 0.0
    lines = BoundedLines(said.append, lambda: now)
    for minute in range(3):
        for number in range(100):
            lines(f"{minute}: {number}")
        now += 60
    assert said.count("40 lines were left out") == 2
    assert [line for line in said if ": " in line] == [f"{minute}: {number}" for minute in range(3) for number in range(60)]


def test_a_source_without_a_frame_has_failed(clip, monkeypatch):
    """But one that was stopped before its first frame has not."""
    monkeypatch.setattr(StreamOfTest, "frames", 0)
    for stops in (False, True):
        follower = Follower(clip, {}, [SinkOfTest("free")], print, 10.0, None)
        if stops:
            monkeypatch.setattr(StreamOfTest, "early_end", lambda self, frames: follower.request_stop() or "")
        follower.start()
        until(lambda: not follower.running)
        assert str(follower.error) == ("None" if stops else "it has no frame")


def test_threads_are_not_waited_for_without_end(clip):
    sinks = [SinkOfTest("busy", busy=True)]
    sinks[0].release = lambda: None
    follower = Follower(clip, {}, sinks, print, 10.0, None)
    follower.start()
    assert sinks[0].is_waiting.wait(60)
    stop_all([follower], sinks, 0.2)
    assert follower.running
    sinks[0]._released.set()
    follower.stop()


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_any_second_signal_ends_the_process_at_once(second):
    with stop_on_signals() as stopping:
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping.wait(60)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), second)
            time.sleep(5)


class AwayForLong:
    """A broker that is never there. A signal comes while it is waited for."""

    def __init__(self, stopping):
        self._stopping = stopping

    def drain(self, timeout):
        time.sleep(timeout)
        self._stopping.set()
        return False


@pytest.mark.parametrize("timeout,was_stopped", [(60.0, False), (0.3, True)])
def test_the_first_signal_ends_waiting_for_brokers_if_it_comes_then(timeout, was_stopped):
    """One that came before has ended the sources."""
    stopping = threading.Event()
    began = time.monotonic()
    if was_stopped:
        stopping.set()
    publish._drain([AwayForLong(stopping)], timeout, stopping)
    assert time.monotonic() - began < 30
    assert not was_stopped or time.monotonic() - began >= timeout


def test_figures_have_what_a_source_counted_last(clip):
    pytest.importorskip("prometheus_client", reason="prometheus-client is missing")
    metrics = Metrics()
    follower = Follower(clip, {}, [SinkOfTest("free")], print, 10.0, metrics)
    follower.start()
    until(lambda: not follower.running)
    assert metrics.registry.get_sample_value("cudaccl_late_frames_total", {"source": "a"}) == 5


class SilentStream(StreamOfTest):
    """A camera that does not answer for longer than the longest pause."""

    def __iter__(self):
        from cudaccl.gst import PipelineError

        time.sleep(0.1)
        raise PipelineError("nobody answers")
        yield


@pytest.fixture
def short_pauses(monkeypatch):
    monkeypatch.setattr(follower_module, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(follower_module, "_LONGEST_PAUSE_S", 0.08)


def follow_camera(sink, say):
    follower = Follower(Source("cam", "rtsp://camera/live"), {}, [sink], say, 10.0, None)
    follower.start()
    return follower


def pauses_of(said):
    return [text.split(" in ")[1] for text in said if "will be opened again" in text]


def test_pauses_grow_while_no_frame_comes(clip, monkeypatch, short_pauses):
    """However long it takes to find that out."""
    monkeypatch.setattr(follower_module, "Stream", SilentStream)
    said = []
    follower = follow_camera(SinkOfTest("free"), said.append)
    until(lambda: len(said) >= 5)
    follower.stop()
    assert pauses_of(said)[:5] == [f"{pause} seconds" for pause in ("0.01", "0.02", "0.04", "0.08", "0.08")]


def test_pauses_begin_again_behind_frames(clip, monkeypatch, short_pauses):
    """That came for longer than the pause: a camera that goes away every few seconds loses no more than it must."""
    class Working(StreamOfTest):
        def __iter__(self):
            yield from super().__iter__()
            time.sleep(0.05)

    monkeypatch.setattr(follower_module, "Stream", Working)
    said = []
    follower = follow_camera(SinkOfTest("free"), said.append)
    until(lambda: len(said) >= 3)
    follower.stop()
    assert set(pauses_of(said)) == {"0.01 seconds"}


def test_a_signal_ends_the_pause(clip, monkeypatch):
    monkeypatch.setattr(follower_module, "Stream", SilentStream)
    monkeypatch.setattr(follower_module, "_FIRST_PAUSE_S", 300.0)
    said = []
    follower = follow_camera(SinkOfTest("free"), said.append)
    until(lambda: said)
    assert follower.state == "away"
    follower.stop()
    assert not follower.running and follower.error is None


def test_a_camera_that_is_back_says_how_long_it_was_away(clip, monkeypatch, short_pauses):
    """From its last frame on; and each line begins with its name."""
    from cudaccl.gst import PipelineError

    class Away(StreamOfTest):
        opened = 0

        def __iter__(self):
            Away.opened += 1
            if Away.opened in (2, 3):
                clock[0] += 6
                raise PipelineError("cam: rtspsrc0: nobody answers")
            yield from super().__iter__()
            if Away.opened == 4:
                states.append(follower.state)
                clock[0] += 60
                states.append(follower.state)
                follower.request_stop()

    clock, states, said = [100.0], [], []
    monkeypatch.setattr(follower_module, "Stream", Away)
    monkeypatch.setattr(follower_module, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    follower = follow_camera(SinkOfTest("free"), said.append)
    until(lambda: not follower.running)
    assert [text for text in said if "open again" in text] == ["cam: open again after 12 s"]
    assert said[1] == "cam: rtspsrc0: nobody answers; it will be opened again in 0.02 seconds"
    assert states == ["runs", "no frame for 60 s"]


def test_settings_of_a_file_stay(clip, monkeypatch):
    """Its records are those of one setting."""
    said = []
    follower = Follower(clip, {"threshold": "9"}, [SinkOfTest("free")], said.append, 10.0, None)
    follower.change({"threshold": "10"})
    assert said == ["a: a file keeps its settings"] and follower._properties == {"threshold": "9"}


def test_tracks_stay_where_a_sink_gets_them(clip):
    said = []
    sink = SinkOfTest("m")
    sink.selection = Selection("events")
    with pytest.raises(UsageError, match="what=events of m needs track=true"):
        Follower(Source("camera", "rtsp://camera/live"), {}, [sink], said.append, 10.0, None)
    follower = Follower(Source("camera", "rtsp://camera/live"), {"track": "true"}, [sink], said.append, 10.0, None)
    follower.change({"track": "false"})
    assert said == ["camera: error: what=events of m needs track=true; the old settings stay"]
    assert follower._properties == {"track": "true"}


def test_a_sink_knows_whether_frames_come(clip, short_pauses, monkeypatch):
    """Of a camera that answers and has no frames they do not."""
    monkeypatch.setattr(StreamOfTest, "frames", 0)
    sink = SinkOfTest("a")
    follower = follow_camera(sink, print)
    until(lambda: len(sink.states) > 4)
    assert not any(sink.states)
    monkeypatch.setattr(StreamOfTest, "frames", 2)
    until(lambda: sink.states.count(True) > 1)
    follower.stop()
    came = sink.states[sink.states.index(True):]
    assert came[:4] == [True, False, False, True] and came[-1] is False


def test_a_mistake_in_settings_ends_only_a_camera_that_never_worked(clip, monkeypatch, short_pauses):
    stricts = []

    class Strict(StreamOfTest):
        def __init__(self, source, properties, warn, strict):
            super().__init__(source, properties)
            stricts.append(strict)

    monkeypatch.setattr(follower_module, "Stream", Strict)
    follower = follow_camera(SinkOfTest("free"), print)
    until(lambda: len(stricts) > 2)
    follower.stop()
    assert stricts[:3] == [True, False, False]


class FullSink(SinkOfTest):
    """Its disk is full when some streams begin."""

    def __init__(self, *full):
        super().__init__("full")
        self.begun = 0
        self._full = full

    def begin(self, source, run, content=None):
        self.begun += 1
        if self.begun in self._full:
            raise SinkError("the disk is full")
        return 0


def test_a_camera_is_opened_again_when_a_disk_has_room(clip, short_pauses):
    said = []
    sink = FullSink(2, 3)
    follower = follow_camera(sink, said.append)
    until(lambda: sink.begun >= 5)
    follower.stop()
    assert follower.error is None and sink.kept[:4] == [0, 1, 0, 1]
    reasons = ("ended", "full", "full", "open again after ", "ended")
    assert [reason in text for reason, text in zip(reasons, said)] == [True] * 5


def test_a_disk_that_is_full_at_the_start_is_an_error(clip):
    follower = follow_camera(FullSink(1), print)
    until(lambda: not follower.running)
    assert isinstance(follower.error, SinkError)


def test_the_uri_of_a_file_is_the_file(clip, tmp_path, short_pauses):
    file = tmp_path / "a clip.avi"
    file.write_bytes(b"")
    source = Source("a", file.as_uri())
    assert source.content({"threshold": "9"}) == Source("a", str(file)).content({"threshold": "9"})
    said = []
    sink = SinkOfTest("free")
    follower = Follower(source, {}, [sink], said.append, 10.0, None)
    follower.start()
    until(lambda: said or not follower.running)
    follower.stop()
    assert said == [] and sink.is_complete and sink.kept == [0, 1]


def test_a_file_with_other_regions_is_read_again(tmp_path):
    """Their path is the same."""
    (tmp_path / "a.avi").touch()
    source, regions = Source("a", str(tmp_path / "a.avi")), tmp_path / "regions.json"
    found = set()
    for text in ('{"version": 1}', '{"version": 1, "zones": []}', '{"version": 1}'):
        regions.write_text(text)
        found.add(source.content({"regions": str(regions)}))
    assert len(found) == 2
    assert source.content({"regions": "none.json"}) and source.content({"regions": '{"version": 1}'})


def test_the_uri_of_a_missing_file_is_an_error():
    pytest.importorskip("gi", reason="python3-gi is missing")
    follower = Follower(Source("a", "file:///no/such.avi"), {}, [SinkOfTest("free")], print, 10.0, None)
    follower.start()
    until(lambda: not follower.running)
    assert isinstance(follower.error, FileNotFoundError)
