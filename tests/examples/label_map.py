#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how many pixels of each frame belong to a component: the label map as a NumPy array, with no binding.

    label_map.py clip.avi [PROPERTY=VALUE...]
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


def label_map(buffer):
    """The label of each pixel of a buffer, a copy; None if cudaccl has left no map."""
    meta = buffer.get_custom_meta("GstCudaCclLabelMap")
    if meta is None:
        return None
    fields = meta.get_structure()
    width, height, stride = (fields.get_value(name) for name in ("width", "height", "stride"))
    data = fields.get_value("labels").get(0).extract_dup(0, stride * height)
    return numpy.frombuffer(data, "i4").reshape(height, stride // 4)[:, :width]


def labelled_frames(clip, settings):
    """Runs the clip through cudaccl and yields its buffers."""
    pipeline = Gst.parse_launch(
        "filesrc name=file ! decodebin ! videoconvert"
        f" ! cudaccl output=passthrough label-map=labels {' '.join(settings)}"
        " ! appsink name=sink sync=false max-buffers=4"
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
        labels = label_map(buffer)
        if labels is None:
            sys.exit(f"frame {number} has no label map")
        print(f"frame {number}: {numpy.count_nonzero(labels)} pixels in components, the largest label is {labels.max()}")


main()
