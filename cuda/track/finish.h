// SPDX-License-Identifier: LGPL-2.1-or-later
/// Makes the tracks that the frame leaves from its matches: deaths, births, and the new table.
#pragma once

#include "track/motion.h"
#include "track/share.h"

namespace ccl::track {

/// A track that is not confirmed may be missed in so many frames one after the other.
inline constexpr uint32_t kMostMissedYoung = 1;

/// Whether a track lives on. One that is not seen, and whose middle should be outside, has left: what comes
/// into the frame there is another object.
constexpr bool is_kept(const Matching& m, uint32_t i) {
  if (m.tables.matched[i] != kNone) {
    return m.is_shown(i);
  }
  if (!m.is_confirmed(i)) {
    return m.tracks[i].n_missed < kMostMissedYoung;
  }
  return m.elapsed_ns - m.tracks[i].seen_ns <= m.step.lost_ns && is_in_frame(m.tracks[i].place, m.frame);
}

constexpr bool is_birth(const Matching& m, const PartLists& current, uint32_t c) {
  return m.tables.taker[c] == kNone && current.owner[c] == kNone;
}

/// Gives each track that lives on its place in the new table. Returns how many there are.
template <typename Team>
constexpr uint32_t number_tracks(const Team& team, const Matching& m) {
  const Stretch stretch = stretch_of(team, m.n_tracks);
  uint32_t n_kept = 0;
  for (uint32_t i = stretch.begin; i < stretch.end; ++i) {
    n_kept += is_kept(m, i) ? 1 : 0;
  }
  uint32_t total = 0;
  uint32_t next = team.scan(n_kept, &total);
  for (uint32_t i = stretch.begin; i < stretch.end; ++i) {
    m.tables.new_index[i] = is_kept(m, i) ? next++ : kNone;
  }
  return total;
}

/// Lists at each component the tracks that are seen in it, by their places in the new table.
template <typename Team>
constexpr void list_seen_tracks(const Team& team, const Matching& m, const PartLists& current) {
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    const uint32_t index = m.tables.new_index[i];
    if (index == kNone) {
      continue;
    }
    const uint32_t c = m.tables.matched[i];
    if (c != kNone && m.was_merged(i) && m.tracks[i].component != kNone) {
      team.add(&m.tables.n_seen_of_previous[m.tracks[i].component], 1u);
    }
    m.tables.old_index[index] = i;
    m.tables.next_seen[index] = c != kNone ? team.exchange(&current.member[c], index) : kNone;
  }
}

/// Whether a former fellow of a member is seen, too. Where the member is alone, it is in another component.
constexpr bool has_fellow(const Matching& m, uint32_t i) {
  return m.was_merged(i) && m.tracks[i].component != kNone &&
         m.tables.n_seen_of_previous[m.tracks[i].component] > 1;
}

/// A track as it goes on in the new table, in component `c`, before `next` in that one's list; kNone. What
/// one that is seen becomes depends on the others in its component.
constexpr TrackState moved_track(const Matching& m, uint32_t i, uint32_t c, uint32_t next) {
  TrackState track = m.tracks[i];
  track.flags &= CCL_TRACK_CONFIRMED;
  track.component = c;
  track.first_fragment = m.tables.fragment[i];
  track.n_fragments = 0;
  track.next_member = next;
  track.age += track.age < UINT32_MAX ? 1 : 0;
  if (c == kNone) {
    track.flags |= CCL_TRACK_PREDICTED;
    track.box = m.tables.predicted[i];
    track.shown = track.place;
    ++track.n_missed;
    return track;
  }
  if (has_fellow(m, i)) {  // it is cleared where both are in one component
    track.flags |= CCL_TRACK_SPLIT;
  }
  track.n_missed = 0;
  track.n_seen += track.n_seen < UINT32_MAX ? 1 : 0;
  if (track.n_seen >= m.step.confirm_frames) {
    track.flags |= CCL_TRACK_CONFIRMED;
  }
  return track;
}

/// The first frame of a track.
constexpr TrackState newborn(const Matching& m, uint32_t c, uint32_t id) {
  const uint32_t parent = m.tables.part_parent[c];
  TrackState track{};
  track.id = id;
  track.parent = parent != kNone ? m.tracks[parent].id : 0;
  track.flags = CCL_TRACK_NEWBORN | (m.step.confirm_frames <= 1 ? uint32_t{CCL_TRACK_CONFIRMED} : 0u);
  track.n_seen = 1;
  track.component = c;
  track.first_fragment = kNone;
  track.next_member = kNone;
  track.seen_ns = m.elapsed_ns;
  track.alone_us = m.now_us;
  track.first_time_ns = track.last_time_ns = m.step.time_ns;
  track.place = track.shown = m.tables.parts[c].place;
  track.box = m.tables.parts[c].box;
  set_size(m.tables.parts[c], &track);
  return track;
}

