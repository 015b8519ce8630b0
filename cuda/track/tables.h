// SPDX-License-Identifier: LGPL-2.1-or-later
/// The memory of the track stage: the tracks, and what associate() notes while it works.
///
/// All arrays lie in one block of memory, on the host or on a device. A header of zeros is a stream without
/// tracks; then nothing else is read before it is written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/track.h"
#include "track/geometry.h"

namespace ccl::track {

/// How many pixels component `previous` of the frame before and component `current` of this frame have in
/// common; both are record indices. At least 1. A frame has one entry for each such pair, in any order.
struct Overlap {
  uint32_t previous;
  uint32_t current;
  uint32_t pixels;
};

/// What separation has found about a part, for the matching: see guide.h.
struct Origin {
  uint32_t track = kNone;  ///< the member for which it was cut; kNone: by shape
  uint32_t is_main = 0;    ///< 1: the largest one of those that were cut for the member
  Box group = {};          ///< of all parts of the component that have a record
};

/// One object, as the last frame left it.
struct TrackState {
  uint32_t id;
  uint32_t parent;          ///< CclTrack::parent
  uint32_t flags;           ///< CCL_TRACK_*
  uint32_t age;             ///< CclTrack::age
  uint32_t n_seen;          ///< frames in which it was seen
  uint32_t n_missed;        ///< frames since it was seen
  uint32_t n_moves;         ///< measurements of its velocity
  uint32_t proven_us;       ///< how long it was seen alone and away from the border, at most kProofUs
  uint32_t fragmented_us;   ///< how long it has had further components, at most kFragmentUs
  uint32_t component;       ///< record index of its main component; kNone if it was not seen
  uint32_t n_fragments;     ///< further components
  uint32_t first_fragment;  ///< of a list through PartLists::next_fragment; kNone
  uint32_t next_member;     ///< the next track with the same main component; kNone
  uint32_t area;            ///< of the whole object, seen alone: filtered, pixels
  uint64_t seen_ns;         ///< TrackHeader::elapsed_ns of the last frame in which it was seen
  uint64_t alone_us;  ///< TrackHeader::now_us of the last one in which no other track shared its component
  int64_t first_time_ns;
  int64_t last_time_ns;
  Place place;            ///< of the whole object
  Place shown;            ///< CclTrack::cx, cy
  Place velocity;         ///< per second
  Box box;                ///< of what is seen; an estimate if merged or not seen
  Place middle;           ///< the middle of the box minus the place, of the whole object: filtered
  int32_t width, height;  ///< of the whole object, seen alone: filtered
};

/// What the plain case reads of a track: few words, so that a device has those of all tracks in fast memory.
struct Outlook {
  uint32_t component;  ///< TrackState::component
  uint32_t traits;     ///< kProven, …
  Place place;         ///< predicted
  int32_t size;        ///< of the whole object
  uint32_t area;       ///< TrackState::area

  static constexpr uint32_t kProven = 1;
  static constexpr uint32_t kEstablished = 2;
  static constexpr uint32_t kHasFellows = 4;  ///< it is not the last one in the list of its component
  static constexpr uint32_t kHasFragments = 8;

  constexpr bool has(uint32_t trait) const { return (traits & trait) != 0; }
};

/// What does not fit arrays. Threads of a team share it.
struct TrackHeader {
  uint32_t n_tracks;
  uint32_t n_ids;         ///< ids that were given so far
  uint32_t n_components;  ///< of the frame before, which PartLists describe; 0 if it was not matched
  uint32_t parity;        ///< which of the two arrays of tracks and lists the last frame wrote
  uint64_t now_us;        ///< sum of all TrackStep::duration_us
  uint64_t elapsed_ns;    ///< sum of all TrackStep::elapsed_ns: in gaps, too, a track is not seen
  uint32_t n_before;      ///< tracks of the frame before
  // These belong to the frame that is being matched; 0 between frames.
  uint32_t n_left_tracks;  ///< see TrackTables::left_tracks
  uint32_t n_left_parts;
};

/// What a frame leaves for the next one, per component.
struct PartLists {
  uint32_t* member;         ///< a track whose main component it is: the head of a list; kNone
  uint32_t* owner;          ///< the track of which it is a further fragment; kNone
  uint32_t* next_fragment;  ///< of the same track; kNone
  uint32_t* area;           ///< pixels
};

/// A component that a track may continue in.
struct Candidate {
  uint32_t cost;
  uint32_t part;

