// SPDX-License-Identifier: LGPL-2.1-or-later
/// The number of frames in which a track was seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ccl/track.h"

namespace cudaccl {

/// Counts the frames of each track, from its first one on.
class Sightings {
 public:
  /// All tracks of the next frame, by ascending id. What is not among them has ended.
  void count(std::span<const CclTrack> tracks);
  /// Share of the frames of a track in which it was seen; 1 for an id that is no track.
  float share(uint32_t id) const;
  void clear() { counts_.clear(); }

 private:
  struct Count {
    uint32_t id;
    uint32_t frames;
    uint32_t seen;
  };

  std::vector<Count> counts_;  ///< by ascending id
  std::vector<Count> next_;    ///< keeps its memory from frame to frame
};

}  // namespace cudaccl
