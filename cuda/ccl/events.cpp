// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/events.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <tuple>
#include <utility>

namespace ccl {

namespace {

/// Events of one track in one frame that are at no zone and no line, at most: born, split from its parent,
/// merged, split.
constexpr size_t kEventsOfTrack = 4;
constexpr size_t kEventsOfFrame = 2;  // started, stopped

/// A track counts on the other side of a line or an edge when it was there for so long: a box that is wrong
/// for a few frames, as when two things meet, does not count.
constexpr int64_t kLeastStayNs = 250'000'000;

constexpr int64_t kNotPassed = -1;  ///< EventMaker::passed_ of what is where it counts

template <typename Function>
void for_each_bit(uint32_t bits, Function function) {
  for (; bits != 0; bits &= bits - 1) {
    function(static_cast<uint32_t>(std::countr_zero(bits)));
  }
}

bool is_confirmed(std::span<const CclTrack> tracks, uint32_t id) {
  const auto found = std::lower_bound(tracks.begin(), tracks.end(), id,
                                      [](const CclTrack& track, uint32_t key) { return track.id < key; });
  return found != tracks.end() && found->id == id && (found->flags & CCL_TRACK_CONFIRMED) != 0;
}

}  // namespace

/* Memory */

Status EventMaker::configure(const EventConfig& config, const Regions& regions) {
  if (regions.zones.size() > kMaxZones || regions.lines.size() > kMaxLines) {
    return {StatusCode::kInvalidArgument, "at most " + std::to_string(kMaxZones) + " zones and " +
                                              std::to_string(kMaxLines) + " lines are possible"};
  }
  std::string out_of_memory = "out of memory";  // so short that it takes none
  try {
    out_of_memory = "not enough memory for the events of " + std::to_string(config.max_tracks) + " tracks";
    const bool has_other_places =
        regions.is_relative != is_relative_ || regions.zones != zones_ || regions.lines != lines_;
    config_ = config;
    if (has_other_places) {
      take_zones(regions);
    }
    const PlaneScale scale = {is_relative_, config.width, config.height};
    zone_shapes_.clear();
    for (const Zone& zone : zones_) {
      zone_shapes_.emplace_back(zone, scale);
    }
    line_shapes_.clear();
    for (const Line& line : lines_) {
      line_shapes_.emplace_back(line, scale);
    }
    reserve();
  } catch (const std::bad_alloc&) {
    clear();
    forget_zones();
    return {StatusCode::kOutOfMemory, std::move(out_of_memory)};
  }
  return {};
}

/// With other zones, what tracks did in the old ones is over.
void EventMaker::take_zones(const Regions& regions) {
  is_relative_ = regions.is_relative;
  zones_ = regions.zones;
  lines_ = regions.lines;
  n_inside_.assign(zones_.size(), 0);
  crowded_ = 0;
  for (Known& known : known_) {
    known.is_placed = false;
    known.zones = 0;
    known.dwelled = 0;
  }
  crossings_.assign(n_stays_ * lines_.size(), 0);
  passed_.assign(n_stays_ * (zones_.size() + lines_.size()), kNotPassed);
}

/// The next configure() then takes all of its zones and lines, whatever a failure left of them here. A frame
/// before that has no tracks.
void EventMaker::forget_zones() {
  config_ = {};
  zones_.clear();
  lines_.clear();
  zone_shapes_.clear();
  line_shapes_.clear();
  n_inside_.clear();
}

/// A frame may end as many tracks as it begins.
void EventMaker::reserve() {
  const size_t most = 2 * std::max<size_t>(config_.max_tracks, known_.size());
  known_.reserve(most);
  next_.reserve(most);
  members_.reserve(most);
  shown_.reserve(most);
  tracks_.reserve(most);
  events_.reserve(most * (kEventsOfTrack + zones_.size() + lines_.size()) + zones_.size() + kEventsOfFrame);
  n_stays_ = std::max(n_stays_, most);
  entered_.resize(n_stays_ * zones_.size());
  crossings_.resize(n_stays_ * lines_.size());
  passed_.resize(n_stays_ * (zones_.size() + lines_.size()), kNotPassed);
  std::vector<bool> is_used(n_stays_);
  for (const Known& known : known_) {
    is_used[known.stay] = true;
  }
  free_stays_.clear();
  free_stays_.reserve(n_stays_);
  for (size_t stay = n_stays_; stay-- > 0;) {
    if (!is_used[stay]) {
      free_stays_.push_back(static_cast<uint32_t>(stay));
    }
  }
}

void EventMaker::clear() {
  for (const Known& known : known_) {
    free_stays_.push_back(known.stay);
  }
  known_.clear();
  tracks_.clear();
  events_.clear();
  std::fill(n_inside_.begin(), n_inside_.end(), 0);
  crowded_ = 0;
  clock_ = {};
  is_active_ = false;
  quiet_ = 0;
}

/* A frame */

void EventMaker::update(const EventFrame& frame) {
  events_.clear();
  now_ = clock_.next(frame.time, frame.resets);
  elapsed_ += now_.step_ns;
  const bool was_active = is_active_;
  const bool stops = start_or_stop(frame);
  if (is_active_ && !was_active) {
    add(CCL_EVENT_STARTED, 0, CCL_NO_PLACE);
  }
  follow_tracks(frame.tracks.first(std::min<size_t>(frame.tracks.size(), config_.max_tracks)));
  regroup();
  crowd();
  if (stops) {
    add(CCL_EVENT_STOPPED, 0, CCL_NO_PLACE);
  }
}

/// True if the scene stops with this frame.
bool EventMaker::start_or_stop(const EventFrame& frame) {
  if (frame.n_components > 0) {
    is_active_ = true;
    quiet_ = 0;
    return false;
  }
  quiet_ += frame.relearning ? 0 : now_.step_ns;
  const bool stops = is_active_ && !frame.relearning && quiet_ >= frame.hold_ns;
  is_active_ = is_active_ && !stops;
  return stops;
}

/* Tracks */

void EventMaker::follow_tracks(std::span<const CclTrack> tracks) {
  next_.clear();
  tracks_.clear();
  find_members(tracks);
  auto known = known_.cbegin();
  for (const CclTrack& track : tracks) {
    for (; known != known_.cend() && known->id < track.id; ++known) {
      end(*known);
    }
    const bool is_known = known != known_.cend() && known->id == track.id;
    next_.push_back(is_known ? *known++ : begin(track));
    follow(&next_.back(), track, tracks);
    tracks_.push_back(track);
    tracks_.back().zones = next_.back().zones;
  }
  for (; known != known_.cend(); ++known) {
    end(*known);
  }
  known_.swap(next_);
}

EventMaker::Known EventMaker::begin(const CclTrack& track) {
  const uint32_t stay = free_stays_.back();
  free_stays_.pop_back();
  const size_t n_places = zones_.size() + lines_.size();
  std::fill_n(crossings_.data() + stay * lines_.size(), lines_.size(), 0);
  std::fill_n(passed_.data() + stay * n_places, n_places, kNotPassed);
  return {.id = track.id,
          .is_confirmed = false,
          .was_merged = false,
          .leads = false,
          .group = track.id,
          .is_placed = false,
          .touches_border = false,
          .zones = 0,
          .dwelled = 0,
          .stay = stay,
          .x = track.cx,
          .y = track.cy,
          .anchors = anchors_in_frame(track)};
}

void EventMaker::follow(Known* known, const CclTrack& track, std::span<const CclTrack> tracks) {
  known->x = track.cx;
  known->y = track.cy;
  if (is_seen(track)) {
    known->touches_border = (track.flags & CCL_TRACK_TOUCHES_BORDER) != 0;
  }
  if ((track.flags & CCL_TRACK_CONFIRMED) == 0) {
    return;
  }
  if (!known->is_confirmed) {
    known->is_confirmed = true;
    add(CCL_EVENT_BORN, *known, 0, CCL_NO_PLACE);
    if (track.parent != 0 && ccl::is_confirmed(tracks, track.parent)) {
      add(CCL_EVENT_SPLIT, *known, track.parent, CCL_NO_PLACE);
    }
  }
  if (is_seen(track) && !is_hidden(track)) {
    move(known, track);
  }
}

void EventMaker::find_members(std::span<const CclTrack> tracks) {
  members_.clear();
  for (const CclTrack& track : tracks) {
    if (is_seen(track) && track.component != CCL_NO_COMPONENT && (track.flags & CCL_TRACK_MERGED) != 0) {
      members_.push_back({track.component, uint32_t{track.width} * track.height});
    }
  }
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return std::tie(a.component, b.area) < std::tie(b.component, a.area);
  });
}

