// SPDX-License-Identifier: LGPL-2.1-or-later
/// Third step of the run-based pipeline: canonical labels, sums, and the records of components that lie in
/// one tile.
///
/// Runs have sums in closed form. A component of one run needs no more; others are added up in shared memory,
/// and those that share a slot go on to their root's sums in device memory. A label is the number of
/// components that begin before: in strips above, in rows above of this strip, in the same row of tiles to
/// the left, and in the same row of the tile; only the last count is made here, from a bit per run.
#include "device/runs.h"
#include "device/runs_emit.cuh"
#include "device/runs_forest.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kThreads = 512;
constexpr uint32_t kRowsPerWord = 4;  // of row counts
constexpr uint32_t kMaxCountWords = kMaxRows / kRowsPerWord;
constexpr uint16_t kOneRun = 0xffff;  // as far as known
constexpr uint16_t kSeveralRuns = 0xfffe;
constexpr uint32_t kMaxSums = kMaxRuns / 2;  // components of several runs
/// So many lanes of a warp with the same component are added up among them first.
constexpr uint32_t kManyLanes = 4;

/// Sums over pixels of one tile, in its coordinates. Each fits 32 bits, and some share a word.
struct TileSums {
  enum Word : uint32_t {
    kAreaAndY,  ///< area in the lower bits, Σy in the upper ones
    kX,
    kXMin,
    kXMax,
    kYMax,
    kBasicWords,
    kXX = kBasicWords,
    kXY,
    kYY,
    kPerimeterAndEuler,  ///< perimeter in the lower half, Euler number in the upper one
    kAllWords,
  };
  static constexpr uint32_t kAreaBits = 14;
  static_assert(kTileWidth * kMaxRows < 1u << kAreaBits);
  static_assert(uint64_t{kTileWidth} * kMaxRows * (kMaxRows - 1) / 2 < uint64_t{1} << (32 - kAreaBits));
};

/// The words that are summed up; those between kXMin and kYMax are extremes.
constexpr bool is_sum(uint32_t word) {
  return word <= TileSums::kX || word >= TileSums::kBasicWords;
}

/// What a block knows of its tile, besides the arrays in dynamic shared memory.
struct Tile {
  uint32_t x0, y0;
  uint32_t index;
  TileHead head;
  const TileRun* runs;
  // Row counts of the strip, two rows to a word: [0] even and [1] odd ones of each word of four.
  uint32_t in_strip[2][kMaxCountWords];
  uint32_t to_the_left[2][kMaxCountWords];
  uint32_t in_tile[2][kMaxCountWords];
  uint32_t strip_base;          ///< components that begin in the strips above
  uint32_t row_base[kMaxRows];  ///< a label is row_base + the tile's components up to this one
  uint32_t is_first[kMaxRunWords];
  uint16_t first_base[kMaxRunWords];
  uint32_t is_shared[kMaxRunWords];  ///< a bit per component
  uint32_t warp_sums[kWarpSize];
  uint32_t n_sums;

  __device__ bool is_component_shared(uint32_t component) const {
    return (is_shared[component / kWordBits] >> component % kWordBits & 1) != 0;
  }
  /// The canonical label of the component whose first run this is.
  __device__ uint32_t label_of(uint32_t run, uint32_t row) const {
    const uint32_t word = run / kWordBits;
    return row_base[row] + first_base[word] + __popc(is_first[word] & bits_up_to(run % kWordBits));
  }
};

/// Dynamic shared memory.
template <uint32_t kWords>
struct Arrays {
  uint32_t entry[kMaxRuns];       ///< per component: its slot, else its ink
  uint16_t sums_index[kMaxRuns];  ///< per component: which of `sums`, or kOneRun
  uint32_t sums[kMaxSums][kWords];
};

// ------------------------------------------------------------------------------------------- numbering

