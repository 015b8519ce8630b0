# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the tracks of real video with the boxes of real/, this project's beside those of SORT and an IoU tracker:

    real_bench.py CLIPS --csv track-real.csv --crossings track-real-crossings.csv
    real_bench.py CLIPS --clip cars --settings "cut: PRESET separate=0.97" --set track-confirm=5 --own --strips pictures

needs the packages of requirements.txt (record-track-real makes a virtual environment), gst-launch-1.0 and the example
ccl-records, which have to find the element (GST_PLUGIN_PATH). CLIPS has the clips that the heads of the files in real/
name; one that is missing is left out.

A clip is decoded once, and all methods get the same frames. `cudaccl` is the element with README's settings for what
moves: opening with 3x3, closing with 7x7, and no components below 150 pixels of 768x576, or the same part of a smaller
frame. `preset` is the preset that the clip's file names, for which PRESET stands in settings. OpenCV's MOG2 has its
defaults and the same morphology as README's settings. SORT and the IoU tracker have their published parameters
(trackers.py), and read the components of the element, or those of MOG2.

Each clip is played twice: as it was filmed, and prepared ("even light"), to see the tracker apart from the background
model. The cameras adapt their exposure to what they see, so each frame is multiplied until the median of its ratios to the
first one is 1. And visitors stand longer than the empty room was seen before, so empty frames are played before the others,
as often as the file in real/ says. `exclude` of the regions holds for all methods.

