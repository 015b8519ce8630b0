# SPDX-License-Identifier: LGPL-2.1-or-later
"""Segments give the bytes of one process."""

import dataclasses
import json
import re
import subprocess
from pathlib import Path

import numpy
import pytest

import gst_element  # noqa: F401
from cudaccl.fleet import join, pieces, segment, video_index, work
from cudaccl.fleet.config import Archive
from cudaccl.fleet.pieces import Span
from cudaccl.gst import PipelineError
from cudaccl.video.errors import UsageError
from made import assert_parquet_has
from fleet_made import (
    MOVING, PROPERTIES, TRACKED, files_of, job, random_scene, run_here, run_one_process, scene,
    write_video)

EXAMPLE = Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi")


def is_that_of_one_process(one, folder):
    return files_of(one.result) == files_of(run_one_process(one, folder))


def test_index_has_frames_and_key_frames(clip):
    index = video_index.make_index(str(clip), 10)
    assert (index.caps, index.obstacle) == ("video/x-h264", "")
    assert index.keys.tolist() == list(range(0, 400, 25))
    assert index.times.tolist() == [40_000_000 * i for i in range(400)]


def test_a_file_of_which_no_frame_can_be_decoded(tmp_path):
    """As of `cudaccl run`, it is an error."""
    line = ("fakesrc num-buffers=40 sizetype=fixed sizemax=50 filltype=random format=time do-timestamp=true ! "
            f"video/x-vp8,width=160,height=120,framerate=30/1 ! webmmux ! filesink location={tmp_path}/fake.webm")
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    with pytest.raises(PipelineError):
        segment.label_whole(Archive("fake", f"{tmp_path}/fake.webm", PROPERTIES), 20.0, lambda _text: None)


@pytest.mark.parametrize("name, needs_it", [("avdec_h265", True), ("avdec_h264", False)])
def test_only_a_decoder_that_needs_it_has_other_threads(name, needs_it):
    """Damaged pictures are made up otherwise with other threads, and `cudaccl run` has the decoder's own."""
    from gi.repository import Gst

    element = Gst.ElementFactory.make(name)
    if element is None:
        pytest.skip(f"{name} is missing: install gstreamer1.0-libav")
    before = element.get_property("thread-type")
    segment._decode_in_order(None, None, element)
    after = element.get_property("thread-type")
    assert after.value_nicks[-1] == "slice" if needs_it else after == before


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_frames_alone(clip, tmp_path, form):
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is missing")
    one = job(clip, tmp_path / "out", form=form)
    result = run_here(one)
    assert result["segments"] == ["0-0-100", "75-100-200", "175-200-300", "275-300-400"]
    assert [(cut["frame"], cut["overlap"], cut["equal"]) for cut in result["cuts"]] == [
        (100, 25, 25), (200, 25, 25), (300, 25, 25)]
    assert is_that_of_one_process(one, tmp_path)
    assert not one.folder.exists()


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_tracks_get_the_ids_of_one_process(clip, tmp_path, form):
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is missing")
    one = job(clip, tmp_path / "out", TRACKED | {"event-hold": "100000000", "track-lost": "200000000"}, form)
    result = run_here(one)
    assert [cut["equal"] > 0 for cut in result["cuts"]] == [True] * 3
    assert is_that_of_one_process(one, tmp_path)


def test_grey_statistics_and_polygons(clip, tmp_path):
    """Of frames with and without components; behind a cut, polygons have the new ids, too."""
    features = {"features": "moments+grey+rectangle+contour+inradius", "event-hold": "100000000", "track-lost": "200000000"}
    one = job(clip, tmp_path / "out", TRACKED | features)
    assert [cut["equal"] > 0 for cut in run_here(one)["cuts"]] == [True] * 3
    assert is_that_of_one_process(one, tmp_path)
    frames = [json.loads(line) for line in one.result.read_text().splitlines()]
    assert len({polygon["id"] for frame in frames for polygon in frame["polygons"]}) > 6
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    tables = job(clip, tmp_path / "tables", one.archive.properties, "parquet")
    run_here(tables)
    assert is_that_of_one_process(tables, tmp_path)
    assert_parquet_has(tables.result, frames)


