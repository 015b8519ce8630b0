# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl`: run and publish."""

import datetime
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import termios
import urllib.request
from pathlib import Path

import numpy
import pytest

gi = pytest.importorskip("gi", reason="python3-gi is missing")
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from cudaccl.cli import make_parser  # noqa: E402
from cudaccl.publish import Account, Spool  # noqa: E402
from cudaccl.video import values  # noqa: E402
from made import (  # noqa: E402
    PATIENCE, Mosquitto, Subscriber, count_spooled, free_port, kill_after, make_password, until, write_clip)

Gst.init(None)
if Gst.ElementFactory.find("cudaccl") is None:
    pytest.skip("GStreamer has no element cudaccl", allow_module_level=True)

SCHEMA = Path(__file__).resolve().parents[3] / "docs/records.schema.json"
BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,width=160,height=120"
LIVE = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=100/1"
CUDACCL = [sys.executable, "-m", "cudaccl"]
FRAMES = 60


def command(*arguments, **options):
    return subprocess.run(
        [*CUDACCL, *map(str, arguments)], capture_output=True, text=True, timeout=2 * PATIENCE, **options)


def start(*arguments):
    # A shell starts what runs in its background, as these tests may, with SIGINT ignored.
    command = ["env", "--default-signal=INT", *CUDACCL, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def lines_of(path):
    """Those that are complete: another process may write the file."""
    lines = Path(path).read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return write_clip(tmp_path_factory.mktemp("clip") / "ball.avi", FRAMES)


@pytest.mark.parametrize("name", ["label", "run", "camera", "publish"])
def test_help_has_examples_that_can_be_read(cudaccl_command, name):
    done = cudaccl_command(name, "--help")
    assert done.returncode == 0 and "exit status:" in done.stdout
    examples = re.findall(r"^  (cudaccl .*)$", done.stdout, re.MULTILINE)
    assert len(examples) >= 3
    for example in examples:
        words = shlex.split(example)
        assert words[1] == name
        make_parser().parse_args(words[1:words.index(">") if ">" in words else None])


def test_run_writes_every_frame_in_each_form(clip, tmp_path):
    done = command("run", "--jsonl", tmp_path / "a.jsonl", "--csv", "-", "--parquet", tmp_path / "p", "-s",
                   "threshold=200", "-s", "track=true", f"here={clip}")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"here: {FRAMES} frames \(160x120\), {FRAMES} components, 1 started, 1 born", done.stderr)
    found = lines_of(tmp_path / "a.jsonl")
    assert [one["frame"] for one in found] == list(range(FRAMES))
    assert {one["source"] for one in found} == {"here"}
    assert [one["pts"] for one in found] == sorted(one["pts"] for one in found)
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is missing")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for one in found:
        validator.validate(one)
    table = [line.split(",") for line in done.stdout.splitlines()]
    area = table[0].index("area")
    assert [line[area] for line in table[1:]] == [str(one["components"][0]["area"]) for one in found]
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    assert parquet.read_table(tmp_path / "p/components")["area"].to_pylist() == [
        one["components"][0]["area"] for one in found]
    assert parquet.read_table(tmp_path / "p/frames").num_rows == FRAMES


