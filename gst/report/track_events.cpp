// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/track_events.h"

#include <utility>

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

void TrackEvents::take(const Properties& properties, const ccl::StreamResult& result) {
  if (properties.track) {
    follow(properties.regions);
  }
  statistics_->count_events(result.events, result.n_inside);
}

void TrackEvents::follow(const std::shared_ptr<const RegionSetting>& regions) {
  // False until all are taken, for which there may be too little memory.
  const bool is_first = !std::exchange(has_places_, false);
  if (is_first || !are_same_places(regions_of(regions), regions_of(regions_))) {
    take_places(regions_of(regions));
  }
  regions_ = regions;
  has_places_ = true;
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
