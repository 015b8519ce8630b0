# SPDX-License-Identifier: LGPL-2.1-or-later
"""How commands end that cannot do what was asked: results of yesterday stay, and the status says it."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy
import pytest

import gst_element  # noqa: F401
from commands import BALL, CUDACCL, LIVE, command, lines_of
from made import PATIENCE, Mosquitto, Subscriber, count_spooled, free_port, until, write_clip

image_module = pytest.importorskip("PIL.Image", reason="pillow is missing")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "cells.png"
    image_module.fromarray(numpy.eye(20, dtype=bool)).save(path)
    return path


@pytest.mark.parametrize("name,form", [("run", "--jsonl"), ("run", "--csv"), ("label", "--csv"), ("label", "--jsonl")])
def test_a_source_that_cannot_be_read_leaves_old_files(name, form, tmp_path):
    old = tmp_path / "old"
    old.write_text("precious\n")
    done = command(name, "none.avi", form, old)
    assert done.returncode == 1 and "none.avi" in done.stderr
    assert old.read_text() == "precious\n"


def test_a_video_without_frames(tmp_path):
    (tmp_path / "zero.y4m").write_text("YUV4MPEG2 W64 H48 F25:1 Ip A1:1 C420jpeg\n")
    for source in (tmp_path / "zero.y4m", "a=videotestsrc num-buffers=0"):
        done = command("run", source)
        assert done.returncode == 1 and "has no frame" in done.stderr


def test_a_source_that_cannot_be_read_is_no_reason_to_lose_others(image, tmp_path):
    done = command("label", "none.png", image, "--csv", tmp_path / "a.csv")
    assert done.returncode == 1 and (tmp_path / "a.csv").read_text().count("\n") == 2


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--preset", "list"], ["label", "IMAGE"], ["run", BALL.format(3)]])
def test_a_full_standard_output(arguments, image):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*CUDACCL, *(str(image) if word == "IMAGE" else word for word in arguments)], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 3 and "No space left" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["label", "IMAGE"], ["run", BALL.format(3)]])
def test_no_standard_output(arguments, image):
    """Files that the command opens do not get its number."""
    words = [*CUDACCL, *(str(image) if word == "IMAGE" else word for word in arguments)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *words], stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 3 and "Traceback" not in done.stderr


def run_with_standard_error(file, *arguments):
    return subprocess.run([*CUDACCL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=file, text=True,
                          timeout=2 * PATIENCE)


def test_standard_error_that_nobody_reads(tmp_path):
    """All sources are read: it is standard output whose reader may have enough."""
    pytest.importorskip("tqdm", reason="tqdm is missing")
    reader, writer = os.pipe()
    os.close(reader)
    sources = [f"{name}={BALL.format(3)}" for name in "abc"]
    done = run_with_standard_error(writer, "run", "--progress", "--jsonl", tmp_path / "a.jsonl", *sources)
    os.close(writer)
    assert done.returncode == 0
    assert [one["source"] for one in lines_of(tmp_path / "a.jsonl")] == [*"aaabbbccc"]


def test_a_full_standard_error(tmp_path):
    with open("/dev/full", "w") as full:
        done = run_with_standard_error(full, "run", f"a={BALL.format(3)}")
        assert done.returncode == 0 and done.stdout.count("\n") == 3
        done = run_with_standard_error(full, "run", "a=none.avi")
        assert done.returncode == 1 and done.stdout == ""


def test_no_standard_error(tmp_path):
    """Lines for the operator do not get between the records."""
    words = [*CUDACCL, "run", f"a={BALL.format(3)}", "none.avi"]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert [json.loads(line)["frame"] for line in done.stdout.splitlines()] == [0, 1, 2]
    assert subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *words], timeout=PATIENCE).returncode == 3


def test_a_slow_reader_that_nobody_waits_for(tmp_path):
    """Another process that has the pipe open may have set that. Each line is whole nevertheless, and none is lost."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    words = [*CUDACCL, "publish", "--to", "-", "--spool", tmp_path, "a=videotestsrc pattern=snow num-buffers=40"]
    with subprocess.Popen([*map(str, words)], stdout=writer) as process:
        os.close(writer)
        time.sleep(2)  # in which the pipe is full
        with open(reader) as lines:
            assert [json.loads(line)["frame"] for line in lines] == list(range(40))
        assert process.wait(PATIENCE) == 0


