# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl run`, and what all commands have."""

import collections
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
from pathlib import Path

import numpy
import pytest

import gst_element  # noqa: F401
from cudaccl.cli import make_parser
from cudaccl.video import values
from commands import BALL, CUDACCL, LIVE, command, lines_of, start
from made import PATIENCE, until, write_clip

SCHEMA = Path(__file__).resolve().parents[3] / "docs/records.schema.json"
FRAMES = 60


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


def test_run_counts_events_by_zone_and_line(tmp_path):
    regions = tmp_path / "regions.json"
    regions.write_text(json.dumps({
        "version": 1, "zones": [{"name": "yard", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}],
        "lines": [{"name": name, "from": [0, y], "to": [1, y], "margin": 0} for name, y in (("high", 0.3), ("low", 0.6))]}))
    done = command("run", "--jsonl", tmp_path / "a.jsonl", "-s", "threshold=200", "-s", "track=true", "-s",
                   f"regions={regions}", "a=videotestsrc pattern=ball num-buffers=200 ! video/x-raw,framerate=30/1")
    assert done.returncode == 0, done.stderr
    counts = collections.Counter(
        (event["type"], event["zone"] or event["line"]) for one in lines_of(tmp_path / "a.jsonl") for event in one["events"])
    assert counts[("entered", "yard")] and counts[("crossed-left", "high")] and counts[("crossed-right", "low")]
    for (kind, place), count in counts.items():
        assert f", {count} {kind}{' ' + place if place else ''}" in done.stderr


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
    (["a=/usr"], 1, "error: a: '/usr' is a folder: name the files in it"),
    (["file:///usr"], 1, "'/usr' is a folder"),
    (["--stall", "0", "videotestsrc num-buffers=1"], 2, "'0' is no time above 0"),
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


@pytest.mark.parametrize("arguments,first,second", [
    (["run", "--csv", "v.avi", "v.avi"], "--csv v.avi", "v.avi"),
    (["run", "--jsonl", "./v.avi", "a=file://{}/v.avi"], "--jsonl ./v.avi", "/"),
    (["run", "--csv", "link.avi", "v.avi"], "--csv link.avi", "v.avi"),
    (["run", "--csv", "v.avi", "hard.avi"], "--csv v.avi", "hard.avi"),
    (["run", "--csv", "v.avi", "a=filesrc location=v.avi ! decodebin"], "--csv v.avi", "v.avi"),
    (["run", "--csv", "regions.json", "-s", "regions=regions.json", "v.avi"], "--csv regions.json",
     "regions=regions.json"),
    (["run", "--jsonl", "settings", "--settings", "settings", "v.avi"], "--jsonl settings", "--settings settings"),
    (["run", "--csv", "-", "--jsonl", "-", "v.avi"], "--jsonl -", "--csv -"),
    (["run", "--csv", "new", "--jsonl", "./new", "v.avi"], "--jsonl ./new", "--csv new"),
    (["run", "--csv", "new", "--parquet", "new", "v.avi"], "--csv new", "--parquet new"),
    (["publish", "--to", "jsonl:v.avi?what=frames", "v.avi"], "--to jsonl:v.avi", "v.avi"),
    (["publish", "--to", "-", "--to", "jsonl:-?rate=2", "v.avi"], "--to -", "--to jsonl:-"),
    (["publish", "--to", "jsonl:new", "--to", "jsonl:link", "v.avi"], "--to jsonl:new", "--to jsonl:link"),
    (["camera", "--record", "new", "--to", "jsonl:regions.json", "--regions", "regions.json", "v.avi"],
     "--to jsonl:regions.json", "regions=regions.json"),
    (["camera", "--record", ".", "a=gate-00000.000s.mkv"], "a clip of --record .", "gate-00000.000s.mkv"),
    (["run", "--csv", "new", "--csv", "other", "v.avi"], "--csv", "is given twice"),
    (["run", "--preset", "people", "--preset", "vehicles", "v.avi"], "--preset", "is given twice"),
    (["publish", "--to", "jsonl:new", "--drain", "1", "--drain", "2", "v.avi"], "--drain", "is given twice"),
])
def test_no_file_is_destroyed(cudaccl_command, tmp_path, arguments, first, second):
    """Refused before work, with one line that names both."""
    for name in ("v.avi", "gate-00000.000s.mkv"):
        (tmp_path / name).write_text("a video")
    (tmp_path / "regions.json").write_text('{"version": 1}')
    (tmp_path / "settings").write_text("threshold=9")
    (tmp_path / "link.avi").symlink_to("v.avi")
    (tmp_path / "hard.avi").hardlink_to(tmp_path / "v.avi")
    (tmp_path / "link").symlink_to("new")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.exists()}
    done = cudaccl_command(*(text.format(tmp_path) for text in arguments), cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert re.search(f"error: {re.escape(first)}.* {re.escape(second)}", done.stderr), done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.exists()} == before


