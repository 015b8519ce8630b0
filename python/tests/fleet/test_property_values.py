# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values of properties, in all forms that GStreamer takes: a fleet decides by them whether a file can be cut."""

import dataclasses

import pytest

from cudaccl.fleet.config import Archive
from fleet_made import job

TRUE = ("true", "TRUE", "t", "T", "yes", "Yes", "1")
FALSE = ("false", "F", "no", "0")
MOTION = ("motion", "4", "0x4", "0X4", "04", "+4", " 4", "Pixels that differ from a learned background")
OF_ONE_FRAME = ("binary", "otsu", "local", "values", "0", "1", "2", "3", "0x3", "03", "+3", "\t3")
BOTH_CASES = {"Motion": True, "OTSU": False, "Values": False}  # from GStreamer 1.28 on; others refuse them
NUMBERS = {"100": 100, "0x10": 16, "010": 8, "0": 0, " 7": 7}


def archive(**properties):
    return Archive("a", "/a.mkv", {name.replace("_", "-"): text for name, text in properties.items()})


def test_tracks():
    assert not archive().tracks
    assert all(archive(track=text).tracks for text in TRUE)
    assert not any(archive(track=text).tracks for text in FALSE)


def test_a_foreground_that_depends_on_frames_before():
    assert not archive().moves
    assert [text for text in MOTION if not archive(foreground=text).moves] == []
    assert [text for text in OF_ONE_FRAME if archive(foreground=text).moves] == []
    assert {text: archive(foreground=text).moves for text in BOTH_CASES} == BOTH_CASES
    assert archive(foreground="a word of a later version").moves


def test_times():
    assert archive().event_hold == 2 * 10**9
    assert {text: archive(event_hold=text).event_hold for text in NUMBERS} == NUMBERS
    assert archive(event_hold="2.5s").event_hold == 2_500_000_000 and archive(event_hold="5ms").event_hold == 5_000_000


def test_a_file_is_cut_only_where_frames_stand_alone(tmp_path):
    from cudaccl.fleet import join
    from cudaccl.fleet.video_index import VideoIndex

    numpy = pytest.importorskip("numpy")
    times = numpy.arange(20) * 10**9
    index = VideoIndex("video/x-h264", times, numpy.arange(0, 20, 2), "", times.astype("u4"))
    one = job(tmp_path / "a.mkv", tmp_path)

    def obstacle(text):
        changed = dataclasses.replace(one.archive, properties={"foreground": text})
        return join.obstacle(changed, one.settings, index)

    assert {obstacle(text) for text in OF_ONE_FRAME} == {""}
    assert {obstacle(text) for text in MOTION} == {"a model of the background depends on all frames before"}


def test_the_element_reads_the_same():
    from gst_element import Gst

    from cudaccl import _gst_pipeline

    def value(name, text):
        properties = {name: text}
        element = _gst_pipeline.parse(_gst_pipeline._element(Gst, properties), properties)
        return element.get_property(name)

    for text in (*MOTION, *OF_ONE_FRAME, *(BOTH_CASES if Gst.version() >= (1, 28) else ())):
        assert archive(foreground=text).moves == (value("foreground", text).value_nick == "motion")
    for text in (*TRUE, *FALSE):
        assert archive(track=text).tracks == value("track", text)
    for text, number in NUMBERS.items():
        assert value("max-area", text) == number
    assert value("event-hold", "2.5s") == archive(event_hold="2.5s").event_hold
    for refused in (" true", "true ", "on", "2"):
        with pytest.raises(_gst_pipeline.PipelineError):
            value("track", refused)
    for refused in ("motion ", "4 ", "4x"):
        with pytest.raises(_gst_pipeline.PipelineError):
            value("foreground", refused)