/// Adds up the row counts of the strip's tiles. A word's four bytes become two words of two halves, which
/// hold the sums over any row of tiles.
__device__ void add_row_counts(const Tiles& tiles, Tile& tile) {
  constexpr uint32_t kHalves = 0x00ff00ff;
  const uint32_t n_words = tiles.rows / kRowsPerWord;
  const uint32_t word = threadIdx.x % n_words;
  const auto* counts = reinterpret_cast<const uint32_t*>(tiles.row_counts);
  uint32_t total[2] = {};
  uint32_t left[2] = {};
  for (uint32_t column = threadIdx.x / n_words; column < tiles.columns; column += kThreads / n_words) {
    const uint32_t rows = counts[(blockIdx.y * tiles.columns + column) * n_words + word];
    for (uint32_t odd = 0; odd < 2; ++odd) {
      const uint32_t halves = rows >> (8 * odd) & kHalves;
      total[odd] += halves;
      left[odd] += column < blockIdx.x ? halves : 0;
      if (column == blockIdx.x) {
        tile.in_tile[odd][word] = halves;
      }
    }
  }
  for (uint32_t odd = 0; odd < 2; ++odd) {
    if (total[odd] != 0) {
      atomicAdd(&tile.in_strip[odd][word], total[odd]);
      atomicAdd(&tile.to_the_left[odd][word], left[odd]);
    }
  }
}

__device__ uint32_t count_of_row(const uint32_t (&counts)[2][kMaxCountWords], uint32_t row) {
  return counts[row % 2][row / kRowsPerWord] >> (row / 2 % 2 * 16) & 0xffff;
}

/// One warp: the components that begin in strips above, and in the frame.
__device__ void add_strip_counts(const Tiles& tiles, const Emitter& emitter, Tile& tile) {
  uint32_t above = 0;
  uint32_t all = 0;
  for (uint32_t strip = threadIdx.x; strip < tiles.strips; strip += kWarpSize) {
    const uint32_t n = tiles.strip_counts[strip];
    above += strip < blockIdx.y ? n : 0;
    all += n;
  }
  above = warp_sum(kAllLanes, above);
  all = warp_sum(kAllLanes, all);
  if (threadIdx.x != 0) {
    return;
  }
  tile.strip_base = above;
  if (blockIdx.x == 0 && blockIdx.y == 0 && emitter.emission != Emission::kNone) {
    emitter.counts->n_labels = all;
    if (emitter.emission == Emission::kByLabel) {
      emitter.counts->n_components = all;
    }
  }
}

/// One warp, two rows to a lane: what a row's labels begin with. The tile's own components are left out,
/// because its runs are counted from the tile's first one on.
__device__ void number_rows(Tile& tile) {
  const uint32_t row = 2 * threadIdx.x;
  uint32_t others[2];
  for (uint32_t i = 0; i < 2; ++i) {
    others[i] = count_of_row(tile.in_strip, row + i) - count_of_row(tile.in_tile, row + i);
  }
  uint32_t inclusive = others[0] + others[1];
  for (uint32_t step = 1; step < kWarpSize; step *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, inclusive, step);
    inclusive += threadIdx.x >= step ? before : 0;
  }
  const uint32_t above = tile.strip_base + inclusive - others[0] - others[1];
  tile.row_base[row] = above + count_of_row(tile.to_the_left, row);
  tile.row_base[row + 1] = above + others[0] + count_of_row(tile.to_the_left, row + 1);
}

/// The prefix sums of the tile's components that are the frame's. The whole block calls it.
__device__ void rank_first_runs(const Tiles& tiles, Tile& tile) {
  const uint32_t word = threadIdx.x;
  const bool has_runs = word * kWordBits < tile.head.n_runs;
  const uint32_t bits = has_runs ? tiles.is_first[tiles.run_words(tile.index) + word] : 0;
  uint32_t total = 0;
  const uint32_t base = block_exclusive_sum(__popc(bits), tile.warp_sums, &total);
  if (has_runs) {
    tile.is_first[word] = bits;
    tile.first_base[word] = static_cast<uint16_t>(base);
  }
}

