# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sources of all kinds in `cudaccl tune`, also those that end, stall, fail or change; and how the command ends."""

import os
import socket
import subprocess
import sys
import threading
import time

import numpy
import pytest

from cudaccl.cli import tune
from cudaccl.tune.player import Player
from cudaccl.tune.settings import checked
from cudaccl.video.errors import UsageError
from cudaccl.video.sources import Source

from tune_made import FRAMES, HEIGHT, PATIENCE, RATE, SETTINGS, Program, frame, until, with_page, write_scene

FRAME_NS = 10**9 // RATE
SMALL, LARGE = (f"video/x-raw,width={size},framerate=30/1" for size in ("160,height=120", "320,height=240"))


def command(*arguments, **variables):
    return subprocess.run([sys.executable, "-m", "cudaccl", "tune", "--no-browser", *map(str, arguments)],
                          capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **variables})


@pytest.mark.parametrize("arguments, reason", [
    (["-s", "none=1"], "none"), (["-s", "min-area=x"], "min-area"), (["--output", "none"], "--output"),
    (["--preset", "none"], "preset"), (["--settings", "/none"], "/none"), (["-s", "output=mask"], "output")])
def test_wrong_arguments_end_with_one_line(clip, arguments, reason):
    done = command(*arguments, clip)
    assert done.returncode == 2 and reason in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("arguments", [(), ("--fit", "marks.json")])
def test_without_the_plugin_there_is_one_line(clip, tmp_path, arguments):
    done = command(*arguments, clip, GST_PLUGIN_PATH=str(tmp_path), GST_PLUGIN_PATH_1_0=str(tmp_path),
                   GST_REGISTRY_1_0=str(tmp_path / "registry"))
    assert done.returncode == 2 and "no element cudaccl" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_port_that_is_in_use(clip):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = command("--listen", port, clip)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"--listen 127.0.0.1:{port}: Address already in use" in done.stderr


