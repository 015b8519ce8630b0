# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudaccl.gst: the element's metadata, and frames of sources of all kinds."""

import os
import stat
import subprocess
import sys
import textwrap
import time
import types

import numpy
import pytest

from gst_element import Gst, gi
import cudaccl
import cudaccl.gst
from cudaccl import _gst_meta, _gst_pipeline
from cudaccl._gst_pipeline import source_line
from gst_made import add_meta, good_fields

BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,format=GRAY8,width=322,height=241"


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "ball ä.mkv"
    line = f'{BALL.format(4)} ! videoconvert ! jpegenc ! matroskamux ! filesink location="{path}"'
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message.type == Gst.MessageType.EOS
    return path


@pytest.fixture
def buffer_of_two():
    """Labelled by "first", and then by "second"; their bytes have all sizes of padding."""
    Gst.ElementFactory.make("cudaccl")  # registers the metadata
    buffer = Gst.Buffer.new_allocate(None, 16, None)
    glib = gi.repository.GLib
    for number, (source, count) in enumerate([("first", 2), ("second", 3)]):
        component = numpy.zeros(count, cudaccl.COMPONENT)
        component["area"] = 10 * (number + 1)
        track = numpy.zeros(1, cudaccl.TRACK)
        track["id"] = number + 1
        add_meta(buffer, good_fields() | {
            "source": (str, source),
            "frame": f"(guint64){7 + number}",
            "overflow": (bool, number == 1),
            "components": (glib.Bytes, glib.Bytes.new(component.tobytes() + b"\0" * (-component.nbytes % 3))),
            "tracks": (glib.Bytes, glib.Bytes.new(track.tobytes() + b"\0" * 2)),
            "events": (glib.Bytes, glib.Bytes.new(b"\0" * 3)),
        })
    return buffer


def test_records_of_each_frame():
    found = list(cudaccl.gst.frames(BALL.format(3), threshold=100))
    assert len(found) == 3
    for number, frame in enumerate(found):
        frame_time, image, records = frame
        assert frame_time == number * 1_000_000_000 // 30
        assert image.shape == (241, 322, 3) and image.dtype == numpy.uint8 and image.flags.writeable
        assert records.dtype == cudaccl.COMPONENT and len(records) == 1
        mask = image[:, :, 0] >= 100
        assert records["area"][0] == mask.sum()
        rows, columns = numpy.nonzero(mask)
        numpy.testing.assert_allclose([records["cx"][0], records["cy"][0]], [columns.mean(), rows.mean()], rtol=1e-6)
        assert (frame.info.width, frame.info.height, frame.info.n_components) == (322, 241, 1)
        assert len(frame.tracks) == 0 and len(frame.events) == 0


def test_tracks_and_events():
    found = list(cudaccl.gst.frames(BALL.format(5), threshold=100, track=True, image_format=None))
    assert all(frame.image is None for frame in found)
    assert [list(frame.tracks["id"]) for frame in found] == [[1]] * 5
    names = [[cudaccl.EVENT_TYPES[kind] for kind in frame.events["type"]] for frame in found]
    assert names == [["started"], [], ["born"], [], []]
    assert found[2].tracks["flags"][0] & cudaccl.TrackFlag.CONFIRMED
    assert found[0].records["flags"][0] & cudaccl.ComponentFlag.NEWBORN


def test_grey_statistics_and_polygons():
    features = ["moments", "grey", "rectangle", "hull"]
    for frame in cudaccl.gst.frames(BALL.format(2), threshold=100, features=features, image_format="GRAY8"):
        values = frame.image[frame.image >= 100].astype("i8")
        [grey] = frame.grey
        assert frame.grey.dtype == cudaccl.GREY
        assert [int(grey[name]) for name in ("label", "sum", "min", "max")] == [
            1, values.sum(), values.min(), values.max()]
        numpy.testing.assert_allclose([grey["mean"], grey["variance"]], [values.mean(), values.var()], rtol=1e-6)
        [(rectangle, corners), (hull, points)] = frame.polygons
        assert [cudaccl.POLYGON_KINDS[one["kind"]] for one in (rectangle, hull)] == ["rectangle", "hull"]
        assert len(corners) == 4 and corners.dtype == cudaccl.VERTEX
        box = frame.records[0]
        assert points["x"].min() == box["x"] and points["x"].max() == box["x"] + box["width"]
        assert points["y"].min() == box["y"] and points["y"].max() == box["y"] + box["height"]
        assert not frame.polygons.truncated
    plain = next(cudaccl.gst.frames(BALL.format(1), threshold=100))
    assert plain.grey is None and plain.polygons is None


