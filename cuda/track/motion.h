// SPDX-License-Identifier: LGPL-2.1-or-later
/// Place, velocity and size of a track that is seen.
///
/// The place is what is measured. Velocity and size are averages in which a measurement counts less the more
/// often it was measured before, and the less time has passed: a gain is max(1/n, t / (t + T)) with a time
/// constant T. So frames at any rate, and gaps, smooth alike.
#pragma once

#include "track/candidates.h"

namespace ccl::track {

inline constexpr int64_t kGainOne = 65536;
inline constexpr int64_t kVelocityUs =
    100'000;  ///< three frames of common video: people change direction that fast
inline constexpr int64_t kSizeUs = 250'000;           ///< longer than a step of a walker, who widens with it
inline constexpr int64_t kGroupVelocityUs = 200'000;  ///< of estimates, which err together
/// A change of area by more than a factor of √2 means that something hides the object, or is added to it.
/// Then the centroid jumps, and the velocity learns this part of it.
inline constexpr uint32_t kSteadyOctaves = 128;
inline constexpr int64_t kJumpPart = 4;

/// `n`: how many measurements there were before.
constexpr int64_t gain_of(uint32_t n, uint64_t elapsed_us, int64_t constant_us) {
  const auto elapsed = static_cast<int64_t>(elapsed_us);
  const int64_t by_time = elapsed * kGainOne / (elapsed + constant_us);
  const int64_t by_count = kGainOne / (int64_t{n} + 1);
  return by_time > by_count ? by_time : by_count;
}

constexpr int32_t limited(int64_t v) {
  return static_cast<int32_t>(v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v);
}

/// Moves a velocity by what a place was off from its prediction.
constexpr int32_t corrected(int32_t velocity, int32_t error, uint64_t elapsed_us, int64_t gain) {
  const int64_t speed = limited(divide(error * kUsPerSecond, static_cast<int64_t>(elapsed_us)));
  return limited(velocity + divide(speed * gain, kGainOne));
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

/// A track that has its component for itself.
constexpr void move_alone(const Matching& m, const Part& part, TrackState* track) {
  const uint64_t elapsed_us = m.now_us - track->alone_us;
  const bool is_outside = touches_border(part.box, m.frame);
  const bool jumps =
      track->n_fragments > 0 || (!is_outside && octaves_between(part.area, track->area) > kSteadyOctaves);
  if (elapsed_us > 0) {
    int64_t gain = gain_of(track->n_moves, elapsed_us, kVelocityUs);
    gain = jumps && track->n_moves > 0 ? gain / kJumpPart : gain;
    track->velocity = {corrected(track->velocity.x, part.place.x - track->place.x, elapsed_us, gain),
                       corrected(track->velocity.y, part.place.y - track->place.y, elapsed_us, gain)};
  }
  if (is_outside && part.area > track->area) {
    set_size(part, track);  // it comes into the frame
  } else if (track->n_fragments == 0) {
    learn_size(part, gain_of(track->n_moves + 1, elapsed_us, kSizeUs), track);
  }
  track->n_moves += elapsed_us > 0 ? 1 : 0;
  track->place = part.place;
  track->box = part.box;
  track->seen_us = track->alone_us = m.now_us;
}

/* Groups */

/// Heavier members count as heavy as this one, so that sums fit 64 bits.
inline constexpr uint32_t kMostWeight = 1u << 20;

constexpr uint32_t weight_of(const TrackState& track) {
  return track.area < kMostWeight ? track.area : kMostWeight;
}

/// By how much a stretch must move to lie in another one; if it is longer, the middles meet.
constexpr int32_t way_into(int32_t begin, int32_t end, int32_t outer_begin, int32_t outer_end) {
  if (end - begin > outer_end - outer_begin) {
    return (outer_begin + outer_end) / 2 - (begin + end) / 2;
  }
  return begin < outer_begin ? outer_begin - begin : end > outer_end ? outer_end - end : 0;
}

constexpr Box common_box(const Box& a, const Box& b) {
  return {larger(a.left, b.left), larger(a.top, b.top), smaller(a.right, b.right),
          smaller(a.bottom, b.bottom)};
}

/// A member of a group moves by itself, by half of what the group as a whole is off (`error`), and so that it
/// stays in the group's box.
constexpr void move_in_group(const Matching& m, const Part& group, const Place& error, TrackState* track) {
  const Place before = track->place;
  track->place = {moved(before.x, error.x / 2), moved(before.y, error.y / 2)};
  const Box box = whole_box(*track);
  track->place.x += way_into(box.left, box.right, group.box.left, group.box.right);
  track->place.y += way_into(box.top, box.bottom, group.box.top, group.box.bottom);
  track->box = common_box(whole_box(*track), group.box);
  const uint64_t elapsed_us = m.step.duration_us;
  if (elapsed_us > 0) {
    const auto elapsed = static_cast<int64_t>(elapsed_us);
    const int64_t gain = elapsed * kGainOne / (elapsed + kGroupVelocityUs);
    track->velocity = {corrected(track->velocity.x, track->place.x - before.x, elapsed_us, gain),
                       corrected(track->velocity.y, track->place.y - before.y, elapsed_us, gain)};
  }
}

}  // namespace ccl::track
