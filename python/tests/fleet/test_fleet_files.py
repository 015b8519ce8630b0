# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run of a fleet finds on the disk: the rest of an earlier one, damage, another fleet. Nothing is decoded."""

import dataclasses
import errno
import json
import os
import types

import numpy
import pytest

from cudaccl.fleet import archive, pieces, work
from cudaccl.fleet.output_lock import locked
from cudaccl.fleet.pieces import Damaged
from cudaccl.publish import JsonLinesSink, SinkError
from cudaccl.video import errors
from fleet_made import PROPERTIES, job
from made import report

FRAMES = 40


@pytest.fixture(params=["jsonl", "parquet"])
def labelled(request, tmp_path, monkeypatch):
    """An archive whose only piece is there."""
    if request.param == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is missing")
    monkeypatch.setattr(work, "make_index", lambda path, stall: None)
    (tmp_path / "clip.mkv").write_text("video")
    one = job(tmp_path / "clip.mkv", tmp_path / "out", PROPERTIES | {"track": "true"}, request.param)
    work.survey(one)
    save_piece(one)
    return one


def save_piece(one):
    maker = pieces.PieceMaker()
    for frame in range(FRAMES):
        maker.add(report(frame, "clip", ""))
    pieces.save(maker.piece(), path_of(one))


def path_of(one):
    return one.piece(one.content(), work.WHOLE)


def put_together(one):
    return work.put_together(one, None, "it is short")


def test_a_run_goes_on_where_another_was_interrupted(labelled):
    """Also with a folder in which tables were written."""
    (labelled.folder / "result" / "frames").mkdir(parents=True)
    (labelled.folder / "result" / "frames" / ".part.parquet.part").write_text("half")
    (labelled.folder / "messages").write_text("half")
    work.survey(labelled)
    assert [path.name for path in labelled.folder.iterdir()] == [path_of(labelled).name]
    assert put_together(labelled)["frames"] == FRAMES
    assert work.complete(labelled)["frames"] == FRAMES and not labelled.folder.exists()


def test_a_run_goes_on_after_a_full_disk(labelled, monkeypatch):
    def no_room(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    function = "write" if labelled.settings.form == "jsonl" else "pwrite"
    with monkeypatch.context() as full:
        full.setattr(os, function, no_room)
        with pytest.raises(SinkError, match="No space left on device"):
            put_together(labelled)
    assert [path.name for path in labelled.folder.iterdir()] == [path_of(labelled).name]  # it takes no room
    work.survey(labelled)
    assert put_together(labelled)["frames"] == FRAMES


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path):
    path.write_bytes(bytes(path.stat().st_size))


