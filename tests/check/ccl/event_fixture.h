// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks made by hand, and the events that follow from them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <utility>
#include <vector>

#include "ccl/events.h"

namespace ccl::test {

inline constexpr int64_t kFrameNs = 40'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;
inline constexpr uint32_t kConfirmed = CCL_TRACK_CONFIRMED;
inline constexpr uint32_t kPredicted = CCL_TRACK_CONFIRMED | CCL_TRACK_PREDICTED;
inline constexpr uint32_t kMerged = CCL_TRACK_CONFIRMED | CCL_TRACK_MERGED;

/// An event without its time.
struct Fact {
  uint32_t type;
  uint32_t id = 0;
  uint32_t other = 0;
  uint32_t where = CCL_NO_PLACE;

  bool operator==(const Fact&) const = default;
};

inline void PrintTo(const Fact& fact, std::ostream* out) {
  *out << "type " << fact.type << " id " << fact.id << " other " << fact.other << " where "
       << static_cast<int32_t>(fact.where);
}

using Facts = std::vector<Fact>;

/// A track whose box is one pixel, so that both anchors are its centre.
inline CclTrack dot(uint32_t id, uint16_t x, uint16_t y, uint32_t flags = kConfirmed) {
  CclTrack track{};
  track.id = id;
  track.flags = flags;
  track.component = (flags & CCL_TRACK_PREDICTED) != 0 ? CCL_NO_COMPONENT : id;
  track.x = x;
  track.y = y;
  track.width = 1;
  track.height = 1;
  track.cx = x;
  track.cy = y;
  return track;
}

/// A track that shares a component.
inline CclTrack member(uint32_t id, uint32_t component) {
  CclTrack track = dot(id, 50, 50, kMerged);
  track.component = component;
  return track;
}

inline Zone box(double left, double top, double right, double bottom) {
  return {.name = "", .polygon = {{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
}

class Events : public testing::Test {
 protected:
  void configure(uint32_t max_tracks = 8) {
    regions.is_relative = false;
    for (Zone& zone : regions.zones) {
      zone.margin = margin;
    }
    for (Line& line : regions.lines) {
      line.margin = margin;
    }
    ASSERT_TRUE(maker.configure({.width = 100, .height = 100, .max_tracks = max_tracks}, regions).ok());
  }

  void watch_zones(std::vector<Zone> zones) {
    regions.zones = std::move(zones);
    configure();
  }
  void watch_lines(std::vector<Line> lines) {
    regions.lines = std::move(lines);
    configure();
  }

  /// The events of the next frame.
  Facts play(const std::vector<CclTrack>& tracks, int64_t step = kFrameNs) {
    time += step;
    return play_at(tracks, time);
  }

  Facts play_at(const std::vector<CclTrack>& tracks, int64_t at, uint32_t n_components = 1) {
    maker.update({.tracks = tracks, .n_components = n_components, .time = at, .hold_ns = 2 * kSecond});
    return facts();
  }

  /// The events of a frame of so many components and no tracks.
  Facts play_components(uint32_t count, bool relearning = false, int64_t step = kFrameNs) {
    time += step;
    maker.update({.tracks = {},
                  .n_components = count,
                  .relearning = relearning,
                  .time = time,
                  .hold_ns = 2 * kSecond});
    return facts();
  }

  Facts facts() const {
    Facts list;
    for (const CclEvent& event : maker.events()) {
      if (event.type != CCL_EVENT_STARTED || tests_start) {
        list.push_back({event.type, event.id, event.other, event.where});
      }
    }
    return list;
  }

  Regions regions;
  double margin = 0;  ///< of all zones and lines: by default everything counts at once
  EventMaker maker;
  int64_t time = 0;
  bool tests_start = false;  ///< else the events of the start are left out
};

}  // namespace ccl::test
