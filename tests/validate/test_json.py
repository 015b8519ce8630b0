# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ccl-records writes against docs/records.schema.json, and against the metadata of the same buffers.

    test_json.py PATH/TO/ccl-records
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import gi
import numpy
import pytest

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402, F401  (GstApp gives appsink its methods)

from record_tables import COMPONENT, EVENT, GREY, POLYGON, TRACK, VERTEX, table_of  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/records.schema.json").read_text())
COMPONENT_FLAGS = ["touches_border", "newborn", "merged", "split", None, "scaled", "cut"]
TRACK_FLAGS = ["confirmed", "predicted", "merged", "fragmented", "newborn", "split", "touches_border"]
POLYGON_KINDS = [None, "rectangle", "hull", "outline", "hole", "circle"]
EVENT_TYPES = [None, *SCHEMA["$defs"]["event"]["properties"]["type"]["enum"]]
REGIONS = {
    "version": 1,
    "zones": [{"name": 'right "part"', "polygon": [[0.75, 0], [1, 0], [1, 1], [0.75, 1]]}],
    "lines": [{"name": "down, at the right", "from": [0.75, 0], "to": [0.75, 1]}],
}
BALL = "videotestsrc pattern=ball motion=wavy num-buffers=110 ! video/x-raw,width=160,height=120"
NOISE = "videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=GRAY8,width=48,height=40"
LINES = {
    "ball": f"{BALL} ! cudaccl name=plain min-area=10",
    "noise": f"{NOISE} ! cudaccl name=noise threshold=128 connectivity=4-way",
    "overflow": f"{NOISE} ! cudaccl threshold=128 max-components=5 meta-name=five features=0",
    "blank": "videotestsrc pattern=black num-buffers=2 ! video/x-raw,width=32,height=32 ! cudaccl track=true",
    "tracks": f"{BALL} ! cudaccl name=door track=true track-confirm=2 threshold=100 regions=REGIONS",
    "grey": f"{NOISE} ! cudaccl name=grey threshold=128 connectivity=4-way features=moments+grey",
    "polygons": f"{NOISE} ! cudaccl name=polygons threshold=128 max-objects=9 track=true"
                " features=grey+rectangle+hull+contour+inradius",
    "odd name": f'{NOISE} ! cudaccl threshold=128 meta-name="the \\"door\\", left"',
    "two": f"{BALL} ! cudaccl name=a threshold=100 output=passthrough ! cudaccl name=b track=true threshold=100",
}


def program():
    return os.environ["CCL_RECORDS"]


def line_of(name, folder):
    regions = folder / "regions.json"
    regions.write_text(json.dumps(REGIONS))
    return LINES[name].replace("REGIONS", str(regions)) + " output=passthrough"


def run(*arguments):
    return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def json_frames(name, folder):
    result = run("--format", "json", "--launch", line_of(name, folder))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def metas(line):
    """The running time of each frame, and the structure of its GstCudaCclMeta."""
    pipeline = Gst.parse_launch(f"{line} ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    while sample := sink.try_pull_sample(10 * Gst.SECOND):
        buffer = sample.get_buffer()
        time = sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts)
        yield time, buffer.get_custom_meta("GstCudaCclMeta").get_structure()
    pipeline.set_state(Gst.State.NULL)


def floats(*values):
    return [float(value) for value in values]


def names(flags, table):
    return [name for bit, name in enumerate(table) if name and int(flags) >> bit & 1]


def expected_grey(g):
    return {
        "sum": g["sum"], "min": g["min"], "max": g["max"], "mean": float(g["mean"]), "variance": float(g["variance"]),
        "centroid": floats(g["cx"], g["cy"]),
    }


def expected_polygon(p, vertices):
    return {
        "label": p["label"], "id": p["id"], "kind": POLYGON_KINDS[p["kind"]],
        "vertices": [floats(*vertex) for vertex in vertices[p["first"]:p["first"] + p["n_vertices"]]],
    }


def expected_component(c):
    return {
        "label": c["label"], "id": c["id"], "age": c["age"], "area": c["area"],
        "box": [c["x"], c["y"], c["width"], c["height"]], "centroid": floats(c["cx"], c["cy"]),
        "moments": floats(c["mxx"], c["mxy"], c["myy"]), "perimeter": c["perimeter"], "euler": c["euler"],
        "value": c["value"], "flags": names(c["flags"], COMPONENT_FLAGS),
    }


