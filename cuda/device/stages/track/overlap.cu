// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block takes a tile of the frame. Few pairs meet in a tile, but each in many pixels: a thread sums equal
/// neighbours, the block sums them in a small hash table in shared memory, and adds that to the frame's table
/// in device memory. A pair that finds no room in the small table goes to the frame's table at once.
///
/// Only pixels with a component in both frames count, so the older map is read only where the new one has
/// components.
#include "device/stages/track/overlap.h"

#include <type_traits>

#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kBits = 32;  ///< of a word
constexpr uint32_t kThreads = 256;
constexpr uint32_t kGroup = 8;  ///< pixels that a thread reads at once
constexpr uint32_t kTileGroups = 8;
constexpr uint32_t kTileRows = 64;
constexpr uint32_t kTileWidth = kTileGroups * kGroup;

constexpr uint32_t kLog2TileCells = 8;
constexpr uint32_t kTileCells = 1u << kLog2TileCells;
constexpr uint32_t kTileProbes = 8;

/// Every so many probes of the frame's table: whether it has too many pairs anyway.
constexpr uint32_t kProbes = 8;

/// The small table of a block.
struct TilePairs {
  PairKey pair[kTileCells];  ///< 0: free
  uint32_t pixels[kTileCells];
};

__device__ PairKey key_of(uint32_t previous, uint32_t current) {
  return PairKey{previous} << 32 | current;
}

/// Knuth's multiplicative hash, of both halves.
__device__ uint32_t hash_of(PairKey key, uint32_t log2_size) {
  const uint32_t mixed =
      (static_cast<uint32_t>(key >> 32) * 0x9e3779b1u) ^ (static_cast<uint32_t>(key) * 0x85ebca6bu);
  return (mixed * 0xc2b2ae35u) >> (kBits - log2_size);
}

__device__ uint32_t load(const uint32_t* word) {
  return *const_cast<const volatile uint32_t*>(word);
}

/// Adds to the frame's table. Ends for a full table, too, which has more than max_pairs.
__device__ void add_to_frame(const PairTable& table, PairKey key, uint32_t n) {
  const uint32_t last = (1u << table.log2_capacity) - 1;
  uint32_t cell = hash_of(key, table.log2_capacity);
  for (uint32_t probe = 1;; ++probe) {
    const PairKey found = atomicCAS(&table.cells[cell].pair, PairKey{0}, key);
    if (found == 0 || found == key) {
      atomicAdd(&table.cells[cell].pixels, n);
    }
    if (found == 0) {
      const uint32_t index = atomicAdd(table.n_pairs, 1u);
      if (index < table.max_pairs) {
        table.used[index] = cell;
      }
    }
    if (found == 0 || found == key) {
      return;
    }
    if (probe % kProbes == 0 && load(table.n_pairs) > table.max_pairs) {
      return;
    }
    cell = (cell + 1) & last;
  }
}

__device__ void add_to_tile(TilePairs& tile, const PairTable& table, PairKey key, uint32_t n) {
  uint32_t cell = hash_of(key, kLog2TileCells);
  for (uint32_t probe = 0; probe < kTileProbes; ++probe) {
    const PairKey found = atomicCAS(&tile.pair[cell], PairKey{0}, key);
    if (found == 0 || found == key) {
      atomicAdd(&tile.pixels[cell], n);
      return;
    }
    cell = (cell + 1) % kTileCells;
  }
  add_to_frame(table, key, n);
}

/// The cell of the map for a label, which is not 0.
__device__ uint32_t cell_of(const OverlapJob& job, bool has_records, uint32_t label) {
  const FrameLabels& frame = job.frame;
  if (frame.is_kept != nullptr) {
    const uint32_t word = __ldg(frame.is_kept + label / kBits);
    const uint32_t bit = label % kBits;
    if ((word >> bit & 1) == 0) {
      return 0;
    }
    return has_records ? 1 + __ldg(frame.kept_before + label / kBits) + __popc(word & bits_below(bit))
                       : job.maps.unrecorded();
  }
  if (frame.marks != nullptr) {
    if (__ldg(frame.marks + label - 1) == 0) {
      return 0;
    }
    return has_records ? 1 + __ldg(frame.record_index + label - 1) : job.maps.unrecorded();
  }
  return has_records ? label : job.maps.unrecorded();
}