// ------------------------------------------------------------------------------------------- measuring

/// The sums of a run but for its perimeter and Euler number.
template <uint32_t kWords>
__device__ void sums_of_run(TileRun run, uint32_t (&words)[kWords]) {
  const uint32_t x = run.first();
  const uint32_t y = run.row();
  const uint32_t n = run.last() - x + 1;
  const uint32_t steps = n * (n - 1) / 2;  // Σ k for k < n
  const uint32_t sum_x = n * x + steps;
  words[TileSums::kAreaAndY] = n | (n * y) << TileSums::kAreaBits;
  words[TileSums::kX] = sum_x;
  words[TileSums::kXMin] = x;
  words[TileSums::kXMax] = run.last();
  words[TileSums::kYMax] = y;
  if constexpr (kWords == TileSums::kAllWords) {
    const uint32_t squares = n * (n - 1) * (2 * n - 1) / 6;  // Σ k² for k < n
    words[TileSums::kXX] = n * x * x + 2 * x * steps + squares;
    words[TileSums::kXY] = sum_x * y;
    words[TileSums::kYY] = n * y * y;
  }
}

/// 32 foreground bits of the frame's row y, from column 32 × `word` on; none outside the frame. Wrapping
/// around, −1 is far outside.
__device__ uint32_t frame_word(const Tiles& tiles, uint32_t word, uint32_t y) {
  if (word >= tiles.columns * kRowWords || y >= tiles.strips * tiles.rows) {
    return 0;
  }
  const uint32_t tile = y / tiles.rows * tiles.columns + word / kRowWords;
  return tiles.bits[(tile * tiles.rows + y % tiles.rows) * kRowWords + word % kRowWords];
}

__device__ bool frame_bit(const Tiles& tiles, uint32_t x, uint32_t y) {
  return (frame_word(tiles, x / kWordBits, y) >> x % kWordBits & 1) != 0;
}

/// Perimeter and Euler number of the pixels x .. last of row y, all foreground of a binary frame: what
/// pixel_shape() sums up to, a word at a time. Only the run's ends can have corners.
__device__ PixelShape shape_of_run(const Tiles& tiles, Connectivity connectivity, uint32_t x, uint32_t last,
                                   uint32_t y) {
  const bool left = frame_bit(tiles, x - 1, y);
  const bool right = frame_bit(tiles, last + 1, y);
  bool up_left = frame_bit(tiles, x - 1, y - 1);
  const bool is_up_left = up_left;
  uint32_t pairs = 0;
  uint32_t windows = 0;
  for (uint32_t word = x / kWordBits; word <= last / kWordBits; ++word) {
    const uint32_t from = word == x / kWordBits ? x % kWordBits : 0;
    const uint32_t to = word == last / kWordBits ? last % kWordBits : kWordBits - 1;
    const uint32_t up = frame_word(tiles, word, y - 1) & (bits_up_to(to) & ~bits_below(from));
    const uint32_t carry = static_cast<uint32_t>(word == x / kWordBits ? left && up_left : up_left) << from;
    pairs += __popc(up);
    windows += __popc(up & (up << 1 | carry));
    up_left = up >> (kWordBits - 1) != 0;
  }
  PixelShape shape{};
  shape.perimeter = 2 * (last - x + 1) + !left + !right - 2 * pairs;
  shape.euler = static_cast<int32_t>(!left - pairs + windows);
  if (connectivity == Connectivity::k8) {
    shape.euler -= is_up_left && !left && !frame_bit(tiles, x, y - 1);
    shape.euler -= !right && frame_bit(tiles, last + 1, y - 1) && !frame_bit(tiles, last, y - 1);
  }
  return shape;
}

