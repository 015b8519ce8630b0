# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a sink gets: what=, rate= and changes= of its address."""

import dataclasses
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from cudaccl import EVENT, TrackFlag
from cudaccl.publish import Account, AddressError, Spool, Spooling, open_sink
from cudaccl.publish.selection import Picker, Selection
from made import report, report_with_shapes

SCHEMA = Path(__file__).resolve().parents[3] / "docs/records.schema.json"
MS = 10**6


def frame(number, pts, events=False, **options):
    """At so many milliseconds."""
    made = report(number, **options)
    none = numpy.zeros(0, EVENT) if made.events is not None else None
    return dataclasses.replace(made, pts=None if pts is None else pts * MS, events=made.events if events else none)


def picked(chosen, frames):
    """Numbers of the frames that are sent."""
    picker = Picker(chosen)
    return [one.frame for one in frames if picker.pick(one) is not None]


def test_the_rate_is_that_of_the_stream():
    """25 frames a second; two of them, and those with events, which do not change which others are sent."""
    frames = [frame(number, 1000 + 40 * number) for number in range(100)]
    regular = [0, 13, 25, 38, 50, 63, 75, 88]
    assert picked(Selection(rate=2), frames) == regular
    for number in (1, 14, 30):
        frames[number] = frame(number, 1000 + 40 * number, events=True)
    assert picked(Selection(rate=2), frames) == sorted({*regular, 1, 14, 30})
    assert picked(Selection(rate=0.5), frames) == sorted({0, 50, 1, 14, 30})
    assert picked(Selection(rate=1000), frames) == list(range(100))
    thirtieths = [dataclasses.replace(frame(number, 0), pts=number * 10**9 // 30) for number in range(9)]
    assert picked(Selection(rate=15), thirtieths) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("times", [[None] * 91, [0] * 91, [90 - number for number in range(91)]])
def test_frames_without_a_time_are_a_thirtieth_of_a_second_apart(times):
    assert picked(Selection(rate=1), [frame(number, pts) for number, pts in enumerate(times)]) == [0, 30, 60, 90]


def seen(number, ids, zones, flags=TrackFlag.CONFIRMED, n=1, events=False):
    made = frame(number, 40 * number, events, n=n)
    tracks = made.tracks[[0] * len(ids)]
    tracks["id"], tracks["zones"], tracks["flags"] = ids, zones, flags
    return dataclasses.replace(made, tracks=tracks)


@pytest.mark.parametrize("fps", [1, 5, 10, 25, 60, 120, 240])
def test_frames_without_a_time_between_others_change_no_rate(fps):
    frames = [frame(number, None if number % 2 else number * 1000 / fps) for number in range(60 * fps)]
    assert abs(len(picked(Selection(rate=0.5), frames)) - 30) <= 1
    assert picked(Selection(), frames) == list(range(len(frames)))


def test_changes_are_those_of_confirmed_tracks_and_their_zones():
    frames = [
        seen(0, [], []), seen(1, [], [], n=5), seen(2, [1], [0], TrackFlag.NEWBORN),  # noise
        seen(3, [1], [0]), seen(4, [1], [0], n=3), seen(5, [1], [1]), seen(6, [1], [1]),
        seen(7, [1], [1], TrackFlag.CONFIRMED | TrackFlag.PREDICTED), seen(8, [1, 2], [1, 0]), seen(9, [2, 3], [1, 0]),
        seen(10, [2, 3], [1, 0], events=True), seen(11, [2, 3], [1, 0]), seen(12, [], [])]
    for what in ("frames", "tracks"):
        assert picked(Selection(what, changes=True), frames) == [0, 3, 5, 8, 9, 10, 12]


def test_without_tracks_changes_are_those_of_the_number_of_components():
    frames = [frame(number, 40 * number, n=n, tracked=False) for number, n in enumerate([0, 0, 2, 2, 1, 1, 0])]
    assert picked(Selection(changes=True), frames) == [0, 2, 4, 6]


def test_a_change_waits_for_its_turn_if_there_is_a_rate():
    """And what has gone until then is not sent."""
    counts = [1] * 10 + [2] * 5 + [1] * 13 + [3] * 30
    frames = [frame(number, 40 * number, n=n, tracked=False) for number, n in enumerate(counts)]
    assert picked(Selection(rate=1, changes=True), frames) == [0, 28]
    frames[26:27] = [frame(26, 40 * 26, n=4, tracked=False)]
    assert picked(Selection(rate=1, changes=True), frames) == [0, 26, 50]


def test_what_has_the_schema():
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is missing")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    full = report_with_shapes().as_dict()
    for what, missing in (("frames", set()), ("tracks", {"components", "polygons", "polygons_truncated"}),
                          ("events", {"components", "polygons", "polygons_truncated", "tracks"})):
        found = Picker(Selection(what)).pick(report_with_shapes()).as_dict()
        assert found == {key: value for key, value in full.items() if key not in missing}
        validator.validate(found)
    assert Picker(Selection("events")).pick(frame(0, 0)) is None
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({key: full[key] for key in full if key not in ("components", "tracks", "events")})


@pytest.mark.parametrize("options,wanted", [
    ("", Selection()), ("what=tracks", Selection("tracks")), ("rate=0.2&what=frames", Selection(rate=0.2)),
    ("changes=true", Selection(changes=True)), ("changes=false", Selection())])
def test_every_sink_has_the_options(options, wanted):
    for one in ("-?", "jsonl:-?", "jsonl:a?", "parquet:a?minutes=6&", "mqtt://host/a?keepalive=7&",
                "kafka://host?linger.ms=0&"):
        assert selection_of(one + options) == wanted


def selection_of(address):
    from cudaccl.publish.address import check_sink
    return check_sink(address.rstrip("?&"))


@pytest.mark.parametrize("options,reason", [
    ("what=all", "what=all is not possible; possible are frames, tracks, events"),
    ("what=events&rate=2", "all events are sent; rate and changes are for frames and tracks"),
    ("what=events&changes=true", "all events are sent"), ("rate=0", "'0' is no number above 0"),
    ("rate", "NAME=VALUE"), ("changes=yes", "changes=yes is not possible"),
    ("wat=events", "there is no option 'wat'; possible are .*what")])
def test_options_that_are_wrong(options, reason, tmp_path):
    for sink in ("jsonl:a", "parquet:a", "mqtt://host/a", "kafka://host/a"):
        with pytest.raises(AddressError, match=reason):
            open_sink(f"{sink}?{options}", Spooling(tmp_path))


def test_tracks_and_events_of_mqtt_have_topics_of_their_own(tmp_path, monkeypatch):
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    from cudaccl.publish import address

    names = []
    monkeypatch.setattr(address, "BrokerSink", lambda name, *_: names.append(name))
    for options in ("", "?what=events", "?what=tracks&rate=1"):
        open_sink(f"mqtt://host{options}", Spooling(tmp_path))
        open_sink(f"mqtt://host/all{options}", Spooling(tmp_path))
    assert [name.removeprefix("mqtt://host:1883/") for name in names] == [
        "cudaccl/{source}", "all", "cudaccl/{source}/events", "all/events", "cudaccl/{source}/tracks", "all/tracks"]


def test_what_is_not_asked_for_is_counted(tmp_path):
    """In lines of JSON and in tables."""
    sink = open_sink(f"jsonl:{tmp_path}/a.jsonl?what=events", Spooling(tmp_path))
    sink.begin("a", "r")
    for number in range(10):
        assert sink.put(frame(number, 40 * number, events=number in (3, 7)))
    sink.close()
    assert sink.accounts() == {"a": Account(sent=2, skipped=8)} and sink.accounts()["a"].frames == 10
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["frame"] for line in lines] == [3, 7] and "components" not in lines[0]
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    rows = {"frames": [0, 7, 13], "components": [], "tracks": [0, 0, 7, 7, 13, 13], "events": [7] * 3, "polygons": []}
    sink = open_sink(f"parquet:{tmp_path}/p?what=tracks&rate=2", Spooling(tmp_path), "part")
    for number in range(20):
        sink.put(dataclasses.replace(report_with_shapes(frame=number), pts=40 * MS * number,
                                     events=frame(number, 0, events=number == 7).events))
    sink.close()
    assert sink.accounts() == {"a": Account(sent=3, skipped=17)}
    for name, wanted in rows.items():
        assert parquet.read_table(tmp_path / "p" / name / "part.parquet")["frame"].to_pylist() == wanted


def chosen(number):
    return frame(number, 40 * number, events=number in (30, 45))


LIFE = """
import sys
from pathlib import Path
from cudaccl.publish.selection import SelectedSink, Selection
from test_selection import SpoolSink, chosen

sink = SelectedSink(SpoolSink(Path(sys.argv[1])), Selection("tracks", rate=2))
run = sink.interrupted("a", "content") or "r"
first = sink.begin("a", run, "content")
for number in range(int(sys.argv[2])):
    sink.put(chosen(number))
print(first, flush=True)
if int(sys.argv[2]) < 60:
    import os
    os.kill(os.getpid(), 9)
sink.end("a")
sink.close()
"""


class SpoolSink:
    """A `BrokerSink` without a broker."""

    def __init__(self, path):
        self.spool = Spool(path)

    def __getattr__(self, name):
        return getattr(self.spool, name)

    def put(self, made):
        return self.spool.put(made.source, made.frame, made.json)


def test_a_file_goes_on_after_a_kill_as_without_one(tmp_path):
    """The same messages, each once, and each frame is in one of the numbers, once."""
    firsts = [
        int(subprocess.run([sys.executable, "-c", LIFE, tmp_path / "spool.db", str(frames)], stdout=subprocess.PIPE,
                           cwd=Path(__file__).parent).stdout)
        for frames in (10, 14, 31, 44, 60)]
    assert firsts == [0, 10, 14, 31, 44]
    spool = Spool(tmp_path / "spool.db")
    messages = spool.fetch(0, 99)
    whole = Picker(Selection("tracks", rate=2))
    wanted = [one for one in map(whole.pick, map(chosen, range(60))) if one is not None]
    assert [one.frame for one in wanted] == [0, 13, 25, 30, 38, 45, 50]
    assert [(one.key, one.payload) for one in messages] == [(f"{one.source}/{one.run}/{one.frame}", one.json) for one in wanted]
    assert spool.accounts() == {"a": Account(spooled=7, skipped=53)}
    spool.close()


def test_a_spool_of_an_earlier_version_goes_on(tmp_path):
    path = tmp_path / "spool.db"
    spool = Spool(path)
    spool.begin("a", "r", "content")
    spool.put("a", 0, b"0")
    spool.close()
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE accounts DROP COLUMN skipped")
        database.execute("PRAGMA user_version=1")
    database.close()
    spool = Spool(path)
    assert spool.begin("a", "r", "content") == 1
    spool.skip("a", 1)
    spool.put("a", 2, b"2")
    assert [one.frame for one in spool.fetch(0, 9)] == [0, 2]
    spool.close()
    assert Spool(path).accounts() == {"a": Account(spooled=2, skipped=1)}


def test_sources_have_states_of_their_own(tmp_path):
    sink = open_sink(f"jsonl:{tmp_path}/a.jsonl?changes=true", Spooling(tmp_path))
    for source in ("a", "b"):
        sink.begin(source, "r")
    for number in range(4):
        for source in ("a", "b"):
            sink.put(frame(number, 40 * number, source=source, n=1 + (number > 1 and source == "b"), tracked=False))
    sink.begin("a", "r2")  # it was away
    sink.put(frame(0, 0, run="r2", n=1, tracked=False))
    sink.close()
    keys = [(line["source"], line["run"], line["frame"])
            for line in map(json.loads, (tmp_path / "a.jsonl").read_text().splitlines())]
    assert keys == [("a", "r", 0), ("b", "r", 0), ("b", "r", 2), ("a", "r2", 0)]
