#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follows people who meet, walk together and part: real, annotated motion, drawn as the masks of a background model.

    pairs_bench.py ANNOTATIONS --build build
    pairs_bench.py ANNOTATIONS --build build --part check --settings "cut: separate=0.7" --settings "none:" --scenes

needs the packages of requirements.txt. ANNOTATIONS is a checkout of github.com/cheind/py-motmetrics at the commit that
record-track-pairs names; its annotations (MOT challenge, CC BY-NC-SA 3.0) must not come into this repository.
pairs_scenes.py says which scenes there are, and pairs_masks.py how people are drawn. Scenes are for development or for
the check at the end, by a digest of their names: choose nothing by those of the check.

Each method gets the same masks, `clean`, `ragged` and `broken`. `cudaccl` is the element with what the preset `people`
says of components, and the settings of the line. SORT has its published parameters, and the components of the same run.
`truth` is SORT on the boxes of the truth: what would be possible if each component were a person.

Figures are those of motmetrics, over all frames of a part together. A result is a track that is confirmed, and is seen
or shares a component; it fits a person if the boxes overlap by half. A person of whom less than a quarter is in the
picture and not hidden by nearer ones does not count, and neither does a result that fits it. MODA is MOTA without the
switches: what was found, whatever its identity. Of people without a result the table says in how many of 100 cases a
component fits (`there`): that is the tracker's fault, and the rest are faults of the mask and of the cuts. Of 100 without
a result, `pieces` have a component that the tracker takes for a piece of something larger.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import pickle
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from evaluate import FIGURES, MIN_OVERLAP, MIN_VISIBLE, score, text_of  # first, for its setting of OpenBLAS

import cv2
import numpy as np

from pairs_masks import QUALITIES, Painter
from pairs_scenes import SOURCES, boxes_of, scenes_of
from real_bench import as_results, bench, facts, follow, form, preset
from trackers import overlaps

HERE = Path(__file__).resolve().parent
PARTS = ("development", "check", "whole")
SETTINGS = [("uncut", "separate=0"), ("cut, aspect 1", "separate=0.8 separate-aspect=1"), ("cut", "")]  # by the preset
UPPER_ENDS = {"truth": {}, "truth, max_age 30": {"max_age": 30}}  # the second one finds a person again after a second
COUNTS = ("objects", "switches", "fragmentations", "misses", "false_positives", "idtp", "idfp", "idfn")
SUMMED = ("frames", "people", *COUNTS, "no_track", "no_track_on_component", "no_track_on_piece")
KEYS = ("part", "sequence", "masks", "boxes", "tracker", "parameter")
COLUMNS = [*KEYS, "scenes", "mota", "idf1", "moda", *SUMMED]


class Clip:
    """Masks of a scene in a file, and their truth."""

    def __init__(self, scene, masks, path):
        self.scene, self.masks, self.path = scene, masks, path
        self.frames = path.with_suffix(".gray8")

    def draw(self, painter):
        if self.path.exists():
            return
        masks, truth = painter.paint(self.scene, QUALITIES[self.masks])
        masks.tofile(self.frames)
        self.path.write_bytes(pickle.dumps(truth))  # last: it says that both are there

    def truth(self):
        return pickle.loads(self.path.read_bytes())

    def pixels(self):
        return np.memmap(self.frames, np.uint8, "r").reshape(-1, self.scene.height, self.scene.width)


def people_preset():
    """What the preset says of components; the foreground is in the mask."""
    return " ".join(one for one in preset("people").split() if not one.startswith(("foreground=", "track=")))