/// The same for a run of a value, a pixel at a time.
__device__ PixelShape shape_of_value_run(const SegmentSource& frame, Connectivity connectivity, uint32_t x,
                                         uint32_t last, uint32_t y) {
  const uint8_t own = frame.segment(x, y);
  const auto is_own = [&](uint32_t u, uint32_t v) { return frame.segment_or_background(u, v) == own; };
  PixelShape sum{};
  for (; x <= last; ++x) {
    const PixelShape shape = pixel_shape({.left = is_own(x - 1, y),
                                          .right = is_own(x + 1, y),
                                          .up = is_own(x, y - 1),
                                          .down = is_own(x, y + 1),
                                          .up_left = is_own(x - 1, y - 1),
                                          .up_right = is_own(x + 1, y - 1)},
                                         connectivity);
    sum.perimeter += shape.perimeter;
    sum.euler += shape.euler;
  }
  return sum;
}

template <bool kValues, uint32_t kWords>
__device__ void measure_run(const Tiles& tiles, const Emitter& emitter, const Tile& tile, TileRun run,
                            uint32_t (&words)[kWords]) {
  sums_of_run(run, words);
  if constexpr (kWords == TileSums::kAllWords) {
    const Connectivity connectivity = emitter.settings.connectivity;
    const uint32_t x = tile.x0 + run.first();
    const uint32_t last = tile.x0 + run.last();
    const uint32_t y = tile.y0 + run.row();
    const PixelShape shape = kValues ? shape_of_value_run(tiles.frame, connectivity, x, last, y)
                                     : shape_of_run(tiles, connectivity, x, last, y);
    words[TileSums::kPerimeterAndEuler] = shape.perimeter + (static_cast<uint32_t>(shape.euler) << 16);
  }
}

/// Adds up the words over `lanes`, all of which must call it.
template <uint32_t kWords>
__device__ void reduce(uint32_t lanes, uint32_t (&words)[kWords]) {
  for (uint32_t i = 0; i < kWords; ++i) {
    words[i] = is_sum(i)              ? warp_sum(lanes, words[i])
               : i == TileSums::kXMin ? warp_min(lanes, words[i])
                                      : warp_max(lanes, words[i]);
  }
}

/// Adds to sums in shared memory. Extremes seldom change, which a look tells.
template <uint32_t kWords>
__device__ void add(const uint32_t (&words)[kWords], uint32_t* sums) {
  for (uint32_t i = 0; i < kWords; ++i) {
    if (is_sum(i)) {
      atomicAdd(sums + i, words[i]);
    } else if (i == TileSums::kXMin) {
      if (words[i] < *static_cast<volatile uint32_t*>(sums + i)) {
        atomicMin(sums + i, words[i]);
      }
    } else if (words[i] > *static_cast<volatile uint32_t*>(sums + i)) {
      atomicMax(sums + i, words[i]);
    }
  }
}

/// Adds up the components of several runs.
template <bool kValues, uint32_t kWords>
__device__ void add_runs(const Tiles& tiles, const Emitter& emitter, const Tile& tile,
                         Arrays<kWords>& arrays) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < tile.head.n_runs; i += kThreads) {
    TileRun run{};
    uint32_t index = kOneRun;
    if (i < tile.head.n_runs) {
      run = tile.runs[i];
      index = arrays.sums_index[run.component()];
    }
    const uint32_t several = __ballot_sync(kAllLanes, index != kOneRun);
    if (several == 0) {
      continue;
    }
    const uint32_t leader = __ffs(static_cast<int>(several)) - 1;
    const uint32_t same = __ballot_sync(kAllLanes, index == __shfl_sync(kAllLanes, index, leader));
    if (index == kOneRun) {
      continue;
    }
    uint32_t words[kWords];
    measure_run<kValues>(tiles, emitter, tile, run, words);
    const bool is_reduced = (same >> lane & 1) != 0 && __popc(same) >= kManyLanes;
    if (is_reduced) {
      reduce(same, words);
    }
    if (!is_reduced || lane == leader) {
      add(words, arrays.sums[index]);
    }
  }
}

