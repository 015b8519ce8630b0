// SPDX-License-Identifier: LGPL-2.1-or-later
/// Place, velocity and size of a track that is seen.
///
/// The place is what is measured, if the whole object is seen. Velocity and size are averages in which a
/// measurement counts less the more often it was measured before, and the less time has passed: a gain is
/// max(1/n, t / (t + T)) with a time constant T. So frames at any rate, and gaps, smooth alike.
#pragma once

#include "track/candidates.h"

namespace ccl::track {

inline constexpr int64_t kGainOne = 65536;
inline constexpr int64_t kVelocityUs =
    100'000;  ///< three frames of common video: people change direction that fast
inline constexpr int64_t kShrinkUs =
    1'000'000;  ///< slow: an object that seems to shrink may be hidden bit by bit
inline constexpr int64_t kGrowUs = 250'000;           ///< longer than a step of a walker, who widens with it
inline constexpr int64_t kGroupVelocityUs = 200'000;  ///< of estimates, which err together
/// After a frame in which a track was not seen alone, the way of a part says this part of the velocity.
inline constexpr int64_t kJumpPart = 4;

/// `n`: how many measurements there were before. It divides once: t / (t + T) is larger than 1 / (n + 1) if
/// t·n is larger than T.
constexpr int64_t gain_of(uint32_t n, uint64_t elapsed_us, int64_t constant_us) {
  const auto constant = static_cast<uint64_t>(constant_us);
  const bool is_by_time = elapsed_us * n > constant;
  return static_cast<int64_t>(is_by_time ? elapsed_us * kGainOne / (elapsed_us + constant)
                                         : kGainOne / (uint64_t{n} + 1));
}

constexpr int32_t limited(int64_t v) {
  return static_cast<int32_t>(v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v);
}

/// Moves a velocity by what a place was off from its prediction.
constexpr int32_t corrected(int32_t velocity, int32_t error, uint64_t elapsed_us, int64_t gain) {
  const int64_t speed = limited(divide(error * kUsPerSecond, static_cast<int64_t>(elapsed_us)));
  return limited(velocity + divide(speed * gain, kGainOne));
}

constexpr void learn_velocity(const Place& error, uint64_t elapsed_us, int64_t gain, TrackState* track) {
  if (elapsed_us > 0) {
    track->velocity = {corrected(track->velocity.x, error.x, elapsed_us, gain),
                       corrected(track->velocity.y, error.y, elapsed_us, gain)};
  }
}

/// Moves an average towards a measurement.
constexpr int32_t averaged(int32_t average, int32_t measured, int64_t gain) {
  return average + static_cast<int32_t>(divide((int64_t{measured} - average) * gain, kGainOne));
}

constexpr Place middle_of(const Part& part) {
  return {part.box.left + part.box.width() / 2 - part.place.x,
          part.box.top + part.box.height() / 2 - part.place.y};
}

/// The whole object is what is seen of it.
constexpr void set_size(const Part& part, TrackState* track) {
  track->middle = middle_of(part);
  track->width = part.box.width();
  track->height = part.box.height();
  track->area = part.area;
}

constexpr void learn_size(const Part& part, int64_t gain, TrackState* track) {
  const Place middle = middle_of(part);
  track->middle = {averaged(track->middle.x, middle.x, gain), averaged(track->middle.y, middle.y, gain)};
  track->width = averaged(track->width, part.box.width(), gain);
  track->height = averaged(track->height, part.box.height(), gain);
  track->area = static_cast<uint32_t>(
      averaged(static_cast<int32_t>(track->area), static_cast<int32_t>(part.area), gain));
}

/// All that is seen of a track: its component and its fragments, which are counted.
constexpr Part whole_part(const Matching& m, const PartLists& current, TrackState* track) {
  Part whole = m.tables.parts[track->component];
  if (track->first_fragment == kNone) {
    return whole;
  }
  int64_t x = int64_t{whole.place.x} * whole.area;
  int64_t y = int64_t{whole.place.y} * whole.area;
  for (uint32_t c = track->first_fragment; c != kNone; c = current.next_fragment[c]) {
    const Part& part = m.tables.parts[c];
    x += int64_t{part.place.x} * part.area;
    y += int64_t{part.place.y} * part.area;
    whole.area += part.area;
    whole.box = hull(whole.box, part.box);
    ++track->n_fragments;
  }
  whole.place = {static_cast<int32_t>(divide(x, whole.area)), static_cast<int32_t>(divide(y, whole.area))};
  return whole;
}

/// By how much a span must move to lie in another one; if it is longer, the middles meet.
constexpr int32_t way_into(const Span& inner, const Span& outer) {
  if (inner.size() > outer.size()) {
    return outer.middle() - inner.middle();
  }
  return inner.begin < outer.begin ? outer.begin - inner.begin
         : inner.end > outer.end   ? outer.end - inner.end
                                   : 0;
}

/// How far an object has moved in one direction since the last frame, by what was seen of it in both: by its
/// centroid, and by each edge of its box.
struct Ways {
  int32_t centroid, low_edge, high_edge;
  bool is_low_cut, is_high_cut;  ///< the edge is the frame's border
};

constexpr Ways ways_of(int32_t centroid, const Span& seen, const Span& before, const Span& frame) {
  return {centroid, seen.begin - before.begin, seen.end - before.end, seen.begin <= frame.begin,
          seen.end >= frame.end};
}

/// Something that hides a part of an object holds one edge of its box and slows the centroid, while the other
/// edge moves with the object. So the way that was expected most is the right one. Before a velocity is
/// known, the frame's border is known to hide things, and so is what holds one edge while the other one comes
/// nearer.
constexpr int32_t likely_way(const Ways& ways, int32_t expected, bool knows_velocity) {
  if (!knows_velocity) {
    const bool is_one_cut = ways.is_low_cut != ways.is_high_cut;
    const bool is_low_held = is_one_cut ? ways.is_low_cut : ways.low_edge == 0 && ways.high_edge < 0;
    const bool is_high_held = is_one_cut ? ways.is_high_cut : ways.high_edge == 0 && ways.low_edge > 0;
    return is_low_held ? ways.high_edge : is_high_held ? ways.low_edge : ways.centroid;
  }
  int32_t best = ways.centroid;
  const auto consider = [&](int32_t way, bool is_cut) {
    const bool is_better = magnitude(int64_t{way} - expected) < magnitude(int64_t{best} - expected);
    best = is_better && !is_cut ? way : best;
  };
  consider(ways.low_edge, ways.is_low_cut);
  consider(ways.high_edge, ways.is_high_cut);
  return best;
}

/// By how much the object is farther than expected. If it was not seen alone in the last frame, only the
/// place shows it.
constexpr Place error_of(const Matching& m, const Part& part, const TrackState& track) {
  if (m.now_us - track.alone_us != m.step.duration_us) {
    return {part.place.x - track.place.x, part.place.y - track.place.y};
  }
  const Box frame = box_of(m.frame);
  const Ways x = ways_of(part.place.x - track.shown.x, part.box.x(), track.box.x(), frame.x());
  const Ways y = ways_of(part.place.y - track.shown.y, part.box.y(), track.box.y(), frame.y());
  const bool knows_velocity = track.n_moves > 0;
  const Place expected = {moved(0, distance(track.velocity.x, m.step.duration_us)),
                          moved(0, distance(track.velocity.y, m.step.duration_us))};
  return {likely_way(x, expected.x, knows_velocity) - expected.x,
          likely_way(y, expected.y, knows_velocity) - expected.y};
}

/// How much what is seen of an object says about all of it: as much as its part of the area. At the frame's
/// border it is known which edges are cut, and the others say all.
constexpr int64_t seen_share(const Matching& m, const Part& part, const TrackState& track) {
  return part.area < track.area && !touches_border(part.box, m.frame)
             ? int64_t{part.area} * kGainOne / track.area
             : kGainOne;
}

/// A track of which only a part is seen: the whole object moves on, and so that what is seen is a part of it.
/// Its centroid would be that of the part, which stays at the edge of what hides the rest.
constexpr void move_partly_seen(const Matching& m, const Part& part, TrackState* track) {
  const Box whole = whole_box(*track);
  const bool was_seen = m.now_us - track->alone_us == m.step.duration_us;
  const Place way = {-way_into(part.box.x(), whole.x()), -way_into(part.box.y(), whole.y())};
  const Place error = was_seen ? error_of(m, part, *track) : way;
  const int64_t share = seen_share(m, part, *track);
  track->place.x += was_seen ? averaged(0, error.x, share) : way.x;
  track->place.y += was_seen ? averaged(0, error.y, share) : way.y;
  if (was_seen) {
    const Box moved_box = whole_box(*track);
    track->place.x -= way_into(part.box.x(), moved_box.x());
    track->place.y -= way_into(part.box.y(), moved_box.y());
  }
  const uint64_t elapsed_us = m.now_us - track->alone_us;
  const int64_t gain = gain_of(track->n_moves, elapsed_us, kVelocityUs) * share / kGainOne;
  learn_velocity(error, elapsed_us, gain / (was_seen ? 1 : kJumpPart), track);
}

/// A track of which all is seen.
constexpr void move_wholly_seen(const Matching& m, const Part& part, TrackState* track) {
  const uint64_t elapsed_us = m.now_us - track->alone_us;
  learn_velocity(error_of(m, part, *track), elapsed_us, gain_of(track->n_moves, elapsed_us, kVelocityUs),
                 track);
  track->place = part.place;
}

/// Where a box must lie to be in the part, if the part may go on outside the frame.
constexpr Box outer_box(const Matching& m, const Box& part) {
  const Box frame = box_of(m.frame);
  return {part.left <= frame.left ? -kFarthest : part.left, part.top <= frame.top ? -kFarthest : part.top,
          part.right >= frame.right ? kFarthest : part.right,
          part.bottom >= frame.bottom ? kFarthest : part.bottom};
}

/// Moves a track so that its box lies in another one, which may go on outside the frame.
constexpr void move_into(const Matching& m, const Box& part, TrackState* track) {
  const Box box = whole_box(*track);
  const Box outer = outer_box(m, part);
  track->place.x += way_into(box.x(), outer.x());
  track->place.y += way_into(box.y(), outer.y());
}

/// Whether one component is larger than all fragments of the object could be: it shows something else, too,
/// that was never seen alone.
constexpr bool shows_more(const Part& part, const TrackState& track) {
  return track.proven_us >= kProofUs && track.n_fragments == 0 && !fits(track, part.box);
}

/// What an object may grow in a frame, before something else was added to its component.
inline constexpr uint32_t kAddedPart = 4;

/// Whether something was added to a component at once, in this frame or before: its area is larger by a
/// quarter, and its box is larger than fragments of what was seen. What comes into view grows bit by bit, and
/// legs only make a box wider.
constexpr bool has_addition(const Matching& m, const Part& part, const TrackState& track) {
  const bool was_alone = m.now_us - track.alone_us == m.step.duration_us;
  return part.area > track.area + track.area / kAddedPart &&
         !(was_alone && fits(track.box.width(), track.box.height(), part.box));
}

/// A track in a component that shows more: it moves on by itself, as far as it stays in the component, and
/// has a box of its own if something was added. If the object has really grown, its size follows.
constexpr void move_in_larger(const Matching& m, const Part& part, TrackState* track) {
  move_into(m, part.box, track);
  if (has_addition(m, part, *track)) {
    track->box = common_box(whole_box(*track), part.box);
    track->shown = track->place;
  } else {
    track->box = part.box;
    track->shown = part.place;
    track->alone_us = m.now_us;
  }
  learn_size(part, gain_of(track->n_moves + 1, m.step.duration_us, kShrinkUs), track);
}

/// A track that has its component for itself.
constexpr void move_alone(const Matching& m, const Part& part, TrackState* track) {
  if (shows_more(part, *track)) {
    move_in_larger(m, part, track);
    return;
  }
  const uint64_t elapsed_us = m.now_us - track->alone_us;
  const bool is_smaller = part.area < track->area;
  const bool is_hidden =
      touches_border(part.box, m.frame) || octaves_between(part.area, track->area) > kSteadyOctaves;
  const bool is_partly_seen = is_smaller && is_hidden && track->n_moves > 1;
  const int64_t share = is_partly_seen ? seen_share(m, part, *track) : kGainOne;
  if (is_partly_seen) {
    move_partly_seen(m, part, track);
  } else {
    move_wholly_seen(m, part, track);
  }
  if (!is_smaller && touches_border(part.box, m.frame)) {
    set_size(part, track);  // it comes into the frame
  } else if (track->n_fragments > 0 && track->proven_us < kProofUs && is_smaller) {
    track->middle = middle_of(part);  // what is between its pieces hides the rest
    track->width = larger(track->width, part.box.width());
    track->height = larger(track->height, part.box.height());
  } else if (track->n_fragments == 0) {
    const int64_t gain = gain_of(track->n_moves + 1, elapsed_us, is_smaller ? kShrinkUs : kGrowUs);
    learn_size(part, gain * share / kGainOne, track);
  }
  if (!touches_border(part.box, m.frame)) {
    const uint64_t proven_us = uint64_t{track->proven_us} + m.step.duration_us;
    track->proven_us = static_cast<uint32_t>(proven_us < kProofUs ? proven_us : kProofUs);
  }
  track->n_moves += elapsed_us > 0 ? 1 : 0;
  track->shown = part.place;
  track->box = part.box;
  track->alone_us = m.now_us;
}

/* Groups */

/// The box of a group: each side is that of the member that is expected farthest out there.
struct Outline {
  uint32_t left = kNone;  ///< the members; of equals the oldest
  uint32_t top = kNone;
  uint32_t right = kNone;
  uint32_t bottom = kNone;
  Box box = {};  ///< around where all members are expected