def run_element(clip, settings, build):
    """Of each frame tracks, boxes of components, and which of these are pieces of a track that others show as well."""
    scene = clip.scene
    line = (f"filesrc location={shlex.quote(str(clip.frames))} blocksize={scene.width * scene.height} ! rawvideoparse "
            f"format=gray8 width={scene.width} height={scene.height} framerate={scene.source.fps}/1 ! cudaccl backend=cpu "
            f"threads=1 {people_preset()} foreground=binary threshold=127 track=true {settings} output=passthrough")
    plugins = str(build / "gst")
    registry = clip.path.parent / f"{hashlib.sha256(plugins.encode()).hexdigest()[:10]}.registry"  # of this build alone
    environment = os.environ | {"GST_PLUGIN_PATH": plugins, "GST_REGISTRY": str(registry)}
    done = subprocess.run([build / "tests/examples/ccl-records", "--format", "json", "--launch", line], capture_output=True,
                          text=True, env=environment)
    frames = [json.loads(one) for one in done.stdout.splitlines()]
    if done.returncode != 0 or len(frames) != scene.end - scene.begin:
        sys.exit(f"error: {len(frames)} frames of {scene.end - scene.begin}, from this line: {line}\n{done.stderr}")
    results = [as_results([(track["id"], track["box"]) for track in frame["tracks"]
                           if "confirmed" in track["flags"] and "predicted" not in track["flags"]]) for frame in frames]
    components = [np.array([one["box"] for one in frame["components"]], float).reshape(-1, 4) for frame in frames]
    pieces = []
    for frame in frames:
        fragmented = {track["id"] for track in frame["tracks"] if "fragmented" in track["flags"]}
        pieces.append(np.array([one["id"] in fragmented for one in frame["components"]], bool))
    return results, components, pieces


def untracked(truth, results, components, pieces):
    """Boxes of people that no result fits, how many of them a component fits (those are not the mask's fault), and how
    many of these are taken for pieces of something larger."""
    counts = np.zeros(3, int)
    for lines, (_, boxes), found, are_pieces in zip(truth, results, components, pieces):
        lines = lines[lines[:, 7] >= MIN_VISIBLE, 2:6]
        by_result, by_component, by_piece = (overlaps(lines, one).max(axis=1, initial=0) >= MIN_OVERLAP
                                             for one in (boxes, found, found[are_pieces]))
        counts += [np.count_nonzero(~by_result & one) for one in (np.ones_like(by_result), by_component, by_piece)]
    return dict(zip(("no_track", "no_track_on_component", "no_track_on_piece"), counts.tolist()))


def row_of(clip, boxes, tracker, parameter, results, components, pieces=None):
    truth, pieces = clip.truth(), pieces or [np.zeros(len(one), bool) for one in components]
    figures = score(SimpleNamespace(truth=truth), results, (*FIGURES, "num_objects", "idtp", "idfp", "idfn"))
    people = {line[1] for frame in truth for line in frame if line[7] >= MIN_VISIBLE}
    return {"part": clip.scene.part, "sequence": clip.scene.source.name, "scene": clip.scene.name, "masks": clip.masks,
            "boxes": boxes, "tracker": tracker, "parameter": parameter, "frames": len(truth), "people": len(people),
            **{name: int(figures[name]) for name in COUNTS}, **untracked(truth, results, components, pieces)}


def measure(task):
    """Rows of one clip and one line of settings, or of an upper end."""
    clip, name, settings, options = task
    if name in UPPER_ENDS:
        boxes = [frame[frame[:, 7] >= MIN_VISIBLE, 2:6] for frame in clip.truth()]
        return [row_of(clip, name, "sort", text_of(UPPER_ENDS[name]), follow("sort", boxes, **UPPER_ENDS[name]), boxes)]
    results, components, pieces = run_element(clip, settings, options.build)
    rows = [row_of(clip, name, "cudaccl", settings, results, components, pieces)]
    if not options.own:
        rows.append(row_of(clip, name, "sort", settings, follow("sort", components), components))
    return rows


def summed(rows):
    """Counts, and figures of all of them together."""
    total = {name: sum(row[name] for row in rows) for name in SUMMED}
    wrong = total["misses"] + total["false_positives"]
    ids = 2 * total["idtp"] + total["idfp"] + total["idfn"]
    return total | {"mota": 1 - (wrong + total["switches"]) / total["objects"], "moda": 1 - wrong / total["objects"],
                    "idf1": 2 * total["idtp"] / ids, **{name: 100 * total[f"no_track_on_{of}"] / max(1, total["no_track"])
                                                      for name, of in (("there", "component"), ("pieces", "piece"))}}