Figures are those of motmetrics. A result is a track that is confirmed, and is seen or shares a component; it fits an object
if the boxes overlap by half (intersection over union). Frames without objects count too, where they are annotated. An
object at the frame's border, of which less than a quarter of its largest box is there, does not count, and neither does
a result that fits it.
"""

import argparse
import configparser
import csv
import hashlib
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from evaluate import score  # first, for its setting of OpenBLAS

import cv2
import motmetrics
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bench
from trackers import IouTracker, SortTracker

HERE = Path(__file__).resolve().parent
REAL, ROOT = HERE / "real", HERE.parents[2]
MIN_AREA, OF_PIXELS = 150, 768 * 576
BLACK, GREY, LEAST_LUMA = 16, 128, 40  # of video; below the last one a ratio of lumas is mostly noise
PREPARED = ", even light"
BEFORE, BEHIND = 0.8, 2.5  # seconds in which an event may be one that was counted by eye
TRACKERS = {"sort": SortTracker, "iou": IouTracker}
COLUMNS = ["clip", "boxes", "tracker", "parameter", "width", "height", "fps", "frames", "objects", "mota", "idf1", "switches",
           "fragmentations", "misses", "false_positives"]
CROSSING_COLUMNS = ["clip", "place", "event", "parameter", "by_eye", "found", "right"]


def ranges(text):
    """Numbers of frames from a text such as `10-20, 30-40`."""
    pairs = [tuple(map(int, one.split("-"))) for one in text.split(",")]
    return [frame for first, last in pairs for frame in range(first, last + 1)]


def commented(path):
    """({name: text} of the head, lines) of a CSV."""
    text = path.read_text(encoding="utf-8").splitlines()
    head = dict(re.findall(r"^# (\w+): ?(.*)$", "\n".join(text), re.MULTILINE))
    return head, list(csv.DictReader(line for line in text if not line.startswith("#")))


class Clip:
    """Frames, and the boxes of those that are annotated."""

    def __init__(self, annotation, clips):
        self.name = annotation.stem
        self.head, self.boxes = commented(annotation)
        self.width, self.height = map(int, self.head["size"].split("x"))
        self.played, self.counted = ranges(self.head["play"]), ranges(self.head["frames"])
        self.path = clips / self.head["clip"]
        self.regions = REAL / f"{self.name}.regions.json"
        self.document = json.loads(self.regions.read_text(encoding="utf-8"))
        self.min_area = round(MIN_AREA * self.width * self.height / OF_PIXELS)
        self.n_lead = 0  # frames before the first one that is played

    def check(self):
        if hashlib.sha256(self.path.read_bytes()).hexdigest() != self.head["sha256"]:
            sys.exit(f"error: {self.path} is not the clip that was annotated: its SHA-256 is another one")

    def decode(self, folder):
        """Writes the played frames as I420."""
        whole, self.i420 = folder / "whole.i420", folder / "frames.i420"
        found = subprocess.run(
            ["gst-launch-1.0", "-v", "filesrc", f"location={self.path}", "!", "decodebin", "!", "videoconvert", "!",
             "video/x-raw,format=I420", "!", "filesink", f"location={whole}"], capture_output=True, text=True)
        rate = re.search(r"framerate=\(fraction\)(\d+)/(\d+)", found.stdout)
        if found.returncode != 0 or not rate:
            sys.exit(f"error: {self.path} could not be decoded: {found.stderr}")
        self.rate = "/".join(rate.groups())
        self.fps = int(rate[1]) / int(rate[2])
        pixels = np.fromfile(whole, np.uint8).reshape(-1, self.height * 3 // 2, self.width)
        whole.unlink()
        self.take(pixels[self.played[0]:self.played[-1] + 1])

    def take(self, frames):
        frames.tofile(self.i420)
        self.n_frames = len(frames)

    def pixels(self):
        return np.memmap(self.i420, np.uint8, "r").reshape(-1, self.height * 3 // 2, self.width)

    def frame(self, index):
        return cv2.cvtColor(np.asarray(self.pixels()[index]), cv2.COLOR_YUV2BGR_I420)

    def prepare(self):
        """Evens the light, and plays empty frames before the others as often as the head of the file says, if it does."""
        frames = evened(self.pixels(), self.height)
        self.name += PREPARED
        if self.head["lead"]:
            numbers, times = self.head["lead"].split(" times ")
            empty = frames[np.array(ranges(numbers)) - self.played[0]]
            self.n_lead = len(empty) * int(times)
            frames = np.concatenate([*[empty] * int(times), frames])
        self.take(frames)

    def truth(self):
        """Of each annotated frame lines of evaluate.py: frame, object, box, a column it does not read, visible part."""
        largest = {}
        for box in self.boxes:
            largest[box["id"]] = max(largest.get(box["id"], 0), int(box["width"]) * int(box["height"]))
        by_frame = {frame: [] for frame in self.counted}
        for box in self.boxes:
            frame, thing, *place = (int(box[name]) for name in ("frame", "id", "left", "top", "width", "height"))
            by_frame[frame].append([frame, thing, *place, 0, self.visible_part(place, largest[box["id"]])])
        return [np.array(lines, float).reshape(-1, 8) for lines in by_frame.values()]

    def visible_part(self, place, largest):
        """1 away from the border: what hides an object inside the frame is in its box already."""
        left, top, width, height = place
        is_inside = left > 0 and top > 0 and left + width < self.width and top + height < self.height
        return 1 if is_inside else width * height / largest

    def n_objects(self):
        return len({box["id"] for box in self.boxes})

    def index_of(self, frame):
        return frame - self.played[0] + self.n_lead

    def score(self, results):
        """`results` are of all frames."""
        return score(SimpleNamespace(truth=self.truth()), [results[self.index_of(frame)] for frame in self.counted])

    def included(self):
        """1 where foreground counts, 0 in polygons of the regions that exclude it."""
        mask = np.ones((self.height, self.width), np.uint8)
        size = np.array([self.width, self.height])
        for one in self.document.get("exclude", []):
            cv2.fillPoly(mask, [np.round(np.array(one["polygon"]) * size).astype(int)], 0)
        return mask


def evened(frames, height):
    """Frames of I420 with the light of the first one: half of the pixels are lighter than there, and half darker."""
    result = np.empty_like(frames)
    first = frames[0, :height].astype(np.float32)
    counts = first >= LEAST_LUMA
    for index, frame in enumerate(frames):
        offset = np.full((len(frame), 1), GREY, np.float32)
        offset[:height] = BLACK
        values = frame - offset
        gain = np.median((first - BLACK)[counts] / np.maximum(1, values[:height][counts]))
        result[index] = np.clip(values * gain + offset, 0, 255).round()
    return result


def preset(name):
    """The element's preset as properties of a launch line; of no name none."""
    presets = configparser.ConfigParser()
    presets.read(ROOT / "gst/properties/GstCudaCcl.prs", encoding="utf-8")
    return " ".join(f"{key}={value}" for key, value in presets[name].items() if not key.startswith("_")) if name else ""


