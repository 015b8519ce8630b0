// SPDX-License-Identifier: LGPL-2.1-or-later
/// In place of analytics.cpp in a build without GStreamer's analytics library.
#include "analytics.h"

namespace cudaccl {

bool has_analytics() {
  return false;
}

void attach_analytics(GstBuffer*, std::span<const CclComponent>, std::span<const CclTrack>) {}

}  // namespace cudaccl
