# SPDX-License-Identifier: LGPL-2.1-or-later
"""README.md and docs/: every launch line runs, every snippet works, every property is in the table, no link is dead."""

import functools
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

try:
    import pytest
except ImportError as missing:
    print(f"skipped: {missing}; install python3-pytest")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = {path: path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]}
README = DOCUMENTS[ROOT / "README.md"]
WHEN = {  # what the property table says about a change, and what gst-inspect-1.0 says
    "next frame": "writable, changeable in NULL, READY, PAUSED or PLAYING state",
    "next frame, controllable": "writable, controllable, changeable in NULL, READY, PAUSED or PLAYING state",
    "next frame, after negotiation": "changeable in NULL, READY, PAUSED or PLAYING state",
    "next start": "changeable only in NULL or READY state",
    "read only": "readable",
}
CLIPS = [
    ROOT / "build" / "clip" / "vtest.avi",  # where scripts/demo keeps it if documentation is not installed
    Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi"),
    Path("/usr/lib/python3/dist-packages/imageio/resources/images/cockatoo.mp4"),
]
FRAMES = 20


def snippets(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```", document, re.DOTALL | re.MULTILINE)


def launch_lines():
    """Each once, though the README repeats some of docs/launch-lines.md."""
    lines = [line for document in DOCUMENTS.values() for block in snippets(document, "sh") for line in block.splitlines()]
    lines += [line for document in DOCUMENTS.values() for line in re.findall(r"`(gst-launch-1\.0 [^`]*)`", document)]
    commands = [line.split(" | ")[0] for line in lines if line.startswith("gst-launch-1.0 ")]
    return list(dict.fromkeys(commands))


def run(arguments, cwd):
    return subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, timeout=120)


def has_gpu(cwd, device=0):
    """True if a pipeline with backend=cuda starts; a machine without that GPU must say what is missing."""
    element = f"cudaccl backend=cuda cuda-device-id={device}"
    probe = run(shlex.split(f"gst-launch-1.0 videotestsrc num-buffers=1 ! {element} ! fakesink"), cwd)
    if probe.returncode != 0:
        assert re.search("GPU|driver|CUDA", probe.stderr), probe.stderr
    return probe.returncode == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files of the launch lines; clip.avi is the first frames of a real clip, where one is installed."""
    path = tmp_path_factory.mktemp("documents")
    clip = next((clip for clip in CLIPS if clip.exists()), None)
    # Documentation may be left out of an installation; the lines run on a test picture as well.
    source = f"filesrc location={clip} ! decodebin" if clip else "videotestsrc pattern=ball"
    made = run(
        shlex.split(
            f"gst-launch-1.0 {source} ! identity eos-after={FRAMES + 1}"
            " ! videoconvert ! jpegenc quality=95 ! avimux ! filesink location=clip.avi"
        ),
        path,
    )
    assert made.returncode == 0, made.stderr
    coded = run(
        shlex.split(
            "gst-launch-1.0 filesrc location=clip.avi ! decodebin ! videoconvert ! openh264enc ! h264parse"
            " ! video/x-h264,stream-format=byte-stream ! filesink location=clip.h264"
        ),
        path,
    )
    assert coded.returncode == 0, coded.stderr
    (path / "regions.json").write_text(snippets(DOCUMENTS[ROOT / "docs" / "regions.md"], "json")[0])
    return path


@pytest.fixture(scope="module")
def camera():
    """Where rtsp://camera.local/stream is played by a server of our own."""
    gi = pytest.importorskip("gi")
    try:
        gi.require_version("Gst", "1.0")
        gi.require_version("GstRtspServer", "1.0")
    except ValueError:
        pytest.skip("no RTSP server: install gir1.2-gst-rtsp-server-1.0")
    import threading

    from gi.repository import GLib, Gst, GstRtspServer

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        "( videotestsrc is-live=true ! video/x-raw,width=320,height=240 ! videoconvert"
        " ! openh264enc ! rtph264pay name=pay0 pt=96 )"
    )
    server.get_mount_points().add_factory("/stream", factory)
    server.attach(None)
    loop = GLib.MainLoop()
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.get_bound_port()}"
    loop.quit()
    thread.join()