def test_run_knows_the_time_of_day_of_a_file_if_it_is_told(clip):
    options = "run", "-s", "threshold=200", "-s", "track=true", clip
    done = command(*options, "--start-time", "2026-11-25T09:30:00.500+01:00")
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    assert frames[0]["utc"] == "2026-11-25T08:30:00.500000000Z" and frames[0]["utc_clock"] == "start-time"
    since = datetime.datetime(2026, 11, 25, 8, 30, 0, 500000)
    for frame in frames:
        whole = (since + datetime.timedelta(microseconds=frame["pts"] // 1000)).isoformat(timespec="microseconds")
        assert frame["utc"] == f"{whole}{frame['pts'] % 1000:03}Z"
        assert all(event["utc"] == frame["utc"] for event in frame["events"])
    assert any(frame["events"] for frame in frames)
    assert '"utc' not in command(*options).stdout
    assert "is no time" in command(*options, "--start-time", "noon").stderr


def test_run_is_repeatable(clip):
    first, second = (command("run", "-s", "threshold=200", clip) for _ in range(2))
    assert first.stdout == second.stdout and first.stdout.count("\n") == FRAMES


@pytest.mark.parametrize("arguments,status,text", [
    (["no-such-file.avi"], 1, "is no URI, no camera, no file and no launch line"),
    (["file:///no/such.avi"], 1, "such.avi"),
    (["videotestsrc num-buffers=1", "videotestsrc num-buffers=2"], 2, "two sources have the name videotestsrc"),
    (["!"], 2, "needs a name"),
    (["--jsonl", "/dev/full", "a=videotestsrc num-buffers=1"], 3, "No space left on device; it ends before frame 0"),
    (["--csv", "/dev/full", "a=videotestsrc num-buffers=1"], 3, "No space left on device"),
    (["--jsonl", "/no/such/a.jsonl", "a=videotestsrc num-buffers=1"], 3, "No such file or directory"),
    (["--wrong"], 2, "unrecognized arguments|required"),
])
def test_run_refuses(cudaccl_command, arguments, status, text):
    done = cudaccl_command("run", *arguments)
    assert done.returncode == status, done.stderr
    assert re.search(text, done.stderr) and "Traceback" not in done.stderr and "Warning" not in done.stderr


def with_line(x):
    return json.dumps({"version": 1, "lines": [{"name": "gate", "from": [0.5, 0], "to": [x, 0]}]})


# Settings that cannot be used, and what is said of them.
WRONG = [
    (["no-such=1"], "has no property no-such"),
    (["foreground=magic"], "foreground.*; possible are binary, otsu, local"),
    (["features=grey,hull"], "; possible are moments, .*, joined by [+]"),
    (["min-area=2.5"], "; possible are whole numbers from 0 to 2147483647"),
    (["min-area=-5"], "min-area is -5; possible are whole numbers from 0 to 2147483647"),
    (["max-area=-5"], "max-area is -5; possible are whole numbers from 0"),
    (["top-n=-1"], "top-n is -1; possible are"),
    (["threshold=-1"], "threshold is -1; possible are"),
    (["max-tracks=0"], "max-tracks is 0; possible are whole numbers from 1 to"),
    (["overlay-alpha=1.5"], "overlay-alpha is 1.5; .* numbers from 0.0"),
    (["regions=/no/such.json"], "regions: /no/such.json: No such file"),
    (['regions={"version": 1, "zone": []}'], 'unknown member "zone"'),
    (["track=true", f"regions={with_line(0.5)}"], r"lines\[0\] has no length"),
    ([f"regions={with_line(1)}"], "zones and lines of regions have no effect: track=true"),
    (["draw-regions=true", f"regions={with_line(1)}"], "zones and lines of regions have no effect: track=true"),
    (["draw-ids=true"], "draw-ids=true has no effect: track=true"),
    (["track=true", "track-lost=2"], "track-lost is 2 nanoseconds.*: write 2s or 2ms"),
    (["event-hold=0.5s0"], "event-hold"),
    (["threshold"], "NAME=VALUE"),
    (["output=mask"], "sets output itself"),
    # These are known when the first frame is there.
    (["threshold=300"], "threshold=300 cannot be used: the largest value of .* is 255"),
    (["threshold-low=300"], "threshold-low=300 cannot be used: the largest value of .* is 255"),
    (["algorithm=union-find"], "union-find"),
    ([f"regions={json.dumps({'version': 1, 'exclude': [{'polygon': [[200, 0], [300, 0], [300, 9]]}]})}"],
     "point 0 of exclude.* is far outside the frame"),
    ([f"regions={json.dumps({'version': 1, 'include': [{'polygon': [[2, 2], [3, 2], [3, 3]]}]})}"],
     "include.* is outside the frame of 16x16 pixels"),
]


@pytest.mark.parametrize("arguments", [["run", "--jsonl"], ["publish", "--spool", "spool", "--to"]])
@pytest.mark.parametrize("settings,text", WRONG)
def test_settings_that_cannot_be_used_end_a_command(cudaccl_command, tmp_path, arguments, settings, text):
    """With one line, and before work."""
    kept = tmp_path / "a.jsonl"
    kept.write_text("a line of an earlier run\n")
    given = [word for one in settings for word in ("-s", one)]
    file = f"jsonl:{kept}" if arguments[0] == "publish" else kept
    done = cudaccl_command(*arguments, file, *given,
                           "a=videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=16,height=16", cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if "frames sent" not in line]
    assert done.returncode == 2, done.stderr
    assert len(lines) == 1 and lines[0].startswith("cudaccl: error: ") and re.search(text, lines[0]), done.stderr
    assert kept.read_text() == "a line of an earlier run\n"


def test_times_have_units(cudaccl_command):
    """As options have. A number alone is what the element takes: nanoseconds."""
    for text in ("2s", "500ms", "1.5s", "2000000000", "0"):
        done = cudaccl_command("run", "--stall", "20s", "-s", "track=true", "-s", f"track-lost={text}",
                               "videotestsrc num-buffers=1")
        assert done.returncode == 0, done.stderr
    assert values.seconds("500ms") == 0.5 and values.seconds("2s") == values.seconds("2") == 2
    with pytest.raises(ValueError, match="'2 s' is no time, such as 2s or 500ms"):
        values.seconds("2 s")


def test_a_file_of_settings(cudaccl_command, tmp_path):
    file = tmp_path / "settings"
    file.write_text("# a comment\n\nthreshold=200\ntrack true\n")
    source = "videotestsrc num-buffers=1"
    done = cudaccl_command("run", "--settings", file, source)
    assert done.returncode == 2 and f"{file}:4: track true: a property is set by NAME=VALUE" in done.stderr
    file.write_text("# a comment\n\nthreshold = 200\ntrack=true\n")
    found = json.loads(cudaccl_command("run", "--settings", file, source).stdout)
    assert "tracks" in found
    assert "tracks" not in json.loads(cudaccl_command("run", "--settings", file, "-s", "track=false", source).stdout)
    done = cudaccl_command("run", "--settings", tmp_path / "none", source)
    assert done.returncode == 2 and "none: No such file" in done.stderr


@pytest.mark.parametrize("setting", ["max-area=-1", "max-components=0x10", "track=T", "motion-max-change=1"])
def test_run_takes_what_gstreamer_takes(cudaccl_command, setting):
    done = cudaccl_command("run", "-s", "threshold=200", "-s", setting, "videotestsrc pattern=ball num-buffers=1")
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stderr
    found = json.loads(done.stdout)
    assert found["n_components"] == 1 and ("tracks" in found) == (setting == "track=T")


def test_version(cudaccl_command):
    done = cudaccl_command("--version")
    assert done.returncode == 0 and re.fullmatch(r"cudaccl [0-9]+\.[0-9]+\.[0-9]+\n", done.stdout)


def test_run_with_a_full_disk(small_disk):
    """In a process with GStreamer, whose libunwind makes exceptions in other libraries fatal."""
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    done = command("run", "--parquet", small_disk / "p", "-s", "threshold=128", "-s", "connectivity=4-way",
                   "videotestsrc pattern=snow num-buffers=60 ! video/x-raw,width=320,height=240")
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert not [path for path in (small_disk / "p").rglob("*") if path.is_file()]


@pytest.mark.parametrize("muxer", ["avimux", "matroskamux", "qtmux fragment-duration=500"])
def test_a_file_that_ends_early_says_so(tmp_path, muxer):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    write_clip(whole, FRAMES, muxer)
    cut.write_bytes(whole.read_bytes()[:whole.stat().st_size // 3])
    for arguments in (["run"], ["publish", "--to", "-"]):
        done = command(*arguments, "-s", "threshold=200", whole, cut)
        found = re.findall(rf"error: (.*): the file ends early: (\d+) frames of {FRAMES} came, at least \d+ bytes are",
                           done.stderr)
        assert done.returncode == 1 and found == [("cut", str(done.stdout.count("\n") - FRAMES))], done.stderr


def test_run_goes_on_behind_a_source_that_fails(clip, tmp_path):
    broken = tmp_path / "broken.avi"
    broken.write_bytes(clip.read_bytes()[:40] + bytes(1000))
    done = command("run", "--stall", "30", "-s", "threshold=200", broken, clip)
    assert done.returncode == 1 and "error: broken:" in done.stderr
    assert done.stdout.count("\n") == FRAMES


def test_frames_change_their_size(tmp_path):
    for number, size in enumerate([(64, 48), (80, 60)]):
        subprocess.run(
            ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
             f"video/x-raw,width={size[0]},height={size[1]}", "!", "pngenc", "!", "filesink",
             f"location={tmp_path}/{number}.png"], check=True)
    line = f"images=multifilesrc location={tmp_path}/%d.png caps=image/png,framerate=1/1 ! pngdec"
    done = command("run", line)
    assert done.returncode == 0 and "2 frames (64x48, 80x60)" in done.stderr, done.stderr
    assert [(one["width"], one["height"]) for one in map(json.loads, done.stdout.splitlines())] == [(64, 48), (80, 60)]
    done = command("publish", "--to", f"jsonl:{tmp_path}/a.jsonl", line)
    assert done.returncode == 0 and "frames have 80x60 pixels now" in done.stderr, done.stderr


def test_run_can_be_interrupted(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    process = start("run", "--parquet", tmp_path / "p", "--jsonl", tmp_path / "a.jsonl", LIVE)
    until(lambda: (tmp_path / "a.jsonl").is_file() and len(lines_of(tmp_path / "a.jsonl")) > 5)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in process.communicate(timeout=PATIENCE)[1] and process.returncode == 130
    assert parquet.read_table(tmp_path / "p/frames").num_rows == len(lines_of(tmp_path / "a.jsonl")) > 5


@pytest.mark.parametrize("arguments", [["run", BALL.format(100000)], ["publish", "--to", "-", LIVE]])
def test_reader_that_has_enough(arguments):
    line = shlex.join([*CUDACCL, *arguments])
    done = subprocess.run(["bash", "-c", f"{line} | head -n 1"], capture_output=True, text=True, timeout=PATIENCE)
    assert json.loads(done.stdout)["frame"] == 0 and not re.search("Traceback|error", done.stderr), done.stderr


def test_reader_that_has_enough_of_a_table(tmp_path):
    """Nothing is wrong with the image."""
    image = pytest.importorskip("PIL.Image", reason="pillow is missing")
    pixels = numpy.zeros((300, 300), "u1")
    pixels[::2, ::2] = 255  # more rows than fit into a pipe
    image.fromarray(pixels).save(tmp_path / "dots.png")
    line = shlex.join([*CUDACCL, "label", f"{tmp_path}/dots.png", f"{tmp_path}/dots.png"])
    done = subprocess.run(["bash", "-c", f"{line} | head -n 1"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.startswith("source,frame,") and done.stderr == ""


def read_terminal(ours):
    """All that is shown, while it is: a terminal has no room for the bars of a slow run."""
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other side is closed
            os.close(ours)
            return shown.decode()


def test_progress_on_a_terminal(clip):
    pytest.importorskip("tqdm", reason="tqdm is missing")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    process = subprocess.Popen([*CUDACCL, "run", clip], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = read_terminal(ours)
    assert process.wait(PATIENCE) == 0, shown
    assert re.search(rf"ball: 100%.*{FRAMES}/{FRAMES} \[\d+:\d+<\d+:\d+, .*frames/s\]", shown), shown
    assert "%" not in command("run", clip).stderr


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
    assert ("cudaccl/here/status", "online") in subscriber.statuses
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
    (["x"], 2, "required: --to"),
    (["--to", "-", "--metrics", "high", "x"], 2, "is no \\[HOST:\\]PORT"),
    (["--to", "-", "--spool-size", "0", "x"], 2, "is no size"),
    (["--to", "-", "--drain", "-1", "x"], 2, "is no time, such as 2s"),
    (["--to", "-", "no-such-file"], 1, "error: no-such-file: .* no launch line"),
    (["--to", "jsonl:-?what=all", "x"], 2, "what=all is not possible"),
    (["--to", "jsonl:-?what=events", "a=videotestsrc num-buffers=1"], 2, "error: what=events of jsonl:- needs track=true"),
    (["--to", "mqtt:localhost", "x"], 2, "'mqtt:localhost' is no sink: write mqtt://HOST/TOPIC"),
    (["--to", "jsonl:/no/such/a.jsonl", "a=videotestsrc num-buffers=1"], 3, "No such file"),
    (["--to", "jsonl:/dev/full", "a=videotestsrc num-buffers=3"], 3, "3 lost \\(3 because of the disk\\)"),
])
def test_publish_refuses(cudaccl_command, arguments, status, text, tmp_path):
    done = cudaccl_command("publish", "--spool", tmp_path, *arguments)
    assert done.returncode == status, done.stderr
    assert re.search(text, done.stderr) and "Traceback" not in done.stderr


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


CAMERA = """
import sys, gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer(service=sys.argv[1], address="127.0.0.1")
factory = GstRtspServer.RTSPMediaFactory(shared=True)
factory.set_launch("( videotestsrc is-live=true pattern=ball"
                   " ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! jpegenc ! rtpjpegpay name=pay0 )")
server.get_mount_points().add_factory("/live", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""


def start_camera(port):
    process = subprocess.Popen([sys.executable, "-c", CAMERA, str(port)], stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        pytest.skip("no RTSP server: install gir1.2-gst-rtsp-server-1.0")
    return process


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
    assert lines_of(path)[0]["utc_clock"] == "system"
    assert line.startswith("cudaccl: cam: ") and line.endswith("it will be opened again in 0.5 seconds\n")
    lines = [line, *error.splitlines(keepends=True)]
    assert sum(bool(re.fullmatch(r"cudaccl: cam: open again after \d+ s\n", one)) for one in lines) == 1, lines
    for one in lines:
        assert "cam: " in one and not re.search(r"[.]c(pp)?\b", one), "each line names the camera, and no file of code"


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
        file.write_text("track=true\nthreshold=200\nbackend=cpu\n")
        reload("^cudaccl: live: settings were read again; backend: when it is opened again\n")
        until(lambda: latest()["n_components"] == 1 and latest().get("tracks"))
        for wrong in ("draw-ids=true\n", "min-area=-5\n", "threshold\n"):
            file.write_text(wrong)
            reload("^cudaccl: error: .*; the old settings stay\n")
        file.write_text("threshold=300\n")
        reload("^cudaccl: live: settings were read again")
        line = process.stderr.readline()
        assert re.search("^cudaccl: live: threshold=300 cannot work now: .* threshold=200 stays\n", line), line
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


def test_silent_source_fails_in_run():
    done = command("run", "--stall", "0.3", "quiet=videotestsrc is-live=true ! valve drop=true")
    assert done.returncode == 1 and "error: quiet: no frame came for a long time" in done.stderr
