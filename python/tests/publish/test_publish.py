# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl publish`."""

import json
import pwd
import re
import signal
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

import gst_element  # noqa: F401
from cudaccl.cli import publish
from cudaccl.publish import Account, JsonLinesSink, Spool
from commands import BALL, LIVE, command, lines_of, start, start_camera
from made import (
    PATIENCE, Mosquitto, Subscriber, count_spooled, free_port, kill_after, make_password, until, write_clip)

FRAMES = 60


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return write_clip(tmp_path_factory.mktemp("clip") / "ball.avi", FRAMES)


def test_publish_a_file(clip, mosquitto, tmp_path):
    subscriber = Subscriber(mosquitto.port)
    arguments = ["publish", "--spool", tmp_path / "spool", "--to", f"mqtt://127.0.0.1:{mosquitto.port}/{{source}}/x",
                 "--to", f"jsonl:{tmp_path}/a.jsonl", "-s", "threshold=200", clip]
    for _ in range(2):  # a file that was complete is published again
        done = command(*arguments)
        assert done.returncode == 0, done.stderr
        assert f"{{source}}/x: ball: {FRAMES} frames sent, 0 wait, 0 lost" in done.stderr
    until(lambda: len(subscriber.messages) == 2 * FRAMES)
    subscriber.stop()
    found = [json.loads(message.payload) for message in subscriber.messages]
    assert found == lines_of(tmp_path / "a.jsonl")
    assert [one["frame"] for one in found] == 2 * list(range(FRAMES))
    assert len({one["run"] for one in found}) == 2
    assert {message.topic for message in subscriber.messages} == {"ball/x"}


def test_publish_what_is_asked_for(clip, mosquitto, tmp_path):
    """The events, and some tracks, are those of all frames."""
    subscriber = Subscriber(mosquitto.port)
    to = f"mqtt://127.0.0.1:{mosquitto.port}"
    sinks = [f"jsonl:{tmp_path}/a.jsonl", f"{to}?what=events", f"{to}/{{source}}?what=tracks&rate=3"]
    done = command("publish", "--spool", tmp_path, *(word for sink in sinks for word in ("--to", sink)), "-s",
                   "threshold=200", "-s", "track=true", f"here={clip}")
    assert done.returncode == 0, done.stderr
    frames = lines_of(tmp_path / "a.jsonl")
    with_events = [one for one in frames if one["events"]]
    rare = [one for one in frames if one["frame"] % 10 == 0 or one["events"]]  # of 30 a second
    assert 1 < len(with_events) < len(rare) < FRAMES
    for what, kept in (("events", with_events), ("tracks", rare)):
        account = f"{len(kept)} frames sent, 0 wait, 0 lost, {FRAMES - len(kept)} not asked for"
        assert f"/{what}: here: {account}\n" in done.stderr
    until(lambda: len(subscriber.messages) == len(with_events) + len(rare))
    until(lambda: dict(subscriber.statuses) == {"cudaccl/here/status": "offline", "here/status": "offline"})
    subscriber.stop()
    found = {topic: [json.loads(one.payload) for one in subscriber.messages if one.topic == topic]
             for topic in ("cudaccl/here/events", "here/tracks")}
    without = [{key: one[key] for key in one if key != "components"} for one in rare]
    assert found["here/tracks"] == without
    assert found["cudaccl/here/events"] == [
        {key: one[key] for key in one if key != "tracks"} for one in without if one["events"]]


def test_publish_that_is_killed_is_offline(mosquitto, tmp_path):
    subscriber = Subscriber(mosquitto.port)
    process = start("publish", "--spool", tmp_path, "--to", f"mqtt://127.0.0.1:{mosquitto.port}", f"one={LIVE}",
                    f"two={LIVE}")
    for state in ("online", "offline"):
        until(lambda: dict(subscriber.statuses) == {f"cudaccl/{name}/status": state for name in ("one", "two")})
        process.kill()
    process.communicate(timeout=PATIENCE)
    subscriber.stop()


# The command, which asks before every 50th frame: so it never gets to the end before it is killed.
ASKING = """
import sys
from cudaccl.cli import main
from cudaccl.publish import BrokerSink
put = BrokerSink.put
def asking(self, report):
    if report.frame % 50 == 0:
        print(report.frame, flush=True)
        sys.stdin.readline()
    return put(self, report)
BrokerSink.put = asking
sys.exit(main(sys.argv[1:]))
"""


