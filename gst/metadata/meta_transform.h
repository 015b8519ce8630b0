// SPDX-License-Identifier: LGPL-2.1-or-later
/// How a GstCudaCclMeta follows its picture into another buffer: right, or not at all.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "metadata/meta_geometry.h"

namespace cudaccl {

/// A GstCustomMetaTransformFunction. `meta` is copied with the whole buffer, and moves with the picture where
/// an element says by a matrix or by a plain scaling where it goes. Anything else drops the metadata.
gboolean transform_component_meta(GstBuffer* to, GstCustomMeta* meta, GstBuffer* from, GQuark type,
                                  gpointer data, gpointer user_data);

/// Where an element says by a matrix or by a plain scaling that the picture goes; nullopt if it names
/// no place, or one that records cannot follow.
std::optional<PictureMap> map_of_transform(GQuark type, gpointer data);

/// Copies metadata of this name with all its fields.
void copy_custom_meta(GstBuffer* to, const char* name, const GstStructure* from);

/// Adds to `to` what `meta` becomes in the new frame of the map. False if that is nothing, because the
/// records are those of another frame than the map's old one, or are no records.
bool add_mapped_component_meta(GstBuffer* to, GstCustomMeta* meta, const PictureMap& map);

}  // namespace cudaccl