/// A small member of a group is a piece of the larger one, or hidden by it: its place is not known.
bool EventMaker::is_hidden(const CclTrack& track) const {
  const auto largest =
      std::lower_bound(members_.begin(), members_.end(), track.component,
                       [](const Member& member, uint32_t component) { return member.component < component; });
  return (track.flags & CCL_TRACK_MERGED) != 0 && largest != members_.end() &&
         largest->component == track.component && 2 * uint64_t{track.width} * track.height < largest->area;
}

/// The anchor of what is partly outside may be outside, too: then it is at the border.
FixedPoint EventMaker::anchor_in_frame(const CclTrack& track, Anchor anchor) const {
  const FixedPoint point = anchor_of(track, anchor);
  const FixedPoint last = last_point(config_.width, config_.height);
  return {std::clamp<int64_t>(point.x, 0, last.x), std::clamp<int64_t>(point.y, 0, last.y)};
}

EventMaker::Anchors EventMaker::anchors_in_frame(const CclTrack& track) const {
  return {anchor_in_frame(track, Anchor::kBottom), anchor_in_frame(track, Anchor::kCentroid)};
}

/// Moves the state to where the track is seen now.
void EventMaker::move(Known* known, const CclTrack& track) {
  const Anchors anchors = anchors_in_frame(track);
  change_zones(known, zones_around(*known, track, anchors));
  cross_lines(*known, track, anchors);
  known->is_placed = true;
  known->anchors = anchors;
}