class Element:
    """This project's, with README's settings except for what the settings say."""

    def __init__(self, settings, program):
        self.parameter, self.program = settings, program

    def run(self, clip):
        """Ids and boxes of the tracks of each frame, boxes of the components, and events."""
        text = self.parameter.replace("PRESET", preset(clip.head["preset"]))
        size = int(clip.width * clip.height * 1.5)
        line = (f"filesrc location={shlex.quote(str(clip.i420))} blocksize={size} ! rawvideoparse format=i420 "
                f"width={clip.width} height={clip.height} framerate={clip.rate} ! cudaccl backend=cpu foreground=motion "
                f"open-radius=1 close-radius=3 min-area={clip.min_area} track=true {text} output=passthrough "
                f"regions={shlex.quote(str(clip.regions))}")
        done = subprocess.run([self.program, "--format", "json", "--launch", line], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"error: this line failed: {line}\n{done.stderr}")
        frames = [json.loads(one) for one in done.stdout.splitlines()]
        if len(frames) != clip.n_frames:
            sys.exit(f"error: {len(frames)} frames instead of {clip.n_frames}: {clip.name}")
        tracks = [[track for track in frame["tracks"] if "confirmed" in track["flags"] and "predicted" not in track["flags"]]
                  for frame in frames]
        results = [as_results([(track["id"], track["box"]) for track in of_frame]) for of_frame in tracks]
        components = [np.array([one["box"] for one in frame["components"]], float).reshape(-1, 4) for frame in frames]
        events = [(number, event) for number, frame in zip(clip.played, frames[clip.n_lead:]) for event in frame["events"]]
        return results, components, events


def as_results(pairs):
    return (np.array([identity for identity, _ in pairs], int),
            np.array([box for _, box in pairs], float).reshape(-1, 4))


def mog2_components(clip):
    """Boxes of each frame, by OpenCV alone."""
    cv2.setNumThreads(1)
    model, found, included = cv2.createBackgroundSubtractorMOG2(), [], clip.included()
    for index in range(clip.n_frames):
        mask = (model.apply(clip.frame(index)) == 255).astype(np.uint8) * included  # a shadow is 127
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        _, _, records, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        records = records[1:]
        found.append(records[records[:, cv2.CC_STAT_AREA] >= clip.min_area, :4].astype(float))
    return found


def follow(tracker, components, **parameters):
    return [as_results([(identity, box) for _, identity, box, is_shown in frame if is_shown])
            for frame in TRACKERS[tracker](**parameters).follow(components)]


def results_of(clip, elements, is_own):
    """(boxes, tracker, parameter, results, events or None) of each method."""
    for name, element in elements.items():
        if name == "preset" and not clip.head["preset"]:
            continue
        results, components, events = element.run(clip)
        yield name, "cudaccl", element.parameter, results, events
        for tracker in TRACKERS if not is_own else ():
            yield name, tracker, element.parameter, follow(tracker, components), None
    if not is_own:
        components = mog2_components(clip)
        for tracker in TRACKERS:
            yield "mog2", tracker, "", follow(tracker, components), None


def crossings(clip, events, parameter):
    """A line for each place and event: how many by eye, how many events, and how many events are one of those by eye."""
    _, counted = commented(REAL / "crossings.csv")
    kinds = [(zone["name"], event) for zone in clip.document["zones"] for event in ("entered", "left")]
    kinds += [(line["name"], event) for line in clip.document["lines"] for event in ("crossed-left", "crossed-right")]
    for place, kind in kinds:
        by_eye = sorted(int(row["frame"]) for row in counted
                        if (row["clip"], row["place"], row["event"]) == (clip.name.removesuffix(PREPARED), place, kind))
        found = [frame for frame, event in events if event["type"] == kind and place in (event["zone"], event["line"])]
        left, right = list(found), 0
        for frame in by_eye:
            fits = [one for one in left if frame - BEFORE * clip.fps <= one <= frame + BEHIND * clip.fps]
            if fits:
                left.remove(fits[0])
                right += 1
        yield {"clip": clip.name, "place": place, "event": kind, "parameter": parameter, "by_eye": len(by_eye),
               "found": len(found), "right": right}


COLORS = [(60, 220, 60), (60, 160, 255), (255, 120, 60), (220, 60, 220), (60, 230, 230), (230, 230, 60)]


