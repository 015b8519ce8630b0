# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl camera`: its values, presets, and what it shows."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from gst_element import Gst
from cudaccl import EVENT, EVENT_TYPES, NO_PLACE
from cudaccl.cli import camera
from cudaccl.publish.event_lines import described, time_text
from cudaccl.publish.report import events_as_dicts
from cudaccl.video import presets
from commands import LIVE, start
from made import PATIENCE, report, report_with_shapes

ROOT = Path(__file__).resolve().parents[3]
BALL = "a=videotestsrc pattern=ball num-buffers=6 ! video/x-raw,width=160,height=120,framerate=10/1"
BRIGHT = "-s", "foreground=binary", "-s", "threshold=200", "-s", "open-radius=0", "-s", "close-radius=0"


@pytest.fixture(autouse=True)
def preset_files(tmp_path, monkeypatch):
    """Those of this tree, and the user's one, which is not there."""
    monkeypatch.setenv("GST_PRESET_PATH", str(ROOT / "gst/properties"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "system"))
    return tmp_path / "data/gstreamer-1.0/presets/GstCudaCcl.prs"


def given(cudaccl_command, monkeypatch, *arguments):
    """The properties that the element gets."""
    found = []
    monkeypatch.setattr(camera.publish, "follow", lambda options, read, recorder: found.append(read()) or 0)
    done = cudaccl_command("camera", *arguments, "a=videotestsrc")
    assert done.returncode == 0, done.stderr
    return found[0]


def test_values_of_the_command_are_those_of_the_documents(cudaccl_command, monkeypatch):
    line, = re.findall("^cudaccl publish .*door=rtsp.*$", (ROOT / "docs/live.md").read_text(), re.MULTILINE)
    documented = dict(text.split("=") for text in re.findall(r"-s (\S+)", line))
    assert given(cudaccl_command, monkeypatch) == documented


def test_a_preset_takes_the_place_of_these_values(cudaccl_command, monkeypatch, tmp_path):
    """Then come the file, regions and single properties."""
    file = tmp_path / "settings"
    file.write_text("min-area=300\nmin-height=9\n")
    regions = tmp_path / "regions.json"
    regions.write_text('{"version": 1}')
    people = presets.find("people").properties
    assert people["foreground"] == "motion" and people["track"] == "true"
    assert given(cudaccl_command, monkeypatch, "--preset", "people") == people
    assert given(cudaccl_command, monkeypatch, "--preset", "people", "--settings", file, "--regions", regions, "-s",
                 "min-height=5") == people | {"min-area": "300", "min-height": "5", "regions": str(regions)}
    assert given(cudaccl_command, monkeypatch, "--preset", "bright-objects")["track"] == "true"


def test_presets_are_those_of_gstreamer(preset_files):
    """Names, and what each one sets in the element."""
    element = Gst.ElementFactory.make("cudaccl")
    assert set(element.get_preset_names()) == set(presets.find_all())
    for name, preset in presets.find_all().items():
        element, other = Gst.ElementFactory.make("cudaccl"), Gst.ElementFactory.make("cudaccl")
        assert element.load_preset(name)
        for key, value in preset.properties.items():
            Gst.util_set_object_arg(other, key, value)
        for spec in element.list_properties():
            if spec.name not in ("name", "parent", "stats"):
                assert element.get_property(spec.name) == other.get_property(spec.name), (name, spec.name)
        assert preset.comment


def as_gstreamer_has_them(*names):
    """What presets set `track-lost` to, in a process that looks for the files."""
    code = """
import sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
for name in sys.argv[1:]:
    element = Gst.ElementFactory.make("cudaccl")
    assert element.load_preset(name), name
    print(element.get_property("track-lost"))
"""
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_users_add_presets(cudaccl_command, monkeypatch, preset_files):
    """That of the documents, too, which GStreamer reads as this program does."""
    preset_files.parent.mkdir(parents=True)
    documented, = re.findall("```ini\n(.*?)```", (ROOT / "docs/camera.md").read_text(), re.DOTALL)
    preset_files.write_text(documented + """
[people]
min-area=40

[broken]
min-area=-5

[shown]
output=overlay
""")
    assert given(cudaccl_command, monkeypatch, "--preset", "yard") == {
        "foreground": "motion", "close-radius": "3", "min-area": "900", "track-lost": "2000000000", "track": "true"}
    assert as_gstreamer_has_them("yard", "vehicles") == [2 * 10**9, 10**9]
    assert given(cudaccl_command, monkeypatch, "--preset", "people") == {"min-area": "40", "track": "true"}
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(preset_files.parents[2]))
    monkeypatch.setenv("GST_PRESET_PATH", str(ROOT / "gst/properties"))
    shown = cudaccl_command("camera", "--preset", "list")
    assert shown.returncode == 0 and "yard: What is large, and not the cat\n" in shown.stdout
    assert re.search("^vehicles: .", shown.stdout, re.MULTILINE) and "shown" not in shown.stdout
    for name, text in (("broken", "min-area is -5; possible are"), ("shown", "sets output itself"),
                       ("no", "there is no preset 'no'; possible are .*yard.*GstCudaCcl.prs")):
        for command in (("camera",), ("run",), ("publish", "--to", "-")):
            done = cudaccl_command(*command, "--preset", name, "a=videotestsrc num-buffers=1")
            assert done.returncode == 2 and re.search(text, done.stderr), done.stderr
    preset_files.write_text("min-area=5\n")
    done = cudaccl_command("camera", "--preset", "people", "a=videotestsrc num-buffers=1")
    assert done.returncode == 2 and str(preset_files) in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("record", [False, True])
