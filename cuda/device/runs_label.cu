// SPDX-License-Identifier: LGPL-2.1-or-later
/// First step of the run-based pipeline: a block packs a tile to bits, lists its runs, and finds the tile's
/// components.
///
/// The runs of the row above that touch a run have consecutive ids, and two rank queries on the words of run
/// starts tell the first and the last of them. The first becomes the run's parent, with no atomics, which
/// makes a forest that is flattened by pointer doubling. Any further one is a link to unite. Links between
/// two rows do not cross, so a run is a further link of one run below it at most, and that is where it is
/// noted.
#include "device/runs.h"
#include "device/runs_pack.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kMaxChunks = kMaxRows * kRowChunks;
constexpr uint32_t kMaxThreads = kMaxChunks;  // one to a chunk
constexpr uint16_t kNoRun = 0xffff;

/// What a block knows of its tile.
template <bool kValues>
struct Tile {
  uint16_t bits[kMaxChunks];
  uint16_t starts[kMaxChunks];
  uint16_t base[kMaxChunks];  ///< runs that begin before the chunk
  uint16_t begin[kMaxRuns];   ///< per run: kTileWidth × row + first column
  uint8_t last[kMaxRuns];     ///< per run: last column
  uint8_t value[kValues ? kMaxRuns : 1];
  uint16_t linked_below[kMaxRuns];  ///< per run: the run below that has it as a further link, or kNoRun
  uint32_t parent[kMaxRuns];
  uint32_t is_root[kMaxRunWords];
  uint16_t root_base[kMaxRunWords];  ///< roots before the word
  uint32_t is_shared[kMaxRunWords];  ///< a bit per component
  uint16_t slot_base[kMaxRunWords];  ///< shared components before the word
  uint32_t warp_sums[kWarpSize];
  uint32_t n_runs;
  uint32_t n_components;
  uint32_t n_slots;

  // Once the links are united, a run's component is noted in their place.
  __device__ uint16_t* component() { return linked_below; }

  /// Runs of a row that begin at or before a column, and all of the rows above.
  __device__ uint32_t runs_up_to(uint32_t row, uint32_t column) const {
    const uint32_t chunk = row * kRowChunks + column / kChunk;
    return base[chunk] + __popc(starts[chunk] & bits_up_to(column % kChunk));
  }
  __device__ bool is_foreground(uint32_t row, uint32_t column) const {
    return (bits[row * kRowChunks + column / kChunk] >> column % kChunk & 1) != 0;
  }
  /// Components whose first run comes before `run`.
  __device__ uint32_t components_before(uint32_t run) const {
    const uint32_t word = run / kWordBits;
    return run < n_runs ? root_base[word] + __popc(is_root[word] & bits_below(run % kWordBits))
                        : n_components;
  }
  __device__ uint32_t slot_of_component(uint32_t component) const {
    const uint32_t word = component / kWordBits;
    return slot_base[word] + __popc(is_shared[word] & bits_below(component % kWordBits));
  }
};

/// What the runs of a thread point at, in registers: those from its index on, a block's width apart.
template <bool kValues>
struct OwnRuns {
  static constexpr uint32_t kCount = (kValues ? 2 : 1) * kMaxRuns / kMaxThreads;

  uint32_t parent[kCount];

  /// Calls visit(run, i) for each, which is parent[i].
  template <typename Visit>
  __device__ void for_each(uint32_t n_runs, Visit visit) {
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i) {
      if (i * blockDim.x >= n_runs) {
        break;  // most tiles have few
      }
      if (const uint32_t run = threadIdx.x + i * blockDim.x; run < n_runs) {
        visit(run, i);
      }
    }
  }
};

/// Where the block's tile lies.
struct Place {
  uint32_t index, x, y;
};

__device__ Place place_of_block(const Tiles& tiles) {
  return {blockIdx.y * tiles.columns + blockIdx.x, blockIdx.x * kTileWidth, blockIdx.y * tiles.rows};
}