def draw(clip, name, results, folder, every):
    """Annotated frames with their truth in white and the tracks in colours, twelve in a picture."""
    truth, cells = dict(zip(clip.counted, clip.truth())), []
    for number in clip.counted[::every]:
        picture = clip.frame(clip.index_of(number))
        for _, thing, left, top, width, height, *_ in truth[number].astype(int):
            cv2.rectangle(picture, (left, top), (left + width - 1, top + height - 1), (255, 255, 255), 2)
        for identity, box in zip(*results[clip.index_of(number)]):
            left, top, width, height = box.astype(int)
            color = COLORS[identity % len(COLORS)]
            cv2.rectangle(picture, (left, top), (left + width - 1, top + height - 1), color, 3)
            cv2.putText(picture, str(identity), (left + 4, top + 28), 0, 0.9, color, 2)
        cv2.putText(picture, f"#{number}", (clip.width - 90, 24), 0, 0.7, (0, 255, 255), 2)
        cells.append(cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
    for begin in range(0, len(cells), 12):
        sheet = cells[begin:begin + 12]
        sheet += [np.zeros_like(sheet[0])] * (-len(sheet) % 4)
        rows = [np.hstack(sheet[row:row + 4]) for row in range(0, len(sheet), 4)]
        file = re.sub(", | ", "-", f"{clip.name}-{name}-{begin // 12}.png")
        cv2.imwrite(str(folder / file), np.vstack(rows))


def form(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def measure(clip, elements, options):
    """(rows of figures, rows of crossings)."""
    rows, counts = [], []
    for name, tracker, parameter, results, events in results_of(clip, elements, options.own):
        figures = clip.score(results)
        rows.append({"clip": clip.name, "boxes": name, "tracker": tracker, "parameter": parameter, "width": clip.width,
                     "height": clip.height, "fps": f"{clip.fps:g}", "frames": len(clip.counted),
                     "objects": clip.n_objects(), **{key: form(value) for key, value in figures.items()}})
        print(f"{clip.name:20} {name + ', ' + tracker:24}", *(f"{key} {form(value)}" for key, value in figures.items()),
              flush=True)
        if events is not None:
            counts += crossings(clip, events, name)
        if options.strips:
            draw(clip, f"{name}-{tracker}", results, options.strips, options.every)
    return rows, counts


def measure_both(clip, elements, options):
    """As filmed, and prepared."""
    clip.check()
    with tempfile.TemporaryDirectory() as temporary:
        clip.decode(Path(temporary))
        yield measure(clip, elements, options)
        clip.prepare()
        yield measure(clip, elements, options)


def facts(options):
    settings = [f'--settings "{name}: {text}"' for name, text in options.settings] + [f"--set {one}" for one in options.set]
    return bench.facts(" ".join(["real_bench.py", *settings]), options.commit) | bench.gstreamer() | {
        "numpy": np.__version__, "opencv": cv2.__version__, "motmetrics": motmetrics.__version__}


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--crossings", type=Path, help="CSV of events beside what was counted by eye")
    parser.add_argument("--clip", action="append", help="only these files of real/ (default: all)")
    parser.add_argument("--settings", action="append", default=[], type=bench.named_settings, metavar='"NAME: PROPERTY=VALUE ..."',
                        help="another line, README's settings and then these; or in place of the line cudaccl or preset")
    parser.add_argument("--set", action="append", default=[], metavar="PROPERTY=VALUE", help="in all lines of the element")
    parser.add_argument("--own", action="store_true", help="the element alone")
    parser.add_argument("--records", type=Path, default=ROOT / "build/tests/examples/ccl-records",
                        help="the program (default: %(default)s)")
    parser.add_argument("--commit", help="of the element (default: of this checkout)")
    parser.add_argument("--strips", type=Path, help="folder for pictures of truth and tracks")
    parser.add_argument("--every", type=int, default=6, help="a picture of each so many frames (default: %(default)s)")
    return parser.parse_args()


def chosen(options):
    annotations = {path.stem: path for path in sorted(REAL.glob("*.csv")) if path.stem != "crossings"}
    if not set(options.clip or []) <= annotations.keys():
        sys.exit(f"error: no clip of this name; there are: {', '.join(annotations)}")
    for name, path in annotations.items():
        clip = Clip(path, options.clips)
        if options.clip and name not in options.clip:
            continue
        if clip.path.exists():
            yield clip
        else:
            print(f"left out: {name}: {clip.path} is missing", file=sys.stderr)


def main():
    options = options_of()
    if options.strips:
        options.strips.mkdir(parents=True, exist_ok=True)
    named = {"cudaccl": "", "preset": "PRESET"} | dict(options.settings)
    elements = {name: Element(" ".join(filter(None, [text, *options.set])), options.records)
                for name, text in named.items()}
    measured = [one for clip in chosen(options) for one in measure_both(clip, elements, options)]
    if not measured:
        sys.exit("error: none of the clips is there")
    rows, counts = ([one for part in parts for one in part] for parts in zip(*measured))
    if options.csv:
        bench.write(options.csv, facts(options), COLUMNS, rows)
    if options.crossings:
        bench.write(options.crossings, facts(options), CROSSING_COLUMNS, counts)


if __name__ == "__main__":
    main()
