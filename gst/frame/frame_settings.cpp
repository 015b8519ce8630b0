// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/frame_settings.h"

#include <algorithm>

#include "negotiation/caps.h"
#include "negotiation/color_matrix.h"

namespace cudaccl {

namespace {

uint32_t threshold_of(const Properties& properties, const GstVideoInfo& in) {
  return properties.threshold != 0 ? properties.threshold : automatic_threshold(in);
}

/// Whether buffers or messages have the records.
bool delivers_records(const Properties& properties) {
  return (properties.metadata & kMetadataComponents) != 0 || properties.post_messages == Messages::kRecords;
}

}  // namespace

ccl::Settings frame_settings(const Properties& properties, const GstVideoInfo& in, const GstVideoInfo& out) {
  ccl::Settings settings = properties.settings;
  settings.rule.threshold = static_cast<uint8_t>(std::min<uint32_t>(threshold_of(properties, in), 255));
  if (!delivers_records(properties)) {
    settings.features &= ccl::kAllFeatures;  // what else there is goes where the records go
  }
  settings.limited_range = is_limited_range(in);
  settings.matrix = color_matrix(in);
  if (is_limited_range(out)) {
    settings.mask_on = 235;
    settings.mask_off = 16;
  }
  return settings;
}

ccl::Segmentation frame_segmentation(const Properties& properties, const GstVideoInfo& in) {
  ccl::Segmentation segmentation = properties.segmentation;
  if (largest_value(in) > 255) {
    segmentation.wide_threshold = static_cast<uint16_t>(threshold_of(properties, in));
  }
  return segmentation;
}

bool reads_chroma(const Properties& properties, ccl::Output output) {
  return properties.settings.rule.foreground == ccl::Foreground::kMotion || output == ccl::Output::kOverlay ||
         output == ccl::Output::kForeground || output == ccl::Output::kBackground;
}

bool has_grey(const Properties& properties) {
  return ccl::has_grey(properties.settings) && delivers_records(properties);
}

bool has_polygons(const Properties& properties) {
  return (properties.settings.features & ccl::kShapeFeatures) != 0 && delivers_records(properties);
}

bool has_objects(const Properties& properties) {
  return (properties.metadata & (kMetadataRoi | kMetadataObjects)) != 0;
}

bool has_mask(const Properties& properties) {
  return (properties.metadata & kMetadataSegmentation) != 0;
}

int64_t running_time(const GstSegment& segment, GstBuffer* buffer) {
  const guint64 time = segment.format == GST_FORMAT_TIME
                           ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
                           : GST_CLOCK_TIME_NONE;
  return GST_CLOCK_TIME_IS_VALID(time) ? static_cast<int64_t>(time) : ccl::kNoTime;
}

}  // namespace cudaccl
