# SPDX-License-Identifier: LGPL-2.1-or-later
"""A worker that seeks its first key frame gives the frames of one that reads the file from its beginning."""

import dataclasses
import subprocess

import pytest

from gst_element import Gst
from cudaccl.fleet import beginning, segment, video_index, work
from cudaccl.fleet.pieces import Span
from fleet_made import PROPERTIES, TRACKED, files_of, job, run_here, run_one_process

SPANS = [Span(25, 50, 120), Span(200, 205, 230), Span(375, 375, 400)]
MP4 = "mp4mux name=mux ! filesink location=PATH"
FILES = {  # the clip again, in other containers and formats
    "clip.mkv": "h264parse ! matroskamux ! filesink location=PATH",
    "clip.mp4": f"h264parse ! {MP4}",
    "sound.mp4": f"h264parse ! queue ! {MP4} audiotestsrc num-buffers=400 samplesperbuffer=1764"
                 " ! audio/x-raw,rate=44100 ! avenc_aac ! queue ! mux.",
    "clip.ts": "h264parse ! mpegtsmux ! filesink location=PATH",
    "clip.webm": "decodebin ! videoconvert ! vp8enc deadline=1 keyframe-max-dist=25 ! webmmux ! filesink location=PATH",
    # With frames that are coded in another order than shown.
    "b.mp4": "decodebin ! videoconvert ! x265enc speed-preset=ultrafast key-int-max=25"
             f" option-string=bframes=3:b-adapt=0:open-gop=1:scenecut=0 ! h265parse ! {MP4}",
}


@pytest.fixture
def made(monkeypatch):
    """All that were made since, in order."""
    found = []

    class Watched(beginning.Beginning):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            found.append(self)

    monkeypatch.setattr(segment, "Beginning", Watched)
    return found


def write_file(name, clip, folder):
    path = folder / name
    line = f"filesrc location={clip} ! matroskademux ! {FILES[name]}".replace("PATH", str(path))
    done = subprocess.run(["gst-launch-1.0", "-q", *line.split()], capture_output=True, text=True)
    if "no element" in done.stderr:
        pytest.skip(
            f"install gstreamer1.0-plugins-bad and gstreamer1.0-libav: an element is missing ({done.stderr.strip()})")
    assert done.returncode == 0, done.stderr
    return path


def contents(piece):
    return [getattr(piece, field).tobytes() for field in ("frames", "components", "tracks", "events")]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("properties", [PROPERTIES, TRACKED], ids=["frames", "tracks"])
def test_the_frames_are_those_of_the_whole_file(clip, tmp_path, made, name, properties):
    path = write_file(name, clip, tmp_path)
    archive = job(path, tmp_path, properties).archive
    index = video_index.make_index(str(path), 20)
    assert index.obstacle == "" and index.keys.tolist() == list(range(0, 400, 25)) and len(set(index.digests)) > 100
    for span in SPANS:
        sought, read = (segment._label_from_key_frame(archive, index, span, 20.0, seek) for seek in (True, False))
        assert contents(sought) == contents(read)
        assert made[-2].has_sought and not made[-1].has_sought and not made[-2].differs
        # Some demuxers begin a little earlier: where no index is, or where sound is.
        assert made[-2].dropped < 100 and made[-1].dropped >= span.start


@pytest.mark.parametrize("name", ["clip.mp4", "b.mp4"])
def test_a_file_that_is_sought(clip, tmp_path, name):
    path = write_file(name, clip, tmp_path)
    one = job(path, tmp_path / "out", TRACKED | {"event-hold": "100000000", "track-lost": "200000000"})
    assert len(run_here(one)["segments"]) > 1
    assert files_of(one.result) == files_of(run_one_process(one, tmp_path))


def test_other_frames_at_the_place_that_is_sought(clip, tmp_path, made):
    """Then the file is read from its beginning."""
    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    digests = index.digests.copy()
    digests[60] ^= 1
    wrong = dataclasses.replace(index, digests=digests)
    found = segment.label_span(one.archive, wrong, SPANS[0], 20.0)
    assert [one.has_sought for one in made] == [True, False] and made[0].differs
    assert contents(found) == contents(segment.label_span(one.archive, index, SPANS[0], 20.0))


def test_another_time_at_the_place_that_is_sought(clip, tmp_path, made, monkeypatch):
    """As from a demuxer that goes elsewhere."""
    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    right = contents(segment.label_span(one.archive, index, SPANS[1], 20.0))
    real = beginning.Beginning._look_at_event

    def shifted(self, pad, info):
        result = real(self, pad, info)
        if info.get_event().type == Gst.EventType.SEGMENT and self.has_sought:
            self._shift += 25 * 40_000_000  # one key frame later
            self._behind.set_offset(self._shift)
        return result

    monkeypatch.setattr(beginning.Beginning, "_look_at_event", shifted)
    made.clear()
    assert contents(segment.label_span(one.archive, index, SPANS[1], 20.0)) == right
    assert [one.has_sought for one in made] == [True, False]


def test_a_file_that_cannot_be_sought(clip, tmp_path, made, monkeypatch):
    """Then all is read in the same pipeline."""
    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    right = contents(segment.label_span(one.archive, index, SPANS[1], 20.0))
    monkeypatch.setattr(Gst.Event, "new_seek", lambda *_: Gst.Event.new_navigation(Gst.Structure.new_empty("none")))
    made.clear()
    assert contents(segment.label_span(one.archive, index, SPANS[1], 20.0)) == right
    assert [(one.has_sought, one.dropped) for one in made] == [(False, 200)]


def test_a_place_outside_the_file(clip, tmp_path, made):
    """Nothing waits for ever."""
    one = job(clip, tmp_path / "out")
    index = work.survey(one)
    later = dataclasses.replace(index, times=index.times + 3600 * 10**9)
    with pytest.raises(segment.Uneven):
        segment.label_span(one.archive, later, SPANS[1], 20.0)
    assert len(made) == 2
