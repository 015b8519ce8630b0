// SPDX-License-Identifier: LGPL-2.1-or-later
/// Groups of tracks that share a component, or did so when they were seen last: how they merge and split.
#include <algorithm>
#include <iterator>
#include <tuple>

#include "ccl/events.h"

namespace ccl {

void EventMaker::regroup() {
  shown_.clear();
  bool has_groups = false;
  for (size_t i = 0; i < tracks_.size(); ++i) {
    const CclTrack& track = tracks_[i];
    Known& known = known_[i];
    if (!known.is_confirmed || !is_seen(track) || track.component == CCL_NO_COMPONENT) {
      continue;
    }
    const bool is_merged = (track.flags & CCL_TRACK_MERGED) != 0;
    has_groups = has_groups || is_merged || known.was_merged || known.group != known.id;
    known.was_merged = is_merged;
    known.leads = false;
    shown_.push_back({track.component, known.group, known.id, &known});
  }
  if (!has_groups) {
    return;
  }
  const size_t before = events_.size();
  split_groups();
  merge_groups();
  take_unseen_along();
  std::sort(events_.begin() + static_cast<ptrdiff_t>(before), events_.end(),
            [](const CclEvent& a, const CclEvent& b) {
              return std::tie(a.type, a.id, a.other) < std::tie(b.type, b.id, b.other);
            });
}

/// Each component but one that shows tracks of one group is a split. The one that shows the smallest id of
/// the group is what the others parted from.
void EventMaker::split_groups() {
  std::sort(shown_.begin(), shown_.end(), [](const Shown& a, const Shown& b) {
    return std::tie(a.group, a.component, a.id) < std::tie(b.group, b.component, b.id);
  });
  for (auto first = shown_.begin(); first != shown_.end();) {
    const auto last =
        std::find_if(first, shown_.end(), [&](const Shown& s) { return s.group != first->group; });
    const Shown lead =
        *std::min_element(first, last, [](const Shown& a, const Shown& b) { return a.id < b.id; });
    lead.track->leads = true;
    for (auto shown = first; shown != last; ++shown) {
      const bool begins = shown == first || shown->component != std::prev(shown)->component;
      if (begins && shown->component != lead.component) {
        add(CCL_EVENT_SPLIT, *shown->track, lead.id, CCL_NO_PLACE);
      }
    }
    first = last;
  }
}

/// Each group but one that a component shows is a merger with that of the smallest id in the component. All
/// of them are one group from now on.
void EventMaker::merge_groups() {
  std::sort(shown_.begin(), shown_.end(), [](const Shown& a, const Shown& b) {
    return std::tie(a.component, a.group, a.id) < std::tie(b.component, b.group, b.id);
  });
  for (auto first = shown_.begin(); first != shown_.end();) {
    const auto last =
        std::find_if(first, shown_.end(), [&](const Shown& s) { return s.component != first->component; });
    const Shown lead =
        *std::min_element(first, last, [](const Shown& a, const Shown& b) { return a.id < b.id; });
    uint32_t group = lead.id;
    for (auto shown = first; shown != last; ++shown) {
      const bool begins = shown == first || shown->group != std::prev(shown)->group;
      if (begins && shown->group != lead.group) {
        add(CCL_EVENT_MERGED, *shown->track, lead.id, CCL_NO_PLACE);
      }
      // What stays of a group keeps its number. The smallest number is that of no other group: no member has
      // a smaller id than its group's number.
      group = shown->track->leads ? std::min(group, shown->group) : group;
    }
    for (; first != last; ++first) {
      first->track->group = group;
    }
  }
}

/// A track that is not seen stays with what stays of its group, also if that has joined another one.
void EventMaker::take_unseen_along() {
  const auto rest =
      std::partition(shown_.begin(), shown_.end(), [](const Shown& s) { return s.track->leads; });
  std::sort(shown_.begin(), rest, [](const Shown& a, const Shown& b) { return a.group < b.group; });
  for (size_t i = 0; i < tracks_.size(); ++i) {
    if (is_seen(tracks_[i])) {
      continue;
    }
    const auto found = std::lower_bound(shown_.begin(), rest, known_[i].group,
                                        [](const Shown& s, uint32_t group) { return s.group < group; });
    if (found != rest && found->group == known_[i].group) {
      known_[i].group = found->track->group;
    }
  }
}

}  // namespace ccl
