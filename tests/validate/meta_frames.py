# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that went through cudaccl and then through other elements, with their metadata, for test_meta_matrix.py."""

from dataclasses import dataclass, field

import gi
import numpy
import scipy.ndimage

from record_tables import COMPONENT, EVENT, TRACK, table_of

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402, F401  (GstApp gives appsink its methods)

try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GstAnalytics
except (ImportError, ValueError):
    GstAnalytics = None

WIDTH, HEIGHT, N_FRAMES = 160, 96, 6
DARK, LIGHT, THRESHOLD = 16, 235, 126
DURATION = Gst.SECOND // 25
SOURCE_CAPS = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=25/1,pixel-aspect-ratio=1/1"
REGIONS = (
    '{"version": 1, "zones": [{"name": "middle", "polygon": [[0.25, 0], [0.75, 0], [0.75, 1], [0.25, 1]]}],'
    ' "lines": [{"name": "gate", "from": [0.3, 0], "to": [0.3, 1], "anchor": "centroid"}]}'
)
TIMEOUT = 20 * Gst.SECOND

TOUCHES_BORDER, SCALED, CUT = 1, 32, 64


@dataclass
class Meta:
    """A GstCudaCclMeta."""

    width: int
    height: int
    n_components: int
    records: numpy.ndarray
    tracks: numpy.ndarray
    events: numpy.ndarray
    others: dict = field(default_factory=dict)  # what must not change


@dataclass
class Frame:
    """A buffer with its metadata; boxes are (left, top, right, bottom)."""

    meta: Meta | None
    regions: list  # boxes of regions of interest, by id
    objects: list | None  # boxes of detection objects; None without the analytics library
    pixels: numpy.ndarray | None = None


def source_frame(number):
    """Shapes that no mirroring or rotation maps onto each other. Edges are at multiples of 8, as coders like them."""
    image = numpy.full((HEIGHT, WIDTH), DARK, numpy.uint8)
    left = 24 + 8 * number
    for top, bottom, x0, x1 in [
        (8, 24, 8, 32), (80, 96, 0, 16),  # these two lie at the border or near it
        (16, 48, 112, 144),
        (56, 80, 48, 56), (72, 80, 56, 72),  # the two bars of an L
        (32, 40, left, left + 16),  # moves to the right
    ]:
        image[top:bottom, x0:x1] = LIGHT
    image[24:40, 120:128] = DARK  # a hole
    return image


def other_fields(structure):
    names = "layout-version", "overflow", "labels-saturated", "relearning", "level", "source", "frame"
    others = {name: structure.get_value(name) for name in names if structure.has_field(name)}
    return others | {name: list(structure.get_value(name)) for name in ("zones", "lines") if structure.has_field(name)}


def meta_of(buffer):
    meta = buffer.get_custom_meta("GstCudaCclMeta")
    if meta is None:
        return None
    fields = meta.get_structure()
    return Meta(
        fields.get_value("width"), fields.get_value("height"), fields.get_value("n-components"),
        table_of(fields, "components", COMPONENT), table_of(fields, "tracks", TRACK),
        table_of(fields, "events", EVENT), other_fields(fields),
    )


def regions_of(buffer, ids):
    found = (GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, int(i)) for i in ids)
    return [(r.x, r.y, r.x + r.w, r.y + r.h) for r in found if r is not None]


def objects_of(buffer):
    if GstAnalytics is None:
        return None
    meta = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    boxes = []
    for i in range(GstAnalytics.relation_get_length(meta) if meta else 0):
        found, detection = meta.get_od_mtd(i)
        if found:
            _, x, y, w, h, _ = detection.get_location()
            boxes.append((x, y, x + w, y + h))
    return boxes


def frame_of(buffer, ids):
    return Frame(meta_of(buffer), regions_of(buffer, ids), objects_of(buffer))