/// Lists the runs that begin or end in the thread's chunk.
template <bool kValues>
__device__ void list_runs(const Tiles& tiles, const Place& place, const Chunk& chunk, Tile<kValues>& tile) {
  const uint32_t first_pixel = threadIdx.x * kChunk;
  const uint32_t row = threadIdx.x / kRowChunks;
  const uint32_t column = first_pixel % kTileWidth;
  const uint32_t next_joins = __shfl_down_sync(kAllLanes, chunk.joins, 1) & 1;
  const bool is_row_end = threadIdx.x % kRowChunks == kRowChunks - 1;
  const uint32_t ends = chunk.bits & ~(chunk.joins >> 1 | (is_row_end ? 0 : next_joins) << (kChunk - 1));
  const uint32_t starts = chunk.bits & ~chunk.joins;
  uint32_t n_runs = 0;
  uint32_t run = block_exclusive_sum(__popc(starts), tile.warp_sums, &n_runs);
  tile.bits[threadIdx.x] = static_cast<uint16_t>(chunk.bits);
  tile.starts[threadIdx.x] = static_cast<uint16_t>(starts);
  tile.base[threadIdx.x] = static_cast<uint16_t>(run);
  if (threadIdx.x == 0) {
    tile.n_runs = n_runs;
  }
  uint32_t ended = run - (chunk.joins & 1);  // the run that the chunk begins in has begun before
  for (uint32_t rest = ends; rest != 0; rest &= rest - 1) {
    tile.last[ended++] = static_cast<uint8_t>(column + __ffs(static_cast<int>(rest)) - 1);
  }
  for (uint32_t rest = starts; rest != 0; rest &= rest - 1, ++run) {
    const uint32_t bit = __ffs(static_cast<int>(rest)) - 1;
    tile.begin[run] = static_cast<uint16_t>(first_pixel + bit);
    tile.linked_below[run] = kNoRun;
    if constexpr (kValues) {
      tile.value[run] = tiles.frame.segment(place.x + column + bit, place.y + row);
    }
  }
}

/// Makes the first run above that touches `run` its parent, and notes the others.
template <Connectivity kConnectivity, bool kValues>
__device__ uint32_t link_run(uint32_t run, Tile<kValues>& tile) {
  constexpr uint32_t kReach = kConnectivity == Connectivity::k8 ? 1 : 0;
  const uint32_t row = tile.begin[run] / kTileWidth;
  uint32_t parent = run;
  if (row > 0) {
    const uint32_t first = max(tile.begin[run] % kTileWidth, kReach) - kReach;
    const uint32_t last = min(tile.last[run] + kReach, kTileWidth - 1);
    // A run that begins at or before `first` touches if it reaches that far.
    uint32_t above = tile.runs_up_to(row - 1, first) - (tile.is_foreground(row - 1, first) ? 1 : 0);
    const uint32_t end_above = tile.runs_up_to(row - 1, last);
    for (; above < end_above; ++above) {
      if (kValues && tile.value[above] != tile.value[run]) {
        continue;
      }
      if (parent == run) {
        parent = above;
      } else {
        tile.linked_below[above] = static_cast<uint16_t>(run);
      }
    }
  }
  return parent;
}

/// Points every run at its root. The whole block calls it. A round reads what the last one wrote, and takes
/// three steps at once; the last round is the one that meets roots only.
template <bool kValues>
__device__ void double_pointers(Tile<kValues>& tile, OwnRuns<kValues>& own) {
  bool goes_on = true;
  while (goes_on) {
    bool is_below_root = false;
    own.for_each(tile.n_runs, [&](uint32_t, uint32_t i) {
      const uint32_t grandparent = tile.parent[own.parent[i]];
      own.parent[i] = tile.parent[grandparent];
      is_below_root |= own.parent[i] != grandparent;
    });
    goes_on = __syncthreads_or(is_below_root);
    own.for_each(tile.n_runs, [&](uint32_t run, uint32_t i) { tile.parent[run] = own.parent[i]; });
    __syncthreads();
  }
}

/// Unites the trees of noted links, in turns: the later root is linked to the earlier one, and all runs are
/// pointed at their roots again. Of two links that want the same root the earlier one wins; the other still
/// joins different roots in the next turn. Every root but the local minima is linked in each turn, so there
/// are few.
template <bool kValues>
__device__ void unite_links(Tile<kValues>& tile) {
  OwnRuns<kValues> own;
  own.for_each(tile.n_runs, [&](uint32_t run, uint32_t i) { own.parent[i] = tile.parent[run]; });
  for (;;) {
    double_pointers(tile, own);
    OwnRuns<kValues> other;  // the root of what each is linked to
    bool is_open = false;
    own.for_each(tile.n_runs, [&](uint32_t run, uint32_t i) {
      const uint32_t below = tile.linked_below[run];
      other.parent[i] = below != kNoRun ? tile.parent[below] : own.parent[i];
      is_open |= other.parent[i] != own.parent[i];
    });
    if (!__syncthreads_or(is_open)) {
      return;
    }
    own.for_each(tile.n_runs, [&](uint32_t, uint32_t i) {
      const uint32_t a = own.parent[i];
      const uint32_t b = other.parent[i];
      if (a != b) {
        atomicMin(tile.parent + max(a, b), min(a, b));
      }
    });
    __syncthreads();
  }
}