  /// Ties go to the smaller record index.
  constexpr uint64_t order() const { return uint64_t{cost} << 32 | part; }
};

/// A place in the frame, and the larger extent of the box around it. 0: the box is in no cell of a grid.
struct Spot {
  Place place;
  int32_t extent;
};

/// A component or a track in a cell of a grid (grid.h).
struct SortedBox {
  Spot spot;
  uint32_t index;
};

/// How many candidates a track keeps. More than a few are near only in crowds.
inline constexpr uint32_t kCandidates = 8;

/// Lengths of the arrays.
struct TrackSizes {
  uint32_t max_tracks = 0;
  uint32_t max_components = 0;  ///< that are matched: see sizes_of() in step.h

  /// A component covers one or two of the frame before. Only stripes that cross have many more pairs; a frame
  /// with more than these is not matched. Both backends count alike, so they leave out the same frames.
  constexpr uint32_t max_overlaps() const {
    return (max_components < kMost / 4 ? 4 * max_components : kMost) + 1024;
  }
  static constexpr uint32_t kMost = 1u << 20;

  bool operator==(const TrackSizes&) const = default;
};

/// Pointers into the memory.
struct TrackTables {
  TrackSizes sizes;
  /// Steps that look at all pairs of tracks and components do so up to this number of pairs. With more
  /// pairs, a team that sorts boxes by place first (grid.h) is faster.
  uint64_t most_pairs = 1u << 18;
  TrackHeader* header = nullptr;
  TrackState* tracks[2] = {};  ///< by ascending id; max_tracks each
  PartLists lists[2] = {};     ///< max_components each

  // Scratch, per track.
  Box* predicted = nullptr;       ///< where the whole object should be
  uint32_t* matched = nullptr;    ///< the component in which it goes on; kNone
  uint32_t* fragment = nullptr;   ///< the head of its list of further fragments in this frame; kNone
  uint32_t* new_index = nullptr;  ///< its place in the new table; kNone if it ends
  Outlook* outlooks = nullptr;
  uint32_t* left_tracks = nullptr;  ///< tracks that are not matched yet, in any order
  Candidate* candidates = nullptr;  ///< kCandidates each, ascending
  uint32_t* n_candidates = nullptr;
  uint32_t* unmatched_cost = nullptr;  ///< see assign.h
  uint32_t* choice = nullptr;          ///< see share.h
  uint32_t* n_offered = nullptr;       ///< components of this frame that would be its fragments
  // Scratch, per track of the new table.
  uint32_t* old_index = nullptr;  ///< its place in the old table; kNone if it begins
  uint32_t* next_seen = nullptr;  ///< the next track with the same main component; kNone

  // Scratch, per component.
  Part* parts = nullptr;
  uint32_t* taker = nullptr;            ///< the matched track with the smallest index; kNone
  uint32_t* n_proven = nullptr;         ///< matched tracks that are proven
  uint32_t* left_parts = nullptr;       ///< components that are not matched yet, in any order
  uint32_t* part_parent = nullptr;      ///< for a component without a track: one that it parted from; kNone
  uint64_t* best = nullptr;             ///< the best offer to it
  uint32_t* shows_confirmed = nullptr;  ///< of those that are left: 1: it overlaps a confirmed track
  // Scratch, per component of the frame before, and of this frame.
  uint32_t* first_of_previous = nullptr;  ///< a significant overlap of it: the head of a list; kNone
  uint32_t* n_of_previous = nullptr;
  uint32_t* oldest_of_previous = nullptr;  ///< of the tracks that it showed; kNone
  uint32_t* n_seen_of_previous = nullptr;  ///< its former members that are seen in this frame
  uint32_t* first_of_current = nullptr;
  uint32_t* n_of_current = nullptr;
  // Scratch, per overlap.
  uint32_t* next_of_previous = nullptr;
  uint32_t* next_of_current = nullptr;
  // Scratch, per track and then per component: clusters of tracks and components that are candidates for each
  // other.
  uint32_t* cluster = nullptr;           ///< union-find: a smaller one of the same cluster, or itself
  uint32_t* first_in_cluster = nullptr;  ///< per root: the head of a list of all in it
  uint32_t* next_in_cluster = nullptr;
  uint32_t* n_tracks_in_cluster = nullptr;  ///< per root
  uint32_t* n_parts_in_cluster = nullptr;
  // Scratch, of the components, then of the tracks: see grid.h.
  uint32_t* cell_ends = nullptr;  ///< in `sorted`; the first entry is 0
  SortedBox* sorted = nullptr;    ///< by ascending cells
  uint32_t* cell_of = nullptr;    ///< kNone: in no cell

