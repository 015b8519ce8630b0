// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events counted for `stats`: of each type, and of each zone and line.
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ccl/regions.h"
#include "ccl/track.h"

namespace cudaccl {

class EventCounts {
 public:
  /// Counts of zones and lines begin again.
  void set_places(const ccl::Regions& regions);
  /// Adds the events of a frame; `n_inside` is the number of tracks in each zone now, or empty: 0.
  void count(std::span<const CclEvent> events, std::span<const uint32_t> n_inside);

  /// Adds `events-TYPE` (guint64) for each type; `zones`, a GstValueArray of structures with `name`,
  /// `entered`, `left` and `inside`; `lines`, of structures with `name`, `crossed-left` and `crossed-right`.
  void add_to(GstStructure* structure) const;

 private:
  struct ZoneCounts {
    std::string name;
    uint64_t entered = 0;
    uint64_t left = 0;
    uint64_t inside = 0;
  };

  struct LineCounts {
    std::string name;
    uint64_t to_left = 0;
    uint64_t to_right = 0;
  };

  void count_in_zone(const CclEvent& event);
  void count_at_line(const CclEvent& event);

  std::array<uint64_t, CCL_EVENT_COUNT> types_{};  ///< by CclEvent::type
  std::vector<ZoneCounts> zones_;
  std::vector<LineCounts> lines_;
};

}  // namespace cudaccl