/// The sums of a component that `run` is the first one of.
template <bool kValues, uint32_t kWords>
__device__ void sums_of_component(const Tiles& tiles, const Emitter& emitter, const Tile& tile,
                                  const Arrays<kWords>& arrays, TileRun run, uint32_t (&words)[kWords]) {
  const uint32_t index = arrays.sums_index[run.component()];
  if (index == kOneRun) {
    measure_run<kValues>(tiles, emitter, tile, run, words);
    return;
  }
  for (uint32_t i = 0; i < kWords; ++i) {
    words[i] = arrays.sums[index][i];
  }
}

/// From the tile's coordinates to the frame's.
template <uint32_t kWords>
__device__ Sums sums_in_frame(const Tile& tile, uint32_t y_min, const uint32_t (&words)[kWords]) {
  const uint64_t n = words[TileSums::kAreaAndY] % (1u << TileSums::kAreaBits);
  const uint64_t y = words[TileSums::kAreaAndY] >> TileSums::kAreaBits;
  const uint64_t x = words[TileSums::kX];
  const uint64_t x0 = tile.x0;
  const uint64_t y0 = tile.y0;
  Sums sums;
  sums.x_min = tile.x0 + words[TileSums::kXMin];
  sums.y_min = tile.y0 + y_min;
  sums.x_max = tile.x0 + words[TileSums::kXMax];
  sums.y_max = tile.y0 + words[TileSums::kYMax];
  sums.x = n * x0 + x;
  sums.y = n * y0 + y;
  if constexpr (kWords == TileSums::kAllWords) {
    sums.xx = n * x0 * x0 + 2 * x0 * x + words[TileSums::kXX];
    sums.xy = n * x0 * y0 + x0 * y + y0 * x + words[TileSums::kXY];
    sums.yy = n * y0 * y0 + 2 * y0 * y + words[TileSums::kYY];
    sums.perimeter = words[TileSums::kPerimeterAndEuler] % (1u << 16);
    sums.euler = static_cast<int16_t>(words[TileSums::kPerimeterAndEuler] >> 16);
  }
  return sums;
}

__device__ void atomic_add(uint64_t* sum, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

template <bool kAll>
__device__ void add_to_slot(uint32_t area, const Sums& sums, SlotSums* slot) {
  Sums* to = &slot->sums;
  atomicAdd(&slot->area, area);
  atomicMin(&to->x_min, sums.x_min);
  atomicMin(&to->y_min, sums.y_min);
  atomicMax(&to->x_max, sums.x_max);
  atomicMax(&to->y_max, sums.y_max);
  atomic_add(&to->x, sums.x);
  atomic_add(&to->y, sums.y);
  if constexpr (kAll) {
    atomic_add(&to->xx, sums.xx);
    atomic_add(&to->xy, sums.xy);
    atomic_add(&to->yy, sums.yy);
    atomicAdd(&to->perimeter, sums.perimeter);
    atomicAdd(&to->euler, sums.euler);
  }
}

/// Brings the sums of shared components to their roots; those of one root are added up in the warp first,
/// because many meet in a large component.
template <bool kValues, uint32_t kWords>
__device__ void flush_slots(const Tiles& tiles, const Emitter& emitter, const Tile& tile,
                            const Arrays<kWords>& arrays) {
  for (uint32_t k = threadIdx.x; k < tile.head.n_slots; k += kThreads) {
    const uint32_t n_lanes = tile.head.n_slots - k / kWarpSize * kWarpSize;
    const uint32_t lanes = bits_up_to(min(n_lanes, kWarpSize) - 1);
    const uint32_t slot = tile.index * tiles.max_slots + k;
    const TileRun run = tile.runs[tiles.slot_run[slot]];
    const Parent root = find_root(tiles.parent, slot);
    uint32_t words[kWords];
    sums_of_component<kValues>(tiles, emitter, tile, arrays, run, words);
    __syncwarp(lanes);
    const uint32_t same = __match_any_sync(lanes, slot_of(root));
    uint32_t y_min = run.row();
    if (__popc(same) > 1) {
      reduce(same, words);
      y_min = warp_min(same, y_min);
    }
    if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
      add_to_slot<kWords == TileSums::kAllWords>(words[TileSums::kAreaAndY] % (1u << TileSums::kAreaBits),
                                                 sums_in_frame(tile, y_min, words),
                                                 tiles.slot_sums + slot_of(root));
    }
  }
}