def test_circles_are_those_of_scipy():
    ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is missing")
    for frame in cudaccl.gst.frames(BALL.format(2), threshold=100, features="inradius", image_format="GRAY8"):
        distances = ndimage.distance_transform_edt(frame.image >= 100)
        row, column = numpy.unravel_index(distances.argmax(), distances.shape)
        [(circle, (center, right))] = frame.polygons
        assert cudaccl.POLYGON_KINDS[circle["kind"]] == "circle"
        assert center.tolist() == (column + 0.5, row + 0.5) and right["y"] == center["y"]
        assert right["x"] - center["x"] == pytest.approx(distances.max() - 0.5, abs=1e-4)


def test_grey_statistics_and_polygons_of_empty_frames():
    source = BALL.format(1).replace("ball", "black")
    frame = next(cudaccl.gst.frames(source, threshold=100, features=["grey", "contour"]))
    assert len(frame.grey) == 0 and list(frame.polygons) == []


def test_tracker_is_that_of_the_element():
    """The same images and times give the same records, tracks and events, byte for byte."""
    pytest.importorskip("cudaccl._core", reason="the package is not built")
    settings = {"threshold": 100, "track_confirm": 2}
    tracker = cudaccl.Tracker((241, 322), backend="cpu", **settings)
    source = BALL.replace("ball", "ball animation-mode=frames motion=sweep").format(40)
    found = list(cudaccl.gst.frames(source, track=True, image_format="GRAY8", backend="cpu", **settings))
    assert len(found) == 40 and any(len(frame.events) for frame in found)
    for frame in found:
        result = tracker(frame.image, time=frame.time)
        numpy.testing.assert_array_equal(result.records, frame.records)
        numpy.testing.assert_array_equal(result.tracks, frame.tracks)
        numpy.testing.assert_array_equal(result.events, frame.events)


def test_foreground_is_that_of_the_element():
    pytest.importorskip("cudaccl._core", reason="the package is not built")
    settings = {"foreground": "motion", "open_radius": 1, "motion_sensitivity": 60}
    source = BALL.format(45)
    images = [(frame.time, frame.image) for frame in cudaccl.gst.frames(source, image_format="GRAY8")]
    foreground = cudaccl.Foreground((241, 322), "motion", backend="cpu", open_radius=1, motion_sensitivity=60)
    masks = [frame.image for frame in cudaccl.gst.frames(source, output="mask", backend="cpu", **settings)]
    assert len(images) == len(masks) == 45 and any(mask.any() for mask in masks)
    for (time_, image), mask in zip(images, masks):
        numpy.testing.assert_array_equal(foreground(image, time=time_), mask == 255)


@pytest.mark.parametrize("output, dtype, shape", [
    ("labels", "<u2", (241, 322)), ("mask", "u1", (241, 322)), ("colorized", "u1", (241, 322, 3)),
])
def test_image_of_output(output, dtype, shape):
    frame = next(cudaccl.gst.frames(BALL.format(1), threshold=100, output=output))
    assert frame.image.dtype == dtype and frame.image.shape == shape
    if output == "labels":
        assert set(numpy.unique(frame.image)) == {0, 1}
        assert (frame.image == 1).sum() == frame.records["area"][0]


def test_file_and_uri(clip):
    by_path = list(cudaccl.gst.frames(clip, threshold=100))
    assert len(by_path) == 4
    for other in (str(clip), clip.as_uri()):
        again = list(cudaccl.gst.frames(other, threshold=100))
        assert [f.time for f in again] == [f.time for f in by_path]
        for one, two in zip(by_path, again):
            numpy.testing.assert_array_equal(one.records, two.records)


def test_flags_are_a_list():
    frame = next(cudaccl.gst.frames(BALL.format(1), threshold=100, features=["moments", "euler"]))
    assert frame.records["perimeter"][0] == 0 and frame.records["euler"][0] == 1 and frame.records["mxx"][0] > 0


