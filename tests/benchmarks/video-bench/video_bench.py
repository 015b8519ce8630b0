# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the foreground of real video with its truth, this project's beside that of OpenCV's background models:

    video_bench.py DATA --csv video.csv
    video_bench.py DATA --sequence highway --settings "mixture: background-model=mixture" --dump pictures

needs the packages of requirements.txt (record-video makes a virtual environment) and gst-launch-1.0, which has to find
the element (GST_PLUGIN_PATH). Without OpenCV the element is measured alone.

DATA has, at any depth, a folder for each sequence with the layout of CDnet: input/ with a picture of each frame,
groundtruth/ with the truth of all or some of them (the last number of a name counts), and temporalROI.txt, which names
the first and last frame that count. docs/foreground.md says where there are such sequences.

Counted as by CDnet: the pixels of all frames of a sequence together; truth of 255 is foreground, of 85 (outside of the
region) and 170 (unknown) is not counted, and all else, shadows of 50 too, is background. In addition the first second
is not counted, in which a model may learn. Frames are played at 25 a second.

All masks have README's morphology: opening with 3x3, closing with 7x7, and no components below 150 pixels of 768x576,
at other sizes the same part of the frame. The element does it itself, and reads I420; the others do it with OpenCV, and
read BGR. `cpu_ms` is processor time of a frame on one thread: from the frame in memory to the mask.
"""

import argparse
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import bench  # noqa: E402  (the path comes first)

FRAMES_PER_SECOND = 25
FOREGROUND = 255
NOT_COUNTED = (85, 170)
MIN_AREA, OF_PIXELS, LEAST_AREA = 150, 768 * 576, 15
ROUNDS = 3
COUNTS = ["true_positives", "false_positives", "false_negatives", "true_negatives"]
COLUMNS = ["sequence", "method", "parameter", "width", "height", "frames", *COUNTS, "precision", "recall", "f1", "cpu_ms"]


def pictures(folder):
    """Path by number of frame, in ascending order."""
    paths = [path for path in folder.iterdir() if path.suffix.lower() in (".bmp", ".jpg", ".png")]
    return dict(sorted((int(re.findall(r"\d+", path.stem)[-1]), path) for path in paths))


def read(path, mode):
    """Rows and columns that have no padding in I420."""
    pixels = np.asarray(Image.open(path).convert(mode))
    return pixels[:pixels.shape[0] // 2 * 2, :pixels.shape[1] // 8 * 8]


def read_truth(path):
    truth = read(path, "L")
    return truth * 255 if truth.max() == 1 else truth  # some of SBI2015 have ones in place of 255


class Sequence:
    """Frames as BGR, and the truth by index of those that count."""

    def __init__(self, folder):
        self.name = folder.name
        inputs, truths = pictures(folder / "input"), pictures(folder / "groundtruth")
        self.numbers = list(inputs)
        limits = folder / "temporalROI.txt"
        first, last = map(int, limits.read_text().split()[:2]) if limits.exists() else (0, self.numbers[-1])
        self.truth = {index: read_truth(truths[number]) for index, number in enumerate(self.numbers)
                      if index >= FRAMES_PER_SECOND and first <= number <= last and number in truths}
        self.frames = np.stack([read(path, "RGB")[..., ::-1] for path in inputs.values()])
        self.n_frames, self.height, self.width = self.frames.shape[:3]
        self.min_area = max(LEAST_AREA, round(MIN_AREA * self.width * self.height / OF_PIXELS))

    def count(self, masks):
        """True and false positives, false and true negatives."""
        counts = np.zeros(4, int)
        for index, truth in self.truth.items():
            counted = ~np.isin(truth, NOT_COUNTED)
            mask, expected = masks[index][counted] > 0, truth[counted] == FOREGROUND
            counts += [np.count_nonzero(cell) for cell in
                       (mask & expected, mask & ~expected, ~mask & expected, ~mask & ~expected)]
        return counts.tolist()

    def dump(self, folder, method, masks, every):
        """Frame, truth and mask side by side."""
        for index in list(self.truth)[::every]:
            grey = [np.repeat(plane[..., None], 3, axis=2) for plane in (self.truth[index], masks[index])]
            path = folder / f"{self.name}-{method}-{self.numbers[index]:06}.png"
            Image.fromarray(np.hstack([self.frames[index][..., ::-1], *grey])).save(path)


def launch(pipeline):
    """Runs a pipeline, and returns its processor time in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["gst-launch-1.0", "-q", *shlex.split(pipeline)])
    if done.returncode != 0:
        sys.exit(f"error: this pipeline failed: {pipeline}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def source(path, form, bytes_per_pixel, sequence):
    size = f"width={sequence.width} height={sequence.height}"
    return (f"filesrc location={shlex.quote(str(path))} blocksize={int(sequence.width * sequence.height * bytes_per_pixel)} ! "
            f"rawvideoparse format={form} {size} framerate={FRAMES_PER_SECOND}/1")


class Element:
    """This project's, with its defaults except for what the settings say."""

    def __init__(self, settings):
        self.parameter = settings

    def run(self, sequence, folder):
        """The masks, and the processor time of a frame in ms: that of a pipeline without the element is subtracted."""
        frames, masks = folder / "frames.i420", folder / "masks"
        if not frames.exists():
            sequence.frames.tofile(folder / "frames.bgr")
            launch(f"{source(folder / 'frames.bgr', 'bgr', 3, sequence)} ! videoconvert ! video/x-raw,format=I420 ! "
                   f"filesink location={shlex.quote(str(frames))}")
        begin = source(frames, "i420", 1.5, sequence)
        element = (f"cudaccl backend=cpu threads=1 foreground=motion open-radius=1 close-radius=3 "
                   f"min-area={sequence.min_area} {self.parameter} output=mask ! video/x-raw,format=GRAY8")
        # The median, since the start of a program takes longer than the frames, and varies.
        ms = statistics.median(launch(f"{begin} ! {element} ! fakesink") - launch(f"{begin} ! fakesink")
                               for _ in range(ROUNDS))
        launch(f"{begin} ! {element} ! filesink location={shlex.quote(str(masks))}")
        return np.fromfile(masks, np.uint8).reshape(sequence.frames.shape[:3]), ms / sequence.n_frames


class OpenCvModel:
    """One of OpenCV's, with its defaults."""

    parameter = ""

    def __init__(self, cv2, make):
        self.cv2, self.make = cv2, make

    def run(self, sequence, _):
        """The masks, and the processor time of a frame in ms."""
        model, masks = self.make(), []
        begin = time.process_time()
        for frame in sequence.frames:
            masks.append(self.clean(model.apply(frame), sequence.min_area))
        return masks, 1000 * (time.process_time() - begin) / sequence.n_frames

    def clean(self, found, min_area):
        cv2 = self.cv2
        mask = (found == FOREGROUND).astype(np.uint8)  # a shadow is 127
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        _, labels, records, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        kept = np.where(records[:, cv2.CC_STAT_AREA] >= min_area, np.uint8(255), np.uint8(0))
        kept[0] = 0
        return kept[labels]


def opencv_models():
    """({name: method}, OpenCV's version)."""
    try:
        import cv2
    except ImportError as missing:
        print(f"left out: OpenCV's models: {missing}", file=sys.stderr)
        return {}, None
    cv2.setNumThreads(1)
    make = {"mog2": cv2.createBackgroundSubtractorMOG2,
            "mog2-no-shadows": lambda: cv2.createBackgroundSubtractorMOG2(detectShadows=False),
            "knn": cv2.createBackgroundSubtractorKNN,
            "knn-no-shadows": lambda: cv2.createBackgroundSubtractorKNN(detectShadows=False)}
    if hasattr(cv2, "bgsegm"):
        make |= {"cnt": cv2.bgsegm.createBackgroundSubtractorCNT, "gsoc": cv2.bgsegm.createBackgroundSubtractorGSOC}
    else:
        print("left out: CNT and GSOC: this OpenCV has no contributed modules", file=sys.stderr)
    return {name: OpenCvModel(cv2, made) for name, made in make.items()}, cv2.__version__


def measure(folder, methods, options):
    """A row of the CSV for each method."""
    sequence = Sequence(folder)
    if not sequence.truth:
        print(f"left out: {sequence.name}: no truth behind the first second", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as temporary:
        for name, method in methods.items():
            masks, ms = method.run(sequence, Path(temporary))
            if options.dump:
                sequence.dump(options.dump, name, masks, options.every)
            tp, fp, fn, tn = counts = sequence.count(masks)
            figures = {"precision": tp / max(1, tp + fp), "recall": tp / max(1, tp + fn),
                       "f1": 2 * tp / max(1, 2 * tp + fp + fn)}
            print(f"{sequence.name:16} {name:16}", *(f"{key} {value:.3f}" for key, value in figures.items()),
                  f"{ms:.2f} ms", flush=True)
            yield {"sequence": sequence.name, "method": name, "parameter": method.parameter, "width": sequence.width,
                   "height": sequence.height, "frames": len(sequence.truth), **dict(zip(COUNTS, counts)),
                   **{key: f"{value:.4f}" for key, value in figures.items()}, "cpu_ms": f"{ms:.3f}"}


def facts(options, opencv):
    command = " ".join(["video_bench.py", *(f'--settings "{name}: {text}"' for name, text in options.settings)])
    found = bench.facts(command, options.commit) | bench.gstreamer() | {"numpy": np.__version__}
    return found | ({"opencv": opencv} if opencv else {})


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--csv", type=Path, default="/dev/null")
    parser.add_argument("--sequence", action="append", help="only these (default: all)")
    parser.add_argument("--method", action="append", help="only these (default: all)")
    parser.add_argument("--settings", action="append", default=[], type=bench.named_settings, metavar='"NAME: PROPERTY=VALUE ..."',
                        help="another method, the element with these; or of the name cudaccl, in place of its defaults")
    parser.add_argument("--commit", help="of the element (default: of this checkout)")
    parser.add_argument("--dump", type=Path, help="folder for pictures of frame, truth and mask, side by side")
    parser.add_argument("--every", type=int, default=50, help="a picture of each so many frames (default: %(default)s)")
    return parser.parse_args()


def chosen(all_by_name, names, kind):
    if not all_by_name or not set(names or []) <= all_by_name.keys():
        sys.exit(f"error: no {kind} of this name; there are: {', '.join(all_by_name) or 'none'}")
    return {name: one for name, one in all_by_name.items() if not names or name in names}


def main():
    options = options_of()
    peers, opencv = opencv_models()
    methods = {name: Element(text) for name, text in ({"cudaccl": ""} | dict(options.settings)).items()} | peers
    folders = {path.parent.name: path.parent for path in sorted(options.data.rglob("input"))
               if (path.parent / "groundtruth").is_dir()}
    methods = chosen(methods, options.method, "method")
    folders = chosen(folders, options.sequence, "sequence with input/ and groundtruth/")
    if options.dump:
        options.dump.mkdir(parents=True, exist_ok=True)
    rows = (row for folder in folders.values() for row in measure(folder, methods, options))
    bench.write(options.csv, facts(options, opencv), COLUMNS, rows)


main()