def test_a_longer_overlap_is_taken(clip, tmp_path):
    """After a short overlap, nothing has been seen for less than event-hold."""
    one = job(clip, tmp_path / "out", TRACKED | {"track-lost": "200000000"}, longest=2)
    result = run_here(one)
    assert [cut["overlap"] for cut in result["cuts"]] == [50, 50, 50]
    assert is_that_of_one_process(one, tmp_path)


def test_a_track_that_lives_at_the_cut(busy_clip, tmp_path):
    """There is no cut: its history is not in the overlap."""
    one = job(busy_clip, tmp_path / "out", TRACKED, longest=2)
    result = run_here(one)
    assert [cut["equal"] for cut in result["cuts"]] == [0, 0, 0] and result["segments"] == ["0-0-400"]
    assert "a track is in view" in result["cuts"][1]["reason"]
    assert is_that_of_one_process(one, tmp_path)


REGIONS = {
    "version": 1,
    "zones": [{"name": "left", "polygon": [[0.1, 0.1], [0.6, 0.1], [0.6, 0.9], [0.1, 0.9]], "dwell": 0.5, "crowd": 1}],
    "lines": [{"name": "middle", "from": [0.5, 0], "to": [0.5, 1], "anchor": "centroid"}]}


@pytest.mark.parametrize("seed", [1, 2])
def test_random_scenes(tmp_path, seed):
    """With merges, splits, and events of zones and lines."""
    (tmp_path / "regions.json").write_text(json.dumps(REGIONS))
    path = write_video(tmp_path / "random.mkv", random_scene(seed), key_frames=12)
    properties = TRACKED | {
        "track-lost": "300000000", "event-hold": "200000000", "regions": str(tmp_path / "regions.json")}
    one = job(path, tmp_path / "out", properties, segment=2.5)
    cuts = run_here(one)["cuts"]
    assert sum(cut["equal"] > 0 for cut in cuts) >= 3
    assert is_that_of_one_process(one, tmp_path)


def test_a_model_of_the_background(clip, tmp_path):
    one = job(clip, tmp_path / "out", MOVING)
    assert "a model of the background depends on all frames before" in run_here(one)["uncut"]
    assert is_that_of_one_process(one, tmp_path)


@pytest.mark.parametrize("field", ["components", "tracks", "digest", "level"])
def test_a_difference_in_the_overlap_ends_the_cut(clip, tmp_path, field):
    """A decoder or a state that differs is seen, and the result is right nevertheless."""
    def change(path):
        if "75-100-" not in path.name:
            return
        piece = pieces.load(path)
        last = int(numpy.flatnonzero(piece.frames["frame"] == 99)[0])
        if field == "components":  # of the frames with something in them, in the overlap
            piece.frames["components"][last] += 1
        elif field == "tracks":
            piece.frames["tracks"][last] += 1
        else:
            piece.frames[field][last] += 1
        pieces.save(piece, path)

    one = job(clip, tmp_path / "out", PROPERTIES)
    result = run_here(one, change)
    assert result["segments"] == ["0-0-200", "175-200-300", "275-300-400"]
    assert [cut["reason"] for cut in result["cuts"]] == ["the frames before the cut differ", "", ""]
    assert is_that_of_one_process(one, tmp_path)


def test_frames_that_the_index_does_not_have(clip, tmp_path, monkeypatch):
    """The file is not cut then."""
    index = video_index.make_index(str(clip), 10)
    times = index.times.copy()
    times[150] += 1
    monkeypatch.setattr(work, "make_index", lambda path, stall: dataclasses.replace(index, times=times))
    one = job(clip, tmp_path / "out")
    result = run_here(one)
    assert "frame 150 should be at" in result["uncut"] and result["segments"] == ["0-0-end"]
    assert is_that_of_one_process(one, tmp_path)


def test_a_file_without_time_stamps_is_not_cut(tmp_path):
    if not EXAMPLE.is_file():
        pytest.skip("the clip vtest.avi is missing: install opencv-doc")
    index = video_index.make_index(str(EXAMPLE), 10)
    assert index.obstacle == "it has frames without a time stamp"