@pytest.mark.parametrize("address", ["a..b:9", "x" * 64 + ":9"])
def test_a_host_that_is_no_name(clip, address):
    done = command("--listen", address, clip)
    assert done.returncode == 2 and f"{address[:-2]!r} is no name of a host" in done.stderr and "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_read(tmp_path, monkeypatch):
    def refuse(_folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    with pytest.raises(UsageError, match=f"the folder {tmp_path} cannot be read: Permission denied"):
        tune._sources([str(tmp_path)])


def test_regions_with_a_mark_of_the_order_of_bytes(tmp_path):
    file = tmp_path / "regions.json"
    file.write_bytes(b'\xef\xbb\xbf{"version": 1} // none')
    assert checked([], {"regions": str(file)}) == {"regions": '{"version":1}'}


def test_a_folder_without_images(tmp_path):
    done = command(tmp_path)
    assert done.returncode == 2 and "there is no image in the folder" in done.stderr


@pytest.mark.parametrize("source", ["/none.mkv", __file__, "appsrc ! video/x-raw,format=GRAY8,width=8,height=8,framerate=1/1"])
def test_what_never_shows_a_frame_fails(source):
    """The last one is silent."""
    done = command("--stall", "0.5", source)
    assert done.returncode == 1 and "cudaccl: error: " in done.stderr and done.stderr.count("\n") == 2, done.stderr


def test_the_command_ends_well_when_it_is_stopped(clip):
    with Program(clip) as program:
        assert program.stop() == (0, "")


def test_a_file_ends_and_begins_again(clip):
    """At its end the last frame stays, and takes other settings."""
    async def look(page):
        await page.send("speed", speed=0)
        await page.wait("state", lambda one: one["state"] == "ended")
        last = await page.latest("frame", lambda one: one["time"] == (FRAMES - 1) * FRAME_NS)
        assert last["count"] == 3
        await page.send("set", values={"threshold": "150"})
        again = await page.wait("frame", lambda one: one["count"] == 2)
        assert again["isAgain"] and again["time"] == last["time"]
        await page.send("speed", speed=1)
        await page.send("play")
        await page.wait("frame", lambda one: one["time"] < last["time"])
        await page.send("speed", speed=0)
        await page.wait("state", lambda one: one["state"] == "ended")
        await page.send("speed", speed=16)
        await page.send("loop", on=True)
        await page.wait("frame", lambda one: one["time"] < 20 * FRAME_NS)
        await page.wait("frame", lambda one: one["time"] > last["time"] - 20 * FRAME_NS)
        await page.wait("frame", lambda one: one["time"] < 20 * FRAME_NS)

    with Program(*SETTINGS, clip) as program:
        with_page(program, look)
        assert program.stop() == (0, "")


def test_a_loop_plays_at_its_end_too(clip):
    """A page that showed an end took a click for a mark, and not for a pause."""
    player = Player([Source("scene", str(clip))], {}, lambda _shot: None, lambda: None, lambda _buffer, _caps: None, PATIENCE)
    begin, at_ends = player.seek, []

    def begin_again(place):
        at_ends.append(player.state)
        if len(at_ends) == 2:
            player.gate.pause()
        return begin(place)

    player.seek = begin_again
    player.loops = True
    player.gate.set_speed(0)
    player.start()
    try:
        until(lambda: player.state == "paused" and not player.gate.at_end, "the pause")
    finally:
        player.close()
    assert at_ends == ["playing", "playing"]


def test_pause_step_and_seek(clip):
    async def look(page):
        await page.wait("frame")
        await page.send("pause")
        await page.wait("state", lambda one: one["state"] in ("paused", "ended"))
        await page.send("seek", time=30 * FRAME_NS)
        at = await page.wait("frame", lambda one: one["time"] == 30 * FRAME_NS)
        assert [b for b in at["boxes"] if b[2] > 600 and b[2] < 800][0][3] == 20 + 90 - 14
        await page.send("step")
        await page.wait("frame", lambda one: one["time"] == 31 * FRAME_NS)
        await page.send("runTo", time=10 * FRAME_NS)
        at = await page.wait("frame", lambda one: one["time"] == 10 * FRAME_NS)
        assert {box[1] for box in at["boxes"]} == {1, 2, 3}  # ids begin again, as in a run
        await page.send("play")
        await page.wait("frame", lambda one: one["time"] > 10 * FRAME_NS)

    with Program(*SETTINGS, clip) as program:
        with_page(program, look)


def test_the_time_after_a_jump_is_that_of_the_frame(clip):
    """Also without tracks, when the pipeline begins at the place itself."""
    async def look(page):
        await page.wait("frame")
        await page.send("pause")
        await page.wait("state", lambda one: one["state"] in ("paused", "ended"))
        for number in (40, 10):
            await page.send("seek", time=number * FRAME_NS)
            at = await page.wait("frame", lambda one: one["time"] == number * FRAME_NS)
            assert [box[3] for box in at["boxes"] if 600 < box[2] < 800] == [20 + 3 * number - 14]
            await page.send("set", values={"threshold": str(100 + number)})
            assert (await page.wait("frame", lambda one: one["isAgain"]))["time"] == number * FRAME_NS

    with Program("-s", "threshold=100", clip) as program:
        with_page(program, look)


def test_a_launch_line_cannot_seek_everywhere():
    async def look(page):
        await page.wait("frame")
        await page.send("seek", time=10**9)
        assert "no other places" in (await page.wait("refused"))["text"]
        await page.send("pause")  # a camera cannot wait
        assert (await page.wait("state"))["state"] == "playing"
        await page.wait("frame")

    with Program(f"videotestsrc is-live=true ! {SMALL}") as program:
        with_page(program, look)


def test_a_source_that_changes_its_size():
    line = (f"videotestsrc num-buffers=600 ! {SMALL} ! concat name=c videotestsrc num-buffers=20 ! {LARGE} ! c. c.")

    async def look(page):
        await page.wait("frame", lambda one: one["width"] == 160)
        await page.send("speed", speed=0)
        found = await page.wait("frame", lambda one: one["width"] == 320)
        assert found["height"] == HEIGHT
        await page.send("explain", x=300, y=200)
        assert (await page.wait("pixel"))["x"] == 300

    with Program("-s", "threshold=200", line) as program:
        with_page(program, look)
        assert program.stop() == (0, "")


def test_a_source_that_stalls_can_be_opened_again():
    line = (f"videotestsrc num-buffers=20 ! {SMALL},format=GRAY8 ! concat name=c appsrc caps={SMALL},format=GRAY8 ! c. c.")

    async def look(page):
        failed = await page.wait("state", lambda one: one["state"] == "failed")
        assert "no frame came" in failed["error"]
        await page.send("play")
        await page.wait("state", lambda one: one["state"] == "playing")
        await page.wait("frame")
        await page.wait("state", lambda one: one["state"] == "failed")

    with Program("--stall", "3", line) as program:
        with_page(program, look)
        status, text = program.stop()
        assert status == 1 and "no frame came" in text and text.count("\n") == 1


def test_a_folder_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is missing")
    image.fromarray(frame(10)).save(tmp_path / "a b.png")
    image.fromarray(numpy.dstack([frame(20)[:200]] * 3)).save(tmp_path / "ä.jpg")
    (tmp_path / "notes.txt").write_text("no image")

    async def look(page):
        hello = await page.wait("hello")
        assert len(hello["state"]["sources"]) == 2
        assert (await page.wait("frame"))["height"] == HEIGHT
        await page.send("source", index=1)
        second = await page.wait("frame", lambda one: one["height"] == 200)
        await page.send("set", values={"threshold": "210"})
        assert (await page.wait("frame"))["count"] < second["count"]
        await page.send("source", index=0)
        assert (await page.wait("frame", lambda one: one["height"] == HEIGHT))["count"] == 1

    with Program("-s", "threshold=100", tmp_path) as program:
        with_page(program, look)


def test_settings_of_the_next_start_open_the_source_again(clip):
    async def look(page):
        await page.wait("frame", lambda one: one["time"] >= 5 * FRAME_NS)
        await page.send("pause")  # it stays at its first frame, however late this page reads
        await page.send("set", values={"cuda-device-id": "0"})
        await page.wait("frame", lambda one: one["time"] < 5 * FRAME_NS)

    with Program(*SETTINGS, clip) as program:
        with_page(program, look)


def test_a_player_can_be_closed_and_opened_again_at_any_moment(clip):
    """Also while it is opening a source, which then must not begin."""
    for number in range(60):
        player = Player([Source("a", str(clip))], {"threshold": "100"}, lambda _shot: None, lambda: None,
                        lambda *_frame: None, PATIENCE)
        player.start()
        time.sleep(number * 0.001)
        if number % 2:
            player.reopen()
        closing = threading.Thread(target=player.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive(), number


def test_a_background_is_learned_by_both_elements(tmp_path):
    """The one that keeps all components, for the charts, has the same model: it has had all frames."""
    clip = write_scene(tmp_path / "motion.mkv", 60)

    async def look(page):
        await page.wait("state", lambda one: one["state"] == "ended")
        found = await page.latest("aids", lambda one: any(one.get("components", {}).get("kept", [])))
        assert all(found["components"]["kept"])
        await page.send("set", values={"min-area": "5000"})
        found = await page.wait("aids", lambda one: one.get("components", {}).get("kept") and not any(one["components"]["kept"]))
        assert max(found["components"]["area"]) >= 600

    with Program("-s", "foreground=motion", "-s", "motion-warm-up=200ms", clip) as program:
        with_page(program, look)
