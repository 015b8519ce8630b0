// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the element reports about a frame: component metadata and regions of interest.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <optional>
#include <span>

#include "ccl/stream.h"
#include "cudaccl/gstcudacclmeta.h"
#include "metadata/frame_identity.h"
#include "report/track_events.h"

namespace cudaccl {

/// The type of regions of interest without `object-type`.
inline constexpr const char* kObjectType = "component";

/// The name of the parameters of a region of interest.
inline constexpr const char* kRegionParameters = "component";

/// The tags of metadata that describes places in a picture. With the orientation tag, elements that rotate or
/// mirror pictures drop the metadata, or ask by a matrix.
inline constexpr const char* kPlaceTags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                             GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};

/// Registers a GstCustomMeta with these tags, unless the application has registered it. From GStreamer 1.28
/// on, a process that receives such metadata finds the plugin by it. False if it cannot be registered.
bool register_place_meta(GstPlugin* plugin, const char* name, GstCustomMetaTransformFunction transform);

/// Whether `meta` is a GstCustomMeta of this name.
bool is_custom_meta(GstMeta* meta, const char* name);

/// The fields of a GstCustomMeta.
const GstStructure* structure_of(GstMeta* meta);

/// Removes each GstCustomMeta of this name whose field `source` is this one.
void remove_of_source(GstBuffer* buffer, const char* name, const char* source);

/// Registers GstCudaCclMeta, and how it follows a picture. False if it cannot be registered.
bool register_component_meta(GstPlugin* plugin);

/// Whether `meta` is a GstCudaCclMeta.
bool is_component_meta(GstMeta* meta);

/// What a frame was asked for beside its records.
struct ShapeTables {
  bool has_grey = false;                   ///< FrameResult::grey
  const ccl::Objects* polygons = nullptr;  ///< of the frame; null: not asked for
};

/// All that is reported about a frame, with tracks and events if it is tracked. It points to the arguments'
/// arrays.
GstCudaCclInfo frame_info(const FrameIdentity& frame, const ccl::FrameResult& result,
                          const std::optional<TrackedFrame>& tracked, const ShapeTables& shapes,
                          const GstVideoInfo& video);

/// Sets the fields of a GstCudaCclMeta's structure, so that gst_structure_get_cudaccl_info() reads them.
void set_fields(GstStructure* structure, const GstCudaCclInfo& info);

/// Attaches a GstCudaCclMeta, in place of one from the same source.
void attach_components(GstBuffer* buffer, const GstCudaCclInfo& info);

/// Adds a GstVideoRegionOfInterestMeta of type `object-type`, or kObjectType, for each object, with
/// its id and parameters label, area, cx, cy and source, in place of those from the same source.
void attach_regions_of_interest(GstBuffer* buffer, const FrameIdentity& frame,
                                std::span<const CclComponent> objects);

}  // namespace cudaccl