def test_every_frame_is_a_key_frame(tmp_path):
    """Then each can begin a segment."""
    path = write_video(tmp_path / "keys.mkv", scene(60), key_frames=1)
    index = video_index.make_index(str(path), 10)
    assert len(index.keys) == 60
    one = job(path, tmp_path / "out", segment=0.5, overlap=0.1)
    assert len(run_here(one)["segments"]) == 5
    assert is_that_of_one_process(one, tmp_path)


def test_plan_does_not_depend_on_the_workers(clip, tmp_path):
    one = job(clip, tmp_path / "out", TRACKED)
    index = work.survey(one)
    assert join.plan(one.settings, index) == [0, 100, 200, 300]
    assert join.first_spans(one.archive, one.settings, index)[1] == Span(75, 100, 200)
    assert join.overlap_start(index, 100, 2 * 10**9) == 50
    assert join.overlap_start(index, 100, 0) == 75


def test_what_is_done_is_not_done_again(clip, tmp_path, monkeypatch):
    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    for span in join.first_spans(one.archive, one.settings, index):
        work.label(one, index, span)
    made = {path.name: path.stat().st_mtime_ns for path in one.folder.iterdir()}
    (one.folder / ".left-by-a-worker.part").write_text("half")
    monkeypatch.setattr(work, "label_span", lambda *_: pytest.fail("it was labelled again"))
    run = run_here(one)
    assert len(made) == 4 and run["frames"] == 400
    assert work.complete(one) == json.loads(one.manifest.read_text())
    one.result.write_text("cut off")
    assert work.complete(one) is None


def test_warnings_of_the_element_come_with_the_piece(tmp_path):
    """Of a zone that is outside once frames are smaller. Regions that are outside the first frame are an error."""
    for number, size in enumerate(9 * [(64, 48)] + [(32, 24)]):
        subprocess.run(
            ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
             f"video/x-raw,width={size[0]},height={size[1]}", "!", "pngenc", "!", "filesink",
             f"location={tmp_path}/{number}.png"], check=True)
    line = f"multifilesrc location={tmp_path}/%d.png caps=image/png,framerate=1/1 ! pngdec"
    right = {"version": 1, "units": "pixels", "zones": [{"name": "right", "polygon": [[40, 0], [64, 0], [64, 48]]}]}
    archive = Archive("clip", line, TRACKED | {"regions": json.dumps(right)})
    said = []
    piece = segment.label_whole(archive, 20.0, said.append)
    assert len(piece.frames) == 10 and len(said) == 1
    assert re.fullmatch("clip: regions: zones.0. is outside the frame of 32x24 pixels; .*", said[0]), said
    right["zones"][0]["polygon"] = [[70, 0], [90, 0], [90, 9]]
    archive.properties["regions"] = json.dumps(right)
    with pytest.raises(UsageError, match="clip: regions: zones.0. is outside the frame of 64x48 pixels"):
        segment.label_whole(archive, 20.0, said.append)


def test_other_settings_or_another_file_begin_anew(clip, tmp_path):
    one = job(clip, tmp_path / "out")
    run_here(one)
    assert work.complete(job(clip, tmp_path / "out", PROPERTIES | {"min-area": "9"})) is None
    assert work.complete(job(clip, tmp_path / "out", segment=5)) is None
    assert work.complete(one) is not None


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        video_index.make_index(str(tmp_path / "none.mkv"), 5)
    (tmp_path / "text.mkv").write_text("no video at all\n" * 100)
    with pytest.raises(PipelineError):
        video_index.make_index(str(tmp_path / "text.mkv"), 5)


def test_a_disk_that_is_full_leaves_no_piece(clip, tmp_path, monkeypatch):
    def full(*_arguments, **_names):
        raise OSError(28, "No space left on device")

    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    monkeypatch.setattr(pieces.numpy, "savez", full)
    with pytest.raises(OSError, match="No space"):
        work.label(one, index, Span(0, 0, 100))
    assert list(one.folder.iterdir()) == []


def test_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    """And the name before anybody hears of it."""
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(pieces.os, name)
        monkeypatch.setattr(pieces.os, name, lambda *args, name=name, real=real: calls.append(name) or real(*args))
    pieces.save(pieces.PieceMaker().piece(), tmp_path / "a.npz")
    assert calls == ["fsync", "replace", "fsync"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
