# SPDX-License-Identifier: LGPL-2.1-or-later
"""What elements do to the metadata of cudaccl: each frame that they put out is labelled again by SciPy.

    test_meta_matrix.py            compares with meta_matrix.toml and with docs/metadata.md
    test_meta_matrix.py --table    prints the table for docs/metadata.md
"""

import sys
import tomllib
from pathlib import Path

try:
    import pytest
    from meta_frames import CUT, N_FRAMES, Gst, GstAnalytics
    from meta_frames import elements_of, labeler, make_pipeline, measure, output_frames, through
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; install python3-pytest, python3-gi, python3-gst-1.0, python3-scipy and the"
          " introspection data of GStreamer's plugins")
    sys.exit(77)

from meta_verdicts import Wrong, check_records, verdict_of_boxes, verdict_of_records, worst

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "metadata.md"
TABLE = tomllib.loads((HERE / "meta_matrix.toml").read_text(encoding="utf-8"))
KINDS = {"records": "records, tracks, events", "regions": "regions of interest", "objects": "detection objects"}

Gst.init(None)


def column():
    """The index of the newest version in the table that is not newer than GStreamer here."""
    running = Gst.version()[:2]
    known = [i for i, text in enumerate(TABLE["versions"]) if tuple(map(int, text.split("."))) <= running]
    assert known, "GStreamer is older than 1.22"
    return known[-1]


def verdicts_of(line):
    """The worst verdict of all frames, by kind, and what is wrong with the records."""
    before, after = through(line)
    assert after, "no frame came out"
    # By number: an element may change time stamps, as x264enc does.
    labelled = {frame.meta.others["frame"]: frame.meta for frame in before}
    seen, reason = {kind: [] for kind in KINDS}, ""
    for frame in after:
        original = labelled[frame.meta.others["frame"]] if frame.meta else None
        try:
            seen["records"].append(verdict_of_records(original, frame))
        except Wrong as wrong:
            seen["records"].append("wrong")
            reason = str(wrong)
        seen["regions"].append(verdict_of_boxes(frame.regions, frame))
        seen["objects"].append(verdict_of_boxes(frame.objects, frame))
    return {kind: worst(v) if v[0] else "" for kind, v in seen.items()}, reason


def expected_verdicts(row, kind, index):
    """One for each line."""
    entry = row[kind][index]
    return [entry] * len(row["lines"]) if isinstance(entry, str) else entry


def lines():
    return [pytest.param(row, line, id=line) for row in TABLE["row"] for line in row["lines"]]