/// Marks the roots, and numbers the components by them.
template <bool kValues>
__device__ void number_components(Tile<kValues>& tile) {
  for (uint32_t run = threadIdx.x; run / kWarpSize * kWarpSize < tile.n_runs; run += blockDim.x) {
    const uint32_t roots = __ballot_sync(kAllLanes, run < tile.n_runs && tile.parent[run] == run);
    if (run % kWarpSize == 0) {
      tile.is_root[run / kWordBits] = roots;
    }
  }
  __syncthreads();
  const uint32_t word = threadIdx.x;
  const uint32_t n_words = (tile.n_runs + kWordBits - 1) / kWordBits;
  uint32_t n_components = 0;
  const uint32_t base =
      block_exclusive_sum(word < n_words ? __popc(tile.is_root[word]) : 0, tile.warp_sums, &n_components);
  if (word < kMaxRunWords) {
    tile.root_base[word] = static_cast<uint16_t>(base);
  }
  if (word == 0) {
    tile.n_components = n_components;
  }
}

/// Whether a run lies on a border that the tile shares with another.
__device__ bool is_at_border(const Tiles& tiles, uint32_t row, uint32_t first, uint32_t last) {
  return (row == 0 && blockIdx.y > 0) || (row == tiles.rows - 1 && blockIdx.y + 1 < tiles.strips) ||
         (first == 0 && blockIdx.x > 0) || (last == kTileWidth - 1 && blockIdx.x + 1 < tiles.columns);
}

/// Writes the runs, and gives a slot to each component at a border.
template <bool kValues>
__device__ void write_runs(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  TileRun* runs = tiles.run + size_t{place.index} * tiles.max_runs;
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    const uint32_t component = tile.components_before(tile.parent[run]);
    const uint32_t row = tile.begin[run] / kTileWidth;
    const uint32_t first = tile.begin[run] % kTileWidth;
    const uint32_t last = tile.last[run];
    tile.component()[run] = static_cast<uint16_t>(component);
    runs[run] = TileRun::make(row, first, last, component);
    if (is_at_border(tiles, row, first, last)) {
      atomicOr(tile.is_shared + component / kWordBits, 1u << component % kWordBits);
    }
  }
  __syncthreads();
  const uint32_t word = threadIdx.x;
  uint32_t n_slots = 0;
  const uint32_t base =
      block_exclusive_sum(word < kMaxRunWords ? __popc(tile.is_shared[word]) : 0, tile.warp_sums, &n_slots);
  if (word < kMaxRunWords) {
    tile.slot_base[word] = static_cast<uint16_t>(base);
  }
  if (word == 0) {
    tile.n_slots = n_slots;
  }
}

/// Fills the slots: each is a tree of its own as yet.
template <bool kValues>
__device__ void write_slots(const Tiles& tiles, const Place& place, const Tile<kValues>& tile) {
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    if (tile.parent[run] != run) {
      continue;
    }
    const uint32_t component = tile.linked_below[run];
    if ((tile.is_shared[component / kWordBits] >> component % kWordBits & 1) == 0) {
      continue;
    }
    const uint32_t slot = place.index * tiles.max_slots + tile.slot_of_component(component);
    const uint32_t x = place.x + tile.begin[run] % kTileWidth;
    const uint32_t y = place.y + tile.begin[run] / kTileWidth;
    tiles.parent[slot] = make_parent(y * tiles.frame.width + x, slot);
    tiles.slot_component[slot] = static_cast<uint16_t>(component);
    tiles.slot_run[slot] = static_cast<uint16_t>(run);
    tiles.slot_sums[slot] = SlotSums{0, Sums{}};
  }
}

/// Writes the slot of the border pixel (row, column), if it is foreground.
template <bool kValues>
__device__ void write_border_pixel(const Tile<kValues>& tile, uint32_t row, uint32_t column, uint16_t* slot) {
  if (tile.is_foreground(row, column)) {
    const uint32_t component = tile.linked_below[tile.runs_up_to(row, column) - 1];
    *slot = static_cast<uint16_t>(tile.slot_of_component(component));
  }
}

template <bool kValues>
__device__ void write_borders(const Tiles& tiles, const Place& place, const Tile<kValues>& tile) {
  const size_t row_of_slots = size_t{blockIdx.y} * tiles.columns * kTileWidth + place.x;
  const size_t column_of_slots = size_t{blockIdx.x} * tiles.strips * tiles.rows + place.y;
  for (uint32_t i = threadIdx.x; i < 2 * (kTileWidth + tiles.rows); i += blockDim.x) {
    if (i < kTileWidth) {
      if (blockIdx.y > 0) {
        write_border_pixel(tile, 0, i, tiles.top + row_of_slots + i);
      }
    } else if (i < 2 * kTileWidth) {
      if (blockIdx.y + 1 < tiles.strips) {
        write_border_pixel(tile, tiles.rows - 1, i - kTileWidth,
                           tiles.bottom + row_of_slots + i - kTileWidth);
      }
    } else if (const uint32_t row = i - 2 * kTileWidth; row < tiles.rows) {
      if (blockIdx.x > 0) {
        write_border_pixel(tile, row, 0, tiles.left + column_of_slots + row);
      }
    } else if (blockIdx.x + 1 < tiles.columns) {
      write_border_pixel(tile, row - tiles.rows, kTileWidth - 1,
                         tiles.right + column_of_slots + row - tiles.rows);
    }
  }
}