  // Without an index, for which a kernel would need the pointers in memory.
  constexpr TrackState* tracks_of(uint32_t parity) const { return parity == 0 ? tracks[0] : tracks[1]; }
  constexpr PartLists lists_of(uint32_t parity) const { return parity == 0 ? lists[0] : lists[1]; }

  /// Those of a track: kCandidates.
  constexpr Candidate* candidates_of(uint32_t track) const {
    return candidates + size_t{track} * kCandidates;
  }

  TrackTables() = default;

  /// `memory` has bytes(sizes) bytes, at an address that is a multiple of 16.
  constexpr TrackTables(const TrackSizes& lengths, std::byte* memory) : sizes(lengths) { place(memory); }

  /// How much memory these tables take.
  static constexpr size_t bytes(const TrackSizes& sizes) {
    TrackTables tables;
    tables.sizes = sizes;
    return tables.place(nullptr);
  }

 private:
  constexpr size_t place(std::byte* memory);
};

namespace internal {

/// Deals out memory.
struct Room {
  std::byte* memory;
  size_t used = 0;

  template <typename T>
  constexpr void take(T** array, size_t n) {
    if (memory != nullptr) {
      *array = reinterpret_cast<T*>(memory + used);
    }
    used += (n * sizeof(T) + 15) / 16 * 16;
  }
};

}  // namespace internal

constexpr size_t TrackTables::place(std::byte* memory) {
  const size_t n_tracks = sizes.max_tracks;
  const size_t n_parts = sizes.max_components;
  const size_t n_overlaps = sizes.max_overlaps();
  internal::Room room{memory};
  room.take(&header, 1);
  for (uint32_t i = 0; i < 2; ++i) {
    room.take(&tracks[i], n_tracks);
    for (uint32_t** list : {&lists[i].member, &lists[i].owner, &lists[i].next_fragment, &lists[i].area}) {
      room.take(list, n_parts);
    }
  }
  room.take(&predicted, n_tracks);
  room.take(&outlooks, n_tracks);
  room.take(&candidates, n_tracks * kCandidates);
  for (uint32_t** array : {&matched, &fragment, &new_index, &left_tracks, &n_candidates, &unmatched_cost,
                           &choice, &n_offered, &old_index, &next_seen}) {
    room.take(array, n_tracks);
  }
  room.take(&parts, n_parts);
  room.take(&best, n_parts);
  for (uint32_t** array :
       {&taker, &n_proven, &left_parts, &part_parent, &shows_confirmed, &first_of_previous, &n_of_previous,
        &oldest_of_previous, &n_seen_of_previous, &first_of_current, &n_of_current}) {
    room.take(array, n_parts);
  }
  room.take(&next_of_previous, n_overlaps);
  room.take(&next_of_current, n_overlaps);
  for (uint32_t** array :
       {&cluster, &first_in_cluster, &next_in_cluster, &n_tracks_in_cluster, &n_parts_in_cluster}) {
    room.take(array, n_tracks + n_parts);
  }
  const size_t n_most = n_tracks > n_parts ? n_tracks : n_parts;
  room.take(&cell_ends, n_most + 1);
  room.take(&sorted, n_most);
  room.take(&cell_of, n_most);
  return room.used;
}

/// A frame to be matched.
struct TrackFrame {
  uint32_t width, height;
  uint32_t n_components;
  /// 0 if the frame has more components than TrackSizes::max_components, or more pairs than max_overlaps().
  /// Then it is not matched: all tracks are predicted, and its components get the id 0. Records and overlaps
  /// are not read, and not written.
  uint32_t is_matched;
  uint32_t n_overlaps;
  const Overlap* overlaps;
  const Origin* origins = nullptr;  ///< per record; null if tracks guided no cuts
  CclComponent* records;            ///< by ascending label; associate() writes id, age and flags
  CclTrack* tracks;                 ///< out: room for TrackSizes::max_tracks
};

}  // namespace ccl::track