/// Labels, records and inks of the components that begin in the tile; of shared ones only the label.
template <bool kValues, uint32_t kWords>
__device__ void finish_components(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                  const Tile& tile, Arrays<kWords>& arrays) {
  for (uint32_t i = threadIdx.x; i < tile.head.n_runs; i += kThreads) {
    const uint32_t bit = 1u << i % kWordBits;
    if ((tile.is_first[i / kWordBits] & bit) == 0) {
      continue;
    }
    const TileRun run = tile.runs[i];
    const uint32_t label = tile.label_of(i, run.row());
    if (tile.is_component_shared(run.component())) {
      tiles.slot_label[tile.index * tiles.max_slots + arrays.entry[run.component()]] = label;
      continue;
    }
    uint32_t words[kWords];
    sums_of_component<kValues>(tiles, emitter, tile, arrays, run, words);
    const uint32_t area = words[TileSums::kAreaAndY] % (1u << TileSums::kAreaBits);
    const uint32_t x = tile.x0 + run.first();
    const uint32_t y = tile.y0 + run.row();
    emit(
        emitter, tiles.frame, label, area, [&] { return sums_in_frame(tile, run.row(), words); },
        [&] { return tiles.frame.segment(x, y); });
    arrays.entry[run.component()] = ink_of(inker, label, area, y * tiles.frame.width + x);
  }
}

/// Turns runs into inks, or slots where the ink is not known yet.
template <uint32_t kWords>
__device__ void ink_runs(const Tiles& tiles, const Tile& tile, const Arrays<kWords>& arrays) {
  TileRun* runs = tiles.run + size_t{tile.index} * tiles.max_runs;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < tile.head.n_runs; i += kThreads) {
    bool is_shared = false;
    if (i < tile.head.n_runs) {
      const uint32_t component = runs[i].component();
      is_shared = tile.is_component_shared(component);
      runs[i].word = arrays.entry[component];
    }
    const uint32_t shared = __ballot_sync(kAllLanes, is_shared);
    if (i % kWarpSize == 0) {
      tiles.is_shared[tiles.run_words(tile.index) + i / kWordBits] = shared;
    }
  }
}

/// Forgets the frame before.
template <uint32_t kWords>
__device__ void clear(const Tiles& tiles, Tile& tile, Arrays<kWords>& arrays) {
  if (threadIdx.x == 0) {
    tile.index = blockIdx.y * tiles.columns + blockIdx.x;
    tile.x0 = blockIdx.x * kTileWidth;
    tile.y0 = blockIdx.y * tiles.rows;
    tile.head = tiles.head[tile.index];
    tile.runs = tiles.run + size_t{tile.index} * tiles.max_runs;
    tile.n_sums = 0;
  }
  for (uint32_t i = threadIdx.x; i < 2 * kMaxCountWords; i += kThreads) {
    (&tile.in_strip[0][0])[i] = 0;
    (&tile.to_the_left[0][0])[i] = 0;
    (&tile.in_tile[0][0])[i] = 0;
  }
  for (uint32_t i = threadIdx.x; i < kMaxRunWords; i += kThreads) {
    tile.is_shared[i] = 0;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < tile.head.n_components; i += kThreads) {
    arrays.sums_index[i] = kOneRun;
  }
}