def test_publishing_goes_on_without_its_log(tmp_path):
    """The broker was away, which could not be written."""
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is missing")
    port = free_port()
    words = [*CUDACCL, "publish", "--spool", tmp_path, "--to", f"mqtt://127.0.0.1:{port}", f"a={LIVE}"]
    with open("/dev/full", "w") as full:
        process = subprocess.Popen([*map(str, words)], stderr=full)
    try:
        until(lambda: sum(map(count_spooled, tmp_path.glob("*.db"))) > 5)
        broker = Mosquitto(tmp_path, port=port)
        try:
            subscriber = Subscriber(port)
            until(lambda: len(subscriber.messages) > 5)
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
            subscriber.stop()
        finally:
            broker.stop()
    finally:
        process.kill()
        process.wait()


def test_a_terminal_without_tqdm_has_no_bar(monkeypatch):
    from cudaccl.cli.progress import Progress
    from cudaccl.publish import MissingPackage

    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("a") as bar:
        bar.step()
    with pytest.raises(MissingPackage, match="tqdm"):
        Progress("a", show=True)


def test_sigterm_completes_files(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    lines = tmp_path / "a.jsonl"
    process = subprocess.Popen([*CUDACCL, "run", "--jsonl", lines, "--parquet", tmp_path / "p", "a=videotestsrc"],
                               stderr=subprocess.PIPE, text=True)
    until(lambda: lines.exists() and lines.stat().st_size > 0)
    process.send_signal(signal.SIGTERM)
    _, text = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "interrupted" in text
    tables = [*(tmp_path / "p").rglob("*.parquet")]
    assert tables and all(parquet.read_table(table) is not None for table in tables)
    assert not [*(tmp_path / "p").rglob("*.part")]


def test_publishing_says_that_it_waits_for_a_disk(small_disk, tmp_path):
    clip = write_clip(tmp_path / "ball.avi", 60)
    (small_disk / "fill").write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    process = subprocess.Popen([*CUDACCL, "publish", "--to", f"jsonl:{small_disk}/a.jsonl", f"a={clip}"],
                               stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        while "No space left" not in line:
            assert line, "it has ended"
            line = process.stderr.readline()
        assert "its frames wait" in line
        (small_disk / "fill").unlink()
        assert process.wait(PATIENCE) == 0
        assert len(lines_of(small_disk / "a.jsonl")) == 60
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("arguments,text", [
    (["run", "-s", "min-area=", "a=x"], "min-area has no value"),
    (["run", "-s", "foreground=", "a=x"], "foreground has no value"),
    (["run", "-s", "stats=1", "a=x"], "stats can be read, and not set"),
    (["run", "-s", "active-backend=cpu", "a=x"], "active-backend can be read, and not set"),
    (["run", "-s", "min-area=9", "-s", "max-area=8", "a=x"], "min-area=9 is more than max-area=8"),
    (["label", "-s", "min_area=", "x"], "min_area=: the value is missing"),
    (["label", "-s", "min_area=9", "-s", "max-area=8", "x"], "min_area=9 is more than max_area=8"),
    (["label", "-s", "output=overlay", "x"], "this program sets output itself"),
    (["label", "-s", "shape=3", "x"], "this program sets shape itself"),
    (["label", "--preset", "nobody", "x"], "there is no preset 'nobody'"),
    (["label", "--preset", "people", "x"], "nothing moves in one image"),
])
def test_settings_that_cannot_be_meant(arguments, text):
    done = command(*arguments)
    assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr
    assert "CRITICAL" not in done.stderr and "Warning" not in done.stderr


def test_settings_file(tmp_path):
    """A mark of the order of bytes is no part of a name, and nothing is read without end."""
    file = tmp_path / "settings"
    file.write_bytes(b"\xef\xbb\xbfmin-area=5\n")
    assert command("run", "--settings", file, BALL.format(2)).returncode == 0
    done = command("run", "--settings", "/dev/zero", BALL.format(2))
    assert done.returncode == 2 and "settings are at most" in done.stderr


def test_presets_of_still_images(image):
    done = command("label", "--preset", "cells", "-s", "min_area=1", image)
    assert done.returncode == 0 and done.stdout.count("\n") == 2
    assert command("label", "--preset", "cells", image).stdout.count("\n") == 1  # 20 pixels
    shown = command("label", "--preset", "list", image).stdout
    assert "cells: " in shown and "particles: " in shown and "people" not in shown


def test_an_image_that_the_camera_has_turned(tmp_path):
    """Records are those of the picture as it is shown."""
    pixels = numpy.zeros((30, 60), numpy.uint8)
    pixels[5:10, 40:50] = 255
    turned = image_module.fromarray(pixels).transpose(image_module.Transpose.ROTATE_90)
    mark = image_module.Exif()
    mark[image_module.ExifTags.Base.Orientation] = 6  # to be turned by 270 degrees
    for name, exif in (("turned.png", mark), ("damaged.png", b"Exif\0\0damaged")):
        turned.save(tmp_path / name, exif=exif)
    found = {name: next(csv.DictReader(command("label", "-s", "threshold=128", tmp_path / name).stdout.splitlines()))
             for name in ("turned.png", "damaged.png")}
    assert [found["turned.png"][f"box_{key}"] for key in ("x", "y", "width", "height")] == ["40", "5", "10", "5"]
    assert [found["damaged.png"][f"box_{key}"] for key in ("width", "height")] == ["5", "10"]


def test_an_image_with_damaged_pixels(tmp_path):
    """Of which Pillow would have something on the second attempt."""
    path = tmp_path / "damaged.png"
    image_module.fromarray(numpy.random.default_rng(1).integers(0, 255, (300, 300), numpy.uint8)).save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    done = command("label", "-s", "threshold=128", path)
    assert done.returncode == 1 and f"{path}: " in done.stderr and not done.stdout


def test_images_of_one_name_have_sources_of_their_own(image, tmp_path):
    other = tmp_path / "cells.png"
    other.write_bytes(image.read_bytes())
    done = command("label", "--jsonl", tmp_path / "a.jsonl", image, other)
    assert done.returncode == 0
    assert [one["source"] for one in lines_of(tmp_path / "a.jsonl")] == [str(path.parent / "cells") for path in (image, other)]


def test_an_image_that_is_too_large_is_no_setting(image, tmp_path):
    large = tmp_path / "large.png"
    image_module.fromarray(numpy.ones((1, 32769), bool)).save(large)
    done = command("label", large, image)
    assert done.returncode == 1 and "large.png: it has 32769×1 pixels" in done.stderr
    assert done.stdout.count("\n") == 2


def test_output_on_a_disk_that_cannot_be_written(image, tmp_path):
    if not os.path.exists("/proc/self/ns/mnt") or os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    words = [*CUDACCL, "label", str(image), "--picture", "--out", str(tmp_path)]
    done = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro none "$0" && exec "$@"', str(tmp_path), *words],
                          capture_output=True, text=True, timeout=PATIENCE)
    if "mount" in done.stderr:
        pytest.skip(f"a disk cannot be mounted: {done.stderr.strip()}")
    assert done.returncode == 3 and "cells-picture.png cannot be written" in done.stderr


def test_a_file_that_is_cut_off_gives_a_warning(caplog, tmp_path):
    import cudaccl.gst

    clip = write_clip(tmp_path / "ball.avi", 60)
    whole = list(cudaccl.gst.frames(clip, image_format=None))
    assert len(whole) == 60 and not caplog.records
    clip.write_bytes(clip.read_bytes()[:clip.stat().st_size // 2])
    cut = list(cudaccl.gst.frames(clip, image_format=None))
    assert 0 < len(cut) < 60
    assert f"the file ends early: {len(cut)} frames of 60 came" in caplog.text


def test_regions_may_be_a_dictionary():
    import cudaccl.gst

    regions = {"version": 1, "exclude": [{"name": "all", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}]}
    frames = list(cudaccl.gst.frames(BALL.format(2), image_format=None, threshold=200, regions=regions))
    assert len(frames) == 2 and all(len(frame.records) == 0 for frame in frames)