def flip(path):
    """A bit of what is in it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def of_another_version(path):
    with numpy.load(path) as arrays:
        found = dict(arrays)
    found["components"] = found["components"][["label", "id"]]
    with open(path, "wb") as file:
        numpy.savez(file, **found)


def with_objects(path):
    with open(path, "wb") as file:
        numpy.savez(file, frames=numpy.array([{}], object))


DAMAGES = [cut, overwrite, flip, of_another_version, with_objects, lambda path: path.write_text("a text"),
           lambda path: path.write_bytes(b"")]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_piece_is_made_again(labelled, damage):
    damage(path_of(labelled))
    missing = put_together(labelled)
    assert missing.spans == [work.WHOLE] and "pickle" not in missing.damaged[work.WHOLE]
    assert not path_of(labelled).exists()
    save_piece(labelled)
    assert put_together(labelled)["frames"] == FRAMES


def test_a_piece_that_is_damaged_after_the_cuts_were_decided(labelled, monkeypatch):
    class Sink(JsonLinesSink):
        def __init__(self, path):
            super().__init__(path)
            cut(path_of(one))

    monkeypatch.setattr(work.functools, "lru_cache", lambda size: lambda function: function)
    monkeypatch.setattr(work, "JsonLinesSink", Sink)
    one = dataclasses.replace(labelled, settings=dataclasses.replace(labelled.settings, to=("kafka://x",)))
    work.survey(one)
    save_piece(one)
    assert put_together(one).spans == [work.WHOLE]
    assert not one.manifest.exists() and not one.messages.exists()


def test_every_damaged_byte_of_a_piece_is_found_or_harmless(labelled, tmp_path):
    data = path_of(labelled).read_bytes()
    whole = pieces.load(path_of(labelled))
    path = tmp_path / "flipped.npz"
    places = [*range(0, len(data), 61), *range(len(data) - 600, len(data))]
    found = 0
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x24]) + data[place + 1:])
        try:
            piece = pieces.load(path)
        except Damaged:
            found += 1
        else:  # in what nobody reads, such as a time
            assert piece.frames.tobytes() == whole.frames.tobytes() and piece.names == whole.names
            assert all(getattr(piece, field).tobytes() == getattr(whole, field).tobytes() for field in pieces.RECORDS)
    assert found > len(places) // 2


def test_a_piece_that_is_damaged_again_ends_the_archive(tmp_path):
    """Not for ever: the disk may be bad."""
    said = []
    (tmp_path / "clip.mkv").write_text("video")
    ray = types.SimpleNamespace(remote=lambda actor: actor)
    run = archive.ArchiveRun(ray, None, [job(tmp_path / "clip.mkv", tmp_path / "out")], said.append)
    missing = work.Missing([work.WHOLE], {work.WHOLE: "BadZipFile"})
    for _ in range(2):
        run._go_on(run.states[0], work.put_together, missing)
    assert said == [
        "clip: the piece 0-0-end is damaged (BadZipFile); it is made again",
        "error: clip: the piece 0-0-end is damaged again: BadZipFile"]
    assert run.states[0].status == errors.OUTPUT_FAILED


@pytest.mark.parametrize("text", [
    b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"content": 1}', {"files": []}, {"frames": "many"},
    {"frames": None}])
def test_a_damaged_manifest_is_made_again(labelled, text):
    manifest = put_together(labelled)
    if isinstance(text, dict):
        text = json.dumps(manifest | text).encode()
    labelled.manifest.write_bytes(text)
    said = []
    assert work.complete(labelled, said.append) is None
    assert len(said) <= 1 and all(one.startswith("clip: its manifest is damaged (") for one in said)
    assert said or text.startswith(b'{"content"')  # of another content: that is no damage
    labelled.folder.mkdir()
    save_piece(labelled)
    assert put_together(labelled) == manifest == work.complete(labelled, said.append)


def test_other_regions_are_another_result(labelled, tmp_path):
    """Their path is the same. Pieces with the old ones are removed."""
    regions = tmp_path / "regions.json"
    regions.write_text('{"version": 1}')
    properties = labelled.archive.properties | {"regions": str(regions)}
    one = dataclasses.replace(labelled, archive=dataclasses.replace(labelled.archive, properties=properties))
    work.survey(one)
    save_piece(one)
    old = path_of(one)
    assert put_together(one)["frames"] == FRAMES and work.complete(one)
    work.survey(one)
    save_piece(one)
    regions.write_text('{"version": 1, "zones": []}')
    assert work.complete(one) is None and path_of(one) != old
    work.survey(one)
    assert not old.exists()


def test_one_fleet_at_a_time_writes_an_output(tmp_path, capfd):
    yaml = pytest.importorskip("yaml", reason="PyYAML is missing")
    from cudaccl.cli import main

    (tmp_path / "clip.mkv").write_text("no video")
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(yaml.safe_dump({"archives": {"output": "out", "files": ["clip.mkv"]}}))
    with locked(str(tmp_path / "out"), print):
        assert main(["fleet", "run", str(fleet)]) == errors.OUTPUT_FAILED
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1 and f"another fleet writes to {tmp_path}/out" in shown
    with locked(str(tmp_path / "out"), print):  # it is free again
        pass
    (tmp_path / "file").touch()
    with pytest.raises(SinkError, match="cannot be written"):
        with locked(str(tmp_path / "file"), print):
            pass


