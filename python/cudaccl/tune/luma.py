# SPDX-License-Identifier: LGPL-2.1-or-later
"""The grey values of a frame, as the element sees them: the upper 8 bits of luma (cuda/ccl/segment/luma.h)."""

from __future__ import annotations

from typing import Any

import numpy

from cudaccl._gst_pipeline import gstreamer

_ONE = 65536
_WEIGHTS = {"BT709": (0.2126, 0.0722), "BT2020": (0.2627, 0.0593)}  # of red and blue, by primaries
_OTHER = (0.2990, 0.1140)


def luma(buffer: Any, caps: Any) -> numpy.ndarray | None:
    """(height, width) of uint8, a copy; None: the frame cannot be read."""
    bindings = gstreamer()
    info = bindings.GstVideo.VideoInfo.new_from_caps(caps)
    form = info.finfo
    placed = bindings.GstVideo.buffer_get_video_meta(buffer) or info
    ok, memory = buffer.map(bindings.Gst.MapFlags.READ)
    if not ok:
        return None
    try:
        pixels = _plane(memory.data, info, placed)
        if form.flags & bindings.GstVideo.VideoFormatFlags.RGB:
            weights = _weights(bindings.GstVideo, info)
            total = sum(weight * pixels[..., form.poffset[channel]].astype(numpy.uint32)
                        for channel, weight in enumerate(weights))
            return ((total + _ONE // 2) >> 16).astype(numpy.uint8)
        if form.depth[0] > 8:
            words = pixels.view("<u2")[..., 0] >> form.shift[0]
            return (words >> (form.depth[0] - 8)).astype(numpy.uint8)
        return pixels[..., form.poffset[0]].copy()
    finally:
        buffer.unmap(memory)


def _plane(data: Any, info: Any, placed: Any) -> numpy.ndarray:
    """The first plane: (height, width, bytes of a pixel)."""
    step = info.finfo.pixel_stride[0]
    return numpy.ndarray((info.height, info.width, step), numpy.uint8, buffer=data, offset=placed.offset[0],
                         strides=(placed.stride[0], step, 1))


def _weights(video: Any, info: Any) -> tuple[int, int, int]:
    """Of red, green and blue, in 1/65536."""
    primaries = info.colorimetry.primaries.value_nick.upper()
    red, blue = _WEIGHTS.get(primaries, _OTHER)
    fixed = round(red * _ONE), round((1 - red - blue) * _ONE)
    return fixed[0], fixed[1], _ONE - fixed[0] - fixed[1]


def as_frame(values: numpy.ndarray) -> tuple[Any, Any]:
    """A buffer and caps of GRAY8, whose rows are padded as GStreamer has them."""
    bindings = gstreamer()
    height, width = values.shape
    padded = numpy.zeros((height, -(-width // 4) * 4), numpy.uint8)
    padded[:, :width] = values
    buffer = bindings.Gst.Buffer.new_wrapped(padded.tobytes())
    buffer.pts = 0
    caps = bindings.Gst.Caps.from_string(f"video/x-raw,format=GRAY8,width={width},height={height},framerate=25/1")
    return buffer, caps


def otsu(histogram: numpy.ndarray) -> int:
    """The threshold that separates two classes of values best (Otsu 1979): foreground is value >= threshold."""
    counts = histogram.astype(float)
    below = numpy.cumsum(counts)
    total = below[-1]
    sums = numpy.cumsum(counts * numpy.arange(len(counts)))
    with numpy.errstate(divide="ignore", invalid="ignore"):
        between = (sums[-1] * below / total - sums) ** 2 / (below * (total - below))
    between = numpy.nan_to_num(between, nan=0.0, posinf=0.0)
    return int(numpy.argmax(between)) + 1 if between.max() > 0 else 0