OPTIONAL_ELEMENTS = ["objectdetectionoverlay", "segmentationoverlay", "ioutracker", "relationmeta2onvifmeta"]


def missing_here(line, cwd):
    """Elements and kinds of metadata of the line that only some versions of GStreamer have."""
    needed = [element for element in OPTIONAL_ELEMENTS if element in line.split()]
    missing = [element for element in needed if run(["gst-inspect-1.0", "--exists", element], cwd).returncode != 0]
    kinds = [kind for value in re.findall(r" metadata=([a-z+]+)", line) for kind in value.split("+")]
    if kinds:
        flags = run(["gst-inspect-1.0", "cudaccl"], cwd).stdout
        missing += [f"metadata={kind}" for kind in kinds if not re.search(rf"\(0x[0-9a-f]+\): {kind} ", flags)]
    return missing


@pytest.mark.parametrize("line", launch_lines())
def test_launch_line_runs(line, folder, request):
    if missing := missing_here(line, folder):
        pytest.skip(f"GStreamer here has no {', '.join(missing)}")
    if "backend=cuda" in line and not has_gpu(folder, device=1 if "cuda-device-id=1" in line else 0):
        return  # has_gpu() has checked the error such a machine gives instead
    # What a test machine lacks, and an end for lines that run forever.
    line = line.replace("autovideosink", f"fakesink num-buffers={FRAMES}")
    line = line.replace("glimagesink", f"fakesink num-buffers={FRAMES}")
    line = line.replace("v4l2src", f"videotestsrc is-live=true num-buffers={FRAMES}")
    if "camera.local" in line:
        line = line.replace("camera.local", request.getfixturevalue("camera"))
    done = run(shlex.split(line), folder)
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr, done.stderr
    assert "cannot be used" not in done.stdout, done.stdout  # where gst-launch-1.0 prints warnings
    if "post-messages=true" in line and "num-buffers=10 " in line:
        assert done.stdout.count("n-components=(uint)1") == 10, done.stdout


def test_there_are_launch_lines():
    assert len([line for line in launch_lines() if line in README]) == 5
    assert "\n## Five launch lines\n" in README
    assert len(launch_lines()) >= 17


def test_readme_is_short():
    assert len(README.splitlines()) <= 200


def test_labels_are_the_same_on_cpu_and_gpu(folder):
    if not has_gpu(folder):
        pytest.skip("no GPU to compare the CPU's labels with")
    cpu, cuda = (folder / name for name in ("labels.gray16", "labels-cuda.gray16"))
    assert cpu.stat().st_size > 0
    assert cpu.read_bytes() == cuda.read_bytes()


def property_rows(document):
    """{property: the cells of its row} of all tables of a document whose first column is a property."""
    rows = {}
    for table in re.findall(r"^\| property \|.*\n\|[-|]+\n((?:\|.*\n)+)", document, re.MULTILINE):
        for row in table.splitlines():
            cells = [cell.strip() for cell in row.strip("|").split(" | ")]
            rows[cells[0].strip("`")] = cells
    return rows


@functools.cache
def inspected_properties():
    """{property: the lines that gst-inspect-1.0 prints of it, less the first}"""
    text = run(["gst-inspect-1.0", "cudaccl"], ROOT).stdout.split("Element Properties:")[1]
    return dict(re.findall(r"^  ([a-z-]+) *: .*\n((?: {3,}.*\n)+)", text, re.MULTILINE))


PROPERTIES = property_rows(DOCUMENTS[ROOT / "docs" / "properties.md"])


def test_files_follow_from_the_table_of_settings():
    """docs/properties.md, and Python's keywords."""
    done = run([sys.executable, "-B", ROOT / "scripts" / "settings", "--check"], ROOT)
    assert done.returncode == 0, done.stdout


def test_every_property_is_documented():
    assert sorted(PROPERTIES) == sorted(set(inspected_properties()) - {"name", "parent", "qos"})
    assert "`qos`" in DOCUMENTS[ROOT / "docs" / "properties.md"]


