# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every Python block of docs/python.md runs, and gives what its text says. The manual page says what --help says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import cudaccl

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def disc(x, y, shape=(480, 640)):
    rows, columns = numpy.indices(shape)
    return ((columns - x) ** 2 + (rows - y) ** 2 < 400).astype(numpy.uint8) * numpy.uint8(200)


@pytest.fixture(scope="module")
def variables():
    images = [disc(100, 100) | disc(300, 200), disc(50, 400), disc(600, 60) | disc(200, 200) | disc(400, 400)]
    stream = [(i * 40_000_000, numpy.full((480, 640), 20, numpy.uint8)) for i in range(30)]
    stream += [((30 + i) * 40_000_000, numpy.maximum(disc(60 + 6 * i, 200), 20)) for i in range(15)]
    return {"image": images[0], "images": images, "batch": numpy.stack(images), "stream": stream}


def run(number, variables, monkeypatch, tmp_path):
    """The names that the block has made."""
    block = BLOCKS[number]
    if "import cupy" in block:
        pytest.importorskip("cupy", reason="CuPy is missing")
        if cudaccl.device_count() == 0:
            pytest.skip("there is no GPU")
    if "cudaccl.gst" in block:
        make_clip(tmp_path / "clip.mkv")
    monkeypatch.chdir(tmp_path)
    names = {"cudaccl": cudaccl, **variables}
    exec(compile(block, f"{DOCUMENT.name}, block {number}", "exec"), names)
    return names


def make_clip(path):
    from gst_element import Gst

    pipeline = Gst.parse_launch(
        f"videotestsrc pattern=ball num-buffers=5 ! videoconvert ! jpegenc ! matroskamux ! filesink location={path}")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number, variables, monkeypatch, tmp_path, capsys):
    names = run(number, variables, monkeypatch, tmp_path)
    shown = capsys.readouterr().out
    block = BLOCKS[number]
    if "largest" in block:
        assert shown.startswith("2 components") and names["mask"].sum() == names["largest"]["area"]
    if "separate" in block:
        assert shown.startswith("2 cells of ")
    if "batch" in block:
        assert shown == "(3, 480, 640) [2, 1, 3]\n"
    if "distances.max" in block:
        assert names["radius"] == 20 and names["squares"].max() == 400
    if "areas" in block:
        assert names["areas"] == [(image > 0).sum() for image in variables["images"]]
    if "pool" in block:
        assert shown == "[2, 1, 3]\n"
    if "info.lines" in block:
        assert re.fullmatch(r"(door crossed-(left|right) \d+\n)+", shown)
    if "Tracker" in block:
        assert " started 0" in shown and " born 1" in shown
        assert list(names["moving"]["id"]) == [1] and list(names["confirmed"]["id"]) == [1]
    if "Foreground(" in block:
        assert abs(int(names["mask"].sum()) - int((variables["stream"][-1][1] > 20).sum())) < 60
    if '"clip.mkv"' in block:
        assert shown.count("(240, 320, 3) 1") == 5
    if "frame.events[" in block and "track=True" in block:
        assert len(shown.splitlines()) == 20 and "[1] [1]" in shown
    if "table" in block:
        assert list(names["table"])[:3] == ["label", "area", "bbox-0"]


def test_probe_of_the_docs(variables, monkeypatch, tmp_path, capsys):
    """The block that defines a probe, in a pipeline."""
    number = next(i for i, block in enumerate(BLOCKS) if "def probe" in block)
    names = run(number, variables, monkeypatch, tmp_path)
    from gi.repository import Gst

    pipeline = Gst.parse_launch("videotestsrc pattern=ball num-buffers=2 ! cudaccl threshold=100 ! fakesink name=sink")
    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, names["probe"])
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_keywords_of_the_docs_exist():
    """Each keyword of the tables is one of label(), of Engine, or a setting."""
    import inspect

    known = set(inspect.signature(cudaccl.label).parameters) | set(inspect.signature(cudaccl.Engine).parameters)
    known |= {*cudaccl.Settings.__annotations__, *cudaccl.Config.__annotations__}
    tables = re.findall(r"\| keyword \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", DOCUMENT.read_text(encoding="utf-8"))
    rows = [row for table in tables for row in table.splitlines()]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert len(named) >= 20 and set(named) <= known
    assert {*cudaccl.Config.__annotations__} <= set(named)  # those of settings are in properties.md


def test_manual_page():
    """It names the commands, the exit statuses and the version of `cudaccl --help`."""
    page = (DOCUMENT.parent / "cudaccl.1").read_text(encoding="utf-8")
    assert f'"cudaccl {cudaccl.__version__}"' in page
    shown = subprocess.run([sys.executable, "-m", "cudaccl", "--help"], capture_output=True, text=True, check=True).stdout
    commands, statuses = shown.split("COMMAND\n")[1].split("exit status:\n")
    entries = [line.split(maxsplit=1) for line in (commands + statuses).splitlines() if line.strip()]
    assert entries[-5][0] == "0"
    for name, text in entries:
        assert re.search(rf"^\.B {name}\n{re.escape(text)}", page, re.MULTILINE), name