def expected_track(t, n_records, zones):
    return {
        "id": t["id"], "age": t["age"], "component": t["component"] if t["component"] < n_records else None,
        "first_time": t["first_time"], "last_time": t["last_time"], "box": [t["x"], t["y"], t["width"], t["height"]],
        "centroid": floats(t["cx"], t["cy"]), "velocity": floats(t["vx"], t["vy"]), "parent": t["parent"],
        "zones": names(t["zones"], zones), "flags": names(t["flags"], TRACK_FLAGS),
    }


def expected_event(e, zones, lines):
    kind = EVENT_TYPES[e["type"]]
    where = int(e["where"])
    at_line = kind.startswith("crossed")
    return {
        "type": kind, "id": e["id"], "other": e["other"],
        "zone": zones[where] if not at_line and where < len(zones) else None,
        "line": lines[where] if at_line else None, "time": e["time"], "position": floats(e["x"], e["y"]),
    }


def as_float32(value):
    """The frame with its real numbers as a reader of 32-bit numbers has them."""
    if isinstance(value, dict):
        return {key: as_float32(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_float32(item) for item in value]
    return float(numpy.float32(value)) if isinstance(value, float) else value


def expected_frame(time, structure):
    records = table_of(structure, "components", COMPONENT)
    frame = {
        "schema": "cudaccl-1", "source": structure.get_string("source"), "frame": structure.get_uint64("frame")[1],
        "pts": time, "width": structure.get_uint("width")[1], "height": structure.get_uint("height")[1],
        "n_components": structure.get_uint("n-components")[1], "overflow": structure.get_boolean("overflow")[1],
        "relearning": structure.get_boolean("relearning")[1], "level": structure.get_uint("level")[1],
        "components": [expected_component(c) for c in records],
    }
    if structure.has_field("tracks"):
        zones, lines = (list(structure.get_value(name)) for name in ("zones", "lines"))
        frame["tracks"] = [expected_track(t, len(records), zones) for t in table_of(structure, "tracks", TRACK)]
        frame["events"] = [expected_event(e, zones, lines) for e in table_of(structure, "events", EVENT)]
    if structure.has_field("grey"):
        for component, grey in zip(frame["components"], table_of(structure, "grey", GREY)):
            component["grey"] = expected_grey(grey)
    if structure.has_field("polygons"):
        vertices = table_of(structure, "vertices", VERTEX)
        frame["polygons_truncated"] = structure.get_boolean("polygons-truncated")[1]
        frame["polygons"] = [expected_polygon(p, vertices) for p in table_of(structure, "polygons", POLYGON)]
    return frame


@pytest.mark.parametrize("name", LINES)
def test_every_frame_is_valid(name, tmp_path):
    if jsonschema is None:
        pytest.skip("python3-jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    frames = json_frames(name, tmp_path)
    assert frames
    for frame in frames:
        validator.validate(frame)
    frames[0]["components"] = [{"label": 1}]
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(frames[0])


@pytest.mark.parametrize("name", [name for name in LINES if name != "two"])
def test_json_is_the_metadata(name, tmp_path):
    frames = [as_float32(frame) for frame in json_frames(name, tmp_path)]
    expected = [expected_frame(*meta) for meta in metas(line_of(name, tmp_path))]
    for frame in expected:
        if name == "blank":
            frame["source"] = frames[0]["source"]  # the element's own name, which counts up
    assert frames == expected


def test_the_tracks_have_zones_and_events(tmp_path):
    frames = json_frames("tracks", tmp_path)
    kinds = {event["type"] for frame in frames for event in frame["events"]}
    assert {"born", "started", "entered"} <= kinds, kinds
    assert kinds & {"crossed-left", "crossed-right"}, kinds
    assert any(track["zones"] == ['right "part"'] for frame in frames for track in frame["tracks"])
    assert any(event["line"] == "down, at the right" for frame in frames for event in frame["events"])


def test_polygons_and_grey_are_there_where_they_were_asked_for(tmp_path):
    frames = json_frames("polygons", tmp_path)
    assert {polygon["kind"] for frame in frames for polygon in frame["polygons"]} == set(POLYGON_KINDS[1:])
    assert all(len({polygon["label"] for polygon in frame["polygons"]}) <= 9 for frame in frames)
    assert all(component["grey"]["min"] >= 128 for frame in frames for component in frame["components"])
    for frame in json_frames("grey", tmp_path):
        assert "polygons" not in frame and all("grey" in component for component in frame["components"])


def test_each_element_has_its_lines(tmp_path):
    frames = json_frames("two", tmp_path)
    assert [frame["source"] for frame in frames[:4]] == ["a", "b", "a", "b"]
    assert all(("tracks" in frame) == (frame["source"] == "b") for frame in frames)


def flat(frame, component):
    """The cells that CSV has of a component in JSON."""
    cells = {"source": frame["source"], "frame": frame["frame"], "pts": frame["pts"]} | component
    for key, parts in {"box": ("x", "y", "width", "height"), "centroid": "xy", "moments": ("xx", "xy", "yy")}.items():
        cells |= {f"{key}_{part}": value for part, value in zip(parts, cells.pop(key), strict=True)}
    return {name: str(value) for name, value in cells.items() if name not in ("flags", "grey")} | {
        "flags": " ".join(component["flags"])}


@pytest.mark.parametrize("name", ["tracks", "polygons", "odd name"])
def test_csv_has_what_json_has(name, tmp_path):
    frames = json_frames(name, tmp_path)
    result = run("--launch", line_of(name, tmp_path))
    assert result.returncode == 0, result.stderr
    table = list(csv.DictReader(result.stdout.splitlines()))
    rows = [flat(frame, component) for frame in frames for component in frame["components"]]
    assert table == rows and rows
    if name == "polygons":
        assert any(" " in row["flags"] for row in table)


def test_the_example_of_the_docs():
    text = (Path(__file__).parents[2] / "docs/json.md").read_text()
    command = re.search(r"```sh\nccl-records (.*)\n```", text)[1]
    example = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    result = run(*shlex.split(command))
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1]) == example


