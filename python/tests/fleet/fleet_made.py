# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips, fleets of this process alone, and what one process gives."""

import subprocess
import sys

import numpy
import pytest

from cudaccl.fleet import join, work
from cudaccl.fleet.config import Archive, Archives

NS = 10**9
PROPERTIES = {"threshold": "128", "backend": "cpu"}
TRACKED = PROPERTIES | {"track": "true"}
MOVING = {"foreground": "motion", "motion-warm-up": "200000000", "min-area": "20", "backend": "cpu"}

SIZE = (96, 128)  # rows, columns
RATE = 25


def scene(frames, period=100, empty=30):
    """(frames, rows, columns): two squares cross the picture in each period, and nothing is there at its end."""
    images = numpy.full((frames, *SIZE), 16, "u1")
    for i in range(frames):
        step = i % period
        if step < period - empty:
            images[i, 20:36, step:step + 16] = 235
            if step > 10:
                images[i, 50:70, 110 - step:122 - step] = 235
    return images


def random_scene(seed, frames=500):
    """Rectangles that come, touch, and go."""
    chance = numpy.random.default_rng(seed)
    images = numpy.full((frames, *SIZE), 16, "u1")
    for _ in range(20):
        first, life = int(chance.integers(0, frames - 20)), int(chance.integers(10, 130))
        height, width = chance.integers(5, 18, 2)
        x, y, dx, dy = *chance.uniform(0, 100, 2), *chance.normal(0, 1.2, 2)
        for i in range(first, min(frames, first + life)):
            left, top = int(x + dx * (i - first)), int(y + dy * (i - first))
            images[i, max(0, top):max(0, top + height), max(0, left):max(0, left + width)] = 235
    return images


def write_video(path, images, key_frames=RATE):
    """H.264 in Matroska, with a key frame every so many frames."""
    raw = path.with_suffix(".raw")
    images.tofile(raw)
    line = (f"filesrc location={raw} ! rawvideoparse format=gray8 width={SIZE[1]} height={SIZE[0]} framerate={RATE}/1"
            f" ! videoconvert ! video/x-raw,format=I420 ! openh264enc gop-size={key_frames} bitrate=2000000"
            f" scene-change-detection=false ! h264parse ! matroskamux ! filesink location={path}")
    done = subprocess.run(["gst-launch-1.0", "-q", *line.split()], capture_output=True, text=True)
    raw.unlink()
    if "no element" in done.stderr:
        pytest.skip(f"no H.264 encoder: install gstreamer1.0-plugins-bad ({done.stderr.strip()})")
    assert done.returncode == 0, done.stderr
    return path


def job(path, folder, properties=PROPERTIES, form="jsonl", segment=4, overlap=1, longest=4):
    archive = Archive("clip", str(path), properties)
    settings = Archives((archive,), str(folder), form, int(segment * NS), int(overlap * NS), int(longest * NS), 5,
                        20.0)
    return work.Job(archive, settings)


def run_here(one, change=lambda path: None):
    """What ArchiveRun does, one after the other. change: is called with the path of each new piece."""
    content = one.content()
    index = work.survey(one)
    obstacle = join.obstacle(one.archive, one.settings, index)
    todo = [work.WHOLE] if obstacle else join.first_spans(one.archive, one.settings, index)
    while True:
        for span in todo:
            done = work.label(one, index, span)
            if done.uneven:
                obstacle, todo = done.uneven, [work.WHOLE]
                work.label(one, index, work.WHOLE)
                break
            change(one.piece(content, span))
        result = work.put_together(one, index, obstacle)
        if isinstance(result, dict):
            return result
        todo = result.spans


def run_one_process(one, folder):
    """The folder or file that `cudaccl run` writes."""
    path = folder / f"one-process.{one.settings.form}"
    settings = [word for name, value in one.archive.properties.items() for word in ("-s", f"{name}={value}")]
    subprocess.run(
        [sys.executable, "-m", "cudaccl", "run", f"--{one.settings.form}", path, *settings,
         f"{one.archive.name}={one.archive.path}"], check=True, capture_output=True)
    return path


def files_of(path):
    """Name and bytes."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
