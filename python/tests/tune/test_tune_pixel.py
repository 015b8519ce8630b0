# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grey values are those of the element, and what is said about a pixel is what the element did."""

import json

import numpy
import pytest

from cudaccl._gst_pipeline import gstreamer
from cudaccl._result import eccentricity
from cudaccl.tune import aids, pixel
from cudaccl.tune.luma import as_frame, luma, otsu
from cudaccl.tune.side import label_once

from tune_made import frame

FORMATS = ("GRAY8", "RGB", "BGRA", "ARGB", "NV12", "I420", "YUY2", "GRAY16_LE", "P010_10LE", "I420_10LE")


def noise(form, width=70, height=50):
    """A frame with all values, of GStreamer's own layout."""
    bindings = gstreamer()
    caps = bindings.Gst.Caps.from_string(f"video/x-raw,format={form},width={width},height={height},framerate=25/1")
    size = bindings.GstVideo.VideoInfo.new_from_caps(caps).size
    buffer = bindings.Gst.Buffer.new_wrapped(numpy.random.default_rng(3).integers(0, 256, size, numpy.uint8).tobytes())
    buffer.pts = 0
    return buffer, caps


@pytest.mark.parametrize("form", FORMATS)
def test_grey_values_are_those_of_the_element(form):
    """Each threshold finds exactly the pixels whose value reaches it."""
    made = noise(form)
    try:
        values = luma(*made)
        for threshold in (1, 77, 200):
            wanted = threshold << 8 if form == "GRAY16_LE" else threshold << 2 if "10LE" in form else threshold
            found = label_once(*made, {"threshold": str(wanted), "label-map": "labels", "output": "passthrough"})
            if found is None:
                pytest.skip(f"the element does not take {form}")
            assert ((found.label_map > 0) == (values >= threshold)).all()
    finally:
        del made


def test_otsu_is_the_one_of_the_element():
    for seed in range(5):
        random = numpy.random.default_rng(seed)
        image = numpy.clip(numpy.where(random.random((60, 80)) < 0.3, random.normal(170, 25, (60, 80)),
                                       random.normal(60, 30, (60, 80))), 0, 255).astype(numpy.uint8)
        found = label_once(*as_frame(image), {"foreground": "otsu", "output": "passthrough"})
        assert otsu(numpy.bincount(image.ravel(), minlength=256)) == found.info.level


def test_a_flat_frame_has_no_threshold():
    assert otsu(numpy.bincount([7] * 50, minlength=256)) == 0


def explained(x, y, values):
    made = as_frame(frame(10))
    shown = label_once(*made, values | {"output": "passthrough", "track": "true"})
    everything = label_once(*made, aids.unfiltered(values))
    return pixel.explain(x, y, shown, everything, made, values)


INCLUDE = json.dumps({"version": 1, "include": [{"polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}]})


@pytest.mark.parametrize("x, y, values, passed, text, is_kept", [
    (5, 5, {"threshold": "100"}, [False], "the value 20 does not pass threshold=100", None),
    (5, 5, {"threshold": "100", "invert": "true"}, [True, True], "inverted: the value 20 passes", True),
    (150, 200, {"threshold": "100"}, [True, True], "kept", True),
    (150, 200, {"foreground": "otsu"}, [True, True], "passes the threshold of this frame", True),
    (150, 200, {"threshold": "100", "max-width": "29"}, [True, False], "removed by max-width=29", False),
    (150, 200, {"threshold": "100", "min-area": "5", "max-eccentricity": "0.5"}, [True, True],
     "passes min-area=5 max-eccentricity=0.5", True),
    (281, 31, {"threshold": "100", "min-area": "50", "min-height": "4"}, [True, False],
     "removed by min-area=50, min-height=4", False),
    (281, 31, {"threshold": "100", "top-n": "2"}, [True, False], "removed by top-n=2", False),
    (281, 31, {"threshold": "100", "open-radius": "2"}, [True, False], "open-radius=2 removed it", None),
    (281, 31, {"threshold": "100", "regions": INCLUDE}, [True, False], "the pixel is not looked at", None),
    (150, 200, {"threshold": "100", "regions": INCLUDE}, [True, True, True], "the pixel is looked at", True),
    (139, 200, {"threshold": "100", "close-radius": "8"}, [False, False], "close-radius=8 changed nothing here", None),
])
def test_why_a_pixel_is_what_it_is(x, y, values, passed, text, is_kept):
    found = explained(x, y, values)
    assert [step["passed"] for step in found["steps"]] == passed
    assert text in " ".join(step["text"] for step in found["steps"])
    assert (None if found["component"] is None else found["component"]["kept"]) == is_kept
    assert found["value"] == frame(10)[y, x]


def test_a_component_has_its_record_and_its_grey_values():
    component = explained(150, 200, {"threshold": "100"})["component"]
    assert component["record"]["area"] == 900 and component["record"]["box"] == [140, 190, 30, 30]
    assert component["histogram"][130] == 900 == sum(component["histogram"])
    assert component["record"]["grey"]["mean"] == 130


def test_components_that_the_filters_remove_are_described():
    made = as_frame(frame(10))
    values = {"threshold": "100", "min-area": "50", "max-area": "800"}
    shown = label_once(*made, values | {"output": "passthrough"})
    found = aids.describe(shown, label_once(*made, aids.unfiltered(values)), made)
    kept = dict(zip(found["components"]["area"], found["components"]["kept"]))
    assert kept == {697: True, 9: False, 900: False}
    assert sum(found["grey"]) == frame(10).size and found["grey"][130] == 900
    assert found["components"]["eccentricity"] == pytest.approx([0, 0, 0], abs=0.05)


def test_eccentricity_is_the_one_of_the_filter():
    """What the filter keeps at a limit is what has at most this value."""
    image = numpy.zeros((60, 60), numpy.uint8)
    image[10:14, 10:40] = 255
    image[30:50, 30:45] = 255
    made = as_frame(image)
    everything = label_once(*made, {"threshold": "1", "output": "passthrough"}).records
    for limit in (0.5, 0.7, 0.99, 1.0):
        kept = label_once(*made, {"threshold": "1", "max-eccentricity": str(limit), "output": "passthrough"}).records
        assert kept["label"].tolist() == everything["label"][eccentricity(everything) <= limit].tolist()
