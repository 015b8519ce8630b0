// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics/sightings.h"

#include <algorithm>

namespace cudaccl {

void Sightings::count(std::span<const CclTrack> tracks) {
  next_.clear();
  auto known = counts_.begin();
  for (const CclTrack& track : tracks) {
    known = std::find_if(known, counts_.end(), [&](const Count& count) { return count.id >= track.id; });
    Count count{track.id, 0, 0};
    if (known != counts_.end() && known->id == track.id) {
      count = *known;
    }
    ++count.frames;
    count.seen += (track.flags & CCL_TRACK_PREDICTED) == 0 ? 1 : 0;
    next_.push_back(count);
  }
  counts_.swap(next_);
}

float Sightings::share(uint32_t id) const {
  const auto found = std::lower_bound(counts_.begin(), counts_.end(), id,
                                      [](const Count& count, uint32_t key) { return count.id < key; });
  return found != counts_.end() && found->id == id
             ? static_cast<float>(found->seen) / static_cast<float>(found->frames)
             : 1.0F;
}

}  // namespace cudaccl