@pytest.mark.parametrize("source, error, text", [
    ("no/such/file.avi", FileNotFoundError, "no/such/file.avi"),
    ("", FileNotFoundError, "no URI"),
    ("holiday!.mp4", FileNotFoundError, "there is no file 'holiday!.mp4'"),
    ("my trip! (1)!.mp4", FileNotFoundError, "there is no file"),
    ("/dev/v4l/by-id/usb-cam-index0", cudaccl.gst.PipelineError, "/dev/v4l/by-id/usb-cam-index0"),
    ("/dev/null", FileNotFoundError, "no camera"),
    ("videotestsrc ! no-such-element", cudaccl.gst.PipelineError, "no-such-element"),
    ("file:///no/such/file.avi", cudaccl.gst.PipelineError, "No such file"),
    ("/dev/video99", cudaccl.gst.PipelineError, "/dev/video99"),
    (__file__, cudaccl.gst.PipelineError, "text"),
    (b"videotestsrc", TypeError, "bytes"),
])
def test_bad_source(source, error, text):
    with pytest.raises(error, match=text):
        list(cudaccl.gst.frames(source))


@pytest.mark.parametrize("options, error, text", [
    ({"no_such": 1}, TypeError, "no-such"),
    ({"threshold": "many"}, cudaccl.gst.PipelineError, "threshold"),
    ({"image_format": "JPEG"}, ValueError, "JPEG"),
    ({"backend": "cpu", "algorithm": "union-find"}, cudaccl.gst.PipelineError, "union-find"),
])
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        list(cudaccl.gst.frames(BALL.format(1), **options))


def test_a_camera_with_another_name(monkeypatch):
    real = os.stat

    def found(path, *rest, **options):
        camera = types.SimpleNamespace(st_mode=stat.S_IFCHR, st_rdev=os.makedev(81, 3))
        return camera if path == "/dev/front-door" else real(path, *rest, **options)

    monkeypatch.setattr(os, "stat", found)
    assert source_line("/dev/front-door") == 'v4l2src device="/dev/front-door" ! decodebin'


@pytest.mark.parametrize("line", ["( videotestsrc num-buffers=1 )", "a. ! identity", "bin.( videotestsrc ) ! unknown"])
def test_launch_lines(line):
    assert source_line(line) == line


def test_error_after_frames():
    """What was labelled before the source failed is seen first."""
    found = []
    with pytest.raises(cudaccl.gst.PipelineError, match="identity"):
        for frame in cudaccl.gst.frames("videotestsrc ! identity error-after=4"):
            found.append(frame)
    assert len(found) == 3


def test_left_loop_stops_the_pipeline(monkeypatch):
    made = []
    init = _gst_pipeline.Pipeline.__init__

    def remember(self, *arguments):
        init(self, *arguments)
        made.append(self)

    monkeypatch.setattr(_gst_pipeline.Pipeline, "__init__", remember)
    for _ in cudaccl.gst.frames("videotestsrc is-live=true"):
        break
    assert made[0]._pipeline.get_state(0).state == Gst.State.NULL


def test_live_source_drops_what_is_late():
    """A reader that is slow sees frames with others between them, which nobody keeps for it."""
    frames = cudaccl.gst.frames("videotestsrc is-live=true ! video/x-raw,framerate=50/1,width=64,height=64")
    times = [next(frames).time]
    while len(times) < 100 and times[-1] - times[0] <= 2 * len(times) * 20_000_000:
        time.sleep(0.1)
        times.append(next(frames).time)
    frames.close()
    assert len(times) < 100, times


@pytest.mark.parametrize("kind", ["labels", "ids"])
def test_label_map(kind):
    source = BALL.replace("ball", "ball animation-mode=frames motion=sweep").format(6)
    for frame in cudaccl.gst.frames(source, threshold=100, track=True, label_map=kind, output="mask"):
        assert frame.label_map.dtype == numpy.int32 and frame.label_map.shape == (241, 322)
        key = frame.records["label" if kind == "labels" else "id"][0]
        numpy.testing.assert_array_equal(frame.label_map, numpy.where(frame.image == 255, key, 0))
        frame.label_map[:] = 0  # it is the caller's


