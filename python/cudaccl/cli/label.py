# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl label`: labels, records and pictures of images."""

from __future__ import annotations

import argparse
import contextlib
import glob
import mimetypes
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from cudaccl import _regions
from cudaccl._property_values import needs_earlier_frames, whole_number
from cudaccl.cli import outputs, video_options
from cudaccl.cli.operator import fail
from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.report import Report
from cudaccl.video import errors, presets, values

_HELP = """\
Labels the connected components of images. The luma of a colour image is labelled. Records are written as CSV (the
default: on standard output), JSON lines or Parquet; labels and pictures as an image file for each image, or for each
page of a TIFF file."""

_EXAMPLES = """\
examples:
  cudaccl label mask.png
  cudaccl label --labels png --picture --out found/ -s foreground=otsu -s invert=true scan1.tif scan2.tif
  cudaccl label --csv cells.csv --preset cells -s min_area=20 cells.png

"""

_MAX_PNG = 65535
_MAX_SIDE = 32768  # pixels, as of an engine
_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # by orientation of EXIF: a number of Pillow's Transpose
_OWN = ("shape", "format", "backend", "labels", "output", "max_components")  # arguments of an engine that this sets


class _StillPreset(video_options.Preset):
    """Others are for videos."""

    @staticmethod
    def suits(preset: presets.Preset) -> bool:
        return preset.is_for_commands and not needs_earlier_frames(preset.properties)


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "label", help="labels, records and pictures of images", description=_HELP, epilog=_EXAMPLES + errors.HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", nargs="+", metavar="IMAGE", type=Path, help="PNG, TIFF, JPEG and others of Pillow")
    outputs.add(parser)
    parser.add_argument(
        "--labels", choices=("png", "tiff"),
        help="write NAME-labels.png, of 16 bits, or NAME-labels.tiff, of 32 bits; 0 is background")
    parser.add_argument("--picture", action="store_true", help="write NAME-picture.png: each component has a colour")
    parser.add_argument(
        "--out", type=values.option(values.folder), default=Path("."), metavar="FOLDER",
        help="for labels and pictures (default: here)")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="auto", help="(default: %(default)s)")
    parser.add_argument(
        "--preset", action=_StillPreset, metavar="NAME",
        help="a preset of the element for still images, such as cells; --set replaces its values. list: shows all")
    parser.add_argument(
        "-s", "--set", action=video_options.Setting, default=[], metavar="NAME=VALUE", dest="settings",
        help="a setting of cudaccl.Engine, such as foreground=otsu; may be repeated")
    parser.set_defaults(command=label)


