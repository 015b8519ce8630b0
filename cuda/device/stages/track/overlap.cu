// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block takes a tile of the frame. Few pairs meet in a tile, but each in many pixels: a thread sums pixels
/// as long as their pair is the same, a warp sums what its threads have in the end, the block sums that in a
/// small hash table in shared memory, and adds it to the frame's table in device memory. A pair that finds no
/// room in the small table goes to the frame's table at once.
///
/// Only pixels with a component in both frames count, so the older map is read only where the new one has
/// components. A thread loads all its pixels before it looks at one, so that it waits for memory once.
///
/// The blocks of the grid's first row prepare the tables for the matching, while the others count.
#include "device/stages/track/overlap.h"

#include <algorithm>

#include "device/launch.cuh"
#include "device/stages/track/frame_of.cuh"
#include "device/stages/track/team.cuh"
#include "device/warp.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

using Cell = IndexMaps::Cell;

constexpr uint32_t kBits = 32;  ///< of a word
constexpr uint32_t kGroup = 8;  ///< pixels that a thread reads at once
constexpr uint32_t kTileGroups = 8;
constexpr uint32_t kRowsOfThread = 2;
constexpr uint32_t kTileRows = kRowsOfThread * (kBlockThreads / kTileGroups);
constexpr uint32_t kTileWidth = kTileGroups * kGroup;
/// This many let a frame of 1080p be on a large GPU at once.
constexpr uint32_t kBlocksOfMultiprocessor = std::min(5u, kMultiprocessorThreads / kBlockThreads);

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

__device__ __noinline__ void add_to_tile(TilePairs& tile, const PairTable& table, PairKey key, uint32_t n) {
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

/// The cell of the map for a label, which is not 0, in a frame that a filter has chosen from.
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
  if (__ldg(frame.marks + label - 1) == 0) {
    return 0;
  }
  return has_records ? 1 + __ldg(frame.record_index + label - 1) : job.maps.unrecorded();
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

/// Pixels of one pair.
struct Stretch {
  PairKey key = 0;  ///< 0: none yet
  uint32_t n = 0;
};

/// Adds the pixels of a group to a stretch, and calls add(stretch) for each one that ends.
template <typename Add>
__device__ void extend(const Cell* previous, const Cell* current, Stretch* open, Add add) {
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    if (previous[i] == 0 || current[i] == 0) {
      continue;
    }
    const PairKey key = key_of(previous[i], current[i]);
    if (key != open->key) {
      if (open->key != 0) {
        add(*open);
      }
      *open = {key, 0};
    }
    ++open->n;
  }
}

