# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips of `cudaccl camera --record`: which frames they have, and what happens when something fails."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import types
from pathlib import Path

import numpy
import pytest

from gst_element import Gst
import cudaccl.gst
from cudaccl.publish import SinkError
from cudaccl.record import encoder, recorder
from cudaccl.record.clip_folder import ClipFolder
from cudaccl.record.history import History
from cudaccl.video import decoders
from commands import start, start_camera
from made import PATIENCE, free_port, until

for name in ("matroskamux", "jpegenc"):
    if Gst.ElementFactory.find(name) is None:
        pytest.skip(f"GStreamer has no element {name}", allow_module_level=True)

WIDTH, HEIGHT, RATE = 160, 120, 30
BRIGHT = "-s", "foreground=binary", "-s", "threshold=128", "-s", "open-radius=0", "-s", "close-radius=0"
SHORT = "--before", "1", "--after", "1"
VISIT = *BRIGHT, "-s", "track-lost=100ms", "--before", "0.1s", "--after", "0.1s"  # a clip for each
START = "--start-time", "2026-11-25T08:00:00Z"
# Frames with an object, and what a clip has beside them: a track is confirmed with its third frame, and ends a second
# after it was seen last.
SCENE = ((100, 130), (250, 260))
RAW = "filesrc location={} ! rawvideoparse format=gray8 width=160 height=120 framerate=30/1"
SNOW = ("snow=videotestsrc pattern=snow num-buffers={} {}! video/x-raw,width=320,height=240,framerate=30/1"
        " ! jpegenc quality=95 ! jpegdec")
H264 = [line for line in encoder._ENCODERS if "264" in line and Gst.ElementFactory.find(line.split()[0])]


def h264(rate, bits=2_000_000):
    """An encoder that has a key frame every so many frames, and no other ones."""
    if not H264:
        pytest.skip("GStreamer has no encoder for H.264: install gstreamer1.0-plugins-bad or -ugly")
    line = H264[0].format(rate=rate, bits=bits, kilobits=bits // 1000)
    return line + (" option-string=scenecut=0" if line.startswith("x264enc") else "")


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, capture_output=True)


def write_scene(path, count, objects):
    """Raw frames; a square comes, moves and goes."""
    frames = numpy.full((count, HEIGHT, WIDTH), 40, numpy.uint8)
    for begin, end in objects:
        for number in range(begin, end):
            left = 20 + (number - begin) * 2
            frames[number, 40:70, left:left + 30] = 220
    path.write_bytes(frames.tobytes())
    return path


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    return write_scene(tmp_path_factory.mktemp("scene") / "scene.raw", 300, SCENE)


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """A launch line: an object every second for a third of it, 20 times, at the pace of a camera."""
    path = write_scene(
        tmp_path_factory.mktemp("visits") / "visits.raw", 620, [(begin, begin + 10) for begin in range(10, 610, 30)])
    return f"gate={RAW.format(path)} ! identity sync=true ! videoconvert ! jpegenc ! jpegdec"


# With a key frame every 15 frames, or each frame. That of H.265 has frames that are decoded before earlier ones.
CODECS = {
    "vp8": "vp8enc deadline=1 keyframe-max-dist=15 ! matroskamux", "jpeg": "jpegenc ! matroskamux",
    "h265": "x265enc speed-preset=ultrafast key-int-max=15 option-string=scenecut=0:bframes=3:open-gop=0 ! h265parse"
            " ! mp4mux"}


@pytest.fixture(scope="module", params=["h264", *CODECS])
def compressed(request, scene):
    """The same in a file."""
    line = CODECS.get(request.param) or f"{h264(15)} ! h264parse ! matroskamux"
    for name in (part.split()[0] for part in line.split("!")):
        if Gst.ElementFactory.find(name) is None:
            pytest.skip(f"GStreamer has no {name}")
    path = scene.with_suffix(f".{request.param}")
    launch(f"{RAW.format(scene)} ! videoconvert ! {line} ! filesink location={path}")
    return path


def frames_of(path):
    """(time in seconds, pixels) of each frame."""
    found = cudaccl.gst.frames(path, image_format="GRAY8", drop=False)
    return [(time / 1e9, image) for time, image, _ in found]