def label(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    pillow = need("PIL.Image", "cli")
    settings = parse_settings([*_of_preset(options.preset), *options.settings])
    _check(settings, options)
    _check_files(settings, options)
    if options.labels or options.picture:
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SinkError(f"{options.out} cannot be made: {error.strerror}") from error
    pillow.MAX_IMAGE_PIXELS = None  # Pillow's own limit, which is below that of this program
    with outputs.Outputs(options, default="csv") as files, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, about files that it reads nevertheless
        return _label_all(pillow, settings, options, files)


def _label_all(
    pillow: ModuleType, settings: dict[str, Any], options: argparse.Namespace, files: outputs.Outputs
) -> int:
    """Returns the exit status. Raises UsageError if the settings do not suit the first image."""
    failed = has_records = False
    keys = _Keys(options.images)
    written: set[Path] = set()
    for path in options.images:
        try:
            for name, pixels in _read(pillow, path):
                result = _label(pixels, settings, options)
                files.put(_report(keys.of(path, name), pixels, result))
                has_records = True
                _write_images(pillow, options, name, result, written)
        except BrokenPipeError:  # of standard output, and no error of the image
            raise
        except (OSError, ValueError, MemoryError) as error:
            text = f"{path}: {_text_of(error)}"
            if isinstance(error, errors.UsageError) and not has_records:
                raise errors.UsageError(text) from error
            fail(text, errors.SOURCE_FAILED)
            failed = True
            files.are_wanted = False
    return errors.SOURCE_FAILED if failed else errors.OK


class _Keys:
    """What records call their images and pages: a name, or as much of the path as no other one has."""

    def __init__(self, paths: Iterable[Path]) -> None:
        paths = list(paths)
        self._names = Counter(path.stem for path in paths)
        self._places = Counter(path.parent / path.stem for path in paths)
        self._taken: set[str] = set()

    def of(self, path: Path, name: str) -> str:
        """name: of the image or of its page."""
        keys = [f"{path}{name.removeprefix(path.stem)}"]
        if self._places[path.parent / path.stem] == 1:
            keys.insert(0, str(path.parent / name))
        if self._names[path.stem] == 1:
            keys.insert(0, name)
        key = next((key for key in keys if key not in self._taken), keys[-1])
        self._taken.add(key)
        return key


def _check(settings: dict[str, Any], options: argparse.Namespace) -> None:
    """Asks an engine, before anything is read or written. Raises UsageError."""
    try:
        zones, lines = _regions.check(settings)
    except ValueError as error:
        raise errors.UsageError(f"--set regions: {error}") from error
    videos = "for videos there is cudaccl run"
    if settings.get("foreground") == "motion":
        raise errors.UsageError(f"--set foreground=motion: nothing moves in one image; {videos}")
    if zones or lines:
        raise errors.UsageError(f"--set regions: nothing enters a zone or crosses a line in one image; {videos}")
    for name in ("draw_ids", "draw_trails"):
        if settings.get(name):
            raise errors.UsageError(f"--set {name}: nothing has an identity in one image; {videos}")
    kind = numpy.uint8 if settings.get("foreground") == "values" else numpy.uint16
    _label(numpy.zeros((1, 1), kind), settings, options)


def _check_files(settings: dict[str, Any], options: argparse.Namespace) -> None:
    """Raises UsageError if a file would be read twice, replaced although it is needed, or written twice."""
    paths = [os.path.abspath(path) for path in options.images]
    for image, path in zip(options.images, paths):
        if paths.count(path) > 1:
            raise errors.UsageError(f"{image} is given twice: its records would have one name")
    inputs = [*((str(path), path) for path in options.images), ("--set regions", str(settings.get("regions", "")))]
    ends = ["picture.png"] * options.picture + ([f"labels.{options.labels}"] if options.labels else [])
    written: list[outputs.Words] = [
        (f"--{name} {path}", path) for name, path in outputs.paths_of(options, "csv").items()]
    for path in options.images:
        for end in ends:
            written.append((f"{end} of {path}", options.out / f"{path.stem}-{end}"))
            for page in options.out.glob(f"{glob.escape(path.stem)}-[0-9]*-{end}"):
                outputs.check_apart([(f"{end} of a page of {path}", page)], inputs)
    outputs.check_apart(written, inputs)


def _of_preset(name: str | None) -> list[str]:
    return [] if name is None else [f"{key}={value}" for key, value in presets.find(name).properties.items()]


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """Of NAME=VALUE, with values as Python has them. Raises UsageError."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = name.replace("-", "_")
        if name in _OWN:
            raise errors.UsageError(f"--set {text}: this program sets {name} itself")
        if not value and name != "regions":
            raise errors.UsageError(f"--set {text}: the value is missing")
        settings[name] = _value(value)
    return settings


def _value(text: str) -> bool | int | float | str:
    """As GStreamer reads it in the launch lines of the element, and in presets."""
    if text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    number = whole_number(text)
    if number is not None:
        return number
    with contextlib.suppress(ValueError):
        return float(text)
    return text


def _text_of(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    return getattr(error, "strerror", None) or str(error)


def _read(pillow: ModuleType, path: Path) -> Iterator[tuple[str, numpy.ndarray]]:
    """Name and pixels of each page. Raises OSError and MemoryError."""
    try:
        with pillow.open(path) as image:
            pages = getattr(image, "n_frames", 1)
            for page in range(pages):
                image.seek(page)
                yield (path.stem if pages == 1 else f"{path.stem}-{page + 1}"), _pixels(image)
    except pillow.UnidentifiedImageError:
        if not (mimetypes.guess_type(path)[0] or "").startswith("video/"):
            raise
        raise OSError("it is no image; for videos there is cudaccl run") from None
    except (OSError, MemoryError):
        raise
    except Exception as error:  # each format of Pillow has its own for files that are damaged
        raise OSError(f"it cannot be read ({type(error).__name__}: {error})") from error


def _upright(image: Any) -> Any:
    """As everybody sees it: a mark of EXIF in the file says which side is up."""
    image.load()  # now, and not with the mark, which may be damaged where the picture is not
    try:
        orientation = image.getexif().get(0x0112)
    except Exception:
        orientation = None
    return image.transpose(_TURNS[orientation]) if orientation in _TURNS else image


def _pixels(image: Any) -> numpy.ndarray:
    """(height, width) of uint8 or uint16, or (height, width, 3) of uint8."""
    if max(image.size) > _MAX_SIDE:
        raise OSError(f"it has {image.width}×{image.height} pixels; at most {_MAX_SIDE}×{_MAX_SIDE} are labelled")
    image = _upright(image)
    if image.mode == "1":
        image = image.convert("L")  # 0 and 255
    if image.mode == "L":
        return numpy.asarray(image)
    if image.mode.startswith("I"):
        pixels = numpy.asarray(image)
        if pixels.min() < 0 or pixels.max() > 65535:
            raise OSError("its values have more than 16 bits")
        return pixels.astype(numpy.uint16)
    if image.mode == "F":
        raise OSError("its values are real numbers; 8 or 16 bits are needed")
    return numpy.asarray(image.convert("RGB"))


def _label(pixels: numpy.ndarray, settings: dict[str, Any], options: argparse.Namespace) -> Any:
    """A `cudaccl.Result` with a record of each component. Raises UsageError; ValueError for too many components."""
    import cudaccl
    from cudaccl._label import with_all_records

    def run(room: int) -> Any:
        try:
            engine = cudaccl.Engine(
                pixels.shape[:2], format="rgb" if pixels.ndim == 3 else "gray", backend=options.backend,
                labels=options.labels is not None, output="colorized" if options.picture else None,
                max_components=room, **settings)
            return engine(pixels)
        except (TypeError, ValueError) as error:
            is_backend = options.backend == "cuda" and not cudaccl.has_cuda()
            of_settings = f"--preset {options.preset} or --set" if options.preset else "--set"
            place = "--backend cuda" if is_backend else of_settings
            raise errors.UsageError(f"{place}: {error}") from error
        except cudaccl.DeviceError as error:
            raise errors.UsageError(f"--backend {options.backend}: {error}") from error

    return with_all_records(run)


def _report(name: str, pixels: numpy.ndarray, result: Any) -> Report:
    height, width = pixels.shape[:2]
    return Report(
        name, "", 0, None, width, height, result.n_components, False, False, result.level, result.records)


def _write_images(
    pillow: ModuleType, options: argparse.Namespace, name: str, result: Any, written: set[Path]
) -> None:
    """written: what this command has written, which is not replaced."""
    if options.picture:
        _save(pillow.fromarray(result.image[:, :, :3]), options.out / f"{name}-picture.png", written)
    if options.labels == "png":
        if result.n_labels > _MAX_PNG:
            raise OSError(f"{result.n_labels} labels do not fit into 16 bits; take --labels tiff")
        _save(pillow.fromarray(result.labels.astype(numpy.uint16)), options.out / f"{name}-labels.png", written)
    elif options.labels == "tiff":
        _save(pillow.fromarray(result.labels), options.out / f"{name}-labels.tiff", written)


def _save(image: Any, path: Path, written: set[Path]) -> None:
    if path in written:  # by an image whose name is that of a page
        raise OSError(f"{path} has the labels of another image")
    written.add(path)
    try:
        with outputs.replaced(path) as beside:
            image.save(beside)
    except OSError as error:
        raise SinkError(f"{path} cannot be written: {_text_of(error)}") from error