/// Gives each component without a track a new one, by ascending label, as long as there is room. Returns how
/// many. It has the effect of sync() on what was written before.
template <typename Team>
constexpr uint32_t begin_tracks(const Team& team, const Matching& m, const PartLists& current,
                                uint32_t n_kept) {
  const uint32_t n_ids = m.tables.header->n_ids;
  const uint32_t room_for_tracks = m.tables.sizes.max_tracks - n_kept;
  const uint32_t room = room_for_tracks < UINT32_MAX - n_ids ? room_for_tracks : UINT32_MAX - n_ids;
  if (m.tables.header->n_left_parts == 0) {
    team.sync();
    return 0;
  }
  const Stretch stretch = stretch_of(team, m.n_parts);
  uint32_t n = 0;
  for (uint32_t c = stretch.begin; c < stretch.end; ++c) {
    n += is_birth(m, current, c) ? 1 : 0;
  }
  uint32_t total = 0;
  uint32_t next = team.scan(n, &total);
  for (uint32_t c = stretch.begin; c < stretch.end && next < room; ++c) {
    if (is_birth(m, current, c)) {
      const uint32_t index = n_kept + next++;
      m.tables.old_index[index] = m.tables.next_seen[index] = kNone;
      current.member[c] = index;
    }
  }
  return total < room ? total : room;
}

/* What components show */

struct Group {
  uint32_t n = 0;
  uint64_t area = 0;         ///< of all members
  uint32_t largest = kNone;  ///< the member of the largest area; of equals the oldest
  Outline outline = {};
  bool is_seen = true;  ///< not only the largest one
};

constexpr Group group_of(uint32_t first, const TrackState* tracks) {
  Group group;
  for (uint32_t i = first; i != kNone; i = tracks[i].next_member) {
    const TrackState& track = tracks[i];
    ++group.n;
    group.area += track.area;
    group.outline.add(i, whole_box(track));
    const uint32_t largest = group.largest;
    if (largest == kNone || track.area > tracks[largest].area ||
        (track.area == tracks[largest].area && i < largest)) {
      group.largest = i;
    }
  }
  return group;
}

constexpr void see(const Matching& m, TrackState* track) {
  track->seen_ns = m.elapsed_ns;
  track->last_time_ns = m.step.time_ns;
}

/// Updates a track of those that a component shows.
constexpr void update_track(const Matching& m, const PartLists& current, const Group& group, uint32_t i,
                            TrackState* track) {
  const Part part = m.tables.parts[track->component];
  const Part whole = whole_part(m, current, track);
  track->flags |= track->n_fragments > 0 ? uint32_t{CCL_TRACK_FRAGMENTED} : 0u;
  const bool was_several = track->fragmented_us >= kFragmentUs;
  if (track->n_fragments == 0) {
    track->fragmented_us = 0;
  } else if (!was_several) {
    track->fragmented_us += m.step.duration_us;
  }
  if (was_several) {
    set_size(whole, track);
    track->place = track->shown;
  }
  if (group.n == 1 && m.is_main_of_member(track->component)) {
    move_as_member(m, part.box, m.frame.origins[track->component].group, track);
  } else if (group.n > 1) {
    track->flags = (track->flags | CCL_TRACK_MERGED) & ~uint32_t{CCL_TRACK_SPLIT};
    move_in_group(m, part.box, group.outline, i, track);
  } else if (track->age > 0) {
    move_alone(m, whole, track);
  }
  if (group.n == 1 || i == group.largest || group.is_seen) {
    see(m, track);
  }
}

/* Output */

constexpr void write_record(const TrackState& track, bool is_shared, CclComponent* record) {
  record->id = track.id;
  record->age = track.age;
  record->flags = static_cast<uint16_t>(record->flags | (track.age == 0 ? CCL_COMPONENT_NEWBORN : 0) |
                                        (is_shared ? CCL_COMPONENT_MERGED : 0) |
                                        (track.n_fragments > 0 ? CCL_COMPONENT_SPLIT : 0));
}

/// The pixel in which an edge lies, at most the frame's extent.
constexpr uint16_t pixel_of(int32_t edge, uint32_t extent) {
  const int32_t pixel = static_cast<int32_t>(divide(int64_t{edge} + kHalfUnit, kUnit));
  const auto last = static_cast<int32_t>(extent);
  return static_cast<uint16_t>(pixel < 0 ? 0 : pixel > last ? last : pixel);
}