def events_of(clip):
    return [json.loads(line) for line in clip.with_suffix(".jsonl").read_text().splitlines()]


def clips_in(folder):
    return sorted(Path(folder).glob("*.mkv"))


def middle_of_square(image):
    rows, columns = numpy.nonzero(image > 128)
    return columns.mean(), rows.mean()


def test_clips_have_the_pictures_of_the_source(cudaccl_command, compressed, tmp_path):
    """Each frame of a clip is the source's one, and none is missing; so is that of each event."""
    done = cudaccl_command("camera", *BRIGHT, *SHORT, *START, "--record", tmp_path, f"gate={compressed}")
    assert done.returncode == 0, done.stderr
    originals = frames_of(compressed)
    clips = clips_in(tmp_path)
    key = 1 if "jpeg" in compressed.name else 15
    found = []
    for clip in clips:
        assert f"cudaccl: gate: recorded {clip}\n" in done.stderr
        pictures = frames_of(clip)
        events = events_of(clip)
        first = events[0]["frame"] - round(events[0]["at"] * RATE)
        for number, (_, picture) in enumerate(pictures, first):
            assert numpy.array_equal(picture, originals[number][1]), number
        seconds = first / RATE
        assert abs(float(re.search(r"T08-00-(\d\d\.\d{3})Z", clip.name)[1]) - seconds) < 0.002
        for event in events:
            time, picture = min(pictures, key=lambda one: abs(one[0] - event["at"]))
            assert abs(time - event["at"]) < 0.002 and event["source"] == "gate"
            assert numpy.array_equal(picture, originals[event["frame"]][1])
            if event["type"] == "born":
                assert numpy.allclose(middle_of_square(picture), event["position"], atol=1.5)
        found.append((first, first + len(pictures), [event["type"] for event in events]))
    expected = []
    for begin, end in SCENE:
        born, died = begin + 2, end + RATE - 1
        expected.append((born - RATE, died + RATE, died))
    assert len(found) == 2
    for (first, last, types), (begin, end, died) in zip(found, expected):
        assert begin - key - 1 <= first <= begin + 1 and abs(last - min(end, 300)) <= 3, (found, expected)
        assert "born" in types and ("died" in types or died >= 299)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("second", [None, 172, 180, 186, 195, 210])
def test_events_before_the_one_that_a_clip_is_for(cudaccl_command, tmp_path, second):
    """An object is born outside of the zone, and enters it later. Clips may follow each other closely, or overlap."""
    objects = [(100, 150)] + ([(second, second + 50)] if second else [])
    scene = write_scene(tmp_path / "scene.raw", 300, objects)
    right = [[0.5, 0], [1, 0], [1, 1], [0.5, 1]]
    (tmp_path / "regions.json").write_text(json.dumps({"version": 1, "zones": [{"name": "right", "polygon": right}]}))
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--regions", tmp_path / "regions.json", "--record", tmp_path,
                           f"gate={RAW.format(scene)} ! videoconvert ! jpegenc ! jpegdec")
    assert done.returncode == 0, done.stderr
    clips = clips_in(tmp_path)
    entered = []
    for clip in clips:
        events = events_of(clip)
        end = frames_of(clip)[-1][0]
        assert all(0 <= event["at"] < end + 0.002 for event in events)
        assert [event["at"] for event in events] == sorted(event["at"] for event in events)
        born = {event["id"]: event["at"] for event in events if event["type"] == "born"}
        for event in events:
            if event["type"] == "entered":
                assert born[event["id"]] < event["at"]
                entered.append(event["id"])
    assert len(entered) == len(set(entered)) == len(objects)


def test_a_source_with_several_videos(cudaccl_command, scene, tmp_path):
    """The clip is of the one that is labelled."""
    line = (f"videotestsrc num-buffers=300 ! video/x-raw,width=80,height=60 ! jpegenc ! jpegdec ! fakesink"
            f" {RAW.format(scene)} ! videoconvert ! queue ! jpegenc ! jpegdec ! queue")
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path / "clips", f"gate={line}")
    assert done.returncode == 0, done.stderr
    pictures = [picture for clip in clips_in(tmp_path / "clips") for _, picture in frames_of(clip)]
    assert len(pictures) > 100 and {picture.shape for picture in pictures} == {(HEIGHT, WIDTH)}


