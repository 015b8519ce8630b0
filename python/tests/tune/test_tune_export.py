# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `cudaccl tune` gives out is what the documented tools read, and finds the same."""

import json
import shlex
import subprocess
import sys

import pytest

from cudaccl.tune import description, export
from cudaccl.tune.settings import Refused, Settings, checked, of_preset, with_tracks
from cudaccl.video import presets, sources
from cudaccl.video.sources import Source, parse_properties

from tune_made import FRAMES, PATIENCE

REGIONS = json.dumps({"version": 1, "zones": [
    {"name": "it's \"here\" = ünd $HOME 😀\u2028x\x85y", "polygon": [[0.4, 0.1], [0.7, 0.1], [0.7, 0.9], [0.4, 0.9]], "dwell": 0.5}]},
    ensure_ascii=False)
VALUES = {"threshold": "100", "min-area": "20", "local-deviation": "0.25", "track": "true", "track-lost": "500000000",
          "features": "moments+grey", "foreground": "binary", "connectivity": "4-way", "regions": REGIONS}


@pytest.fixture
def source(clip):
    return Source("here", str(clip))


@pytest.fixture
def values():
    return checked([], VALUES)


def records_of(*words):
    done = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(found) == FRAMES
    return [{name: one[name] for name in ("components", "tracks", "events")} for one in found]


@pytest.fixture(scope="module")
def expected(clip):
    """What `cudaccl run` finds with these settings."""
    return records_of("cudaccl", "run", *(word for name, text in VALUES.items() for word in ("-s", f"{name}={text}")), clip)


def test_the_expected_records_have_events_in_the_zone(expected):
    kinds = {event["type"] for one in expected for event in one["events"] if event["zone"]}
    assert {"entered", "dwelled", "left"} <= kinds


def test_the_command(source, values, expected):
    assert records_of(*shlex.split(export.command(source, values))) == expected


def test_the_settings_file(source, values, expected, tmp_path):
    """Of run, and of tune itself."""
    path = tmp_path / "settings.txt"
    path.write_text(export.settings_file(values), encoding="utf-8")
    assert records_of("cudaccl", "run", "--settings", path, source.text) == expected
    assert Settings(parse_properties([], path)).values == values


def test_the_regions_file(source, values, expected, tmp_path):
    path = tmp_path / "regions.json"
    path.write_text(export.regions(values), encoding="utf-8")
    assert records_of(*shlex.split(export.command(source, values | {"regions": str(path)}))) == expected


def test_the_launch_line(source, values, expected):
    """With a sink that needs no screen; it posts the records of each frame."""
    line = export.launch_line(source, values, "passthrough")
    assert line.endswith("! videoconvert ! autovideosink")
    line = line.replace("autovideosink", "fakesink").replace("output=passthrough", "post-messages=records")
    done = subprocess.run(line.replace("gst-launch-1.0", "gst-launch-1.0 -m"), shell=True, capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert sum("cudaccl-event" in text for text in done.stdout.splitlines()) == sum(len(one["events"]) for one in expected)
    assert sum("GstMessageElement" in text or "cudaccl, " in text for text in done.stdout.splitlines()) >= FRAMES


def test_the_program(source, values, expected):
    text = export.snippet(source, values).replace("print(time, len(records))", "print([int(one) for one in records['area']])")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.split("\n") if line] == [
        [one["area"] for one in frame["components"]] for frame in expected]


@pytest.mark.parametrize("text", [None, "rtsp://camera/live"])
def test_the_fleet(source, values, tmp_path, text):
    pytest.importorskip("yaml", reason="PyYAML is missing")
    from cudaccl.fleet.config import load

    path = tmp_path / "fleet.yaml"
    path.write_text(export.fleet(source if text is None else Source("here", text), values), encoding="utf-8")
    config = load(path)
    video, = config.videos
    assert video.name == "here" and checked([], video.properties) == values


def test_the_preset(values):
    path = presets.user_file()
    path.parent.mkdir(parents=True)
    path.write_text(export.preset_file("mine", values), encoding="utf-8")
    assert of_preset("mine") == values
    assert presets.find("mine").is_for_commands


def test_nothing_changed_gives_short_texts(source):
    texts = export.all_of(source, {}, "overlay", "mine")
    assert texts["settings"] == texts["regions"] == ""
    assert texts["command"] == f"cudaccl run {source.text}"


def test_settings_are_those_of_the_documents():
    """Each has a group, a text and a default that can be set."""
    for one in description.settings().values():
        assert one.group and one.text
        if one.default and one.kind != "text":
            assert checked([one.name], {one.name: one.default}) == {}
    assert not {"output", "metadata", "name", "stats", "active-backend"} & set(description.settings())


def test_values_are_shown_as_the_element_has_them():
    assert checked([], {"track-lost": "2s", "min-area": "0x10", "features": "euler+moments", "track": "yes"}) == {
        "track-lost": "2000000000", "min-area": "16", "features": "moments+euler", "track": "true"}


def test_undo_and_redo():
    settings = Settings({"min-area": "3"})
    for value in "456":
        settings.change({"min-area": value}, "one drag")
    settings.change({"top-n": "2"})
    settings.change({"top-n": "2"})
    assert settings.values == {"min-area": "6", "top-n": "2"}
    settings.undo()
    assert settings.values == {"min-area": "6"} and settings.can_redo
    settings.undo()
    assert settings.values == {"min-area": "3"} and not settings.can_undo
    settings.undo()
    settings.redo()
    settings.redo()
    assert settings.values == {"min-area": "6", "top-n": "2"} and not settings.can_redo
    with pytest.raises(Refused, match="possible are whole numbers") as refusal:
        settings.change({"top-n": "-2"})
    assert refusal.value.names == ["top-n"] and settings.values["top-n"] == "2" and not settings.can_redo
    settings.change({"top-n": None})
    assert "top-n" not in settings.values


def test_zones_switch_tracks_on():
    assert with_tracks({}, REGIONS) == {"regions": REGIONS, "track": "true"}
    assert with_tracks({"track": "true"}, REGIONS) == {"regions": REGIONS}
    assert with_tracks({}, '{"version": 1, "exclude": []}') == {"regions": '{"version": 1, "exclude": []}'}
    assert with_tracks({}, "") == {"regions": None}


def test_a_file_of_regions_becomes_its_text(tmp_path):
    """So that the page can show it, and what is given out needs no other file."""
    path = tmp_path / "regions.json"
    path.write_text("// a comment\n" + REGIONS, encoding="utf-8")
    settings = Settings(parse_properties([f"regions={path}", "track=true"]))
    sources.check_properties(settings.values)
    assert json.loads(export.regions(settings.values)) == json.loads(REGIONS)
