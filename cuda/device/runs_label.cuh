// SPDX-License-Identifier: LGPL-2.1-or-later
/// First step of the run-based pipeline: a block packs a tile to bits, lists its runs, and finds the
/// tile's components.
///
/// The runs of the row above that touch a run have consecutive ids, and two rank queries on the words
/// of run starts tell the first and the last of them. The first becomes the run's parent, with no
/// atomics, which makes a forest that is flattened by pointer jumping. Any further one is a link to
/// unite: links between two rows do not cross, so a run is a further link of one run below it at most,
/// and a bit tells whether it is.
#pragma once

#include "device/runs_pack.cuh"
#include "device/runs_tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

template <bool kValues>
__device__ void pack_tile(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  auto* bits = reinterpret_cast<uint16_t*>(tile.bits);
  auto* starts = reinterpret_cast<uint16_t*>(tile.starts);
  const uint32_t n_chunks = tiles.rows * kRowChunks;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < n_chunks; i += blockDim.x) {
    const Chunk chunk =
        pack_chunk<kValues>(tiles, place.x + i % kRowChunks * kChunk, place.y + i / kRowChunks);
    bits[i] = static_cast<uint16_t>(chunk.bits);
    starts[i] = static_cast<uint16_t>(chunk.bits & ~chunk.joins);
  }
  for (uint32_t word = threadIdx.x; word < kMaxRunWords; word += blockDim.x) {
    tile.is_root[word] = 0;
    tile.is_shared[word] = 0;
  }
}

/// Lists the runs; a thread those of consecutive chunks.
template <bool kValues>
__device__ void list_runs(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  const auto* starts = reinterpret_cast<const uint16_t*>(tile.starts);
  const uint32_t n_chunks = tiles.rows * kRowChunks;
  const uint32_t share = (n_chunks + blockDim.x - 1) / blockDim.x;
  const uint32_t first = min(threadIdx.x * share, n_chunks);
  const uint32_t end = min(first + share, n_chunks);
  uint32_t n = 0;
  for (uint32_t chunk = first; chunk < end; ++chunk) {
    n += __popc(starts[chunk]);
  }
  uint32_t n_runs = 0;
  uint32_t run = block_exclusive_sum(n, tile.warp_sums, &n_runs);
  if (threadIdx.x == 0) {
    tile.n_runs = n_runs;
  }
  for (uint32_t chunk = first; chunk < end; ++chunk) {
    if (chunk % (kWordBits / kChunk) == 0) {
      tile.base[chunk / (kWordBits / kChunk)] = static_cast<uint16_t>(run);
    }
    for (uint32_t rest = starts[chunk]; rest != 0; rest &= rest - 1, ++run) {
      const uint32_t begin = chunk * kChunk + __ffs(static_cast<int>(rest)) - 1;
      tile.begin[run] = static_cast<uint16_t>(begin);
      if constexpr (kValues) {
        tile.value[run] = tiles.frame.segment(place.x + begin % kTileWidth, place.y + begin / kTileWidth);
      }
    }
  }
}

/// Sets bits first .. end − 1.
__device__ inline void set_bits(uint32_t* words, uint32_t first, uint32_t end) {
  while (first < end) {
    const uint32_t word = first / kWordBits;
    const uint32_t last = min(end - 1, word * kWordBits + kWordBits - 1);
    atomicOr(words + word, bits_up_to(last % kWordBits) & ~bits_below(first % kWordBits));
    first = last + 1;
  }
}

/// Makes the first run above that touches `run` its parent, and marks the others in `is_further`.
template <bool kValues>
__device__ void link_run(Connectivity connectivity, uint32_t run, Tile<kValues>& tile, uint32_t* is_further) {
  const uint32_t reach = connectivity == Connectivity::k8 ? 1 : 0;
  const uint32_t begin = tile.begin[run];
  const uint32_t row = begin / kTileWidth;
  uint32_t parent = run;
  if (row > 0) {
    const uint32_t first = max(begin % kTileWidth, reach) - reach;
    const uint32_t last = min(tile.last_column(begin) + reach, kTileWidth - 1);
    // A run that begins at or before `first` touches if it reaches that far.
    uint32_t above = tile.runs_up_to(row - 1, first) - (tile.is_foreground(row - 1, first) ? 1 : 0);
    const uint32_t end = tile.runs_up_to(row - 1, last);
    if constexpr (kValues) {
      for (; above < end; ++above) {
        if (tile.value[above] != tile.value[run]) {
          continue;
        }
        if (parent == run) {
          parent = above;
        } else {
          set_bits(is_further, above, above + 1);
        }
      }
    } else if (above < end) {
      parent = above;
      set_bits(is_further, above + 1, end);
    }
  }
  tile.parent()[run] = parent;
}

/// Reads something for each run, and then writes something for each, with a barrier between and after, for as
/// many runs at a time as threads have registers to spare for what was read. `read(run, &value)` returns
/// whether it met what it looks for; the result is whether any did.
template <typename Read, typename Write>
__device__ bool read_then_write(uint32_t n_runs, Read read, Write write) {
  constexpr uint32_t kBatch = 8;
  bool is_any = false;
  for (uint32_t first = 0; first < n_runs; first += kBatch * blockDim.x) {
    uint32_t value[kBatch];
    bool is_met = false;
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (first + i * blockDim.x >= n_runs) {
        break;  // most tiles have few
      }
      if (const uint32_t run = first + i * blockDim.x + threadIdx.x; run < n_runs) {
        is_met |= read(run, &value[i]);
      }
    }
    is_any |= __syncthreads_or(is_met) != 0;
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (first + i * blockDim.x >= n_runs) {
        break;
      }
      if (const uint32_t run = first + i * blockDim.x + threadIdx.x; run < n_runs) {
        write(run, value[i]);
      }
    }
    __syncthreads();
  }
  return is_any;
}

