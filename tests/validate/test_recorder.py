# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/examples/recorder.py on clips in which something moves for a while."""

import subprocess
import sys
from pathlib import Path

import gi
import numpy
import pytest

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402, F401  (GstApp gives appsink its methods)

RECORDER = Path(__file__).parents[1] / "examples/recorder.py"
RATE = 30
SIZE = "video/x-raw,format=I420,width=160,height=120,framerate=30/1"
HOLD = 1  # second


def make_clip(path, *parts):
    """A clip of still and moving parts, each with its number of frames."""
    line = f"concat name=all ! jpegenc ! matroskamux ! filesink location={path}"
    for pattern, frames in parts:
        line += f" videotestsrc pattern={pattern} motion=wavy num-buffers={frames} ! {SIZE} ! all."
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message.type == Gst.MessageType.EOS


def show_ball(path):
    """For each frame of a file whether it shows the ball, and its time in seconds."""
    pipeline = Gst.parse_launch(
        f"filesrc location={path} ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink sync=false"
    )
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    frames = []
    while sample := sink.try_pull_sample(10 * Gst.SECOND):
        buffer = sample.get_buffer()
        pixels = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8)
        frames.append((bool((pixels > 128).sum() > 100), buffer.pts / Gst.SECOND))
    pipeline.set_state(Gst.State.NULL)
    return frames


def begins_with_key_frame(path):
    pipeline = Gst.parse_launch(f"filesrc location={path} ! matroskademux ! appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    buffer = pipeline.get_by_name("sink").try_pull_sample(10 * Gst.SECOND).get_buffer()
    pipeline.set_state(Gst.State.NULL)
    return not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)


def record(clip, folder, *options):
    return subprocess.run(
        [sys.executable, RECORDER, f"filesrc location={clip} ! decodebin", "--folder", folder,
         "--set", f"event-hold={HOLD * Gst.SECOND}", *options],
        capture_output=True, text=True, timeout=120,
    )


def test_a_file_begins_before_the_motion_and_ends_after_it(tmp_path):
    make_clip(tmp_path / "clip.mkv", ("black", 6 * RATE), ("ball", 2 * RATE), ("black", 6 * RATE))
    result = record(tmp_path / "clip.mkv", tmp_path / "out", "--pre-roll", "1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["recording 1 starts", "recording 1 ends"]
    (file,) = (tmp_path / "out").iterdir()
    frames = show_ball(file)
    shown = [index for index, (shows, _) in enumerate(frames) if shows]
    assert len(shown) == 2 * RATE
    assert shown[-1] - shown[0] == len(shown) - 1
    before, after = shown[0], len(frames) - 1 - shown[-1]
    assert 0.8 * RATE <= before <= 1.2 * RATE
    assert HOLD * RATE <= after <= (HOLD + 1) * RATE
    assert frames[0][1] == 0
    numpy.testing.assert_allclose(numpy.diff([time for _, time in frames]), 1 / RATE, atol=0.002)


def test_each_motion_has_a_file(tmp_path):
    still = ("black", 4 * RATE)
    make_clip(tmp_path / "clip.mkv", still, ("ball", RATE), still, ("ball", RATE), still)
    result = record(tmp_path / "clip.mkv", tmp_path / "out", "--pre-roll", "0.5")
    assert result.returncode == 0, result.stderr
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == ["motion-0001-00.mkv", "motion-0002-00.mkv"]
    for file in files:
        assert sum(shows for shows, _ in show_ball(file)) == RATE


def test_a_recording_that_the_end_cuts_off_is_complete(tmp_path):
    make_clip(tmp_path / "clip.mkv", ("black", 4 * RATE), ("ball", RATE))
    result = record(tmp_path / "clip.mkv", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    (file,) = (tmp_path / "out").iterdir()
    assert [shows for shows, _ in show_ball(file)][-RATE:] == [True] * RATE


def test_a_file_of_h264_begins_with_a_key_frame(tmp_path):
    """With groups of pictures the pre-roll goes back to the key frame before it, so that all frames can be decoded."""
    if Gst.ElementFactory.find("openh264enc") is None:
        pytest.skip("openh264enc is not installed (gstreamer1.0-plugins-bad)")
    group = 20
    make_clip(tmp_path / "clip.mkv", ("black", 4 * RATE), ("ball", RATE), ("black", 2 * RATE))
    encoder = f"openh264enc gop-size={group} ! h264parse ! video/x-h264,stream-format=avc,alignment=au"
    result = record(tmp_path / "clip.mkv", tmp_path / "out", "--pre-roll", "1", "--encoder", encoder)
    assert result.returncode == 0, result.stderr
    (file,) = (tmp_path / "out").iterdir()
    assert begins_with_key_frame(file)
    shown = [shows for shows, _ in show_ball(file)]
    assert sum(shown) == RATE
    assert RATE <= shown.index(True) < RATE + group + 0.2 * RATE


def test_a_long_recording_has_several_files(tmp_path):
    make_clip(tmp_path / "clip.mkv", ("black", 4 * RATE), ("ball", 3 * RATE))
    result = record(tmp_path / "clip.mkv", tmp_path / "out", "--pre-roll", "1", "--max-length", "1.5")
    assert result.returncode == 0, result.stderr
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"motion-0001-{number:02d}.mkv" for number in range(len(files))]
    parts = [show_ball(file) for file in files]
    assert len(parts) >= 2
    assert max(map(len, parts)) <= 1.6 * RATE
    assert sum(shows for part in parts for shows, _ in part) == 3 * RATE


def test_without_motion_there_is_no_file(tmp_path):
    make_clip(tmp_path / "clip.mkv", ("black", 3 * RATE))
    result = record(tmp_path / "clip.mkv", tmp_path / "out")
    assert (result.returncode, result.stdout) == (0, "")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("arguments, reason", [
    (["filesrc location=/nowhere.avi ! decodebin"], "nowhere.avi"),
    (["nosuchelement"], "nosuchelement"),
    (["videotestsrc num-buffers=9", "--set", "min-area=many"], "min-area"),
])
def test_errors_say_what_is_wrong(arguments, reason, tmp_path):
    result = subprocess.run(
        [sys.executable, RECORDER, *arguments, "--folder", tmp_path], capture_output=True, text=True, timeout=60
    )
    assert result.returncode != 0
    assert reason in result.stderr


if __name__ == "__main__":
    Gst.init(None)
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-rs", __file__]))