/// Bits of the zones that it is in.
uint32_t EventMaker::zones_around(const Known& known, const CclTrack& track, const Anchors& anchors) {
  int64_t* passed = passed_.data() + size_t{known.stay} * (zones_.size() + lines_.size());
  uint32_t inside = 0;
  for (size_t i = 0; i < zones_.size(); ++i) {
    const FixedPoint& anchor = anchors.of(zones_[i].anchor);
    const bool was_inside = (known.zones >> i & 1) != 0;
    bool is_inside = zone_shapes_[i].contains(anchor);
    if (is_inside == was_inside) {
      passed[i] = kNotPassed;
    } else if (known.is_placed) {
      passed[i] = passed[i] == kNotPassed ? elapsed_ : passed[i];
      const double margin = zones_[i].margin;
      const bool counts =
          has_stayed(passed[i], margin) && !zone_shapes_[i].is_at_edge(anchor, margin_of(track, margin));
      is_inside = counts ? is_inside : was_inside;
      passed[i] = counts ? kNotPassed : passed[i];
    }
    inside |= uint32_t{is_inside} << i;
  }
  return inside;
}

void EventMaker::change_zones(Known* known, uint32_t inside) {
  for_each_bit(known->zones & ~inside, [&](uint32_t zone) {
    --n_inside_[zone];
    add(CCL_EVENT_LEFT, *known, 0, zone);
  });
  int64_t* entered = entered_.data() + size_t{known->stay} * zones_.size();
  for_each_bit(inside & ~known->zones, [&](uint32_t zone) {
    ++n_inside_[zone];
    entered[zone] = elapsed_;
    add(CCL_EVENT_ENTERED, *known, 0, zone);
  });
  known->dwelled &= known->zones & inside;
  known->zones = inside;
  for_each_bit(inside & ~known->dwelled, [&](uint32_t zone) {
    const int64_t dwell = zones_[zone].dwell_ns;
    if (dwell > 0 && elapsed_ - entered[zone] >= dwell) {
      known->dwelled |= 1u << zone;
      add(CCL_EVENT_DWELLED, *known, 0, zone);
    }
  });
}