def test_label_map_of_a_source():
    """Two elements, the second of which has another threshold."""
    source = BALL.format(1) + " ! cudaccl meta-name=low threshold=30 output=passthrough label-map=labels"
    pipeline = Gst.parse_launch(f"{source} ! cudaccl meta-name=high threshold=200 output=passthrough label-map=labels"
                                " ! appsink name=out")
    pipeline.set_state(Gst.State.PLAYING)
    buffer = pipeline.get_by_name("out").emit("pull-sample").get_buffer()
    pipeline.set_state(Gst.State.NULL)
    counts = [numpy.count_nonzero(cudaccl.gst.label_map(buffer, name)) for name in ("low", "high", None)]
    assert counts == [cudaccl.gst.records(buffer, name)["area"].sum() for name in ("low", "high", None)]
    assert counts[0] > counts[1] == counts[2] > 0
    assert cudaccl.gst.label_map(buffer, "other") is None


def test_no_label_map(buffer_of_two):
    assert cudaccl.gst.label_map(buffer_of_two) is None
    assert next(cudaccl.gst.frames(BALL.format(1))).label_map is None
    with pytest.raises(TypeError, match="Gst.Buffer"):
        cudaccl.gst.label_map(b"")


def test_source_selects_the_meta(buffer_of_two):
    assert list(cudaccl.gst.records(buffer_of_two)["area"]) == [20, 20, 20]
    assert list(cudaccl.gst.records(buffer_of_two, "first")["area"]) == [10, 10]
    assert len(cudaccl.gst.records(buffer_of_two, "third")) == 0
    assert list(cudaccl.gst.tracks(buffer_of_two, "first")["id"]) == [1]
    assert len(cudaccl.gst.events(buffer_of_two)) == 0
    info = cudaccl.gst.info(buffer_of_two)
    assert (info.source, info.frame, info.layout_version, info.overflow) == ("second", 8, 1, True)
    assert cudaccl.gst.info(buffer_of_two, "third") is None


def test_buffer_without_meta():
    buffer = Gst.Buffer.new_allocate(None, 16, None)
    for read, dtype in [("records", cudaccl.COMPONENT), ("tracks", cudaccl.TRACK), ("events", cudaccl.EVENT)]:
        array = getattr(cudaccl.gst, read)(buffer)
        assert len(array) == 0 and array.dtype == dtype
    for read in (cudaccl.gst.info, cudaccl.gst.grey, cudaccl.gst.polygons):
        assert read(buffer) is None
    assert list(_gst_meta.metas(hash(buffer), _gst_meta.Metadata)) == []


def test_records_outlive_the_buffer(buffer_of_two):
    records = cudaccl.gst.records(buffer_of_two)
    buffer_of_two = None
    records["area"] += 1
    assert list(records["area"]) == [21, 21, 21]


def test_not_a_buffer():
    with pytest.raises(TypeError, match="Gst.Buffer"):
        cudaccl.gst.records(b"")


def test_missing_bindings_are_named():
    program = textwrap.dedent("""
        import sys
        sys.modules["gi"] = None
        import cudaccl.gst
        try:
            cudaccl.gst.frames("videotestsrc")
        except ImportError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "python3-gi" in done.stdout


def test_missing_plugin_is_named(tmp_path):
    program = textwrap.dedent("""
        import cudaccl.gst
        try:
            cudaccl.gst.frames("videotestsrc")
        except cudaccl.gst.PipelineError as error:
            print(error)
    """)
    environment = {"GST_REGISTRY": str(tmp_path / "registry"), "GST_PLUGIN_SYSTEM_PATH": str(tmp_path)}
    environment["PYTHONPATH"] = ":".join(sys.path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert "GST_PLUGIN_PATH" in done.stdout


LOADING = """
import threading, time
import gi
from cudaccl import _gst_pipeline

calls = []
require = gi.require_version

def slowly(name, version):
    calls.append(name)
    time.sleep(0.05)
    require(name, version)

gi.require_version = slowly
start = threading.Barrier(8)
found = []

def load():
    start.wait()
    found.append(_gst_pipeline.gstreamer())

threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8 and len({id(one) for one in found}) == 1, found
assert calls.count("GstVideo") == 1, calls
"""


def test_threads_load_the_bindings_once():
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
