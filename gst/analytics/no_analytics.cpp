// SPDX-License-Identifier: LGPL-2.1-or-later
/// In place of analytics.cpp and relations.cpp in a build without GStreamer's analytics library.
#include "analytics/analytics.h"

namespace cudaccl {

bool has_analytics() {
  return false;
}

bool has_segmentation() {
  return false;
}

ccl::Status Analytics::attach(GstBuffer*, const AnalyticsFrame&) {
  return {};
}

}  // namespace cudaccl