/// Writes what is known per word, per row and of the whole tile.
template <bool kValues>
__device__ void write_tile(const Tiles& tiles, const Place& place, const Tile<kValues>& tile) {
  const uint32_t n_words = tiles.rows * kRowWords;
  const auto* bits = reinterpret_cast<const uint32_t*>(tile.bits);
  const auto* starts = reinterpret_cast<const uint32_t*>(tile.starts);
  for (uint32_t word = threadIdx.x; word < n_words; word += blockDim.x) {
    tiles.bits[place.index * n_words + word] = bits[word];
    tiles.starts[place.index * n_words + word] = starts[word];
    tiles.word_base[place.index * n_words + word] = tile.base[word * (kWordBits / kChunk)];
  }
  for (uint32_t word = threadIdx.x; word * kWordBits < tile.n_runs; word += blockDim.x) {
    tiles.is_first[tiles.run_words(place.index) + word] = tile.is_root[word];
    tiles.is_shared[tiles.run_words(place.index) + word] = tile.is_shared[word];
  }
  for (uint32_t row = threadIdx.x; row < tiles.rows; row += blockDim.x) {
    const uint32_t begin = tile.base[row * kRowChunks];
    const uint32_t end = row + 1 < tiles.rows ? tile.base[(row + 1) * kRowChunks] : tile.n_runs;
    tiles.row_counts[place.index * tiles.rows + row] =
        static_cast<uint8_t>(tile.components_before(end) - tile.components_before(begin));
  }
  if (threadIdx.x == 0) {
    tiles.head[place.index] = {tile.n_runs, tile.n_components, tile.n_slots};
    atomicAdd(tiles.strip_counts + blockIdx.y, tile.n_components);
  }
}

/// Makes ready what the frame's components will be counted and marked in.
__device__ void reset_counts(const Tiles& tiles, const Emitter& emitter) {
  if (emitter.emission != Emission::kAppended) {
    return;
  }
  const uint32_t n_threads = gridDim.x * gridDim.y * blockDim.x;
  const uint32_t thread = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  for (uint32_t word = thread; word <= emitter.max_labels / kWordBits; word += n_threads) {
    emitter.is_left[word] = 0;
  }
  if (thread == 0) {
    emitter.counts->n_components = 0;
  }
}

template <Connectivity kConnectivity, bool kValues>
__device__ void find_components(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    tile.parent[run] = link_run<kConnectivity>(run, tile);
  }
  __syncthreads();
  unite_links(tile);
  number_components(tile);
  __syncthreads();
  write_runs(tiles, place, tile);
  __syncthreads();
  write_slots(tiles, place, tile);
  write_borders(tiles, place, tile);
}

template <Connectivity kConnectivity, bool kValues>
__global__ void __launch_bounds__(kMaxThreads, kValues ? 2 : 4) label(Tiles tiles, Emitter emitter) {
  __shared__ Tile<kValues> tile;
  let_next_kernel_start();
  const Place place = place_of_block(tiles);
  for (uint32_t word = threadIdx.x; word < kMaxRunWords; word += blockDim.x) {
    tile.is_shared[word] = 0;
  }
  if (threadIdx.x == 0) {
    tile.n_components = 0;
    tile.n_slots = 0;
  }
  const uint32_t x = place.x + threadIdx.x % kRowChunks * kChunk;
  const uint32_t y = place.y + threadIdx.x / kRowChunks;
  const Chunk chunk = pack_chunk<kValues>(tiles, x, y);
  list_runs(tiles, place, chunk, tile);
  __syncthreads();
  if (tile.n_runs > 0) {
    find_components<kConnectivity>(tiles, place, tile);
  }
  write_tile(tiles, place, tile);
  reset_counts(tiles, emitter);
}

}  // namespace

Status label_tiles(const Tiles& tiles, Connectivity connectivity, const Emitter& emitter,
                   const EarlyLaunch& launch) {
  const bool has_values = tiles.frame.rule.foreground == Foreground::kValues;
  const auto kernel = connectivity == Connectivity::k8
                          ? (has_values ? label<Connectivity::k8, true> : label<Connectivity::k8, false>)
                          : (has_values ? label<Connectivity::k4, true> : label<Connectivity::k4, false>);
  return launch("label", kernel, tiles, emitter);
}

}  // namespace ccl::device::runs