@pytest.mark.parametrize("name", PROPERTIES)
def test_property_is_documented_as_it_is(name):
    """Default, range, when a change takes effect, and every value. test_labelers.py compares those of `algorithm`."""
    _, default, values, when, meaning, _ = PROPERTIES[name]
    inspected = inspected_properties()[name]
    assert WHEN[when] in inspected and (when == "read only") == ("writable" not in inspected)
    if found := re.search(r"Enum .* Default: (-?[0-9]+),", inspected):  # a value may have several names
        assert default.strip("`") in re.findall(rf"\({found.group(1)}\): ([a-z0-9-]+) ", inspected)
    elif found := re.search(r"Default: (?:\S+, )?\"?(.*?)\"? *$", inspected, re.MULTILINE):
        want = found.group(1).replace("null", "").strip()
        given = default.strip("`")
        is_number = re.fullmatch(r"[0-9.-]+", want)
        assert float(int(given, 0) if given.startswith("0x") else given) == float(want) if is_number \
            else sorted(given.split("+")) == sorted(want.split("+"))
    if found := re.search(r"Range: +(\S+) - +(\S+) ", inspected):
        least, _, largest = values.removeprefix("from ").partition(" to ")
        assert float(least) == float(found.group(1))
        assert float(found.group(2)) in ([float(largest)] if largest else [2**31 - 1, 2**32 - 1])
    choices = re.findall(r"^ +\((?:0x)?[0-9a-f]+\): ([a-z0-9-]+) ", inspected, re.MULTILINE)
    assert name == "algorithm" or set(choices) <= set(re.findall("`([a-z0-9-]+)`", meaning))


def test_readme_has_the_properties_that_people_use():
    rows = property_rows(README)
    assert len(rows) == 15
    for name, (_, default, when, _) in rows.items():
        assert (default, when) == (PROPERTIES[name][1], PROPERTIES[name][3].removesuffix(", controllable")), name


def stats_fields():
    """The fields of `stats` in their order, from the element."""
    text = run(["gst-inspect-1.0", "cudaccl"], ROOT).stdout
    of_stats = re.search(r"^  stats .*\n((?: {3}.*\n)+)", text, re.MULTILINE).group(1)
    return [name for name in re.findall(r"^ +([a-z-]+): ", of_stats, re.MULTILINE) if name != "flags"]


def filters_of_stats():
    names = [name.removeprefix("removed-by-") for name in stats_fields() if name.startswith("removed-by-")]
    assert names
    return names


def table_rows(document, chapter):
    """The cells of all rows of a chapter's table, less its head."""
    text = re.split(f"^##? {chapter}", document, flags=re.MULTILINE)[1].split("\n## ")[0]
    return [row.split(" | ") for row in re.findall(r"^\| (.*) \|$", text, re.MULTILINE)[1:]]


def test_message_fields_are_documented():
    """The table of frame_counts.h, and the rows of docs/metadata.md that follow the fields of every message."""
    table = (ROOT / "gst" / "report" / "frame_counts.h").read_text()
    counts = re.findall(r'^    {"([a-z-]+)", "[a-z-]+",', table, re.MULTILINE)
    assert counts
    rows = [row for row in table_rows(DOCUMENTS[ROOT / "docs" / "metadata.md"], "Messages") if "as above, if" not in row[2]]
    listed = [name for row in rows for name in re.findall("`([a-z-]+)`", row[0])]
    assert listed[listed.index("running-time") + 1:] == counts


def test_stats_fields_are_documented():
    """All, in their order, where docs/metadata.md writes one row for all filters, all types of events, all stages."""
    events = table_rows(DOCUMENTS[ROOT / "docs" / "events.md"], "Events")
    types = [name for cells in events for name in re.findall("`([a-z-]+)`", cells[0])]
    documented = []
    for cells in table_rows(DOCUMENTS[ROOT / "docs" / "metadata.md"], "Statistics"):
        names = re.findall("`([a-z-]+)`", cells[0])
        if cells[0].endswith("*filter*"):
            names = [names[0] + name for name in filters_of_stats()]
        elif cells[0].endswith("*type*"):
            names = [names[0] + name for name in types]
        elif cells[0].startswith("*stage*"):
            suffixes = [names[0], *(names[0].removesuffix("-min") + suffix for suffix in names[1:])]
            names = [stage + suffix for stage in re.findall("`([a-z]+)`", cells[2]) for suffix in suffixes]
        documented += names
    assert documented == stats_fields()


