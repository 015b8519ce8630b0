// SPDX-License-Identifier: LGPL-2.1-or-later
/// The part that needs GStreamer's analytics library, 1.24 or newer.
#pragma once

#include <gst/gst.h>

#include <span>

#include "ccl/component.h"

namespace cudaccl {

/// True in a build with the library.
bool has_analytics();

/// Adds a GstAnalyticsRelationMeta with one object detection of type kObjectType for each object. Only where
/// has_analytics().
void attach_analytics(GstBuffer* buffer, std::span<const CclComponent> objects);

}  // namespace cudaccl