/// The cells of a group of labels.
__device__ void find_cells(const OverlapJob& job, bool has_records, const uint32_t* labels, Cell* cells) {
  if (job.frame.is_kept == nullptr && job.frame.marks == nullptr) {
#pragma unroll
    for (uint32_t i = 0; i < kGroup; ++i) {
      cells[i] = static_cast<Cell>(has_records || labels[i] == 0 ? labels[i] : job.maps.unrecorded());
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    const bool is_same = i > 0 && labels[i] == labels[i > 0 ? i - 1 : 0];
    cells[i] = is_same ? cells[i > 0 ? i - 1 : 0]
                       : static_cast<Cell>(labels[i] != 0 ? cell_of(job, has_records, labels[i]) : 0);
  }
}

__device__ bool is_empty(const Cell* cells) {
  uint32_t any = 0;
#pragma unroll
  for (uint32_t i = 0; i < kGroup; ++i) {
    any |= cells[i];
  }
  return any == 0;
}

/// The pixels of a thread in a tile: a group in each of its rows.
struct TileGroups {
  uint32_t x, y;  ///< of the first group
  uint32_t width, height;

  __device__ size_t place(uint32_t row) const { return size_t{y_of(row)} * width + x; }
  /// How many pixels of a group are in the frame.
  __device__ uint32_t n(uint32_t row) const {
    return x < width && y_of(row) < height ? min(kGroup, width - x) : 0;
  }
  /// Whether a group is whole, at an address of a vector.
  __device__ bool is_whole(uint32_t row) const { return n(row) == kGroup && width % kGroup == 0; }

 private:
  __device__ uint32_t y_of(uint32_t row) const { return y + row * (kBlockThreads / kTileGroups); }
};

/// Writes the map of a tile, and counts its pairs.
__device__ void count_tile(const OverlapJob& job, const TileGroups& groups, TilePairs& tile) {
  alignas(sizeof(uint4)) uint32_t labels[kRowsOfThread][kGroup];
#pragma unroll
  for (uint32_t row = 0; row < kRowsOfThread; ++row) {
    load_group(job.frame.labels + groups.place(row), groups.n(row), groups.is_whole(row), labels[row]);
  }
  const uint32_t newest = *job.maps.newest;
  const Cell* older = job.maps.map(newest);
  Cell* map = job.maps.map(newest ^ 1);
  const bool has_records = job.counts->n_components <= job.maps.max_components;
  const bool has_pairs = has_records && job.tables.header->n_components > 0;
  alignas(sizeof(uint4)) Cell current[kRowsOfThread][kGroup];
  alignas(sizeof(uint4)) Cell previous[kRowsOfThread][kGroup] = {};
#pragma unroll
  for (uint32_t row = 0; row < kRowsOfThread; ++row) {
    find_cells(job, has_records, labels[row], current[row]);
    store_group(current[row], groups.n(row), groups.is_whole(row), map + groups.place(row));
    if (has_pairs && !is_empty(current[row])) {
      load_group(older + groups.place(row), groups.n(row), groups.is_whole(row), previous[row]);
    }
  }
  Stretch open;
#pragma unroll
  for (uint32_t row = 0; row < kRowsOfThread; ++row) {
    extend(previous[row], current[row], &open,
           [&](const Stretch& ended) { add_to_tile(tile, job.pairs, ended.key, ended.n); });
  }
  const uint32_t lanes = __match_any_sync(kAllLanes, open.key);
  const uint32_t sum = warp_sum(lanes, open.n);
  if (open.key != 0 && threadIdx.x % kWarpSize == first_lane_of(lanes)) {
    add_to_tile(tile, job.pairs, open.key, sum);
  }
}

__global__ void __launch_bounds__(kBlockThreads, kBlocksOfMultiprocessor)
    write_map_and_count(const __grid_constant__ OverlapJob job, track::TrackStep step) {
  __shared__ TilePairs tile;
  static_assert(kBlockThreads == kTileCells);
  tile.pair[threadIdx.x] = 0;
  tile.pixels[threadIdx.x] = 0;
  wait_for_previous_kernel();
  if (blockIdx.y == 0) {
    track::prepare(WarpTeam(), track::next_matching(step, frame_of(job), job.tables));
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      *job.maps.written = *job.maps.newest ^ 1;
      *job.step = step;
    }
    return;
  }
  __syncthreads();
  count_tile(job,
             {.x = blockIdx.x * kTileWidth + threadIdx.x % kTileGroups * kGroup,
              .y = (blockIdx.y - 1) * kTileRows + threadIdx.x / kTileGroups,
              .width = job.width,
              .height = job.height},
             tile);
  __syncthreads();
  if (const PairKey key = tile.pair[threadIdx.x]; key != 0) {
    add_to_frame(job.pairs, key, tile.pixels[threadIdx.x]);
  }
}

}  // namespace

Status count_overlaps(const OverlapJob& job, const track::TrackStep& step, cudaStream_t stream) {
  const dim3 blocks(blocks_for(job.width, kTileWidth), 1 + blocks_for(job.height, kTileRows));
  return launch_overlapped("write_map_and_count", write_map_and_count, blocks, kBlockThreads, stream, job,
                           step);
}

const void* overlap_kernel() {
  return reinterpret_cast<const void*>(write_map_and_count);
}

}  // namespace ccl::device