def test_publish_goes_on_with_a_file_after_kill(mosquitto, tmp_path):
    frames = 3000
    clip = write_clip(tmp_path / "long.avi", frames)
    subscriber = Subscriber(mosquitto.port)
    arguments = ["publish", "--spool", tmp_path, "--to", f"mqtt://127.0.0.1:{mosquitto.port}", "-s", "threshold=200",
                 clip]
    asking = [sys.executable, "-c", ASKING, *map(str, arguments)]
    kill_after(asking, 4, condition=lambda: len(subscriber.messages) > 100)
    done = command(*arguments)
    assert done.returncode == 0 and "long: goes on with frame" in done.stderr
    until(lambda: b'"frame":2999,' in subscriber.messages[-1].payload)
    subscriber.stop()
    keys = [dict(message.properties.UserProperty)["key"] for message in subscriber.messages]
    run = keys[0].split("/")[1]
    assert list(dict.fromkeys(keys)) == [f"long/{run}/{frame}" for frame in range(frames)]


def test_a_file_waits_for_a_broker_and_goes_on_after_a_signal(clip, tmp_path):
    port = free_port()
    arguments = ["publish", "--spool", tmp_path, "--spool-size", "5K", "--drain", "0", "--to",
                 f"mqtt://127.0.0.1:{port}", "-s", "threshold=200", clip]
    process = start(*arguments)
    until(lambda: sum(map(count_spooled, tmp_path.glob("*.db"))) > 5)
    process.send_signal(signal.SIGTERM)
    error = process.communicate(timeout=PATIENCE)[1]
    waiting = int(re.search(r"ball: 0 frames sent, (\d+) wait, 0 lost", error)[1])
    assert process.returncode == 3 and 5 < waiting < FRAMES
    broker = Mosquitto(tmp_path, port=port)
    try:
        subscriber = Subscriber(port)
        arguments[6] = str(PATIENCE)
        done = command(*arguments)
        assert f"ball: goes on with frame {waiting}" in done.stderr, done.stderr
        assert f"ball: {FRAMES} frames sent, 0 wait, 0 lost" in done.stderr
        until(lambda: len(subscriber.messages) == FRAMES)
        subscriber.stop()
    finally:
        broker.stop()
    assert [json.loads(message.payload)["frame"] for message in subscriber.messages] == list(range(FRAMES))


def spool_of(folder):
    return Spool(next(Path(folder).glob("*.db")))


def test_publish_waits_for_a_broker_and_a_later_process_sends(tmp_path):
    port = free_port()
    to = ["publish", "--spool", tmp_path, "--to", f"mqtt://127.0.0.1:{port}", "--drain", "0.5"]
    done = command(*to, BALL.format(20))
    assert done.returncode == 3
    assert "Connection refused; messages wait in" in done.stderr
    assert "videotestsrc: 0 frames sent, 20 wait, 0 lost" in done.stderr
    broker = Mosquitto(tmp_path, port=port)
    try:
        subscriber = Subscriber(port)
        done = command(*to[:-1], PATIENCE)
        assert done.returncode == 0, done.stderr
        assert "videotestsrc: 20 frames sent, 0 wait, 0 lost" in done.stderr
        until(lambda: len(subscriber.messages) == 20)
        subscriber.stop()
    finally:
        broker.stop()