def pixels_of(sample):
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    ok, mapped = sample.get_buffer().map(Gst.MapFlags.READ)
    assert ok
    try:
        rows = numpy.frombuffer(mapped.data, numpy.uint8, info.stride[0] * info.height).reshape(info.height, -1)
        return rows[:, : info.width].copy()
    finally:
        sample.get_buffer().unmap(mapped)


def elements_of(line):
    """The names of the elements of a launch line."""
    return [part.split()[0] for part in line.split(" ! ") if "/x-raw" not in part]


def make_pipeline(line):
    return Gst.parse_launch(
        f'appsrc name=in format=time caps="{SOURCE_CAPS}" ! {line}'
        " ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=out sync=false max-buffers=0"
    )


def error_of(pipeline):
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    return message.parse_error() if message else None


def run(pipeline):
    """Pushes the frames, and yields the samples that come out."""
    pipeline.set_state(Gst.State.PLAYING)
    try:
        source, sink = pipeline.get_by_name("in"), pipeline.get_by_name("out")
        for number in range(N_FRAMES):
            chroma = numpy.full(HEIGHT * WIDTH // 2, 128, numpy.uint8)
            buffer = Gst.Buffer.new_wrapped(source_frame(number).tobytes() + chroma.tobytes())
            buffer.pts, buffer.duration = number * DURATION, DURATION
            source.emit("push-buffer", buffer)
        source.emit("end-of-stream")
        while sample := sink.try_pull_sample(TIMEOUT):
            yield sample
        assert sink.is_eos(), error_of(pipeline) or "no frame came out in time"
        assert (error := error_of(pipeline)) is None, error
    finally:
        pipeline.set_state(Gst.State.NULL)


def labeler(output, kinds):
    """cudaccl on a launch line. Detection objects are left out where they cannot be read."""
    kept = [kind for kind in kinds if kind != "analytics" or GstAnalytics]
    return f"cudaccl backend=cpu output={output} threshold={THRESHOLD} metadata={'+'.join(kept)}"


def output_frames(pipeline, ids):
    """The frames that come out, with pixels; `ids` returns the ids of the regions to look for."""
    frames = []
    for sample in run(pipeline):
        frame = frame_of(sample.get_buffer(), ids())
        frame.pixels = pixels_of(sample)
        frames.append(frame)
    return frames


def through(line):
    """What cudaccl attached to each frame, and what came out of the elements of the line."""
    first = labeler("passthrough", ["components", "roi", "analytics"])
    pipeline = make_pipeline(f"{first} name=ccl features=moments+perimeter+euler track=true ! {line}")
    pipeline.get_by_name("ccl").props.regions = REGIONS
    before = []

    def keep(_pad, info):
        buffer = info.get_buffer()
        before.append(frame_of(buffer, meta_of(buffer).records["id"]))
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("ccl").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, keep)
    after = output_frames(pipeline, lambda: sorted({int(i) for frame in before for i in frame.meta.records["id"]}))
    return before, after


@dataclass
class Measured:
    """A component as an outsider finds it."""

    box: tuple
    area: int
    centroid: tuple
    moments: tuple
    perimeter: int
    euler: int


def measure(pixels):
    """The components of a frame by SciPy, and their fields by definition."""
    labels, count = scipy.ndimage.label(pixels >= THRESHOLD, numpy.ones((3, 3)))
    found = []
    for label, (rows, columns) in enumerate(scipy.ndimage.find_objects(labels), 1):
        mask = labels == label
        y, x = numpy.nonzero(mask)
        cx, cy = x.mean(), y.mean()
        moments = ((x - cx) ** 2).mean(), ((x - cx) * (y - cy)).mean(), ((y - cy) ** 2).mean()
        padded = numpy.pad(mask, 1)
        edges = sum(int((padded != numpy.roll(padded, 1, axis)).sum()) for axis in (0, 1))
        holes = scipy.ndimage.label(~padded)[1] - 1
        box = columns.start, rows.start, columns.stop, rows.stop
        found.append(Measured(box, int(mask.sum()), (cx, cy), moments, edges, 1 - holes))
    assert len(found) == count
    return found
