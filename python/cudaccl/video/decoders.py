# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which decoder GStreamer chooses."""

from __future__ import annotations

from cudaccl._gst_pipeline import gstreamer

_OWN_RANK_SINCE = (1, 24)  # those of the GPU come first without help


def prefer_gpu(plugin: str = "nvcodec", version: tuple[int, ...] | None = None) -> None:
    """Lets the GPU's decoders come first in this process, where GStreamer gives them the rank of the CPU's ones.

    Any other rank was set by the user, with GST_PLUGIN_FEATURE_RANK. plugin, version: of GStreamer; others are for tests.
    """
    gst = gstreamer().Gst
    if (version or gst.version()) >= _OWN_RANK_SINCE:
        return
    for feature in gst.Registry.get().get_feature_list_by_plugin(plugin):
        is_decoder = isinstance(feature, gst.ElementFactory) and "Decoder" in feature.get_metadata("klass").split("/")
        if is_decoder and feature.get_rank() == gst.Rank.PRIMARY:
            feature.set_rank(gst.Rank.PRIMARY + 1)
