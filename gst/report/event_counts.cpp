// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/event_counts.h"

#include "cudaccl/gstcudacclmeta.h"

namespace cudaccl {

namespace {

/// Appends a structure, which it takes, to a GstValueArray.
void append(GValue* array, GstStructure* structure) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, structure);
  gst_value_array_append_and_take_value(array, &value);
}

}  // namespace

void EventCounts::set_places(const ccl::Regions& regions) {
  zones_.clear();
  for (const ccl::Zone& zone : regions.zones) {
    zones_.push_back({.name = zone.name});
  }
  lines_.clear();
  for (const ccl::Line& line : regions.lines) {
    lines_.push_back({.name = line.name});
  }
}

void EventCounts::count(std::span<const CclEvent> events, std::span<const uint32_t> n_inside) {
  for (const CclEvent& event : events) {
    ++types_[event.type];
    if (gst_cudaccl_event_is_at_line(&event)) {
      count_at_line(event);
    } else {
      count_in_zone(event);
    }
  }
  for (size_t i = 0; i < zones_.size(); ++i) {
    zones_[i].inside = i < n_inside.size() ? n_inside[i] : 0;
  }
}

void EventCounts::count_in_zone(const CclEvent& event) {
  if (event.where < zones_.size()) {
    zones_[event.where].entered += event.type == CCL_EVENT_ENTERED;
    zones_[event.where].left += event.type == CCL_EVENT_LEFT;
  }
}

void EventCounts::count_at_line(const CclEvent& event) {
  if (event.where < lines_.size()) {
    lines_[event.where].to_left += event.type == CCL_EVENT_CROSSED_LEFT;
    lines_[event.where].to_right += event.type == CCL_EVENT_CROSSED_RIGHT;
  }
}

void EventCounts::add_to(GstStructure* structure) const {
  for (guint type = 1; type < types_.size(); ++type) {
    const std::string field = std::string("events-") + gst_cudaccl_event_nick(type);
    gst_structure_set(structure, field.c_str(), G_TYPE_UINT64, types_[type], nullptr);
  }
  GValue zones = G_VALUE_INIT;
  g_value_init(&zones, GST_TYPE_ARRAY);
  for (const ZoneCounts& zone : zones_) {
    append(&zones, gst_structure_new("zone", "name", G_TYPE_STRING, zone.name.c_str(), "entered",
                                     G_TYPE_UINT64, zone.entered, "left", G_TYPE_UINT64, zone.left, "inside",
                                     G_TYPE_UINT64, zone.inside, nullptr));
  }
  gst_structure_take_value(structure, "zones", &zones);
  GValue lines = G_VALUE_INIT;
  g_value_init(&lines, GST_TYPE_ARRAY);
  for (const LineCounts& line : lines_) {
    append(&lines,
           gst_structure_new("line", "name", G_TYPE_STRING, line.name.c_str(), "crossed-left", G_TYPE_UINT64,
                             line.to_left, "crossed-right", G_TYPE_UINT64, line.to_right, nullptr));
  }
  gst_structure_take_value(structure, "lines", &lines);
}

}  // namespace cudaccl