/// Notes which components are shared, and which have several runs.
template <uint32_t kWords>
__device__ void sort_components(const Tiles& tiles, Tile& tile, Arrays<kWords>& arrays) {
  for (uint32_t k = threadIdx.x; k < tile.head.n_slots; k += kThreads) {
    const uint32_t component = tiles.slot_component[tile.index * tiles.max_slots + k];
    arrays.entry[component] = k;
    atomicOr(tile.is_shared + component / kWordBits, 1u << component % kWordBits);
  }
  const uint32_t* is_root = tiles.is_root + tiles.run_words(tile.index);
  for (uint32_t i = threadIdx.x; i < tile.head.n_runs; i += kThreads) {
    if ((is_root[i / kWordBits] >> i % kWordBits & 1) == 0) {
      arrays.sums_index[tile.runs[i].component()] = kSeveralRuns;
    }
  }
}

/// Gives sums to the components of several runs.
template <uint32_t kWords>
__device__ void make_sums(Tile& tile, Arrays<kWords>& arrays) {
  for (uint32_t i = threadIdx.x; i < tile.head.n_components; i += kThreads) {
    if (arrays.sums_index[i] != kSeveralRuns) {
      continue;
    }
    const uint32_t index = atomicAdd(&tile.n_sums, 1);
    arrays.sums_index[i] = static_cast<uint16_t>(index);
    for (uint32_t word = 0; word < kWords; ++word) {
      arrays.sums[index][word] = word == TileSums::kXMin ? kTileWidth : 0;
    }
  }
}

template <bool kValues, uint32_t kWords>
__global__ void __launch_bounds__(kThreads) measure(Tiles tiles, Emitter emitter, Inker inker) {
  extern __shared__ uint4 dynamic[];
  __shared__ Tile tile;
  auto& arrays = *reinterpret_cast<Arrays<kWords>*>(dynamic);
  wait_for_kernel_before();
  let_next_kernel_start();
  clear(tiles, tile, arrays);
  __syncthreads();
  add_row_counts(tiles, tile);
  sort_components(tiles, tile, arrays);
  rank_first_runs(tiles, tile);
  if (threadIdx.x < kWarpSize) {
    add_strip_counts(tiles, emitter, tile);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    number_rows(tile);
  }
  make_sums(tile, arrays);
  __syncthreads();
  add_runs<kValues>(tiles, emitter, tile, arrays);
  __syncthreads();
  finish_components<kValues>(tiles, emitter, inker, tile, arrays);
  flush_slots<kValues>(tiles, emitter, tile, arrays);
  if (inker.ink == Ink::kNone) {
    return;
  }
  __syncthreads();
  ink_runs(tiles, tile, arrays);
}

template <bool kValues, uint32_t kWords>
Status launch_measure(const Tiles& tiles, const Emitter& emitter, const Inker& inker, Launch launch) {
  const auto kernel = measure<kValues, kWords>;
  launch.threads = kThreads;
  launch.shared_bytes = sizeof(Arrays<kWords>);
  CCL_RETURN_IF_ERROR(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(launch.shared_bytes)),
                            "cudaFuncSetAttribute"));
  return launch("measure", kernel, tiles, emitter, inker);
}

}  // namespace

Status measure_tiles(const Tiles& tiles, const Emitter& emitter, const Inker& inker, const Launch& launch) {
  const bool has_values = tiles.frame.rule.foreground == Foreground::kValues;
  if (emitter.settings.features != 0) {
    return has_values ? launch_measure<true, TileSums::kAllWords>(tiles, emitter, inker, launch)
                      : launch_measure<false, TileSums::kAllWords>(tiles, emitter, inker, launch);
  }
  return has_values ? launch_measure<true, TileSums::kBasicWords>(tiles, emitter, inker, launch)
                    : launch_measure<false, TileSums::kBasicWords>(tiles, emitter, inker, launch);
}

}  // namespace ccl::device::runs
