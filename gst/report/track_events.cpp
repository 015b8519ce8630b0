// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/track_events.h"

namespace cudaccl {

namespace {

const ccl::Regions kNoRegions;

const ccl::Regions& regions_of(const std::shared_ptr<const RegionSetting>& setting) {
  return setting != nullptr ? setting->regions : kNoRegions;
}

bool are_same_places(const ccl::Regions& a, const ccl::Regions& b) {
  return a.is_relative == b.is_relative && a.zones == b.zones && a.lines == b.lines;
}

}  // namespace

void NameArray::add(const std::string& name) {
  GValue text = G_VALUE_INIT;
  g_value_init(&text, G_TYPE_STRING);
  g_value_set_string(&text, name.c_str());
  gst_value_array_append_and_take_value(&value_, &text);
}

void TrackEvents::begin_stream() {
  maker_.clear();
  config_ = {};
  is_tracking_ = false;
}

ccl::Status TrackEvents::make(const Properties& properties, const GstVideoInfo& info,
                              const ccl::FrameResult& result, int64_t time) {
  if (!properties.track) {
    if (is_tracking_) {
      maker_.clear();
      statistics_->count_events({}, maker_.n_inside());
    }
    is_tracking_ = false;
    return {};
  }
  CCL_RETURN_IF_ERROR(follow(properties, info));
  is_tracking_ = true;
  maker_.update({.tracks = result.tracks,
                 .n_components = result.counts.n_components,
                 .relearning = result.counts.relearning != 0,
                 .time = time,
                 .hold_ns = static_cast<int64_t>(properties.event_hold_ms * GST_MSECOND)});
  statistics_->count_events(maker_.events(), maker_.n_inside());
  return {};
}

/// Configures the maker if zones, lines, the size of frames or the number of tracks have changed.
ccl::Status TrackEvents::follow(const Properties& properties, const GstVideoInfo& info) {
  const ccl::EventConfig config = {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&info)),
                                   .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&info)),
                                   .max_tracks = properties.max_tracks};
  const bool is_first = config_.max_tracks == 0;
  if (config == config_ && regions_ == properties.regions) {
    return {};
  }
  const ccl::Regions& regions = regions_of(properties.regions);
  if (is_first || !are_same_places(regions, regions_of(regions_))) {
    take_places(regions);
  }
  regions_ = properties.regions;
  config_ = {};  // so that it is tried again after a failure
  CCL_RETURN_IF_ERROR(maker_.configure(config, regions));
  config_ = config;
  return {};
}

void TrackEvents::take_places(const ccl::Regions& regions) {
  zones_.clear();
  for (const ccl::Zone& zone : regions.zones) {
    zones_.add(zone.name);
  }
  lines_.clear();
  for (const ccl::Line& line : regions.lines) {
    lines_.add(line.name);
  }
  statistics_->set_places(regions);
}

}  // namespace cudaccl