@pytest.mark.parametrize("row, line", lines())
def test_element(row, line):
    missing = [name for name in elements_of(line) if Gst.ElementFactory.find(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    found, reason = verdicts_of(line)
    for kind, verdict in found.items():
        expected = expected_verdicts(row, kind, column())[row["lines"].index(line)]
        assert verdict == expected or "" in (verdict, expected), (kind, verdict, expected, reason)


# Of formats: the pixels that share their chroma, and whether they are in one plane with it.
GROUPS = {
    "I420": (2, 2, False), "YV12": (2, 2, False), "NV12": (2, 2, False), "NV21": (2, 2, False), "A420": (2, 2, False),
    "I420_10LE": (2, 2, False), "Y42B": (2, 1, False), "I422_10LE": (2, 1, False), "Y41B": (4, 1, False),
    "YUY2": (2, 1, True), "UYVY": (2, 1, True), "YVYU": (2, 1, True), "v210": (6, 1, True),
    "Y444": (1, 1, False), "AYUV": (1, 1, False), "RGBA": (1, 1, False), "GRAY8": (1, 1, False),
}
PLACES = [(1, 0), (0, 1), (2, 2), (4, 3), (6, 4), (12, 8), (13, 9)]
PUTTING = {
    "compositor":
        "compositor background=transparent sink_0::xpos={x} sink_0::ypos={y} ! video/x-raw,width=200,height=140",
    "compositor, cut":
        "compositor background=transparent sink_0::xpos=-{x} sink_0::ypos=-{y} ! video/x-raw,width=160,height=96",
    "videobox": "videobox left=-{x} top=-{y}",
    "videoscale": "videoscale ! video/x-raw,width={wide},height=96,pixel-aspect-ratio=1/1",
}
CUTTING = {"videobox, cut": "videobox left={x} top={y}", "videocrop": "videocrop left={x} top={y}"}


def takes(element, kind):
    """Whether an element has a format in its caps."""
    caps = Gst.Caps.from_string(f"video/x-raw,format={kind}")
    templates = Gst.ElementFactory.find(element).get_static_pad_templates()
    return all(template.get_caps().can_intersect(caps) for template in templates)


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("name", PUTTING | CUTTING)
def test_places_that_are_rounded(name, kind):
    """GStreamer rounds some places to a group of pixels. Records there are dropped, and no others."""
    if Gst.version()[:2] < (1, 28):
        pytest.skip("before GStreamer 1.28 metadata follows no crops and no borders")
    line = (PUTTING | CUTTING)[name]
    if not takes(line.split()[0], kind):
        pytest.skip(f"{line.split()[0]} does not take {kind}")
    if name == "videoscale" and kind in ("I420_10LE", "I422_10LE", "v210"):
        pytest.skip("videoscale's borders are not black with 10 bits, so there are other components")
    width, height, is_packed = GROUPS[kind]
    found, expected = {}, {}
    for x, y in PLACES:
        elements = line.format(x=x, y=y, wide=160 + 2 * x).replace("video/x-raw", f"video/x-raw,format={kind}")
        verdicts, reason = verdicts_of(f"videoconvert ! video/x-raw,format={kind} ! {elements}")
        found[x, y] = verdicts["records"] + reason
        begins = x % width == 0 and ("{y}" not in line or y % height == 0)
        expected[x, y] = "exact" if begins or (name in CUTTING and not is_packed) else "dropped"
    assert found == expected


def test_records_are_never_wrong():
    for row in TABLE["row"]:
        for index in range(len(TABLE["versions"])):
            verdicts = set(expected_verdicts(row, "records", index))
            assert verdicts <= {"exact", "scaled", "dropped", ""}, row["name"]


def cropped(*parts):
    """What comes out of a pipeline in which the second cudaccl reads a part of its input's picture. The records are
    those of the first one."""
    frames = output_frames(make_pipeline(" ! ".join(parts)), lambda: range(1, 20))
    assert len(frames) == N_FRAMES
    for frame in frames:
        assert frame.meta.others["source"] == "first"
        check_records(frame.meta, measure(frame.pixels), (0, 0, frame.meta.width, frame.meta.height))
        assert verdict_of_boxes(frame.regions, frame) == "exact"
        if GstAnalytics is not None:
            expected = "exact" if Gst.version()[:2] >= (1, 28) else "dropped"
            assert verdict_of_boxes(frame.objects, frame) == expected
    return frames


CROP = "videocrop left=20 top=8 right=8 bottom=8"
FIRST = labeler("passthrough", ["components", "roi", "analytics"]) + " features=moments+perimeter+euler name=first"
SECOND = labeler("mask", ["components"])


def test_crop_of_the_input():
    """videocrop leaves the crop to cudaccl, which reads a part of the picture that upstream described."""
    assert all(any(frame.meta.records["flags"] & CUT) for frame in cropped(FIRST, CROP, SECOND))


def test_crop_of_the_input_that_passes():
    """The first cudaccl passes the whole picture on, with the rectangle; the second one applies it."""
    assert not any(any(frame.meta.records["flags"] & CUT) for frame in cropped(CROP, FIRST, SECOND))


def cell(row, kind):
    """The verdicts of all versions: one, and from which version on there is another."""
    text, last = "", ""
    for index, version in enumerate(TABLE["versions"]):
        verdict = " or ".join(dict.fromkeys(expected_verdicts(row, kind, index))).replace("wrong", "**wrong**")
        if verdict not in ("", last):
            text, last = f"{text}; from {version}: {verdict}" if text else verdict, verdict
    return text


def markdown():
    rows = [["element", *KINDS.values()]]
    rows += [[row["name"], *(cell(row, kind) for kind in KINDS)] for row in TABLE["row"]]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]) + "\n"


def test_document_has_the_table():
    assert markdown() in DOCUMENT.read_text(encoding="utf-8"), "test_meta_matrix.py --table prints the table"


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(markdown(), end="")
        sys.exit()
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
