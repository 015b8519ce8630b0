# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports as JSON, JSON lines and Parquet."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from cudaccl import POLYGON, VERTEX, ComponentFlag
from cudaccl.publish import Account, JsonLinesSink, ParquetSink, SinkError
from cudaccl.publish.csv_table import CsvSink
from made import assert_parquet_has, report, report_with_shapes

SCHEMA = Path(__file__).resolve().parents[3] / "docs/records.schema.json"


def test_json_has_the_schema():
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is missing")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for made in (report(), report(tracked=False), report(n=0), replace(report(), pts=None), report_with_shapes()):
        validator.validate(json.loads(made.json))
    for wrong in ({"frame": -1}, {"polygons": []}, {"polygons": [{"label": 1}], "polygons_truncated": False}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(report().as_dict() | wrong)


def test_json_has_every_field():
    found = json.loads(report(frame=3).json)
    assert {name: value for name, value in found.items() if name not in ("components", "tracks", "events")} == {
        "schema": "cudaccl-1", "source": "a", "run": "r", "frame": 3, "pts": 120, "width": 320, "height": 240,
        "n_components": 2, "overflow": False, "relearning": False, "level": 0}
    assert found["components"][1] == {
        "label": 2, "id": 102, "age": 3, "area": 10, "box": [1, 2, 3, 4], "centroid": [0.1, 0.33333334],
        "moments": [1.5, -0.25, 1e-07], "perimeter": 14, "euler": -1, "value": 255, "flags": ["touches_border", "cut"]}
    assert found["tracks"] == [
        {"id": 101, "age": 0, "component": 0, "first_time": -5, "last_time": 40, "box": [0, 0, 65535, 0],
         "centroid": [0, 0], "velocity": [2.5, -3], "parent": 0, "zones": ["door", "Gäßchen"],
         "flags": ["confirmed"]},
        {"id": 102, "age": 0, "component": None, "first_time": -5, "last_time": 40, "box": [0, 0, 65535, 0],
         "centroid": [0, 0], "velocity": [2.5, -3], "parent": 0, "zones": [], "flags": ["predicted", "newborn"]}]
    assert [(event["type"], event["zone"], event["line"]) for event in found["events"]] == [
        ("born", None, None), ("entered", "Gäßchen", None), ("crossed-left", None, "gate")]


def test_json_has_grey_statistics_and_polygons():
    found = json.loads(report_with_shapes().json)
    assert [component["grey"] for component in found["components"]] == [
        {"sum": 1 << 40, "min": 1, "max": 65535, "mean": 0.33333334, "variance": 0.1, "centroid": [2.5, 3]}] * 2
    assert found["polygons_truncated"] is True
    assert found["polygons"] == [  # their ids are those of the components
        {"label": 2, "id": 102, "kind": "hull", "vertices": [[0, 0], [2, 0], [0, 2]]},
        {"label": 2, "id": 102, "kind": "hole", "vertices": [[1, 1], [1, 2], [2, 2], [2, 0.1]]}]
    plain = json.loads(report().json)
    assert not {"polygons", "polygons_truncated"} & plain.keys() and "grey" not in plain["components"][0]


def test_reals_read_back_as_the_same_bits():
    values = numpy.random.default_rng(1).integers(1, 0x7f7fffff, 5000, "u4").view("f4")
    made = replace(report(n=5000), components=report(n=5000).components)
    made.components["cx"] = values
    found = json.loads(made.json)["components"]
    assert numpy.array_equal(numpy.array([one["centroid"][0] for one in found], "f4"), values)


def test_other_arrays_are_refused():
    with pytest.raises(TypeError, match="label"):
        replace(report(), components=numpy.zeros(3)).json


def test_lines_are_appended_and_an_incomplete_one_stays_alone(tmp_path):
    path = tmp_path / "a.jsonl"
    for frame in range(2):
        sink = JsonLinesSink(path, append=True)
        assert sink.put(report(frame))
        sink.close()
    path.write_bytes(path.read_bytes() + b'{"torn')
    sink = JsonLinesSink(path, append=True)
    sink.put(report(2))
    sink.close()
    lines = path.read_text().splitlines()
    assert [json.loads(line)["frame"] for line in lines if line != '{"torn'] == [0, 1, 2]
    JsonLinesSink(path).close()
    assert path.read_bytes() == b""


def test_file_that_cannot_be_opened(tmp_path):
    with pytest.raises(SinkError, match="No such file"):
        JsonLinesSink(tmp_path / "none/a.jsonl")
    (tmp_path / "file").touch()
    with pytest.raises(SinkError, match="Not a directory"):
        ParquetSink(tmp_path / "file")


def test_full_disk_is_counted_and_goes_on(tmp_path, small_disk):
    sink = JsonLinesSink(small_disk / "a.jsonl")
    kept = [frame for frame in range(400) if sink.put(report(frame, n=10))]
    assert "No space left" in sink.error
    assert sink.accounts()["a"] == Account(sent=len(kept), disk=400 - len(kept))
    written = (small_disk / "a.jsonl").read_bytes()
    assert written == b"".join(report(frame, n=10).json + b"\n" for frame in kept)  # no part of a line
    os.unlink(small_disk / "filler")
    assert sink.put(report(400)) and sink.error is None
    sink.close()
    lines = (small_disk / "a.jsonl").read_text().splitlines()
    assert [json.loads(line)["frame"] for line in lines] == [*kept, 400]


def test_standard_output():
    code = ("from cudaccl.publish import JsonLinesSink; from made import report; s = JsonLinesSink('-');"
            "s.put(report(0)); s.put(report(1)); s.close()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=Path(__file__).parent)
    assert done.stdout == report(0).json + b"\n" + report(1).json + b"\n"


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_that_is_a_file_has_whole_lines(small_disk, mode):
    """Also behind what others have written there."""
    code = ("import os, sys; from cudaccl.publish import JsonLinesSink; from made import report;"
            "s = JsonLinesSink('-'); kept = [i for i in range(400) if s.put(report(i, n=10))];"
            "os.unlink('filler'); kept += [400] * s.put(report(400, n=10)); print(kept, file=sys.stderr)")
    with open(small_disk / "out", mode) as file:
        os.write(file.fileno(), b"first\n")
        done = subprocess.run([sys.executable, "-c", code], stdout=file, stderr=subprocess.PIPE, check=True,
                              cwd=small_disk)
        os.write(file.fileno(), b"last\n")
    first, *lines, last = (small_disk / "out").read_text().splitlines()
    kept = json.loads(done.stderr)
    assert (first, last, kept[-1]) == ("first", "last", 400) and 10 < len(kept) < 400
    assert [json.loads(line)["frame"] for line in lines] == kept


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_name_of_standard_output(tmp_path, path):
    """A file there is not emptied."""
    file = tmp_path / "a.jsonl"
    file.write_text("old\n")
    code = (f"from cudaccl.publish import JsonLinesSink; from made import report; s = JsonLinesSink('{path}');"
            "s.put(report(0)); s.close(); print('more')")
    with open(file, "ab") as opened:
        subprocess.run([sys.executable, "-c", code], stdout=opened, check=True)
    assert file.read_bytes() == b"old\n" + report(0).json + b"\nmore\n"


@pytest.mark.parametrize("is_named", [False, True])
def test_a_pipe_whose_reader_ends(tmp_path, is_named):
    """This process is not its reader."""
    if is_named:
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        sink = JsonLinesSink(tmp_path / "pipe")
    else:
        reader, writer = os.pipe()
        sink = JsonLinesSink(f"/dev/fd/{writer}")
        os.close(writer)
    assert sink.put(report(0))
    assert os.read(reader, 1 << 16) == report(0).json + b"\n"
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        sink.put(report(1))
    sink.close()


def test_a_descriptor_that_is_not_open():
    with pytest.raises(SinkError, match="Bad file descriptor"):
        JsonLinesSink("/dev/fd/999999")


def test_parquet_has_what_json_has(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = ParquetSink(tmp_path)
    outlined = report_with_shapes(frame=5)
    reports = [
        report(0), report(1, source="b", tracked=False), report(2, n=0), replace(report(3), pts=None),
        report_with_shapes(frame=4), outlined, report(6), replace(outlined, frame=7, grey=None),
        replace(outlined, frame=8, polygons=outlined.polygons[:0], polygons_truncated=False)]
    reports[5].components["flags"] = 0, 0xffff
    for one in reports:
        assert sink.put(one)
    assert sink.accounts()["a"] == Account(spooled=8)
    assert not list(tmp_path.rglob("*.parquet"))
    sink.close()
    assert sink.accounts() == {"a": Account(sent=8), "b": Account(sent=1)}
    assert_parquet_has(tmp_path, [one.as_dict() for one in reports])


def test_parquet_without_anything(tmp_path):
    """All tables are there, and have no rows."""
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    ParquetSink(tmp_path).close()
    assert_parquet_has(tmp_path, [])
    sink = ParquetSink(tmp_path)
    sink.put(report(n=0, tracked=False))
    sink.close()
    assert_parquet_has(tmp_path, [report(n=0, tracked=False).as_dict()])


def test_flags_are_the_same_names_everywhere(tmp_path):
    """A list in JSON and Parquet, with blanks between them in CSV."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    made = report(n=3)
    made.components["flags"] = 0, ComponentFlag.SPLIT, ComponentFlag.LOST | ComponentFlag.CUT | ComponentFlag.SCALED
    sinks = ParquetSink(tmp_path / "parquet"), CsvSink(tmp_path / "a.csv")
    for sink in sinks:
        assert sink.put(made)
        sink.close()
    wanted = [[], ["split"], ["scaled", "cut"]]
    assert [one["flags"] for one in made.as_dict()["components"]] == wanted
    assert parquet.read_table(tmp_path / "parquet/components/part.parquet")["flags"].to_pylist() == wanted
    with open(tmp_path / "a.csv", newline="") as file:
        assert [row["flags"].split() for row in csv.DictReader(file)] == wanted
    assert parquet.read_table(tmp_path / "parquet/tracks/part.parquet")["flags"].to_pylist() == [
        ["confirmed"], ["predicted", "newborn"]]


def test_parquet_refuses_other_arrays(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    from cudaccl.publish import parquet_schema

    made = report_with_shapes()
    for changed in ({"grey": made.vertices[:2]}, {"polygons": made.grey}, {"vertices": made.grey},
                    {"tracks": made.events}):
        with pytest.raises(TypeError, match="is needed, not of"):
            parquet_schema.tables([replace(made, **changed)])
    with pytest.raises(ValueError, match="each component needs"):
        parquet_schema.tables([replace(made, grey=made.grey[:1])])


def test_parquet_does_not_import_pandas(tmp_path):
    """One that was built for another NumPy fails, with any of several errors."""
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    broken = tmp_path / "pandas.py"
    broken.write_text("print('pandas is imported')\nraise ValueError('built for another NumPy')\n")
    code = ("from cudaccl.publish import ParquetSink; from made import report, report_with_shapes;"
            "s = ParquetSink('out'); s.put(report()); s.put(report_with_shapes(frame=1)); s.close(); print(s.error)")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parent)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stdout + done.stderr
    assert_parquet_has(tmp_path / "out", [report().as_dict(), report_with_shapes(frame=1).as_dict()])


def test_parquet_has_units_and_bounded_row_groups(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    sink = ParquetSink(tmp_path, "long")
    for frame in range(30):
        sink.put(report(frame, n=10_000, tracked=False))
        assert len(sink._reports) < 8  # in memory
    sink.close()
    file = parquet.ParquetFile(tmp_path / "components/long.parquet")
    assert file.metadata.num_rows == 300_000
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert len(groups) >= 4 and max(groups) <= 1 << 16
    schema = file.schema_arrow
    assert schema.metadata[b"schema"] == b"cudaccl-1"
    assert schema.field("moments_xx").metadata == {b"unit": "px²".encode()}
    assert schema.field("pts").metadata == {b"unit": b"ns"}
    assert str(schema.field("box_x").type) == "uint32" and str(schema.field("grey_sum").type) == "uint64"
    assert schema.field("grey_centroid_x").metadata == {b"unit": b"px"}


def test_parquet_does_not_keep_vertices_in_memory(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = ParquetSink(tmp_path)
    made = report_with_shapes()
    polygons = numpy.array([(1, 1, 3, 0, 10_000)], POLYGON)
    for frame in range(20):
        sink.put(replace(made, frame=frame, polygons=polygons, vertices=numpy.zeros(10_000, VERTEX)))
        assert len(sink._reports) < 7
    sink.close()
    assert sink.error is None


def test_parquet_begins_new_files(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = ParquetSink(tmp_path, "live", minutes=1e-9)
    for frame in range(3):
        sink.put(report(frame))
    assert sorted(path.name for path in (tmp_path / "frames").iterdir()) == [
        ".live-3.parquet.part", "live-1.parquet", "live-2.parquet", "live.parquet"]
    sink.close()


def test_parquet_on_a_full_disk_is_counted(small_disk):
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    sink = ParquetSink(small_disk / "out")
    noise = numpy.random.default_rng(1)
    for frame in range(8):
        made = report(frame, n=20_000)
        made.components["area"] = noise.integers(0, 1 << 32, 20_000, "u4")
        sink.put(made)
    sink.close()
    assert "No space left" in sink.error
    assert sink.accounts() == {"a": Account(disk=8)}
    assert not [path for path in (small_disk / "out").rglob("*") if path.is_file()]