/// Points every run at its root. In a round all climb by some steps, as one costs less than a barrier.
__device__ inline void point_at_roots(uint32_t n_runs, uint32_t* parent) {
  constexpr uint32_t kSteps = 7;
  const auto climb = [&](uint32_t run, uint32_t* ancestor) {
    uint32_t own = parent[run];
    uint32_t next = parent[own];
#pragma unroll 1
    for (uint32_t step = 1; step < kSteps && next != own; ++step) {
      own = next;
      next = parent[own];
    }
    *ancestor = next;
    return next != own;
  };
  const auto store = [&](uint32_t run, uint32_t ancestor) { parent[run] = ancestor; };
  while (read_then_write(n_runs, climb, store)) {
  }
}

/// Joins two trees while others do. What a node was linked to is not lost: it is united in its place.
__device__ inline void unite(uint32_t* parent, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t later = max(a, b);
    const uint32_t earlier = min(a, b);
    const uint32_t old = atomicMin(parent + later, earlier);
    if (old == later) {
      return;  // it was a root
    }
    a = old;
    b = earlier;
  }
}

/// Unites the marked links, by the roots at their ends. Returns whether there are any.
template <bool kValues>
__device__ bool unite_links(Connectivity connectivity, Tile<kValues>& tile, const uint32_t* is_further) {
  uint32_t* parent = tile.parent();
  const auto roots_of_link = [&](uint32_t run, uint32_t* roots) {
    *roots = 0;
    if ((is_further[run / kWordBits] >> run % kWordBits & 1) == 0) {
      return false;
    }
    // The run below begins at an earlier one, and so lies below the pixel before this one.
    const uint32_t before = tile.begin[run] - 1;
    const uint32_t below = tile.runs_up_to(before / kTileWidth + 1, before % kTileWidth) - 1;
    *roots = parent[run] << 16 | parent[below];
    return true;
  };
  const auto unite_roots = [&](uint32_t, uint32_t roots) { unite(parent, roots >> 16, roots & 0xffff); };
  return read_then_write(tile.n_runs, roots_of_link, unite_roots);
}

/// From parents to runs with roots; marks the roots.
template <bool kValues>
__device__ void mark_roots(Tile<kValues>& tile) {
  for (uint32_t run = threadIdx.x; run / kWarpSize * kWarpSize < tile.n_runs; run += blockDim.x) {
    bool is_root = false;
    if (run < tile.n_runs) {
      const uint32_t root = tile.parent()[run];
      is_root = root == run;
      tile.run[run] = TileRun::make(tile.begin[run], root);
    }
    const uint32_t roots = __ballot_sync(kAllLanes, is_root);
    if (run % kWarpSize == 0) {
      tile.is_root[run / kWordBits] = roots;
    }
  }
}

/// Marks the roots of components at borders that the tile shares with others.
template <bool kValues>
__device__ void mark_shared(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  for_each_border_pixel(tiles, place, [&](uint32_t row, uint32_t column, uint16_t*) {
    // A run along a border is met where it begins, at least.
    if (tile.is_start(row, column) || (column == kTileWidth - 1 && tile.is_foreground(row, column))) {
      const uint32_t root = tile.run[tile.runs_up_to(row, column) - 1].root();
      atomicOr(tile.is_shared + root / kWordBits, 1u << root % kWordBits);
    }
  });
}

/// Numbers components and slots in the order of their roots.
template <bool kValues>
__device__ void number_roots(Tile<kValues>& tile) {
  const uint32_t word = threadIdx.x;
  const bool has_word = word * kWordBits < tile.n_runs;
  const uint32_t roots = has_word ? __popc(tile.is_root[word]) : 0;
  const uint32_t slots = has_word ? __popc(tile.is_shared[word]) : 0;
  uint32_t total = 0;
  const uint32_t base = block_exclusive_sum(roots | slots << 16, tile.warp_sums, &total);
  if (word < kMaxRunWords) {
    tile.root_base[word] = static_cast<uint16_t>(base);
    tile.tables.slot_base[word] = static_cast<uint16_t>(base >> 16);
  }
  if (word == 0) {
    tile.n_components = total & 0xffff;
    tile.n_slots = total >> 16;
  }
}

/// Finds the components of the block's tile.
template <bool kValues>
__device__ void label_tile(const Tiles& tiles, const Place& place, Connectivity connectivity,
                           Tile<kValues>& tile) {
  pack_tile(tiles, place, tile);
  __syncthreads();
  list_runs(tiles, place, tile);
  __syncthreads();
  uint32_t* is_further = tile.is_root;  // roots are marked later
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    link_run(connectivity, run, tile, is_further);
  }
  __syncthreads();
  point_at_roots(tile.n_runs, tile.parent());
  if (unite_links(connectivity, tile, is_further)) {
    point_at_roots(tile.n_runs, tile.parent());
  }
  mark_roots(tile);
  __syncthreads();
  mark_shared(tiles, place, tile);
  __syncthreads();
  number_roots(tile);
  __syncthreads();
}

}  // namespace ccl::device::runs
