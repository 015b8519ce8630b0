// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstVideoMetaTransformMatrix, by which elements say since GStreamer 1.28 where a picture goes. The only
/// file that depends on it: with an older GStreamer nobody asks by matrix, and only is_on_grid() is left.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "metadata/meta_geometry.h"

namespace cudaccl {

/// Whether a GstMeta is asked to follow a matrix.
bool is_matrix(GQuark type);

/// Whether elements put the picture exactly where a map between frames of these formats says. Compositor,
/// videobox, videocrop and videoscale round places to groups of pixels that share their chroma, and their
/// matrix does not show it.
bool is_on_grid(const PictureMap& map, const GstVideoInfo& in, const GstVideoInfo& out);

/// The map that `data` describes, the data of a transform for which is_matrix() is true. Nullopt if it is
/// none that records can follow.
std::optional<PictureMap> map_of_matrix(gconstpointer data);

/// Lets another element's metadata follow a crop to the frame `cropped`. False if it cannot.
bool crop_by_matrix(GstBuffer* to, GstMeta* meta, GstBuffer* from, const GstVideoInfo& whole,
                    const GstVideoCropMeta& crop, const GstVideoInfo& cropped);

}  // namespace cudaccl
