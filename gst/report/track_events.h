// SPDX-License-Identifier: LGPL-2.1-or-later
/// The tracks and events of the frames that leave the element, with the names of zones and lines.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <span>

#include "ccl/stream.h"
#include "properties/properties.h"
#include "properties/regions.h"
#include "report/statistics.h"

namespace cudaccl {

/// A GstValueArray of strings.
class NameArray {
 public:
  NameArray() { g_value_init(&value_, GST_TYPE_ARRAY); }
  ~NameArray() { g_value_unset(&value_); }
  NameArray(const NameArray&) = delete;
  NameArray& operator=(const NameArray&) = delete;

  void clear() { g_value_reset(&value_); }
  void add(const std::string& name);
  const GValue* value() const { return &value_; }

 private:
  GValue value_ = G_VALUE_INIT;
};

/// What a frame has with `track`. All of it is valid until the next frame leaves.
struct TrackedFrame {
  std::span<const CclTrack> tracks;
  std::span<const CclEvent> events;
  const GValue* zones;  ///< their names: GstValueArray of strings
  const GValue* lines;
};

/// Counts events, and has the names of zones and lines. Takes the frames in the order in which they leave.
/// Only the streaming thread uses it, or a state change while that thread does not run.
class TrackEvents {
 public:
  /// `statistics` must outlive this.
  explicit TrackEvents(Statistics* statistics) : statistics_(statistics) {}

  /// A stream begins: forgets the previous one.
  void begin_stream() { has_places_ = false; }
  /// A frame leaves.
  void take(const Properties& properties, const ccl::StreamResult& result);
  /// What that frame has with `track`.
  TrackedFrame frame(const ccl::StreamResult& result) const {
    return {result.tracks, result.events, zones_.value(), lines_.value()};
  }

 private:
  void follow(const std::shared_ptr<const RegionSetting>& regions);
  void take_places(const ccl::Regions& regions);

  Statistics* const statistics_;
  std::shared_ptr<const RegionSetting> regions_;  ///< null: without zones and lines
  NameArray zones_;
  NameArray lines_;
  bool has_places_ = false;  ///< those of `regions_`
};

}  // namespace cudaccl