def test_settings_are_read_once(cudaccl_command, tmp_path, monkeypatch, record):
    """They may come by a pipe, as of --settings <(echo min-area=900)."""
    reader, writer = os.pipe()
    os.write(writer, b"foreground=binary\nthreshold=200\nopen-radius=0\nclose-radius=0\n")
    os.close(writer)
    arguments = ["--record", tmp_path / "clips"] if record else []
    done = cudaccl_command("camera", *arguments, "--settings", f"/dev/fd/{reader}", BALL)
    os.close(reader)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3  # without these settings no track is born


def test_events_are_shown_as_lines(cudaccl_command):
    done = cudaccl_command("camera", *BRIGHT, "--start-time", "2026-11-25T08:00:00Z", BALL)
    assert done.returncode == 0, done.stderr
    assert "standard output: a: 3 lines about 6 frames sent, 0 wait, 0 lost\n" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["2026-11-25T08:00:00.0Z a: opened, 160x120 pixels", "2026-11-25T08:00:00.0Z a: started"]
    assert len(lines) == 3 and re.fullmatch(r"2026-11-25T08:00:00.2Z a: born 1 at \d+,\d+", lines[2])
    assert cudaccl_command("camera", *BRIGHT, BALL).stdout.startswith("0.0 s a: opened, 160x120 pixels\n")


def test_a_camera_that_never_had_a_frame():
    """Another one had."""
    process = start("camera", "--stall", "0.3", f"good={LIVE}", "quiet=videotestsrc is-live=true ! valve drop=true",
                    stdout=subprocess.PIPE)
    assert "opened" in process.stdout.readline() and "no frame came for a long time" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1 and "cudaccl: error: no frame came from quiet\n" in error, error


def test_a_line_for_each_type_of_event():
    types = EVENT_TYPES[1:]
    events = numpy.zeros(len(types), EVENT)
    events["type"] = [EVENT_TYPES.index(name) for name in types]
    events["id"] = [0 if name in ("crowded", "started", "stopped") else 7 for name in types]
    events["other"] = [3 if name in ("merged", "split", "crowded") else 0 for name in types]
    at_places = ("entered", "left", "dwelled", "crossed-left", "crossed-right", "crowded")
    events["where"] = [0 if name in at_places else NO_PLACE for name in types]
    events["x"], events["y"] = 10.4, 20
    lines = [described(event) for event in events_as_dicts(events, ("door",), ("gate",), None)]
    assert lines == [
        {"born": "born 7 at 10,20", "died": "died 7 at 10,20", "merged": "merged 7 with 3 at 10,20",
         "split": "split 7 from 3 at 10,20", "entered": "entered 7 door at 10,20", "left": "left 7 door at 10,20",
         "dwelled": "dwelled 7 door at 10,20", "crossed-left": "crossed-left 7 gate at 10,20",
         "crossed-right": "crossed-right 7 gate at 10,20", "crowded": "crowded by 3 in door", "started": "started",
         "stopped": "stopped"}[name] for name in types]
    events["where"] = 0
    other, *_ = [described(event) for event in events_as_dicts(events[4:5], ("a\nb\x1b[2J",), (), None)]
    assert other == r"entered 7 a\x0ab\x1b[2J at 10,20"  # it cannot look like another line
    assert time_text(report_with_shapes()) == "2026-11-18T11:06:40.0Z" and time_text(report(frame=5)) == "0.0 s"


def test_a_list_without_presets(cudaccl_command, monkeypatch, tmp_path):
    for name in ("XDG_DATA_HOME", "XDG_DATA_DIRS", "GST_PRESET_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    done = cudaccl_command("camera", "--preset", "list")
    assert done.returncode == 2 and "GStreamer has no presets of cudaccl" in done.stderr


def test_run_and_publish_have_presets(cudaccl_command):
    for command in (("run",), ("publish", "--to", "-")):
        done = cudaccl_command(*command, "--preset", "bright-objects", BALL)
        assert done.returncode == 0, done.stderr
        assert [len(json.loads(line)["components"]) for line in done.stdout.splitlines()] == [1] * 6
        done = cudaccl_command(*command, "--preset", "bright-objects", "-s", "min-area=9000", BALL)
        assert '"components":[{' not in done.stdout


def test_without_tracks_there_is_nothing_to_show(cudaccl_command):
    done = cudaccl_command("camera", "-s", "track=false", BALL)
    assert done.returncode == 2 and "without track=true there are no events" in done.stderr
    assert cudaccl_command("camera", "-s", "track=false", "--to", "-", BALL).returncode == 0


def test_sinks_take_the_place_of_lines(cudaccl_command, tmp_path):
    path = tmp_path / "a.jsonl"
    done = cudaccl_command("camera", *BRIGHT, "--to", f"jsonl:{path}", "--to", "-", BALL)
    assert done.returncode == 0, done.stderr
    assert path.read_text() == done.stdout
    assert [len(json.loads(line)["components"]) for line in done.stdout.splitlines()] == [1] * 6