/// Exact: 24 bits hold the units of every place in a frame, and the scale is a power of two.
constexpr float to_pixels(int32_t units) {
  return static_cast<float>(units) / kUnit;
}

constexpr CclTrack public_track(const TrackState& track, const TrackFrame& frame) {
  const uint16_t left = pixel_of(track.box.left, frame.width);
  const uint16_t top = pixel_of(track.box.top, frame.height);
  const uint16_t right = pixel_of(track.box.right, frame.width);
  const uint16_t bottom = pixel_of(track.box.bottom, frame.height);
  const bool is_at_border = left == 0 || top == 0 || right == frame.width || bottom == frame.height;
  return {.id = track.id,
          .flags = track.flags | (is_at_border ? uint32_t{CCL_TRACK_TOUCHES_BORDER} : 0u),
          .age = track.age,
          .component = track.component,
          .first_time = track.first_time_ns,
          .last_time = track.last_time_ns,
          .cx = to_pixels(track.shown.x),
          .cy = to_pixels(track.shown.y),
          .vx = to_pixels(track.velocity.x),
          .vy = to_pixels(track.velocity.y),
          .x = left,
          .y = top,
          .width = static_cast<uint16_t>(right - left),
          .height = static_cast<uint16_t>(bottom - top),
          .parent = track.parent,
          .zones = 0};
}

/* A component, and all tracks that it shows. A track is changed as a local variable: a device would read
   again from memory what it has written. */

/// A track that a component shows: one that was there before, or the one that begins.
constexpr TrackState shown_track(const Matching& m, uint32_t c, uint32_t i, uint32_t next) {
  const TrackHeader& header = *m.tables.header;
  const uint32_t old = m.tables.old_index[i];
  return old != kNone ? moved_track(m, old, c, next) : newborn(m, c, header.n_ids - header.n_tracks + i + 1);
}

/// Writes a track, and the records of its fragments, which get its id.
template <typename Done>
constexpr void write_track(const Matching& m, const PartLists& current, uint32_t i, const TrackState& track,
                           TrackState* tracks, const Done& done) {
  tracks[i] = track;
  m.frame.tracks[i] = public_track(track, m.frame);
  for (uint32_t f = track.first_fragment; f != kNone; f = current.next_fragment[f]) {
    write_record(track, false, &m.frame.records[f]);
    done(f, track.id);
  }
}

/// A component that shows several tracks gets the id of the largest one.
template <typename Done>
constexpr void settle_group(const Matching& m, const PartLists& current, uint32_t c, TrackState* tracks,
                            const Done& done) {
  const uint32_t first = current.member[c];
  for (uint32_t i = first; i != kNone; i = m.tables.next_seen[i]) {
    tracks[i] = shown_track(m, c, i, m.tables.next_seen[i]);
  }
  Group group = group_of(first, tracks);
  const Part& part = m.tables.parts[c];
  group.is_seen = has_room(part.area, group.area);
  for (uint32_t i = first; i != kNone; i = m.tables.next_seen[i]) {
    TrackState track = tracks[i];
    update_track(m, current, group, i, &track);
    write_track(m, current, i, track, tracks, done);
    if (i == group.largest) {
      write_record(track, true, &m.frame.records[c]);
      done(c, track.id);
    }
  }
}

/// All that follows from what a component shows. Components do not depend on each other. Calls done(c, id)
/// for each component whose record is complete.
template <typename Done>
constexpr void settle_component(const Matching& m, const PartLists& current, uint32_t c, TrackState* tracks,
                                const Done& done) {
  const uint32_t first = current.member[c];
  if (const uint32_t owner = current.owner[c]; owner != kNone) {
    current.owner[c] = m.tables.new_index[owner];  // which writes the record
  } else if (first == kNone) {
    m.frame.records[c].id = 0;
    m.frame.records[c].age = 0;
    done(c, 0);
  } else if (m.tables.next_seen[first] != kNone) {
    settle_group(m, current, c, tracks, done);
  } else {
    TrackState track = shown_track(m, c, first, kNone);
    update_track(m, current, {.n = 1, .largest = first}, first, &track);
    write_track(m, current, first, track, tracks, done);
    write_record(track, false, &m.frame.records[c]);
    done(c, track.id);
  }
}

/// Moves a track that is not seen, unless it ends.
constexpr void settle_unseen(const Matching& m, uint32_t i, TrackState* tracks) {
  const uint32_t index = m.tables.new_index[i];
  if (index != kNone && m.tables.matched[i] == kNone) {
    const TrackState track = moved_track(m, i, kNone, kNone);
    tracks[index] = track;
    m.frame.tracks[index] = public_track(track, m.frame);
  }
}

}  // namespace ccl::track