@pytest.mark.parametrize("codec", ["jpegenc", "identity"])
def test_frames_that_change_their_size(cudaccl_command, tmp_path, codec):
    """A clip for each size."""
    parts = [f"videotestsrc pattern=ball num-buffers=45 ! video/x-raw,format=I420,width={width},height={height}"
             f",framerate=30/1 ! {codec} ! c." for width, height in ((WIDTH, HEIGHT), (2 * WIDTH, 2 * HEIGHT))]
    decoder = "jpegdec" if codec == "jpegenc" else "identity"
    done = cudaccl_command(
        "camera", *BRIGHT, "--record", tmp_path, f"gate={' '.join(parts)} concat name=c ! {decoder}")
    assert done.returncode == 0, done.stderr
    shapes = [{(len(pictures), picture.shape) for _, picture in pictures}
              for pictures in map(frames_of, clips_in(tmp_path))]
    assert shapes == [{(45, (HEIGHT, WIDTH))}, {(45, (2 * HEIGHT, 2 * WIDTH))}], done.stderr
    for clip in clips_in(tmp_path):  # the second one's frames have other running times than time stamps
        assert [event["at"] for event in events_of(clip) if event["type"] == "born"] == [pytest.approx(2 / RATE)]


@pytest.mark.parametrize("line", encoder._ENCODERS)
def test_raw_frames_are_encoded(cudaccl_command, monkeypatch, scene, tmp_path, line):
    """By each encoder. The event's frame shows the object where the event says."""
    name = line.split()[0]
    if Gst.ElementFactory.find(name) is None:
        pytest.skip(f"GStreamer has no {name}")
    monkeypatch.setattr(encoder, "_ENCODERS", (line,))
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path, f"gate={RAW.format(scene)}")
    assert done.returncode == 0, done.stderr
    clips = clips_in(tmp_path)
    assert [clip.name[:8] for clip in clips] == ["gate-000"] * 2
    for clip, (begin, _) in zip(clips, SCENE):
        pictures = frames_of(clip)
        events = events_of(clip)
        event = next(one for one in events if one["type"] == "born")
        assert event["frame"] == begin + 2
        time, picture = min(pictures, key=lambda one: abs(one[0] - event["at"]))
        assert abs(time - event["at"]) < 0.002
        assert numpy.allclose(middle_of_square(picture), event["position"], atol=1.5)
        before = event["at"]
        assert 1 - 1 / RATE < before < 2 + 1 / RATE, "from a second before, and a key frame comes each second"
        assert len(pictures) > 1.5 * RATE and numpy.allclose(
            numpy.diff([time for time, _ in pictures]), 1 / RATE, atol=0.002), "no frame is missing"


def test_no_encoder(cudaccl_command, monkeypatch, scene, tmp_path):
    monkeypatch.setattr(encoder, "_ENCODERS", ("nosuchenc speed=1",))
    done = cudaccl_command("camera", *BRIGHT, "--record", tmp_path, f"gate={RAW.format(scene)}")
    assert done.returncode == 3 and "GStreamer has no encoder: install one of nosuchenc" in done.stderr
    assert done.stdout.count("born") == 2 and "300 frames sent" in done.stderr, "events go on"


def test_frames_that_an_encoder_has_no_time_for(cudaccl_command, monkeypatch, scene, tmp_path):
    """Some, and all: they are counted, and a line reports them."""
    push, count = encoder.Encoder.push, iter(range(1000))

    def late(self, buffer, time):
        if next(count) % 10 == 9:
            self.lost += 1
        else:
            push(self, buffer, time)

    line = f"gate={RAW.format(scene)}"
    with monkeypatch.context() as changed:
        changed.setattr(encoder.Encoder, "push", late)
        done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path, line)
    lacks = re.findall(r"gate: (gate-\S+) lacks (\d+) frames, for which the encoder had no time", done.stderr)
    assert done.returncode == 3 and len(lacks) == len(clips_in(tmp_path)) == 2
    for name, lost in lacks:
        assert 0 < int(lost) < 20 and len(frames_of(tmp_path / name)) > 40
    monkeypatch.setattr(encoder, "_WAITING", 0)
    monkeypatch.setattr(encoder, "_PATIENCE_S", 0)
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path / "none", line)
    assert done.returncode == 3 and "a clip cannot be recorded in" in done.stderr
    assert "no compressed frame came" in done.stderr and not list((tmp_path / "none").iterdir())