def test_records_that_cannot_be_written():
    """Also those of a frame that are longer than what the C library keeps, and where a file that GStreamer opens would get
    the number of standard output."""
    line = "videotestsrc num-buffers=2 pattern=snow ! cudaccl threshold=200 output=passthrough"
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", program(), "--launch", line],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "writing failed: " in done.stderr, redirection


@pytest.mark.parametrize("setting", ["threshold=-1", "threshold=100000", "min-extent=2"])
def test_a_setting_beyond_its_range(setting):
    done = run("--set", setting, __file__)
    assert done.returncode == 1 and "is no value of cudaccl's property" in done.stderr


def test_warnings_are_printed(tmp_path):
    regions = tmp_path / "regions.json"
    regions.write_text('{"version": 1, "include": [{"polygon": [[0, 0], [90, 0], [90, 90]]}]}', encoding="utf-8")
    result = run("--launch", LINES["ball"] + f" regions={regions} output=passthrough")
    assert result.returncode == 0
    assert "warning: plain: " in result.stderr and "pixels" in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["--format", "xml", "clip"], "--format is csv or json"),
    (["--set", "threshold", __file__], "--set wants PROPERTY=VALUE, not 'threshold'"),
    (["--set", "threshold=", __file__], "'' is no value of cudaccl's property 'threshold'"),
    (["--launch", BALL, "--raw", "4x4"], "--launch has all settings"),
    (["--launch", BALL], "without records"),
    (["--launch", "nosuchelement"], "nosuchelement"),
    (["--launch", LINES["ball"] + " regions=/nowhere.json"], "regions cannot be used: /nowhere.json: No such file"),
    ([], "one input, please"),
    (["--launch", LINES["ball"], "--output", "/nowhere/records.csv"], "/nowhere/records.csv"),
    (["--launch", LINES["ball"], "--output", "/dev/full"], "writing failed"),
    (["/nonexistent/clip.avi"], "there is no file /nonexistent/clip.avi"),
    (["--launch", "videotestsrc ! cudaccl foreground=magic"], "to \"magic\"; gst-inspect-1.0 cudaccl lists"),
])
def test_errors_say_what_is_wrong(arguments, reason):
    result = run(*arguments)
    assert result.returncode == 1
    assert reason in result.stderr


if __name__ == "__main__":
    os.environ["CCL_RECORDS"] = sys.argv[1]
    Gst.init(None)
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-rs", __file__]))