/// Eight values of consecutive pixels, of which the first `n` lie in the row. `is_aligned`: all do, and at an
/// address of a vector.
template <typename T>
__device__ void load_group(const T* from, uint32_t n, bool is_aligned, T* values) {
  constexpr uint32_t kVectors = kGroup * sizeof(T) / sizeof(uint4);
  if (is_aligned) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) {
      reinterpret_cast<uint4*>(values)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    values[i] = i < n ? from[i] : T{0};
  }
}

template <typename T>
__device__ void store_group(const T* values, uint32_t n, bool is_aligned, T* to) {
  constexpr uint32_t kVectors = kGroup * sizeof(T) / sizeof(uint4);
  if (is_aligned) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(values)[i];
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    if (i < n) {
      to[i] = values[i];
    }
  }
}

/// Sums equal neighbours of a group, and calls add(key, n) for each sum.
template <typename Cell, typename Add>
__device__ void for_each_stretch(const Cell* previous, const Cell* current, Add add) {
  PairKey open = 0;
  uint32_t n = 0;
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    const PairKey key = previous[i] != 0 && current[i] != 0 ? key_of(previous[i], current[i]) : 0;
    if (key != open) {
      if (open != 0) {
        add(open, n);
      }
      open = key;
      n = 0;
    }
    ++n;
  }
  if (open != 0) {
    add(open, n);
  }
}

template <typename Cell>
__global__ void __launch_bounds__(kThreads) write_map_and_count(OverlapJob job) {
  __shared__ TilePairs tile;
  static_assert(kThreads == kTileCells);
  tile.pair[threadIdx.x] = 0;
  tile.pixels[threadIdx.x] = 0;
  wait_for_previous_kernel();
  const uint32_t newest = *job.maps.newest;
  const auto* older = static_cast<const Cell*>(job.maps.map(newest));
  auto* map = static_cast<Cell*>(job.maps.map(newest ^ 1));
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
    *job.maps.written = newest ^ 1;
  }
  const bool has_records = job.counts->n_components <= job.maps.max_components;
  const bool has_pairs = has_records && job.header->n_components > 0;
  const bool has_whole_groups = job.width % kGroup == 0;
  __syncthreads();

  const uint32_t x = blockIdx.x * kTileWidth + threadIdx.x % kTileGroups * kGroup;
  const uint32_t end = min((blockIdx.y + 1) * kTileRows, job.height);
  for (uint32_t y = blockIdx.y * kTileRows + threadIdx.x / kTileGroups; x < job.width && y < end;
       y += kThreads / kTileGroups) {
    const size_t place = size_t{y} * job.width + x;
    const uint32_t n = min(kGroup, job.width - x);
    alignas(sizeof(uint4)) uint32_t labels[kGroup];
    alignas(sizeof(uint4)) Cell current[kGroup];
    load_group(job.frame.labels + place, n, has_whole_groups, labels);
    uint32_t any = 0;
#pragma unroll
    for (uint32_t i = 0; i < kGroup; ++i) {
      const bool is_same = i > 0 && labels[i] == labels[i > 0 ? i - 1 : 0];
      current[i] = is_same ? current[i > 0 ? i - 1 : 0]
                           : static_cast<Cell>(labels[i] != 0 ? cell_of(job, has_records, labels[i]) : 0);
      any |= current[i];
    }
    store_group(current, n, has_whole_groups, map + place);
    if (has_pairs && any != 0) {
      alignas(sizeof(uint4)) Cell previous[kGroup];
      load_group(older + place, n, has_whole_groups, previous);
      for_each_stretch(previous, current,
                       [&](PairKey key, uint32_t sum) { add_to_tile(tile, job.pairs, key, sum); });
    }
  }
  __syncthreads();
  if (const PairKey key = tile.pair[threadIdx.x]; key != 0) {
    add_to_frame(job.pairs, key, tile.pixels[threadIdx.x]);
  }
}

}  // namespace

Status count_overlaps(const OverlapJob& job, cudaStream_t stream) {
  const dim3 tiles(blocks_for(job.width, kTileWidth), blocks_for(job.height, kTileRows));
  return launch_overlapped("write_map_and_count",
                           job.maps.is_wide ? write_map_and_count<uint32_t> : write_map_and_count<uint16_t>,
                           tiles, kThreads, stream, job);
}

}  // namespace ccl::device