def test_without_events_there_are_no_clips(cudaccl_command, scene, tmp_path):
    """With zones or lines only theirs count."""
    line = f"gate={RAW.format(scene)}"
    assert cudaccl_command("camera", *BRIGHT, "-s", "min-area=5000", "--record", tmp_path, line).returncode == 0
    assert not list(tmp_path.iterdir())
    regions = tmp_path / "regions.json"
    for left, count in ((0.8, 0), (0.5, 1)):
        corners = [[left, 0], [left + 0.15, 0], [left + 0.15, 1], [left, 1]]
        regions.write_text(json.dumps({"version": 1, "zones": [{"name": "door", "polygon": corners, "margin": 0}]}))
        done = cudaccl_command(
            "camera", *BRIGHT, *SHORT, "--regions", regions, "--record", tmp_path / "clips", line)
        assert done.returncode == 0 and done.stdout.count("born") == 2, done.stderr
        clips = clips_in(tmp_path / "clips")
        assert len(clips) == count, "the second object does not get as far"
    assert "entered" in {event["type"] for event in events_of(clips[0])}


def test_long_clips_are_divided(cudaccl_command, monkeypatch, compressed, tmp_path):
    """At key frames, without a gap and without an overlap."""
    monkeypatch.setattr(recorder, "_LONGEST", 10**9)
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path, f"gate={compressed}")
    assert done.returncode == 0, done.stderr
    originals = frames_of(compressed)
    clips = clips_in(tmp_path)
    pictures = [picture for clip in clips for _, picture in frames_of(clip)]
    begins = [float(re.search(r"gate-(\d+\.\d{3})s", clip.name)[1]) for clip in clips]
    lengths = [len(frames_of(clip)) / RATE for clip in clips]
    assert len(clips) >= 4 and max(lengths) <= 1.55
    assert sum(abs(begin + length - after) < 0.01
               for begin, length, after in zip(begins, lengths, begins[1:])) == len(clips) - 2, "two events"
    first = round(begins[0] * RATE)
    for number, picture in enumerate(pictures[:60], first):
        assert numpy.array_equal(picture, originals[number][1])


def test_what_has_no_key_frame_in_memory_begins_late(cudaccl_command, monkeypatch, scene, tmp_path):
    path = tmp_path / "rare.mkv"
    launch(f"{RAW.format(scene)} ! videoconvert ! {h264(125)} ! h264parse ! matroskamux ! filesink location={path}")
    monkeypatch.setattr(History.__init__, "__defaults__", (1000,))
    done = cudaccl_command("camera", *BRIGHT, *SHORT, "--record", tmp_path / "clips", path)
    assert done.returncode == 0
    line = r"rare: rare-0000\d.\d{3}s.mkv begins \d.\d s after its event, with the first key frame"
    assert re.search(line, done.stderr)
    assert len(frames_of(clips_in(tmp_path / "clips")[0])) > 5


def size_of_part(folder):
    return sum(path.stat().st_size for path in Path(folder).glob("*.part") if path.exists())


def assert_is_playable(clip, at_least):
    """Frame by frame, and events have their frames."""
    times = [time for time, _ in frames_of(clip)]
    assert len(times) >= at_least and times == sorted(times)
    for event in events_of(clip):
        assert min(abs(time - event["at"]) for time in times) < 0.02, (event, times[:3])


