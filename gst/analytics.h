// SPDX-License-Identifier: LGPL-2.1-or-later
/// The part that needs GStreamer's analytics library, 1.24 or newer.
#pragma once

#include <gst/gst.h>

#include <span>

#include "ccl/component.h"
#include "ccl/track.h"

namespace cudaccl {

/// True in a build with the library.
bool has_analytics();

/// Adds a GstAnalyticsRelationMeta with one object detection of type kObjectType for each object, and, for
/// those with one of these tracks, its id and times as tracking metadata that the detection relates to. Only
/// where has_analytics().
void attach_analytics(GstBuffer* buffer, std::span<const CclComponent> objects,
                      std::span<const CclTrack> tracks);

}  // namespace cudaccl