  constexpr void add(uint32_t track, const Box& whole) {
    const auto extend = [track](uint32_t* member, int32_t* side, int32_t other, bool is_outer) {
      if (*member == kNone || is_outer || (other == *side && track < *member)) {
        *member = track;
        *side = other;
      }
    };
    extend(&left, &box.left, whole.left, whole.left < box.left);
    extend(&top, &box.top, whole.top, whole.top < box.top);
    extend(&right, &box.right, whole.right, whole.right > box.right);
    extend(&bottom, &box.bottom, whole.bottom, whole.bottom > box.bottom);
  }
};

/// Which sides of what is seen are a member's own.
struct OwnSides {
  bool left, top, right, bottom;
};

/// By how much a member is off, from the sides that are its own. Without one, it moves on by itself. A side
/// says nothing if it is the frame's border, or farther off than half a member: then it is a side of
/// something else.
constexpr int32_t error_of(const Span& seen, const Span& expected, const Span& frame, bool owns_begin,
                           bool owns_end, int32_t size) {
  const int32_t begin = seen.begin - expected.begin;
  const int32_t end = seen.end - expected.end;
  const bool uses_begin = owns_begin && seen.begin > frame.begin && 2 * magnitude(begin) <= size;
  const bool uses_end = owns_end && seen.end < frame.end && 2 * magnitude(end) <= size;
  const int64_t sum = int64_t{uses_begin ? begin : 0} + (uses_end ? end : 0);
  return static_cast<int32_t>(uses_begin && uses_end ? sum / 2 : sum);
}

/// Moves a member by its own sides, and its box with it, which stays in the group's. What it hides, or what
/// hides it, changes no size. `expected`: where the sides of `seen` should be.
constexpr void move_by_sides(const Matching& m, const Box& seen, const Box& expected, const OwnSides& own,
                             TrackState* track) {
  const Box frame = box_of(m.frame);
  const int32_t size = larger(size_of(track->width, track->height), kLeastSize);
  track->place = {
      moved(track->place.x, error_of(seen.x(), expected.x(), frame.x(), own.left, own.right, size)),
      moved(track->place.y, error_of(seen.y(), expected.y(), frame.y(), own.top, own.bottom, size))};
}

/// Ends the move of a member: its velocity learns from it. `before`: where it was expected.
constexpr void end_move(const Matching& m, const Place& before, const Box& group, TrackState* track) {
  track->box = common_box(whole_box(*track), group);
  track->shown = track->place;
  const int64_t elapsed_us = m.step.duration_us;
  learn_velocity({track->place.x - before.x, track->place.y - before.y}, m.step.duration_us,
                 elapsed_us * kGainOne / (elapsed_us + kGroupVelocityUs), track);
}

/// A member of a component that was cut between its members. The sides of its part are its own on the outside
/// of the group.
constexpr void move_as_member(const Matching& m, const Box& part, const Box& group, TrackState* track) {
  const Place before = track->place;
  const OwnSides own = {part.left <= group.left, part.top <= group.top, part.right >= group.right,
                        part.bottom >= group.bottom};
  move_by_sides(m, part, whole_box(*track), own, track);
  end_move(m, before, group, track);
}

/// A member of a group moves by itself, and so that the group's box is around its members.
constexpr void move_in_group(const Matching& m, const Box& group, const Outline& outline, uint32_t i,
                             TrackState* track) {
  const Place before = track->place;
  const OwnSides own = {outline.left == i, outline.top == i, outline.right == i, outline.bottom == i};
  move_by_sides(m, group, outline.box, own, track);
  move_into(m, group, track);
  end_move(m, before, group, track);
}

}  // namespace ccl::track