def test_a_camera_that_goes_away_in_a_clip_and_a_signal(tmp_path):
    """Both leave a complete clip, which is said; the camera that comes again begins another one."""
    port = free_port()
    codec = f"{h264(15, 500_000)} ! rtph264pay" if H264 else "jpegenc ! rtpjpegpay"
    camera = start_camera(port, codec)
    process = start("camera", *BRIGHT, "--stall", "20", "--record", tmp_path, f"gate=rtsp://127.0.0.1:{port}/live",
                    stdout=subprocess.PIPE)
    try:
        until(lambda: size_of_part(tmp_path) > 5000)
        camera.kill()
        camera.wait()
        until(lambda: len(clips_in(tmp_path)) == 1)
        camera = start_camera(port, codec)
        until(lambda: size_of_part(tmp_path) > 5000)
    finally:
        camera.kill()
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, error
    clips = clips_in(tmp_path)
    assert len(clips) == 2 and not list(tmp_path.glob("*.part"))
    for clip in clips:
        assert re.fullmatch(r"gate-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.mkv", clip.name)
        assert f"gate: recorded {clip}" in error
        assert_is_playable(clip, 3)


def test_what_a_kill_leaves_can_be_played(tmp_path):
    """It gets its name from the next command, and the clip that another process writes does not."""
    live = ("gate=videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=30/1"
            " ! jpegenc ! jpegdec")
    process = start("camera", *BRIGHT, "--record", tmp_path, live, stdout=subprocess.PIPE)
    until(lambda: size_of_part(tmp_path) > 200_000)
    assert ClipFolder(tmp_path).complete_old() == []
    process.kill()
    process.communicate()
    [part] = tmp_path.glob("*.part")
    assert len(frames_of(part)) >= 10
    done = subprocess.run(
        [sys.executable, "-m", "cudaccl", "camera", *BRIGHT, "--record", tmp_path, "other=videotestsrc num-buffers=1"],
        capture_output=True, text=True, timeout=PATIENCE)
    [clip] = clips_in(tmp_path)
    assert done.returncode == 0 and f"{clip.name} was not completed, and ends early" in done.stderr
    assert_is_playable(clip, 10)


def test_a_full_disk(cudaccl_command, medium_disk):
    """What was written stays; events and messages go on. A line says it, and the exit status."""
    folder = medium_disk / "clips"
    done = cudaccl_command("camera", *BRIGHT, "--record", folder, "--keep", "1G", SNOW.format(300, ""))
    assert done.returncode == 3, done.stderr
    failures = [line for line in done.stderr.splitlines() if "cannot be recorded" in line]
    assert failures == [f"cudaccl: snow: a clip cannot be recorded in {folder}: No space left on the resource"]
    assert "300 frames sent, 0 wait, 0 lost" in done.stderr
    assert len(frames_of(clips_in(folder)[0])) > 10


def test_a_full_disk_that_has_room_again(visits, medium_disk):
    """The next event is recorded."""
    filler = medium_disk / "more"
    filler.write_bytes(bytes(4096 * 1024 - 8192))
    folder = medium_disk / "clips"
    process = start("camera", *VISIT, "--record", folder, "--keep", "1G", visits, stdout=subprocess.PIPE)
    try:
        line = process.stderr.readline()
        assert "a clip cannot be recorded" in line and "No space left" in line
        filler.unlink()
        until(lambda: any(path.stat().st_size > 10_000 for path in clips_in(folder)))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 3


def test_old_clips_make_room(cudaccl_command, tmp_path):
    """All together never take more than --keep. Other files stay, also those that look nearly the same."""
    others = [tmp_path / name for name in ("holiday.mkv", "snow-2026.mkv", "notes.jsonl")]
    for path in others:
        path.write_bytes(bytes(100))
    old = tmp_path / "door-2026-11-25T08-00-00.000Z.mkv"
    old.write_bytes(os.urandom(4 << 20))
    old.with_suffix(".jsonl").write_text("{}\n")
    os.utime(old, (1, 1))
    os.utime(old.with_suffix(".jsonl"), (1, 1))
    sizes = []

    class Folder(ClipFolder):
        def wrote(self, size):
            super().wrote(size)
            sizes.append(sum(one.size for one in self._clips().values()))

    import cudaccl.cli.camera

    original, cudaccl.cli.camera.ClipFolder = cudaccl.cli.camera.ClipFolder, Folder
    try:
        done = cudaccl_command("camera", *BRIGHT, "--record", tmp_path, "--keep", "10M", SNOW.format(400, ""))
    finally:
        cudaccl.cli.camera.ClipFolder = original
    assert done.returncode == 0, done.stderr
    assert 7 << 20 < max(sizes) <= 10 << 20
    assert not old.exists() and not old.with_suffix(".jsonl").exists() and all(path.exists() for path in others)
    recorded = re.findall(r"recorded (\S+)", done.stderr)
    assert len(recorded) > len(clips_in(tmp_path)) - 2 > 2 and clips_in(tmp_path)[-1] in others + [Path(recorded[-1])]