def test_filters_are_documented():
    """docs/filters.md has every filter at its place in the order in which they are tested."""
    names = []
    for order, properties, *_ in table_rows(DOCUMENTS[ROOT / "docs" / "filters.md"], "Filters"):
        of_row = re.findall("`([a-z-]+)`", properties)
        first, last = len(names) + 1, len(names) + len(of_row)
        assert order in ([str(first)] if first == last else [f"{first}, {last}", f"{first} to {last}"]), properties
        names += of_row
    assert names == filters_of_stats()


def compile_and_run(text, folder):
    """A C program that uses the installed headers."""
    flags = run(["pkg-config", "--cflags", "--libs", "gstreamer-1.0"], ROOT)
    assert flags.returncode == 0, flags.stderr
    program = folder / "snippet.c"
    program.write_text(text)
    compiler = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", str(program), "-o", str(folder / "snippet")]
    made = run([*compiler, f"-I{ROOT / 'gst'}", f"-I{ROOT / 'cuda'}", *flags.stdout.split(), "-lm"], ROOT)
    assert made.returncode == 0, made.stderr
    done = run([str(folder / "snippet")], ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_c_snippet_compiles(tmp_path):
    include, body = snippets(README, "c")[0].split("\n", 1)
    compile_and_run(f"{include}\nint main (void)\n{{\ngst_init (NULL, NULL);\nGstBuffer *buffer = gst_buffer_new ();\n"
                    f"{body}\ngst_buffer_unref (buffer);\nreturn 0;\n}}\n", tmp_path)


def test_c_snippet_of_the_label_map_compiles(tmp_path):
    """tests/check/gst/label_map_test.cpp shows that the functions find maps."""
    code = next(c for c in snippets(DOCUMENTS[ROOT / "docs" / "metadata.md"], "c") if "print_label" in c)
    compile_and_run(f"{code}\nint main (void)\n{{\ngst_init (NULL, NULL);\nGstBuffer *buffer = gst_buffer_new ();\n"
                    "print_label (buffer, 0, 0);\ngst_buffer_unref (buffer);\nreturn 0;\n}\n", tmp_path)


def test_c_snippet_prints_events(tmp_path):
    """Of a ball that moves through a zone."""
    code = next(c for c in snippets(DOCUMENTS[ROOT / "docs" / "events.md"], "c") if "print_events" in c)
    (tmp_path / "regions.json").write_text(
        '{"version": 1, "zones": [{"name": "all", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}]}')
    printed = compile_and_run(code + f"""
static void on_frame (GstElement *identity, GstBuffer *buffer, gpointer data)
{{
  (void) identity;
  (void) data;
  print_events (buffer);
}}

int main (void)
{{
  gst_init (NULL, NULL);
  GstElement *pipeline = gst_parse_launch ("videotestsrc pattern=ball num-buffers=5 ! cudaccl backend=cpu threshold=100"
      " track=true regions={tmp_path}/regions.json ! identity name=labelled signal-handoffs=true ! fakesink", NULL);
  GstElement *labelled = gst_bin_get_by_name (GST_BIN (pipeline), "labelled");
  g_signal_connect (labelled, "handoff", G_CALLBACK (on_frame), NULL);
  gst_object_unref (labelled);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), GST_CLOCK_TIME_NONE,
          GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return 0;
}}
""", tmp_path)
    place = r"[0-9]+,[0-9]+"
    assert re.fullmatch(rf"started: track 0 at 0,0\nborn: track 1 at {place}\nentered: track 1 at {place}, all\n", printed)


# What the programs around the Python snippets begin with.
LABELLED = """
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp

Gst.init(None)

def labelled(properties="", pattern="ball", count=1, regions=None, caps="video/x-raw"):
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers={count} pattern={pattern} ! video/x-raw,format=GRAY8"
                                f" ! cudaccl name=ccl threshold=100 {properties} ! {caps} ! appsink name=sink")
    pipeline.get_by_name("ccl").props.regions = regions
    pipeline.set_state(Gst.State.PLAYING)
    buffers = [pipeline.get_by_name("sink").pull_sample().get_buffer() for _ in range(count)]
    pipeline.set_state(Gst.State.NULL)
    return buffers
"""


def output_of_snippet(text, program, folder, word=""):
    """What a program of its own prints that begins with the first Python snippet of the text that has the word."""
    pytest.importorskip("gi")
    pytest.importorskip("numpy")
    code = next(code for code in snippets(text, "python") if word in code) + LABELLED + textwrap.dedent(program)
    done = run([sys.executable, "-c", code], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_python_snippet_reads_label_maps(folder):
    """The snippet of docs/metadata.md on a ball, on a buffer without a map, and on one without metadata."""
    program = """
        CAPS = "video/x-raw,width=45,height=34"
        assert label_map(Gst.Buffer.new()) is None and label_map(labelled("output=labels", caps=CAPS)[0]) is None
        buffer, = labelled("output=labels label-map=labels", caps=CAPS)
        rows = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), "<u2").reshape(34, -1)[:, :45]
        found = label_map(buffer)
        del buffer
        print(found.shape, found.max(), numpy.array_equal(found, rows))
        """
    text = DOCUMENTS[ROOT / "docs" / "metadata.md"]
    assert output_of_snippet(text, program, folder, "LabelMap") == "(34, 45) 1 True"


def test_python_snippet_reads_buffers_with_and_without_records(folder):
    """On a buffer of a ball, on one without a component, and on two without a meta."""
    program = """
        for buffer in [*labelled(), *labelled(pattern="black"), *labelled("metadata=roi"), Gst.Buffer.new()]:
            print(len(records_of(buffer)))
        print(records_of(labelled()[0])["label"].tolist())
        """
    assert output_of_snippet(README, program, folder).split() == ["1", "0", "0", "0", "[1]"]


def test_python_snippet_reads_grey_statistics_and_polygons(folder):
    """The snippet of docs/features.md on a ball, on buffers without these tables, and on one without a meta."""
    program = """
        for buffer in [Gst.Buffer.new(), *labelled(), *labelled("metadata=roi features=grey+hull")]:
            assert len(grey_of(buffer)) == 0 and list(polygons_of(buffer)) == []
        buffer, = labelled("features=grey+hull+contour")
        assert list(grey_of(buffer)["label"]) == [1] and grey_of(buffer)["min"][0] >= 100
        print([(label, kind, len(vertices) > 8) for label, kind, vertices in polygons_of(buffer)])
        """
    text = DOCUMENTS[ROOT / "docs" / "features.md"]
    assert output_of_snippet(text, program, folder) == "[(1, 2, True), (1, 3, True)]"


def test_python_snippet_reads_tracks_and_events(folder):
    """The snippet of docs/events.md on a ball that is in a zone, on a buffer without tracks, and on one without a meta."""
    program = """
        ZONE = {"name": "all", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]], "crowd": 0}
        FRAMES = {"count": 4, "regions": str({"version": 1, "zones": [ZONE]}).replace("'", '"')}
        for buffer in [Gst.Buffer.new(), labelled(**FRAMES)[0], labelled("track=true metadata=roi", **FRAMES)[3]]:
            assert len(tracks_of(buffer)) == 0 and list(events_of(buffer)) == []
        tracked = labelled("track=true", **FRAMES)
        assert [list(tracks_of(buffer)["id"]) for buffer in tracked] == [[1]] * 4
        assert [int(tracks_of(buffer)["zones"][0]) for buffer in tracked] == [0, 0, 1, 1]
        print([event for buffer in tracked for event in events_of(buffer)])
        """
    assert output_of_snippet(DOCUMENTS[ROOT / "docs" / "events.md"], program, folder) == str(
        [("started", 0, 0, None), ("born", 1, 0, None), ("entered", 1, 0, "all"), ("crowded", 0, 1, "all")])


def anchors(document):
    """What GitHub makes of the headings: lower case, blanks as hyphens, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", document, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", DOCUMENTS[path]):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


if __name__ == "__main__":
    os.environ.setdefault("PYTEST_ADDOPTS", "")
    raise SystemExit(pytest.main([__file__, "-q", "-rs"]))
