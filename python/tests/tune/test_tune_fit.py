# SPDX-License-Identifier: LGPL-2.1-or-later
"""The search for settings: planted frames whose right settings are known, marks that contradict, and how it ends."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import numpy
import pytest

from cudaccl.tune import fit, marks
from cudaccl.tune.agreement import Agreement, agreement, overlaps
from cudaccl.tune.axes import Size, make, searchable
from cudaccl.tune.kept import Stopped
from cudaccl.tune.marks import MarkedFrame, MarksError
from cudaccl.tune.search import Search
from cudaccl.video.sources import Source

from tune_made import FRAMES, HEIGHT, PATIENCE, RATE, WIDTH, frame, write_scene

FRAME_NS = 10**9 // RATE
SQUARE = (140, 190, 30, 30)
DOT = (280, 30, 3, 3)


def disc(number):
    """Its box, from its pixels."""
    rows, columns = numpy.nonzero(frame(number)[100:140] == 220)
    return int(columns.min()), 100 + int(rows.min()), int(numpy.ptp(columns)) + 1, int(numpy.ptp(rows)) + 1


def marked(number, *objects, source="scene"):
    return MarkedFrame(source, number * FRAME_NS, WIDTH, HEIGHT, objects)


def task(clip, *frames, base=None, names=(), trials=fit.TRIALS):
    return fit.Task([Source("scene", str(clip))], frames, base or {}, names, trials, PATIENCE)


def found(clip, *frames, **options):
    return fit.fit(task(clip, *frames, **options), lambda _progress: None, lambda: False)


@pytest.fixture(scope="module")
def scipy():
    return pytest.importorskip("scipy.optimize", reason="SciPy is missing")


@pytest.fixture
def document(tmp_path):
    """A file of marks: the disc and the square of three frames, and not the dot."""
    path = tmp_path / "marks.json"
    frames = [marked(number, disc(number), SQUARE) for number in (5, 30, 60)]
    path.write_text(json.dumps(marks.as_document(frames)))
    return path


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "cudaccl", "tune", *map(str, arguments)], capture_output=True, text=True,
                          timeout=2 * PATIENCE)


def test_threshold_and_area_are_found(scipy, clip):
    """The background has 20, the square 130 and 900 pixels; the dot, which is no object, has 9 pixels."""
    outcome = found(clip, *(marked(number, disc(number), SQUARE) for number in (5, 30, 60)),
                    names=["threshold", "invert", "min-area"])
    best = outcome.proposals[0]
    assert best.agreement == Agreement(6, 0, 0, best.agreement.closeness) and best.agreement.f1 == 1
    assert 20 < int(best.values["threshold"]) <= 130 and set(best.values) == {"threshold", "min-area"}
    assert 9 < int(best.values["min-area"]) <= 709
    least, largest = map(int, best.ranges["threshold"])
    assert 20 < least <= int(best.values["threshold"]) <= largest <= 130
    assert outcome.now.agreement.f1 < 0.5 and outcome.is_complete
    assert "6 marked objects in 3 frames" in outcome.rests_on and "That is little" in outcome.rests_on


def test_the_largest_object_alone_is_found_by_other_settings(scipy, clip):
    """Only the disc is marked: it is lighter than the square and larger than the dot."""
    best = found(clip, *(marked(number, disc(number)) for number in (10, 40)), names=["threshold"],
                 base={"min-area": "20"}).proposals[0]
    assert best.agreement.f1 == 1 and 130 < int(best.values["threshold"]) <= 220 and best.values["min-area"] == "20"


def test_an_inverted_picture_is_found(scipy, clip, tmp_path):
    """Dark objects on a light ground."""
    path = write_scene(tmp_path / "dark.mkv", 12, lambda number: 255 - frame(number))
    best = found(path, *(marked(number, disc(number), SQUARE) for number in (2, 9))).proposals[0]
    assert best.agreement.f1 == 1 and best.values["invert"] == "true"


def test_the_rule_can_be_searched(scipy, clip):
    """Of moving things only: no threshold of a single frame distinguishes the disc from a square that is as light."""
    light = {"threshold": "100", "min-area": "20"}
    only = [marked(number, disc(number)) for number in (40, 60)]
    assert found(clip, *only, base=light, names=["min-area"], trials=40).proposals[0].agreement.f1 < 1
    best = found(clip, *only, base=light, names=["foreground", "min-area"], trials=60).proposals[0]
    assert best.values["foreground"] == "motion" and best.agreement.f1 == 1


def test_marks_that_contradict_each_other(scipy, tmp_path):
    """The same picture twice, with and without an object: no settings agree with both, and this is reported."""
    clip = write_scene(tmp_path / "same.mkv", 4, lambda _number: frame(7))
    outcome = found(clip, marked(0, disc(7), SQUARE), marked(2))
    best = outcome.proposals[0]
    assert 0 < best.agreement.f1 < 1
    wrong = {mark.time: (one.missed, one.extra) for mark, one in best.frames.items() if one.missed or one.extra}
    assert wrong == {2 * FRAME_NS: (0, 2)}


def test_the_given_settings_may_be_the_best(scipy, clip):
    good = {"threshold": "80", "min-area": "50"}
    outcome = found(clip, marked(20, disc(20), SQUARE), base=good, trials=60)
    assert outcome.proposals[0].values == good and outcome.now.agreement.f1 == 1


def test_settings_that_are_not_needed_together_are_not_proposed():
    """Each alone is needed, because of the other one."""
    def judge(values):
        return Agreement(1, 0, 0, 1.0) if ("threshold" in values) == ("min-area" in values) else Agreement(0, 1, 1, 0.0)

    search = Search(judge, {}, make(["threshold", "min-area"], Size(WIDTH, HEIGHT, 255)), lambda _search: None)
    assert search.judged(search.start()).f1 == 1 and search.judged(("100", search.start()[1])).f1 == 0
    assert search.simplified(("100", "50")) == search.start()


def test_the_same_marks_give_the_same_proposals(scipy, clip):
    first, second = (found(clip, marked(20, disc(20), SQUARE), trials=60) for _ in range(2))
    assert first.proposals == second.proposals


@pytest.mark.parametrize("after", [1, 40])
def test_a_search_that_is_stopped_gives_what_it_has(scipy, clip, after):
    seen = []
    outcome = fit.fit(task(clip, marked(20, disc(20), SQUARE)), seen.append,
                      lambda: bool(seen) and seen[-1].trials >= after)
    assert not outcome.is_complete and outcome.trials == after and outcome.proposals
    assert seen[-1].best.f1 == outcome.proposals[0].agreement.f1


def test_a_search_that_is_stopped_before_the_first_trial(scipy, clip):
    with pytest.raises(Stopped):
        fit.fit(task(clip, marked(20, disc(20))), lambda _progress: None, lambda: True)


def test_a_background_is_judged_by_a_run(scipy, clip):
    """The numbers of a proposal are those of a run from the beginning."""
    phases = set()
    outcome = fit.fit(task(clip, marked(60, disc(60)), base={"foreground": "motion"}, trials=30),
                      lambda progress: phases.add(progress.phase), lambda: False)
    assert "running" in phases and outcome.proposals[0].agreement.f1 == 1


@pytest.mark.parametrize("frames, reason", [
    ([], "no object is marked"), ([marked(3)], "no object is marked"),
    ([marked(FRAMES + 5, SQUARE)], "the last one is at"), ([marked(3, SQUARE, source="other")], "the sources are scene"),
    ([MarkedFrame("scene", 0, 100, 100, ((1, 1, 9, 9),))], "320 x 240"),
    ([MarkedFrame("scene", FRAME_NS // 2, WIDTH, HEIGHT, (SQUARE,))], "there is no frame of")])
def test_marks_of_which_there_is_no_frame(scipy, clip, frames, reason):
    with pytest.raises(MarksError, match=reason):
        found(clip, *frames)


def test_a_camera_is_not_searched(scipy):
    live = Source("scene", "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=20/1")
    with pytest.raises(MarksError, match="record a clip"):
        fit.fit(fit.Task([live], [marked(5, SQUARE)], {}, [], 10, PATIENCE), lambda _progress: None, lambda: False)


@pytest.mark.parametrize("document, reason", [
    ([], "version"), ({"version": 2, "frames": []}, "version"), ({"version": 1}, "frames"),
    ({"version": 1, "frames": [1]}, "frame 1"), ({"version": 1, "frames": [{}]}, "source"),
    ({"version": 1, "frames": [{"source": "a", "time": -1, "width": 9, "height": 9, "objects": []}]}, "time"),
    ({"version": 1, "frames": [{"source": "a", "time": 0, "width": 9, "height": 9, "objects": [[0, 0, 10, 2]]}]}, "inside"),
    ({"version": 1, "frames": [{"source": "a", "time": 0, "width": 9, "height": 9, "objects": [[0, 0, 1]]}]}, "four"),
    ({"version": 1, "frames": [{"source": "a", "time": 0, "width": 9, "height": 9, "objects": [
        [0, 0, 4, 4], [0, 0, 4, 5]]}]}, "same object"),
    ({"version": 1, "frames": 2 * [{"source": "a", "time": 0, "width": 9, "height": 9, "objects": []}]}, "twice")])
def test_documents_that_are_no_marks(document, reason):
    with pytest.raises(MarksError, match=reason):
        marks.parse(document)


def test_marks_are_read_as_they_were_written():
    frames = [marked(1, SQUARE, DOT), marked(2)]
    assert marks.parse(json.loads(json.dumps(marks.as_document(frames)))) == frames


def test_overlaps_and_agreement():
    assert overlaps([(0, 0, 2, 2)], [(0, 0, 2, 2), (1, 0, 2, 2), (2, 0, 2, 2)]).tolist() == [[1.0, 1 / 3, 0.0]]
    one = agreement([(0, 0, 4, 4), (10, 0, 4, 4)], [(0, 0, 4, 4), (0, 0, 4, 5), (30, 0, 1, 1)])
    assert (one.hits, one.missed, one.extra, one.closeness) == (1, 1, 2, 1.0)
    assert (one.precision, one.recall, one.f1) == (1 / 3, 1 / 2, 0.4)
    assert (one + one).hits == 2 and Agreement().f1 == 1
    assert agreement([], [(0, 0, 1, 1)]) == Agreement(0, 0, 1, 0.0)


def test_places_and_values_of_all_settings():
    """A place gives a value that the element takes, and the value gives the place again."""
    for axis in make(searchable(), Size(WIDTH, HEIGHT, 255)):
        texts = [axis.text(place) for place in (0.0, 0.3, 0.7, 1.0)]
        assert [axis.text(axis.place(text)) for text in texts] == texts, axis.name
        assert 0 <= axis.place(axis.default) <= 1


def test_the_command_writes_settings_that_a_run_uses(scipy, clip, document, tmp_path):
    path = tmp_path / "settings.txt"
    done = command("--fit", document, "--write", path, clip)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert "6 marked objects in 3 frames" in done.stderr and "F1" in done.stderr
    again = subprocess.run([sys.executable, "-m", "cudaccl", "run", "--settings", path, clip], capture_output=True,
                           text=True, timeout=PATIENCE)
    assert again.returncode == 0, again.stderr
    records = [json.loads(line) for line in again.stdout.splitlines()]
    assert {len(one["components"]) for one in records} == {2}
    printed = command("--fit", document, clip)
    assert printed.returncode == 0 and printed.stdout == path.read_text()


@pytest.mark.parametrize("text, reason", [
    (None, "No such file"), ("no json", "no JSON"), ('{"version": 1, "frames": []}', "no object is marked")])
def test_the_command_refuses_marks(scipy, clip, tmp_path, text, reason):
    path = tmp_path / "marks.json"
    if text is not None:
        path.write_text(text)
    done = command("--fit", path, clip)
    assert done.returncode == 2 and reason in done.stderr and done.stdout == "" and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments, reason", [
    (["--search", "none"], "none is no setting that can be searched"), (["--trials", "0"], "whole number"),
    (["--search", "regions"], "regions is no setting")])
def test_the_command_refuses_options(scipy, clip, document, arguments, reason):
    done = command("--fit", document, *arguments, clip)
    assert done.returncode == 2 and reason in done.stderr


def test_options_of_the_search_need_marks(clip):
    done = command("--write", "x", clip)
    assert done.returncode == 2 and "--write is for --fit" in done.stderr


def test_marks_are_not_replaced(scipy, clip, document):
    done = command("--fit", document, "--write", document, clip)
    assert done.returncode == 2 and f"--write {document} and --fit {document} are one file" in done.stderr
    assert marks.load(document)


def test_a_file_that_cannot_be_written(scipy, clip, document, tmp_path):
    done = command("--fit", document, "--trials", 30, "--write", tmp_path / "none" / "settings.txt", clip)
    assert done.returncode == 3 and "--write" in done.stderr and "F1" not in done.stderr  # before the search


def test_a_file_that_cannot_be_written_stays(scipy, clip, document, tmp_path):
    path = tmp_path / "settings.txt"
    path.write_text("threshold=9\n")
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-m", "cudaccl", "tune", "--fit", document]
    done = subprocess.run([*map(str, limited), "--trials", "30", "--write", str(path), str(clip)], capture_output=True,
                          text=True, timeout=2 * PATIENCE)
    assert done.returncode == 3 and f"error: --write {path}: File too large" in done.stderr
    assert path.read_text() == "threshold=9\n" and {one.name for one in tmp_path.iterdir()} == {path.name, document.name}


def test_a_standard_output_that_cannot_be_written(scipy, clip, document):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cudaccl", "tune", "--fit", str(document), "--trials", "30", str(clip)], stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 3 and "error: standard output cannot be written: No space left" in done.stderr
    assert "--write" not in done.stderr and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_source_that_ends_before_the_marks(scipy, document, tmp_path):
    short = write_scene(tmp_path / "scene.mkv", 10)
    done = command("--fit", document, short)
    assert done.returncode == 1 and "the last one is at 0.450 s" in done.stderr and done.stdout == ""


def test_marks_that_nothing_finds(scipy, clip, tmp_path):
    """Of an empty place."""
    path = tmp_path / "marks.json"
    path.write_text(json.dumps(marks.as_document([marked(5, (200, 60, 20, 20))])))
    done = command("--fit", path, "--search", "threshold", "--trials", 40, clip)
    assert done.returncode == 1 and "no settings were found" in done.stderr and done.stdout == ""


def test_the_command_is_interrupted(scipy, document, clip):
    """While it searches, which its line on the terminal says."""
    terminal, other_end = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cudaccl", "tune", "--fit", document, "--trials", "1000000", "--search",
         "threshold,min-area,max-area,min-width,max-width,min-height,max-height,min-extent", clip],
        stdout=subprocess.PIPE, stderr=other_end, text=True)
    os.close(other_end)
    said = ""
    with open(terminal, encoding="utf-8", errors="replace", newline="") as lines, contextlib.suppress(OSError):
        while "searching: " not in said:
            said += lines.read(1)
        process.send_signal(signal.SIGINT)
        while True:  # until the process closes it, which is an error of the terminal
            said += lines.read(1)
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and ("threshold=" in printed or "before anything was found" in said), said