def test_folders(cudaccl_command, tmp_path, monkeypatch):
    source = "a=videotestsrc num-buffers=3"
    (tmp_path / "file").touch()
    done = cudaccl_command("camera", "--record", tmp_path / "file", source)
    assert done.returncode == 3 and done.stdout == "" and "clips cannot be written to" in done.stderr
    assert cudaccl_command("camera", "--record", tmp_path, "--keep", "1M", source).returncode == 2
    for text in ("--before", "--after"):
        assert cudaccl_command("camera", "--record", tmp_path, text, "long", source).returncode == 2
    for name, value in (("--before", "1"), ("--after", "1"), ("--keep", "1G")):
        done = cudaccl_command("camera", name, value, source)
        assert done.returncode == 2 and f"{name} has no effect: --record is missing" in done.stderr
    for wrong in (("-s", "track=false"), ("-s", "min-area=-5"), ("--preset", "none")):
        done = cudaccl_command("camera", "--record", tmp_path / "new", *wrong, source)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not (tmp_path / "new").exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=1000))
    (tmp_path / "a-2026-11-25T08-00-00.000Z.mkv").write_bytes(bytes(40_960))
    assert 20_980 <= ClipFolder(tmp_path)._keep < 40_000
    folder = ClipFolder(tmp_path, 1 << 30)
    file, path = folder.new_file("a", 1_795_000_000_000_000_000, 0)
    os.close(file)
    assert path.name == "a-2026-11-18T11-06-40.000Z.mkv.part"
    file, path = folder.new_file("a", 1_795_000_000_000_000_000, 0)
    os.close(file)
    assert path.name == "a-2026-11-18T11-06-40.000Z-2.mkv.part"
    file, path = folder.new_file("a", None, 61_500_000_000)
    os.close(file)
    assert path.name == "a-00061.500s.mkv.part"
    with pytest.raises(SinkError, match="Not a directory"):
        ClipFolder(tmp_path / "file" / "below")


def test_a_folder_that_goes_away(visits, tmp_path):
    """Events go on."""
    folder = tmp_path / "clips"
    process = start("camera", *VISIT, "--record", folder, visits, stdout=subprocess.PIPE)
    try:
        until(lambda: clips_in(folder))
        shutil.rmtree(folder)
        while "cannot be recorded" not in (line := process.stderr.readline()):
            assert line, "it has ended"
        assert line == f"cudaccl: gate: a clip cannot be recorded in {folder}: No such file or directory\n"
        for _ in range(3):
            while " born " not in (shown := process.stdout.readline()):
                assert shown, "events go on"
    finally:
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 3 and "cannot be recorded" not in error, "it is said once"


def test_decoders_of_the_gpu_come_first():
    """Where both have the same rank. A rank that the user has set stays."""
    feature = Gst.Registry.get().lookup_feature("jpegdec")
    before = feature.get_rank()
    try:
        feature.set_rank(Gst.Rank.PRIMARY)
        decoders.prefer_gpu("jpeg", (1, 24, 0, 0))
        assert feature.get_rank() == Gst.Rank.PRIMARY
        decoders.prefer_gpu("jpeg", (1, 22, 12, 0))
        assert feature.get_rank() == Gst.Rank.PRIMARY + 1
        feature.set_rank(Gst.Rank.NONE)
        decoders.prefer_gpu("jpeg", (1, 22, 12, 0))
        assert feature.get_rank() == Gst.Rank.NONE
        decoders.prefer_gpu("no-such-plugin", (1, 22, 0, 0))
    finally:
        feature.set_rank(before)