def show(rows, by_scene):
    """MOTA/IDF1/MODA of each method, for each kind of mask and all together."""
    masks = list(dict.fromkeys(row["masks"] for row in rows))
    parts = list(dict.fromkeys(row["scene"] if by_scene else row["part"]
                               for row in sorted(rows, key=lambda row: PARTS.index(row["part"]))))
    methods = list(dict.fromkeys((row["boxes"], row["tracker"]) for row in rows))
    for part in parts:
        print(f"\n{part + ': MOTA/IDF1/MODA':38}", *(f"{one:>17}" for one in masks),
              f"{'all':>17} {'switch':>6} {'fragm':>5} {'missed':>6} {'there':>5} {'pieces':>6} {'false':>6}")
        for boxes, tracker in methods:
            of_method = [row for row in rows if part in (row["scene"], row["part"])
                         and (row["boxes"], row["tracker"]) == (boxes, tracker)]
            cells = [summed([row for row in of_method if row["masks"] == one]) for one in masks] + [summed(of_method)]
            print(f"{boxes + ', ' + tracker:38}",
                  *(f"{one['mota']:5.3f}/{one['idf1']:5.3f}/{one['moda']:5.3f}" for one in cells),
                  "{switches:6} {fragmentations:5} {misses:6} {there:5.1f} {pieces:6.1f} {false_positives:6}".format(
                      **cells[-1]))


def rows_of(rows):
    """Of the CSV: summed over scenes."""
    for key in dict.fromkeys(tuple(row[name] for name in KEYS) for row in rows):
        of_key = [row for row in rows if tuple(row[name] for name in KEYS) == key]
        figures = {name: form(value) for name, value in summed(of_key).items()}
        yield {name: (dict(zip(KEYS, key)) | {"scenes": len(of_key)} | figures)[name] for name in COLUMNS}


def version():
    """Of the code that draws: other masks are other files."""
    code = b"".join((HERE / name).read_bytes() for name in ("pairs_scenes.py", "pairs_masks.py"))
    return hashlib.sha256(code).hexdigest()[:10]


def draw_source(task):
    """The clips of one sequence, drawn if they are not there yet."""
    source, options, folder = task
    lines, clips = boxes_of(source, options.annotations), []
    if lines is None:
        return clips
    painter, chosen = Painter(source, lines), folder / f"{source.name}-{version()}.scenes"
    if not chosen.exists():
        chosen.write_bytes(pickle.dumps(scenes_of(source, lines)))
    for scene in pickle.loads(chosen.read_bytes()):
        if scene.part in options.part and options.scene in scene.name:
            for masks in options.masks:
                name = f"{scene.name}-{scene.part}-{masks}".replace(" ", "-")
                clips.append(Clip(scene, masks, folder / f"{name}-{version()}.truth"))
                clips[-1].draw(painter)
    return clips


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("--build", type=Path, required=True, help="build folder with the element and ccl-records")
    parser.add_argument("--part", action="append", choices=PARTS,
                        help="scenes: for development (default), for the check at the end, or whole sequences")
    parser.add_argument("--masks", action="append", choices=list(QUALITIES), help="default: all")
    parser.add_argument("--scene", default="", help="names with this in them (default: all)")
    parser.add_argument("--settings", action="append", type=bench.named_settings, metavar='"NAME: PROPERTY=VALUE ..."',
                        help="a line of properties, in place of those that are shown without it")
    parser.add_argument("--own", action="store_true", help="the element alone, without SORT")
    parser.add_argument("--scenes", action="store_true", help="a table of each scene")
    parser.add_argument("--cache", type=Path, help="folder that keeps masks for the next run")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--commit", help="of the element (default: of this checkout)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.part, options.masks = options.part or ["development"], options.masks or list(QUALITIES)
    options.settings = options.settings or SETTINGS
    options.build, options.set = options.build.resolve(), []
    return options


def main():
    options = options_of()
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as temporary, multiprocessing.Pool(options.jobs) as pool:
        folder = options.cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        clips = [clip for some in pool.map(draw_source, [(source, options, folder) for source in SOURCES], chunksize=1)
                 for clip in some]
        if not clips:
            sys.exit("error: no annotations of any sequence, or no scene of this name")
        lines = options.settings + [(name, "") for name in ([] if options.own else UPPER_ENDS)]
        tasks = [(clip, name, settings, options) for name, settings in lines for clip in clips]
        rows = [row for some in pool.map(measure, tasks, chunksize=1) for row in some]
    show(rows, options.scenes)
    if options.csv:
        bench.write(options.csv, facts(options) | {"command": "pairs_bench.py"}, COLUMNS, rows_of(rows))


if __name__ == "__main__":
    main()
