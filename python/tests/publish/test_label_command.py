# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl label`, against SciPy."""

import csv
import functools
import json
import os
import re

import numpy
import pytest

image_module = pytest.importorskip("PIL.Image", reason="pillow is missing")
ndimage = pytest.importorskip("scipy.ndimage", reason="scipy is missing")

EIGHT = numpy.ones((3, 3), int)


@pytest.fixture
def label(cudaccl_command):
    return functools.partial(cudaccl_command, "label")


@pytest.fixture
def count_of(label):
    """Components of an image."""

    def count(*arguments):
        done = label(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.count("\n") - 1

    return count


def noise(shape, density=0.3, seed=1):
    return numpy.random.default_rng(seed).random(shape) < density


def save(path, pixels):
    image_module.fromarray(pixels).save(path)
    return path


def test_filters_remove_from_labels(label, tmp_path):
    bits = noise((120, 161))
    path = save(tmp_path / "noise.png", bits)
    done = label("--labels", "tiff", "--out", tmp_path, "-s", "min_area=6", path)
    assert done.returncode == 0, done.stderr
    wanted, _ = ndimage.label(bits, EIGHT)
    areas = numpy.bincount(wanted.ravel())
    areas[0] = 0
    found = numpy.asarray(image_module.open(tmp_path / "noise-labels.tiff"))
    assert numpy.array_equal(found, numpy.where(areas[wanted] >= 6, wanted, 0)) and 0 < (found != 0).sum() < bits.sum()


@pytest.mark.parametrize("suffix", ["png", "tiff"])
def test_labels_picture_and_records_are_scipys(label, tmp_path, suffix):
    bits = noise((120, 161))
    path = save(tmp_path / "noise.png", bits.astype(numpy.uint8) * 200)
    done = label("--labels", suffix, "--picture", "--out", tmp_path / "out", "--jsonl", tmp_path / "a.jsonl",
                 "--csv", "-", path)
    assert done.returncode == 0, done.stderr
    wanted, count = ndimage.label(bits, EIGHT)
    found = numpy.asarray(image_module.open(tmp_path / f"out/noise-labels.{suffix}"))
    assert numpy.array_equal(found, wanted) and count > 255
    picture = numpy.asarray(image_module.open(tmp_path / "out/noise-picture.png"))
    assert picture.shape == (120, 161, 3) and not picture[~bits].any()
    colors = picture.reshape(-1, 3)[numpy.unique(wanted, return_index=True)[1]]
    assert numpy.array_equal(picture, colors[wanted])  # one colour each
    rows = list(csv.DictReader(done.stdout.splitlines()))
    areas = numpy.bincount(wanted.ravel())[1:]
    assert [int(row["area"]) for row in rows] == areas.tolist()
    centers = ndimage.center_of_mass(bits, wanted, range(1, count + 1))
    assert numpy.allclose([(float(row["centroid_y"]), float(row["centroid_x"])) for row in rows], centers, atol=1e-4)
    report = json.loads((tmp_path / "a.jsonl").read_text())
    assert (report["source"], report["frame"], report["pts"], report["width"], report["n_components"]) == (
        "noise", 0, None, 161, count)
    assert [one["area"] for one in report["components"]] == areas.tolist()


def test_settings(label, tmp_path):
    bits = noise((50, 70))
    path = save(tmp_path / "noise.png", bits.astype(numpy.uint8) * 200)
    done = label("-s", "connectivity=4", "-s", "min-area=4", "-s", "threshold=200", path)
    wanted = numpy.bincount(ndimage.label(bits)[0].ravel())[1:]
    assert [int(row["area"]) for row in csv.DictReader(done.stdout.splitlines())] == wanted[wanted >= 4].tolist()


def test_settings_as_in_a_launch_line(label, tmp_path):
    path = save(tmp_path / "noise.png", noise((50, 70)).astype(numpy.uint8) * 200)
    launch = label("--picture", "--out", tmp_path, "-s", "background-color=0xff00ff00", "-s", "connectivity=4-way",
                   "-s", "invert=yes", "-s", "threshold=0x64", path)
    assert launch.returncode == 0, launch.stderr
    plain = label("-s", f"background-color={0xff00ff00}", "-s", "connectivity=4", "-s", "invert=true", "-s", "threshold=100",
                  path)
    assert launch.stdout == plain.stdout


def test_more_components_than_room(label, count_of, tmp_path):
    dots = numpy.zeros((530, 530), numpy.uint8)
    dots[::2, ::2] = 255
    path = save(tmp_path / "dots.png", dots)
    assert count_of("--labels", "tiff", "--out", tmp_path, path) == 70_225
    assert numpy.asarray(image_module.open(tmp_path / "dots-labels.tiff")).max() == 70_225
    done = label("--labels", "png", "--out", tmp_path, path)
    assert done.returncode == 1 and "70225 labels do not fit into 16 bits; take --labels tiff" in done.stderr
    assert not (tmp_path / "dots-labels.png").exists()


def test_kinds_of_images(label, count_of, tmp_path):
    bits = noise((40, 60))
    wanted = ndimage.label(bits, EIGHT)[1]
    assert count_of(save(tmp_path / "bits.png", bits)) == wanted
    wide = save(tmp_path / "wide.png", bits.astype(numpy.uint16) * 40000)
    assert count_of("-s", "threshold=40000", wide) == wanted and count_of("-s", "threshold=40001", wide) == 0
    color = save(tmp_path / "color.png", numpy.stack([bits * 255, bits * 200, bits * 255], 2).astype(numpy.uint8))
    assert count_of("-s", "threshold=128", color) == wanted
    image_module.open(color).convert("P").save(tmp_path / "palette.png")
    assert count_of("-s", "threshold=128", tmp_path / "palette.png") == wanted
    pages = [image_module.fromarray(noise((20, 20), seed=seed)) for seed in (1, 2)]
    pages[0].save(tmp_path / "pages.tiff", save_all=True, append_images=pages[1:])
    done = label(tmp_path / "pages.tiff")
    assert set(re.findall("^pages-[12]", done.stdout, re.MULTILINE)) == {"pages-1", "pages-2"}


@pytest.mark.parametrize("arguments,status,text", [
    (["none.png"], 1, "none.png: No such file"),
    (["text.png"], 1, "text.png: cannot identify image file"),
    (["real.tiff"], 1, "8 or 16 bits are needed"),
    (["-s", "no_such=1", "good.png"], 2, "unknown keyword no_such"),
    (["-s", "threshold=x", "good.png"], 2, "threshold must be an integer"),
    (["-s", "threshold", "good.png"], 2, "a setting is NAME=VALUE"),
    (["-s", "foreground=motion", "good.png"], 2, "--set foreground=motion: nothing moves in one image"),
    (["-s", "regions=none.json", "good.png"], 2, "--set regions: none.json: No such file"),
    (["-s", 'regions={"version": 1, "lines": [{"name": "a", "from": [0, 0], "to": [1, 0]}]}', "good.png"], 2,
     "--set regions: nothing enters a zone or crosses a line in one image"),
    (["-s", "draw_ids=true", "good.png"], 2, "--set draw_ids: nothing has an identity in one image"),
    (["-s", "min_area=-5", "none.png"], 2, "min_area"),
    (["-s", "threshold=300", "good.png"], 2, "threshold"),
    (["--labels", "bmp", "good.png"], 2, "invalid choice"),
    (["-s", "invert=maybe", "good.png"], 2, "invert is 'maybe'; it is true or false"),
    (["--out", "", "good.png"], 2, "the folder has no name"),
    (["--parquet", "", "good.png"], 2, "the folder has no name"),
    (["good.png", "./good.png"], 2, "good.png is given twice"),
    (["-s", "min_area=5", "-s", "min-area=9", "good.png"], 2, "min-area is given twice"),
    (["--csv", "/dev/full", "good.png"], 3, "No space left"),
    (["--labels", "png", "--out", "text.png/x", "good.png"], 3, "cannot be made: Not a directory"),
    ([], 2, "required: IMAGE"),
])
def test_refuses(arguments, status, text, label, tmp_path):
    (tmp_path / "text.png").write_text("text")
    save(tmp_path / "real.tiff", numpy.zeros((4, 4), numpy.float32))
    save(tmp_path / "good.png", noise((4, 4)))
    done = label(*arguments, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert text in done.stderr and "Traceback" not in done.stderr


def test_names_the_option_of_the_backend(label, tmp_path):
    import cudaccl

    if cudaccl.has_cuda():
        pytest.skip("this build has the CUDA backend")
    done = label("--backend", "cuda", save(tmp_path / "good.png", noise((4, 4))))
    assert done.returncode == 2 and "error: --backend cuda: this build" in done.stderr


def test_goes_on_behind_an_image_that_fails(label, tmp_path):
    good = save(tmp_path / "good.png", noise((9, 9)))
    done = label(tmp_path / "none.png", good)
    assert done.returncode == 1 and "\ngood,0,," in done.stdout


def test_picture_on_a_full_disk(label, small_disk, tmp_path):
    path = save(tmp_path / "noise.png", noise((900, 900)))
    done = label("--picture", "--labels", "tiff", "--out", small_disk, "--csv", tmp_path / "a.csv", path)
    assert done.returncode == 3 and "noise-" in done.stderr and "No space left" in done.stderr
    assert [file.name for file in small_disk.iterdir() if file.suffix == ".tiff"] == []


def test_images_with_one_name_do_not_replace_each_other(label, tmp_path):
    paths = [tmp_path / folder / "a.png" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        save(path, noise((20, 30)))
    done = label("--labels", "png", "--out", tmp_path, *paths)
    assert done.returncode == 2 and not (tmp_path / "a-labels.png").exists()
    assert done.stderr.count("\n") == 1 and str(paths[0]) in done.stderr and str(paths[1]) in done.stderr
    assert label(*paths).returncode == 0  # tables have both


def test_the_same_command_twice(label, tmp_path):
    """Its own pictures, also those whose names are like those of pages, are replaced."""
    paths = [save(tmp_path / name, noise((20, 30))) for name in ("a.png", "a-2.png")]
    for _ in range(2):
        assert label("--picture", "--csv", tmp_path / "a.csv", "--out", tmp_path, *paths).returncode == 0


@pytest.mark.parametrize("arguments,first,second", [
    (["--csv", "a.png", "a.png"], "--csv a.png", "a.png"),
    (["--jsonl", "regions.json", "-s", "regions=regions.json", "a.png"], "--jsonl regions.json", "--set regions"),
    (["--picture", "a.png", "a-picture.png"], "picture.png of a.png", "a-picture.png"),
    (["--labels", "tiff", "--out", ".", "a.png", "link.png"], "labels.tiff of a.png", "link.png"),
    (["--picture", "pages.tif", "pages-2-picture.png"], "picture.png of a page of pages.tif", "pages-2-picture.png"),
    (["--csv", "b-picture.png", "--picture", "b.png"], "--csv b-picture.png", "picture.png of b.png"),
    (["--csv", "-", "--jsonl", "-", "a.png"], "--jsonl -", "--csv -"),
    (["--csv", "one", "--csv", "two", "a.png"], "--csv", "is given twice"),
])
def test_no_image_is_replaced(label, tmp_path, arguments, first, second):
    for name in ("a.png", "a-picture.png", "a-labels.tiff", "pages-2-picture.png"):
        save(tmp_path / name, noise((20, 30)))
    (tmp_path / "link.png").symlink_to("a-labels.tiff")
    (tmp_path / "regions.json").write_text('{"version": 1}')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = label(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert f"error: {first} " in done.stderr and f" {second}" in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_page_does_not_replace_an_image(label, tmp_path):
    pages = [image_module.fromarray(noise((20, 30))) for _ in range(2)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    save(tmp_path / "a-2.png", noise((20, 30), density=1))
    done = label("--labels", "png", "--out", tmp_path, tmp_path / "a-2.png", tmp_path / "a.tif")
    assert done.returncode == 1 and "a-2-labels.png" in done.stderr
    assert numpy.asarray(image_module.open(tmp_path / "a-2-labels.png")).min() == 1


def save_pages(path, count=3):
    pages = [image_module.fromarray(noise((20, 30), seed=seed)) for seed in range(count)]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


def sources_of(done):
    return {row["source"] for row in csv.DictReader(done.stdout.splitlines())}


@pytest.mark.parametrize("names,keys", [
    (["im/b.png", "im/b.bmp"], {"im/b.png", "im/b.bmp"}),
    (["im/b.png", "im/b.bmp", "b.png"], {"im/b.png", "im/b.bmp", "b"}),
    (["a-1.png", "a.tif"], {"a-1", "a.tif-1", "a-2", "a-3"}),
    (["a.tif", "a-1.png"], {"a-1", "a-2", "a-3", "a-1.png"}),
    (["a.tif", "im/a.tif"], {f"{folder}a-{page}" for folder in ("", "im/") for page in (1, 2, 3)}),
    (["im/a.tif", "im/a.png"], {"im/a.tif-1", "im/a.tif-2", "im/a.tif-3", "im/a.png"}),
])
def test_each_image_has_its_own_key(label, tmp_path, names, keys):
    (tmp_path / "im").mkdir()
    for name in names:
        (save_pages if name.endswith(".tif") else functools.partial(save, pixels=noise((20, 30))))(tmp_path / name)
    done = label(*names, cwd=tmp_path)
    assert done.returncode == 0 and sources_of(done) == keys


@pytest.mark.parametrize("name,break_bytes", [
    ("pages.tif", lambda data: data[:len(data) // 2]),
    ("pages.tif", lambda data: data[:len(data) // 4]),
    ("image.tif", lambda data: data[:8] + bytes(4) + data[12:]),
    ("image.png", lambda data: data.replace(b"IDAT", b"ID\xc1T")),
    ("image.png", lambda data: data[:len(data) // 2]),
    ("image.bmp", lambda data: data[:18] + b"\xff" * 12 + data[30:]),
    ("image.pgm", lambda data: b"P5 x y 255\n"),
    ("image.tga", lambda data: data[:20]),
])
def test_goes_on_behind_an_image_that_is_damaged(label, tmp_path, name, break_bytes):
    path = tmp_path / name
    save_pages(path) if name == "pages.tif" else save(path, noise((20, 30)).astype(numpy.uint8) * 255)
    path.write_bytes(break_bytes(path.read_bytes()))
    done = label(path, save(tmp_path / "good.png", noise((9, 9))))
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert f"error: {path}: " in done.stderr and "good" in sources_of(done)


@pytest.mark.parametrize("error,text", [
    (MemoryError(), "there is not enough memory for it"), (KeyError("x"), "it cannot be read (KeyError: 'x')")])
def test_goes_on_behind_an_image_that_cannot_be_decoded(label, tmp_path, monkeypatch, error, text):
    convert = image_module.Image.convert

    def fail(image, mode):
        if image.width == 30:
            raise error
        return convert(image, mode)

    monkeypatch.setattr(image_module.Image, "convert", fail)
    paths = [save(tmp_path / f"{name}.png", numpy.full((8, width, 3), 200, numpy.uint8))
             for name, width in (("bad", 30), ("good", 20))]
    done = label(*paths)
    assert done.returncode == 1 and done.stderr == f"cudaccl: error: {paths[0]}: {text}\n"
    assert sources_of(done) == {"good"}


def test_large_images(label, tmp_path, monkeypatch, recwarn):
    """Pillow has limits of its own."""
    monkeypatch.setattr(image_module, "MAX_IMAGE_PIXELS", 100)
    for size in ((9, 14), (20, 30)):
        assert label(save(tmp_path / "a.png", noise(size))).returncode == 0
    assert not recwarn.list
    wide = label(save(tmp_path / "wide.png", noise((1, 32769))))
    assert wide.returncode == 1 and "at most 32768×32768 are labelled" in wide.stderr


def test_a_setting_that_one_image_does_not_suit(label, tmp_path):
    wide = save(tmp_path / "wide.png", numpy.full((9, 9), 5000, numpy.uint16))
    narrow = save(tmp_path / "narrow.png", numpy.full((9, 9), 200, numpy.uint8))
    other = save(tmp_path / "other.png", numpy.full((9, 9), 5000, numpy.uint16))
    done = label("-s", "threshold=300", wide, narrow, other)
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 3
    assert done.stderr.startswith(f"cudaccl: error: {narrow}: --set: threshold") and done.stderr.count("\n") == 1
    done = label("-s", "threshold=300", narrow, wide, "--csv", tmp_path / "a.csv")
    assert done.returncode == 2 and f"error: {narrow}: --set: threshold" in done.stderr
    assert not (tmp_path / "a.csv").exists()


def test_a_link_is_another_image(label, tmp_path):
    save(tmp_path / "a.png", numpy.full((9, 9), 1, numpy.uint8))
    (tmp_path / "latest.png").symlink_to("a.png")
    done = label("a.png", "latest.png", cwd=tmp_path)
    assert done.returncode == 0 and [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["a", "latest"]


def test_values_have_8_bits(label, count_of, tmp_path):
    wide = save(tmp_path / "wide.png", numpy.array([[1, 257, 258, 0]], numpy.uint16))
    done = label("-s", "foreground=values", wide)
    assert done.returncode == 2 and f"{wide}: --set: foreground='values' needs an image of uint8" in done.stderr
    assert count_of("-s", "foreground=values", save(tmp_path / "a.png", numpy.array([[1, 2, 0, 3]], numpy.uint8))) == 3


def test_values_of_black_and_white(label, count_of, tmp_path):
    """A picture of one bit has 0 and 255."""
    import cudaccl

    bits = noise((20, 30))
    path = save(tmp_path / "one.png", bits)
    assert image_module.open(path).mode == "1"
    assert count_of("-s", "threshold=255", path) == cudaccl.label(bits).n_components
    assert label("-s", "threshold=256", path).returncode == 2


def test_more_components_than_records_can_be(label, tmp_path, monkeypatch):
    monkeypatch.setattr("cudaccl._label._FEW", 10)
    monkeypatch.setattr("cudaccl._label._MOST", 100)
    dots = numpy.zeros((40, 40), numpy.uint8)
    dots[::2, ::2] = 255
    done = label(save(tmp_path / "dots.png", dots), save(tmp_path / "few.png", dots[:8]))
    assert done.returncode == 1 and sources_of(done) == {"few"}
    assert "dots.png: the image has 400 components, and at most 100 can have records: min_area" in done.stderr


def test_features_as_of_the_element(label, tmp_path):
    path = save(tmp_path / "a.png", noise((20, 30)))
    done = label("-s", "features=moments+perimeter", path)
    assert done.returncode == 0 and any(float(row["perimeter"]) for row in csv.DictReader(done.stdout.splitlines()))
    assert "a feature is 'weight'" in label("-s", "features=moments+weight", path).stderr


def test_a_setting_without_its_sign(label, tmp_path):
    done = label(tmp_path / "a.png", "-s", "threshold", "90")
    assert done.returncode == 2 and "threshold: a setting is NAME=VALUE" in done.stderr


def test_a_video_is_no_image(label, tmp_path):
    (tmp_path / "clip.mp4").write_bytes(bytes(100))
    done = label(tmp_path / "clip.mp4")
    assert done.returncode == 1 and "clip.mp4: it is no image; for videos there is cudaccl run" in done.stderr


@pytest.mark.parametrize("option", ["--csv", "--jsonl"])
@pytest.mark.parametrize("name,content", [("a.png", None), ("a.data", b"\x89PNG\r\n\x1a\n\0"), ("a.pgm", b"P2 1 1 9 1")])
def test_records_replace_no_picture(label, tmp_path, option, name, content):
    """As of `--csv *.png`, of which the first one is no image of the command."""
    path = tmp_path / name
    save(path, noise((8, 8))) if content is None else path.write_bytes(content)
    before = path.read_bytes()
    done = label(option, path, save(tmp_path / "b.png", noise((8, 8))))
    assert done.returncode == 2 and f"{option} {path}: this file has no records" in done.stderr
    assert path.read_bytes() == before and done.stderr.count("\n") == 1
    path.write_bytes(b"")
    assert label(option, path, tmp_path / "b.png").returncode == 0


@pytest.mark.parametrize("name", ["run", "label"])
def test_records_replace_no_video(cudaccl_command, tmp_path, name):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"\0\0\0\x20ftypisom")
    done = cudaccl_command(name, "--jsonl", path, tmp_path / "b.mp4")
    assert done.returncode == 2 and f"--jsonl {path}: this file has no records" in done.stderr
    assert path.read_bytes() == b"\0\0\0\x20ftypisom"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_picture_is_whole_or_as_before(label, tmp_path, monkeypatch, error):
    path = save(tmp_path / "a.png", noise((8, 8)))
    old = tmp_path / "a-picture.png"
    old.write_bytes(b"old")

    def fail(image, name):
        name.write_bytes(b"half")
        raise error

    monkeypatch.setattr(image_module.Image, "save", fail)
    done = label("--picture", "--csv", tmp_path / "a.csv", "--out", tmp_path, path)
    assert done.returncode == (130 if error is KeyboardInterrupt else 3)
    assert old.read_bytes() == b"old" and {one.name for one in tmp_path.iterdir()} <= {"a.png", old.name, "a.csv"}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_a_spreadsheet_runs_no_name(label, tmp_path, name):
    save(tmp_path / f"{name}.png", noise((8, 8)))
    done = label("--", tmp_path / f"{name}.png")
    rows = list(csv.reader(done.stdout.splitlines()))[1:]
    assert rows and {row[0] for row in rows} == {"'" + name}


def test_a_name_that_is_no_utf_8(label, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png")
    image_module.fromarray(noise((8, 8))).save(tmp_path / "a.png")
    os.rename(tmp_path / "a.png", path)
    done = label(path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "UTF-8" in done.stderr and done.stdout == ""
