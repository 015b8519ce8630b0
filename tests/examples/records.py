#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the largest component of every frame: the records as a NumPy array, with no binding.

    records.py clip.avi [PROPERTY=VALUE...]
"""

import sys

try:
    import gi
    import numpy

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gst, GstApp  # noqa: F401  (GstApp gives appsink its methods)
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; install python3-gi, python3-gst-1.0 and python3-numpy")
    sys.exit(77)

# One component; cuda/ccl/component.h documents the fields.
COMPONENT = numpy.dtype([
    ("label", "u4"), ("id", "u4"), ("area", "u4"),
    ("x", "u4"), ("y", "u4"), ("width", "u4"), ("height", "u4"),
    ("cx", "f4"), ("cy", "f4"), ("mxx", "f4"), ("mxy", "f4"), ("myy", "f4"),
    ("perimeter", "u4"), ("euler", "i4"), ("flags", "u2"), ("value", "u2"), ("age", "u4"),
])


def records(buffer):
    """The component records that cudaccl left on a buffer; none if it has left nothing."""
    meta = buffer.get_custom_meta("GstCudaCclMeta")
    data = meta.get_structure().get_value("components").get_data() if meta else b""
    return numpy.frombuffer(data, COMPONENT, count=len(data) // COMPONENT.itemsize)  # padding follows the records


def labelled_frames(clip, settings):
    """Runs the clip through cudaccl and yields its buffers."""
    pipeline = Gst.parse_launch(
        "filesrc name=file ! decodebin ! videoconvert"
        f" ! cudaccl output=passthrough {' '.join(settings)} ! appsink name=sink sync=false max-buffers=4"
    )
    pipeline.get_by_name("file").props.location = clip
    sink = pipeline.get_by_name("sink")
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while not sink.is_eos():
            if message := bus.pop_filtered(Gst.MessageType.ERROR):
                sys.exit(f"error: {message.parse_error()[0].message}")
            if sample := sink.try_pull_sample(Gst.SECOND // 10):
                yield sample.get_buffer()
    finally:
        pipeline.set_state(Gst.State.NULL)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Gst.init(None)
    for number, buffer in enumerate(labelled_frames(sys.argv[1], sys.argv[2:])):
        components = records(buffer)
        if len(components) == 0:
            print(f"frame {number}: no components")
            continue
        largest = components[components["area"].argmax()]
        print(
            f"frame {number}: {len(components)} components, the largest has {largest['area']} px"
            f" at ({largest['cx']:.1f}, {largest['cy']:.1f})"
        )


main()