/// A line that is crossed back before it counts has not been crossed.
void EventMaker::cross_lines(const Known& known, const CclTrack& track, const Anchors& anchors) {
  int64_t* passed = passed_.data() + size_t{known.stay} * (zones_.size() + lines_.size()) + zones_.size();
  for (uint32_t i = 0; i < lines_.size(); ++i) {
    const FixedPoint& anchor = anchors.of(lines_[i].anchor);
    int32_t& count = crossings_of(known)[i];
    const Crossing crossing = line_shapes_[i].crossed_by(known.anchors.of(lines_[i].anchor), anchor);
    if (crossing != Crossing::kNone) {
      passed[i] = count == 0 ? elapsed_ : passed[i];
      count += crossing == Crossing::kToRight ? 1 : -1;
    }
    const double margin = lines_[i].margin;
    if (count != 0 && has_stayed(passed[i], margin) &&
        !line_shapes_[i].is_at(anchor, margin_of(track, margin))) {
      count_crossing(known, i);
    }
  }
}

void EventMaker::count_crossing(const Known& known, uint32_t line) {
  int32_t& count = crossings_of(known)[line];
  add(count > 0 ? CCL_EVENT_CROSSED_RIGHT : CCL_EVENT_CROSSED_LEFT, known, 0, line);
  count -= count > 0 ? 1 : -1;
}

/// By line.
int32_t* EventMaker::crossings_of(const Known& known) {
  return crossings_.data() + size_t{known.stay} * lines_.size();
}

/// Without a margin everything counts at once.
bool EventMaker::has_stayed(int64_t passed, double margin) const {
  return margin == 0 || elapsed_ - passed >= kLeastStayNs;
}

void EventMaker::end(const Known& known) {
  free_stays_.push_back(known.stay);
  if (!known.is_confirmed) {
    return;
  }
  for (uint32_t line = 0; known.touches_border && line < lines_.size(); ++line) {
    if (crossings_of(known)[line] != 0) {
      count_crossing(known, line);
    }
  }
  for_each_bit(known.zones, [&](uint32_t zone) {
    --n_inside_[zone];
    add(CCL_EVENT_LEFT, known, 0, zone);
  });
  add(CCL_EVENT_DIED, known, 0, CCL_NO_PLACE);
}

/* Zones as a whole */

void EventMaker::crowd() {
  for (size_t i = 0; i < zones_.size(); ++i) {
    const uint32_t bit = 1u << i;
    const bool is_crowded = zones_[i].crowd != kNoCrowd && n_inside_[i] > zones_[i].crowd;
    if (is_crowded && (crowded_ & bit) == 0) {
      add(CCL_EVENT_CROWDED, n_inside_[i], static_cast<uint32_t>(i));
    }
    crowded_ = is_crowded ? crowded_ | bit : crowded_ & ~bit;
  }
}

/* Events */

void EventMaker::add(uint32_t type, const Known& known, uint32_t other, uint32_t where) {
  events_.push_back({type, known.id, other, where, now_.time_ns, known.x, known.y});
}

/// Adds an event that belongs to no track.
void EventMaker::add(uint32_t type, uint32_t other, uint32_t where) {
  events_.push_back({type, 0, other, where, now_.time_ns, 0, 0});
}

}  // namespace ccl