def test_publish_keeps_tables_of_earlier_runs_and_of_other_sinks(cudaccl_command, tmp_path):
    """Also those that began in the same second."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    for _ in range(3):
        done = cudaccl_command("publish", "--to", f"parquet:{tmp_path}", "--to", f"parquet:{tmp_path}?minutes=5",
                               "a=" + BALL.format(4))
        assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "frames").iterdir())) == 6
    table = parquet.read_table(tmp_path / "frames")
    assert len(set(table["run"].to_pylist())) == 3
    assert table.num_rows == 24 and sorted(table["frame"].to_pylist()) == sorted(6 * [0, 1, 2, 3])


def test_publish_counts_what_is_lost(cudaccl_command, tmp_path):
    done = cudaccl_command("publish", "--spool", tmp_path, "--spool-size", "2K", "--drain", "0", "--to",
                   f"mqtt://127.0.0.1:{free_port()}", "-s", "threshold=200", BALL.format(50))
    assert done.returncode == 3
    assert "are lost, from frame 5: the spool has reached its limit" in done.stderr
    assert "0 frames sent, 5 wait, 45 lost (45 at the limit of the spool)" in done.stderr
    spool = spool_of(tmp_path)
    assert spool.accounts()["videotestsrc"] == Account(spooled=5, full=45)
    spool.close()


def test_publish_with_a_full_disk(cudaccl_command, small_disk):
    done = cudaccl_command("publish", "--spool", small_disk, "--drain", "0", "--to", f"mqtt://127.0.0.1:{free_port()}",
                   "videotestsrc pattern=snow num-buffers=40 ! video/x-raw,width=160,height=120")
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert re.search("are lost, from frame .*(full|No space left)", done.stderr)
    account = re.search(r"0 frames sent, (\d+) wait, (\d+) lost \(\d+ because of the disk\)", done.stderr)
    assert int(account[1]) + int(account[2]) == 40


def test_publish_puts_a_damaged_spool_aside(cudaccl_command, tmp_path):
    arguments = ["publish", "--spool", tmp_path, "--drain", "0", "--to", f"mqtt://127.0.0.1:{free_port()}",
                 BALL.format(5)]
    assert "0 frames sent, 5 wait, 0 lost" in cudaccl_command(*arguments).stderr
    next(tmp_path.glob("*.db")).write_bytes(b"no database" * 99)
    done = cudaccl_command(*arguments)
    assert done.returncode == 3 and done.stderr.count("is damaged (file is not a database)") == 1
    assert "0 frames sent, 5 wait, 0 lost" in done.stderr and "Traceback" not in done.stderr
    done = cudaccl_command(*arguments)
    assert "is damaged" not in done.stderr and "0 frames sent, 10 wait, 0 lost" in done.stderr


@pytest.mark.parametrize("arguments,status,text", [
    (["--to", "mqtt://me:secret@host", "x"], 2, "password in an address"),
    (["--to", "gopher://host", "x"], 2, "is no sink"),
    (["--to", "", "x"], 2, "'' is no sink"),
    (["--to", "-", "a=videotestsrc num-buffers=0"], 1, "error: a: it has no frame"),
    (["x"], 2, "required: --to"),
    (["--to", "-", "--metrics", "high", "x"], 2, "is no \\[HOST:\\]PORT"),
    (["--to", "-", "--metrics", "a..b:9", "x"], 2, "'a..b' is no name of a host"),
    (["--to", "mqtt://.local", "x"], 2, "'.local' is no name of a host"),
    (["--to", "-", "--spool-size", "0", "x"], 2, "is no size"),
    (["--to", "-", "--drain", "-1", "x"], 2, "is no time, such as 2s"),
    (["--to", "-", "no-such-file"], 1, "error: no-such-file: .* no launch line"),
    (["--to", "jsonl:-?what=all", "x"], 2, "what=all is not possible"),
    (["--to", "jsonl:-?what=events", "a=videotestsrc num-buffers=1"], 2, "error: what=events of jsonl:- needs track=true"),
    (["--to", "mqtt:localhost", "x"], 2, "'mqtt:localhost' is no sink: write mqtt://HOST/TOPIC"),
    (["--to", "jsonl:/no/such/a.jsonl", "a=videotestsrc num-buffers=1"], 3, "No such file"),
    (["--to", "jsonl:/dev/full", "a=videotestsrc num-buffers=3"], 3, "3 lost \\(3 because of the disk\\)"),
    (["--to", "mqtts://127.0.0.1:1/x?ca=none.pem", "x"], 3, "cannot be read \\(ca=none.pem\\): No such file"),
    (["--to", "-"], 2, "a SOURCE is needed"),
    (["--to", "parquet:none"], 2, "a SOURCE is needed"),
])
def test_publish_refuses(cudaccl_command, arguments, status, text, tmp_path):
    done = cudaccl_command("publish", "--spool", tmp_path, *arguments)
    assert done.returncode == status, done.stderr
    assert re.search(text, done.stderr) and "Traceback" not in done.stderr


def test_no_file_waits_for_a_device(cudaccl_command, tmp_path):
    """It has no room later, as a disk may have."""
    write_clip(tmp_path / "clip.avi", 4)
    for sink in (["publish", "--to", "jsonl:/dev/full"], ["camera", "--to", "jsonl:/dev/full"]):
        done = cudaccl_command(*sink, "--spool", tmp_path, "-s", "track=true", tmp_path / "clip.avi")
        assert done.returncode == 3 and "4 lost (4 because of the disk)" in done.stderr
        assert "its frames wait" not in done.stderr


def test_sinks_are_closed_when_nothing_writes_to_them(cudaccl_command, monkeypatch, tmp_path):
    """Also by a second Ctrl-C."""
    closed = []
    close = JsonLinesSink.close

    def run(followers, *_rest):
        followers[0].start()
        until(lambda: (tmp_path / "a.jsonl").stat().st_size > 0)
        raise KeyboardInterrupt

    def closing(sink):
        closed.append([thread.name for thread in threading.enumerate() if thread.name == "cudaccl-live"])
        close(sink)

    monkeypatch.setattr(publish, "_run", run)
    monkeypatch.setattr(JsonLinesSink, "close", closing)
    done = cudaccl_command("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", f"live={LIVE}")
    assert done.returncode == 130 and closed == [[]], done.stderr


def test_sighup_does_not_end_a_process_that_connects(cudaccl_command, monkeypatch, tmp_path):
    handlers = []
    opened = publish.open_sink

    def opening(*arguments):
        handlers.append(signal.getsignal(signal.SIGHUP))
        return opened(*arguments)

    monkeypatch.setattr(publish, "open_sink", opening)
    assert cudaccl_command("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", BALL.format(1)).returncode == 0
    assert callable(handlers[0])


def test_a_user_without_a_home(cudaccl_command, monkeypatch, tmp_path):
    def unknown(_user):
        raise KeyError("no such user")

    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cudaccl_command("--version").returncode == 0
    assert cudaccl_command("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", BALL.format(1)).returncode == 0


def test_two_sinks_of_one_broker(cudaccl_command, tmp_path):
    to = f"mqtt://127.0.0.1:{free_port()}"
    done = cudaccl_command("publish", "--spool", tmp_path, "--to", to, "--to", to, BALL.format(1))
    assert done.returncode == 3 and "another sink of this process: two have one broker and topic" in done.stderr


def test_wrong_password(cudaccl_command, tmp_path):
    (tmp_path / "password").write_text("wrong\n")
    passwords = make_password(tmp_path, "me", "secret")
    broker = Mosquitto(tmp_path, "allow_anonymous false", f"password_file {passwords}")
    try:
        to = f"mqtt://me@127.0.0.1:{broker.port}?password-file={tmp_path}/password"
        done = cudaccl_command("publish", "--spool", tmp_path, "--to", to, "a=videotestsrc num-buffers=1")
        assert done.returncode == 3 and "refuses the connection" in done.stderr and "wrong" not in done.stderr
    finally:
        broker.stop()


def test_live_source_has_metrics_and_ends_by_a_signal(tmp_path):
    port = free_port()
    process = start("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", "--metrics", f"127.0.0.1:{port}", "-s",
                    "threshold=200", "-s", "track=true", f"live={LIVE}")

    def figures():
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        except OSError:
            return ""

    text = ""

    def has_frames():
        nonlocal text
        text = figures()  # a frame is counted before its latency is
        return re.search(r'cudaccl_latency_seconds_count{source="live"} [1-9]\d', text)

    until(has_frames)
    process.send_signal(signal.SIGTERM)
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    count = len(lines_of(tmp_path / "a.jsonl"))
    assert f"live: {count} frames sent, 0 wait, 0 lost" in error
    for line in ('cudaccl_source_up{source="live"} 1.0', 'cudaccl_tracks{source="live"} 1.0',
                 'cudaccl_events_total{line="",source="live",type="born",zone=""} 1.0'):
        assert line in text
    assert re.search(r'cudaccl_frames_total{source="live"} [1-9]\d', text)
    below = re.search(r'cudaccl_latency_seconds_bucket{le="10.0",source="live"} (\d+)', text)[1]
    assert int(below) >= 10


def runs_of(path):
    return {one["run"] for one in lines_of(path)}


def test_camera_that_goes_away_is_opened_again(tmp_path):
    port = free_port()
    path = tmp_path / "a.jsonl"
    camera = start_camera(port)
    process = start("publish", "--to", f"jsonl:{path}", "--stall", "20", f"cam=rtsp://127.0.0.1:{port}/live")
    try:
        until(lambda: path.is_file() and len(lines_of(path)) > 3)
        camera.kill()
        camera.wait()
        line = next((line for line in process.stderr if "opened again" in line), "")
        before = runs_of(path)
        camera = start_camera(port)
        until(lambda: runs_of(path) > before)
        until(lambda: lines_of(path)[-1]["utc_clock"] == "camera")  # RTCP has said what its clock shows
    finally:
        camera.kill()
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    # The camera's clock is known from some frame on: by chance from the first.
    clocks = [one["utc_clock"] for one in lines_of(path) if {one["run"]} == before]
    assert clocks == sorted(clocks, reverse=True)
    assert line.startswith("cudaccl: cam: ") and line.endswith("it will be opened again in 0.5 seconds\n")
    lines = [line, *error.splitlines(keepends=True)]
    assert sum(bool(re.fullmatch(r"cudaccl: cam: open again after \d+ s\n", one)) for one in lines) == 1, lines
    for one in lines:
        assert "cam: " in one and not re.search(r"[.]c(pp)?\b", one), "each line names the camera, and no file of code"


@pytest.mark.parametrize("to", ["jsonl:{source}.jsonl", "parquet:{source}"])
def test_sources_of_a_command_have_one_file(cudaccl_command, tmp_path, monkeypatch, to):
    monkeypatch.chdir(tmp_path)
    done = cudaccl_command("publish", "--to", to, BALL.format(1))
    assert done.returncode == 2 and "{source} is for topics" in done.stderr and list(tmp_path.iterdir()) == []


def test_sighup_reads_settings_and_regions_again(tmp_path):
    """What cannot be used changes nothing."""
    file, regions, path = tmp_path / "settings", tmp_path / "regions.json", tmp_path / "a.jsonl"
    everything = [[0, 0], [1, 0], [1, 1], [0, 1]]
    file.write_text(f"threshold=200\nregions={regions}\n")
    regions.write_text('{"version": 1}')
    process = start("publish", "--to", f"jsonl:{path}", "--settings", file, f"live={LIVE}")

    def latest():
        return lines_of(path)[-1]

    def reload(expected):
        process.send_signal(signal.SIGHUP)
        line = process.stderr.readline()
        assert re.search(expected, line), line

    try:
        until(lambda: path.is_file() and lines_of(path) and latest()["n_components"] == 1)
        regions.write_text(json.dumps({"version": 1, "exclude": [{"polygon": everything}]}))
        reload("^cudaccl: live: settings were read again\n")
        until(lambda: latest()["n_components"] == 0)
        file.write_text("threshold=200\n")
        reload("^cudaccl: live: the settings name no regions, so the old ones stay; `regions=` takes them away\n")
        assert process.stderr.readline() == "cudaccl: live: settings were read again\n"
        frames = latest()["frame"]
        until(lambda: latest()["frame"] > frames + 2)
        assert latest()["n_components"] == 0
        file.write_text("track=true\nthreshold=200\nbackend=cpu\nregions=\n")
        reload("^cudaccl: live: settings were read again; backend: when it is opened again\n")
        until(lambda: latest()["n_components"] == 1 and latest().get("tracks"))
        for wrong in ("draw-ids=true\n", "min-area=-5\n", "threshold\n"):
            file.write_text(wrong)
            reload("^cudaccl: error: .*; the old settings stay\n")
        file.write_text("threshold=300\n")
        process.send_signal(signal.SIGHUP)
        # The first frame with them may come before the first line.
        again, refused = sorted(process.stderr.readline() for _ in range(2))
        assert re.search("^cudaccl: live: settings were read again", again), again
        assert re.search("^cudaccl: live: threshold=300 cannot work now: .* threshold=200 is in force\n", refused), refused
        frames = latest()["frame"]
        until(lambda: latest()["frame"] > frames)
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    assert len(runs_of(path)) == 1, "the camera was not opened again"


def test_silent_source_is_opened_again(tmp_path):
    process = start("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", "--stall", "0.3",
                    "quiet=videotestsrc is-live=true ! valve drop=true")
    lines = [process.stderr.readline() for _ in range(2)]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    for line, pause in zip(lines, ("0.5", "1")):
        assert line == f"cudaccl: quiet: no frame came for a long time; it will be opened again in {pause} seconds\n"
