// SPDX-License-Identifier: LGPL-2.1-or-later
/// The arrays that decide() reads and writes most, in the shared memory of one block. All others stay where
/// they are.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <cstdint>

#include "track/matching.h"

namespace ccl::device {

/// Begins to copy `n` entries by all threads of the block; see finish_copies(). Room rounds all arrays up to
/// whole vectors.
template <typename T>
__device__ void begin_copy(const T* from, T* to, uint32_t n) {
  const auto n_vectors = static_cast<uint32_t>((n * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4));
  for (uint32_t i = threadIdx.x; i < n_vectors; i += blockDim.x) {
    __pipeline_memcpy_async(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(from) + i,
                            sizeof(uint4));
  }
}

/// Each thread waits for its own copies.
__device__ inline void finish_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

template <typename T>
__device__ void store_array(const T* from, T* to, uint32_t n) {
  const auto n_vectors = static_cast<uint32_t>((n * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4));
  for (uint32_t i = threadIdx.x; i < n_vectors; i += blockDim.x) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

/// A variable of this type lies in shared memory, too.
struct SharedTables {
  track::TrackTables tables;  ///< of the frame, with the pointers to shared memory
  std::byte* memory;
  size_t used;  ///< bytes; more than there are if the arrays do not fit
  uint32_t parity;
  uint32_t n_tracks;
  uint32_t n_previous;
  uint32_t n_parts;

  /// Places all arrays. Called by one thread.
  __device__ void place(const track::Matching& m, std::byte* shared) {
    tables = m.tables;
    memory = shared;
    parity = m.tables.header->parity;
    n_tracks = m.n_tracks;
    n_previous = m.n_previous;
    n_parts = m.n_parts;
    used = place(n_tracks, n_previous, n_parts, parity, memory, &tables);
  }

  /// Bytes of the longest tables.
  static size_t most_bytes(const track::TrackSizes& sizes) {
    track::TrackTables longest;
    return place(sizes.max_tracks, sizes.max_components, sizes.max_components, 0, nullptr, &longest);
  }

  /// Where memory is free.
  __device__ std::byte* end() const { return memory + used; }

  /// Begins to read what prepare() wrote to `from`; finish_copies() ends that. Its other arrays have the same
  /// word everywhere.
  __device__ void begin_load(const track::TrackTables& from) const {
    const track::PartLists previous = tables.lists_of(parity);
    const track::PartLists current = tables.lists_of(parity ^ 1);
    if (threadIdx.x == 0) {
      *tables.header = *from.header;
    }
    begin_copy(from.outlooks, tables.outlooks, n_tracks);
    begin_copy(from.lists_of(parity).member, previous.member, n_previous);
    begin_copy(from.lists_of(parity).owner, previous.owner, n_previous);
    begin_copy(from.lists_of(parity).area, previous.area, n_previous);
    begin_copy(from.parts, tables.parts, n_parts);
    for (uint32_t i = threadIdx.x; i < n_tracks; i += blockDim.x) {
      tables.matched[i] = track::kNone;
    }
    for (uint32_t i = threadIdx.x; i < n_previous; i += blockDim.x) {
      tables.first_of_previous[i] = track::kNone;
      tables.n_of_previous[i] = 0;
    }
    for (uint32_t i = threadIdx.x; i < n_parts; i += blockDim.x) {
      tables.first_of_current[i] = tables.taker[i] = track::kNone;
      tables.n_of_current[i] = tables.n_proven[i] = 0;
      current.member[i] = current.owner[i] = track::kNone;
    }
  }

  /// Writes what settle() and the next frame read.
  __device__ void store(const track::TrackTables& to) const {
    const track::PartLists from = tables.lists_of(parity ^ 1);
    if (threadIdx.x == 0) {
      *to.header = *tables.header;
    }
    store_array(tables.matched, to.matched, n_tracks);
    store_array(tables.new_index, to.new_index, n_tracks);
    store_array(tables.taker, to.taker, n_parts);
    store_array(tables.n_proven, to.n_proven, n_parts);
    store_array(from.member, to.lists_of(parity ^ 1).member, n_parts);
    store_array(from.owner, to.lists_of(parity ^ 1).owner, n_parts);
  }

 private:
  static constexpr size_t place(uint32_t n_tracks, uint32_t n_previous, uint32_t n_parts, uint32_t parity,
                                std::byte* memory, track::TrackTables* tables) {
    track::PartLists previous = tables->lists_of(parity);
    track::PartLists current = tables->lists_of(parity ^ 1);
    track::internal::Room room{memory};
    room.take(&tables->header, 1);
    room.take(&tables->outlooks, n_tracks);
    for (uint32_t** array : {&tables->matched, &tables->new_index}) {
      room.take(array, n_tracks);
    }
    for (uint32_t** array : {&previous.member, &previous.owner, &previous.area, &tables->first_of_previous,
                             &tables->n_of_previous}) {
      room.take(array, n_previous);
    }
    room.take(&tables->parts, n_parts);
    for (uint32_t** array : {&tables->first_of_current, &tables->n_of_current, &tables->taker,
                             &tables->n_proven, &current.member, &current.owner}) {
      room.take(array, n_parts);
    }
    tables->lists[0] = parity == 0 ? previous : current;
    tables->lists[1] = parity == 0 ? current : previous;
    return room.used;
  }
};

}  // namespace ccl::device