def test_a_device_takes_all_outputs(cudaccl_command):
    done = cudaccl_command("run", "--csv", "/dev/null", "--jsonl", "/dev/null", "videotestsrc num-buffers=1")
    assert done.returncode == 0, done.stderr


def with_line(x):
    return json.dumps({"version": 1, "lines": [{"name": "gate", "from": [0.5, 0], "to": [x, 0]}]})


# Settings that cannot be used, and what is said of them.
WRONG = [
    (["no-such=1"], "has no property no-such$"),
    (["treshold=90"], r"has no property treshold; did you mean threshold\?"),
    (["min_aera=90"], r"has no property min-aera; did you mean min-area\?"),
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
    (["track=true", "track-lost=2sec"], "possible are times such as 2s and 500ms"),
    (["threshold=9", "threshold=90"], "--set: threshold is given twice"),
    (["track=true", "track-lost=2"], "track-lost is 2 nanoseconds.*: write 2s or 2ms"),
    (["track=true", "track-lost=0.5ms"], "track-lost is 500000 nanoseconds, and only whole milliseconds count$"),
    (["event-hold=0.5s0"], "event-hold"),
    (["threshold"], "NAME=VALUE"),
    (["output=mask"], "sets output itself"),
    # These are known when the first frame is there.
    (["threshold=300"], "threshold=300 cannot be used: the largest value of .* is 255"),
    (["threshold-low=300"], "threshold-low=300 cannot be used: the largest value of .* is 255"),
    (["algorithm=union-find"], "union-find"),
    ([f"regions={json.dumps({'version': 1, 'exclude': [{'polygon': [[200, 0], [300, 0], [300, 9]]}]})}"],
     "point 0 of exclude.* is far outside the frame"),
    ([f"regions={json.dumps({'version': 1, 'units': 'pixels', 'include': [{'polygon': [[0, 0], [1, 0], [0.5, 1]]}]})}"],
     "all coordinates are between 0 and 1, but in pixels"),
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


@pytest.mark.parametrize("arguments", [["run"], ["publish", "--to", "-"], ["camera"]])
@pytest.mark.parametrize("settings", [[], ["-s", "threshold=9"]])
def test_without_the_plugin_there_is_one_line(tmp_path, arguments, settings):
    nowhere = {"GST_PLUGIN_PATH": str(tmp_path), "GST_PLUGIN_PATH_1_0": str(tmp_path), "GST_REGISTRY_1_0": f"{tmp_path}/r"}
    done = command(*arguments, *settings, "a=videotestsrc num-buffers=1", env=os.environ | nowhere)
    lines = [line for line in done.stderr.splitlines() if "has no element cudaccl: " in line]
    assert done.returncode == 2 and len(lines) == 1 and "meson devenv -C build" in lines[0], done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


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
    for wrong, line in (("threshold=x", 2), ("nosuch=1", 2), ("max-area=2\nmin-area=9", 3), ("min-area=9\nmin_area=2", 3)):
        file.write_text(f"track=true\n{wrong}\n")
        done = cudaccl_command("run", "--settings", file, source)
        assert done.returncode == 2 and f"error: {file}:{line}: " in done.stderr
    done = cudaccl_command("run", "--preset", "people", "-s", "track-lost=5x", source)
    assert done.returncode == 2 and "error: --set: " in done.stderr
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


def write_sound(path):
    subprocess.run(["gst-launch-1.0", "-q", *"audiotestsrc num-buffers=20 ! wavenc ! filesink".split(),
                    f"location={path}"], check=True)
    return path


def test_a_file_without_video(cudaccl_command, clip, tmp_path):
    sound = write_sound(tmp_path / "sound.wav")
    unknown = tmp_path / "unknown.avi"
    unknown.write_bytes(clip.read_bytes().replace(b"MJPG", b"QQQQ"))
    for arguments in (["run"], ["publish", "--to", "-"]):
        done = cudaccl_command(*arguments, sound)
        assert done.returncode == 1 and f"error: sound: {sound} has no video" in done.stderr
        assert "linking" not in done.stderr and "Internal" not in done.stderr and done.stdout == ""
        done = cudaccl_command(*arguments, unknown)  # as before
        assert done.returncode == 1 and "error: unknown: " in done.stderr and "missing a plug-in" in done.stderr


def test_a_branch_that_has_no_sound(cudaccl_command, clip):
    line = f"a=uridecodebin uri=file://{clip} name=d d. ! audioconvert ! fakesink async=false d."
    done = cudaccl_command("run", line)
    assert done.returncode == 0 and done.stdout.count("\n") == FRAMES, done.stderr


def test_run_goes_on_behind_a_source_that_fails(clip, tmp_path):
    broken = tmp_path / "broken.avi"
    broken.write_bytes(b"no video" * 100)
    done = command("run", "-s", "threshold=200", broken, clip)
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
    # An interrupt may come between the two outputs of a frame.
    count = len(lines_of(tmp_path / "a.jsonl"))
    assert count > 5 and count - parquet.read_table(tmp_path / "p/frames").num_rows in (0, 1)


@pytest.mark.parametrize("command", ["run", "label"])
@pytest.mark.parametrize("old,name,path", [
    ("--jsonl", "--csv", "missing/x.csv"), ("--jsonl", "--csv", "."), ("--jsonl", "--parquet", "/dev/null"),
    ("--csv", "--parquet", "/dev/null")])
def test_an_output_that_cannot_be_opened_leaves_the_other_file(
        cudaccl_command, tmp_path, monkeypatch, command, old, name, path):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.new("L", (8, 8), 255).save("a.png")
    Path("old").write_text("results\n" * 5)
    done = cudaccl_command(command, old, "old", name, path, BALL.format(3) if command == "run" else "a.png")
    assert done.returncode == 3, done.stderr
    assert Path("old").read_text() == "results\n" * 5


LOSES = """
import signal, sys
from cudaccl.cli import main
from cudaccl.publish import report

def lost(*arguments):
    try:
        signal.raise_signal(signal.Signals[sys.argv[1]])
    except KeyboardInterrupt:
        return {}

report._time_of_day = lost
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("command", ["run", "label"])
def test_an_interrupt_that_a_library_loses(tmp_path, command, signal_name):
    """`numpy.datetime_as_string()` does, and so one Ctrl-C in 30 did not end a run."""
    from PIL import Image

    images = [tmp_path / "a.png", tmp_path / "b.png"]
    for image in images:
        Image.new("L", (8, 8), 255).save(image)
    sources = ["a=" + BALL.format(100000)] if command == "run" else images
    done = subprocess.run(
        ["env", "--default-signal=INT", sys.executable, "-c", LOSES, signal_name, command, "--jsonl", tmp_path / "a.jsonl",
         *sources], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 130 and "interrupted" in done.stderr, done.stderr
    assert len(lines_of(tmp_path / "a.jsonl")) == 1


@pytest.mark.parametrize("arguments", [["run", BALL.format(100000)], ["publish", "--to", "-", LIVE]])
def test_reader_that_has_enough(arguments):
    line = shlex.join([*CUDACCL, *arguments])
    done = subprocess.run(["bash", "-c", f"{line} | head -n 1"], capture_output=True, text=True, timeout=PATIENCE)
    assert json.loads(done.stdout)["frame"] == 0 and not re.search("Traceback|error", done.stderr), done.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"], ["run", "--preset", "list"]])
def test_reader_that_has_ended(arguments):
    line = f"{shlex.join([*CUDACCL, *arguments])} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (3, "")


def test_reader_that_has_enough_of_a_table(tmp_path):
    """Nothing is wrong with the image."""
    image = pytest.importorskip("PIL.Image", reason="pillow is missing")
    pixels = numpy.zeros((300, 300), "u1")
    pixels[::2, ::2] = 255  # more rows than fit into a pipe
    for name in ("dots.png", "more.png"):
        image.fromarray(pixels).save(tmp_path / name)
    line = shlex.join([*CUDACCL, "label", f"{tmp_path}/dots.png", f"{tmp_path}/more.png"])
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


def test_silent_source_fails_in_run():
    done = command("run", "--stall", "0.3", "quiet=videotestsrc is-live=true ! valve drop=true")
    assert done.returncode == 1 and "error: quiet: no frame came for a long time" in done.stderr
