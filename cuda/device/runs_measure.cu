// SPDX-License-Identifier: LGPL-2.1-or-later
/// Third step of the run-based pipeline: canonical labels, sums, and the records of components that lie in
/// one tile.
///
/// Runs have sums in closed form, which are added up in shared memory; those of shared components go on to
/// their root's sums in device memory. A label is the number of
/// components that begin before: in strips above, in rows above of this strip, in the same row of tiles to
/// the left, and in the same row of the tile; only the last count is made here, from a bit per run.
#include "device/runs.h"
#include "device/runs_bits.cuh"
#include "device/runs_emit.cuh"
#include "device/runs_forest.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kThreads = 512;
constexpr uint32_t kWarps = kThreads / kWarpSize;
constexpr uint32_t kRowsPerWord = 4;  // of row counts
constexpr uint32_t kMaxCountWords = kMaxRows / kRowsPerWord;
static_assert(kMaxCountWords <= kWarps);
/// So many lanes of a warp with the same component are added up among them first.
constexpr uint32_t kManyLanes = 4;
static_assert(2 * (kTileWidth + kMaxValueRows) <= kThreads && kTileWidth + kMaxRows <= kThreads);  // slots

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

template <uint32_t kWords>
__device__ uint32_t area_of(const uint32_t (&words)[kWords]) {
  return words[TileSums::kAreaAndY] % (1u << TileSums::kAreaBits);
}

/// The words that are summed up; those between kXMin and kYMax are extremes.
constexpr bool is_sum(uint32_t word) {
  return word <= TileSums::kX || word >= TileSums::kBasicWords;
}

/// What a thread knows of its block's tile.
struct Place {
  uint32_t index, x0, y0;
  TileHead head;
  const TileRun* runs;
};

__device__ Place place_of_block(const Tiles& tiles) {
  const uint32_t index = blockIdx.y * tiles.columns + blockIdx.x;
  return {index, blockIdx.x * kTileWidth, blockIdx.y * tiles.rows, tiles.head[index],
          tiles.run + size_t{index} * tiles.max_runs};
}

/// What a block knows of its tile. Components are measured a window of them at a time; most tiles have no
/// more than one window.
template <uint32_t kWords>
struct Tile {
  static constexpr uint32_t kWindow = kWords == TileSums::kBasicWords ? 1024 : 512;

  uint32_t sums[kWindow][kWords];  ///< per component of the window
  uint32_t ink[kMaxRuns];          ///< per component; of shared ones the slot
  // Row counts of the strip, two rows to a word: [0] even and [1] odd ones of each word of four.
  uint32_t in_strip[2][kMaxCountWords];
  uint32_t to_the_left[2][kMaxCountWords];
  uint32_t in_tile[2][kMaxCountWords];
  uint32_t strip_base;          ///< components that begin in the strips above
  uint32_t row_base[kMaxRows];  ///< a label is row_base + the tile's components up to this one
  uint32_t is_first[kMaxRunWords];
  uint16_t first_base[kMaxRunWords];  ///< bits before the word
  uint16_t first_run[kMaxRuns];       ///< the runs of these bits
  uint32_t n_first_runs;
  uint32_t is_shared[kMaxRunWords];  ///< a bit per component

  __device__ bool is_component_shared(uint32_t component) const {
    return (is_shared[component / kWordBits] >> component % kWordBits & 1) != 0;
  }
  __device__ bool is_first_run(uint32_t run) const {
    return (is_first[run / kWordBits] >> run % kWordBits & 1) != 0;
  }
  /// The canonical label of the component whose first run this is.
  __device__ uint32_t label_of(uint32_t run, uint32_t row) const {
    const uint32_t word = run / kWordBits;
    return row_base[row] + first_base[word] + __popc(is_first[word] & bits_up_to(run % kWordBits));
  }
};

// ------------------------------------------------------------------------------------------- numbering

/// A warp to each word of row counts: adds up those of the strip's tiles. A word's four bytes become two
/// words of two halves, which hold the sum over any row of tiles.
template <uint32_t kWords>
__device__ void add_row_counts(const Tiles& tiles, Tile<kWords>& tile) {
  constexpr uint32_t kHalves = 0x00ff00ff;
  const uint32_t n_words = tiles.rows / kRowsPerWord;
  const uint32_t word = threadIdx.x / kWarpSize;
  const uint32_t lane = threadIdx.x % kWarpSize;
  if (word >= kMaxCountWords) {
    return;
  }
  const auto* counts = reinterpret_cast<const uint32_t*>(tiles.row_counts);
  for (uint32_t odd = 0; odd < 2; ++odd) {
    uint32_t total = 0;
    uint32_t left = 0;
    uint32_t own = 0;
    for (uint32_t column = lane; column < tiles.columns && word < n_words; column += kWarpSize) {
      const uint32_t rows = counts[(blockIdx.y * tiles.columns + column) * n_words + word];
      const uint32_t halves = rows >> (8 * odd) & kHalves;
      total += halves;
      left += column < blockIdx.x ? halves : 0;
      own += column == blockIdx.x ? halves : 0;
    }
    total = warp_sum(kAllLanes, total);
    left = warp_sum(kAllLanes, left);
    own = warp_sum(kAllLanes, own);
    if (lane == 0) {
      tile.in_strip[odd][word] = total;
      tile.to_the_left[odd][word] = left;
      tile.in_tile[odd][word] = own;
    }
  }
}

__device__ uint32_t count_of_row(const uint32_t (&counts)[2][kMaxCountWords], uint32_t row) {
  return counts[row % 2][row / kRowsPerWord] >> (row / 2 % 2 * 16) & 0xffff;
}

/// One warp: the components that begin in strips above, and in the frame.
template <uint32_t kWords>
__device__ void add_strip_counts(const Tiles& tiles, const Emitter& emitter, Tile<kWords>& tile) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  uint32_t above = 0;
  uint32_t all = 0;
  for (uint32_t strip = lane; strip < tiles.strips; strip += kWarpSize) {
    const uint32_t n = tiles.strip_counts[strip];
    above += strip < blockIdx.y ? n : 0;
    all += n;
  }
  above = warp_sum(kAllLanes, above);
  all = warp_sum(kAllLanes, all);
  if (lane != 0) {
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
template <uint32_t kWords>
__device__ void number_rows(Tile<kWords>& tile) {
  const uint32_t row = 2 * threadIdx.x;
  uint32_t others[2];
  for (uint32_t i = 0; i < 2; ++i) {
    others[i] = count_of_row(tile.in_strip, row + i) - count_of_row(tile.in_tile, row + i);
  }
  const uint32_t above = tile.strip_base + warp_exclusive_sum(others[0] + others[1]);
  tile.row_base[row] = above + count_of_row(tile.to_the_left, row);
  tile.row_base[row + 1] = above + others[0] + count_of_row(tile.to_the_left, row + 1);
}

/// One warp: the runs that begin a component of the frame, and the sums of them before each word.
template <uint32_t kWords>
__device__ void rank_first_runs(const Tiles& tiles, const Place& place, Tile<kWords>& tile) {
  constexpr uint32_t kShare = kMaxRunWords / kWarpSize;
  const uint32_t first = threadIdx.x % kWarpSize * kShare;
  uint32_t bits[kShare];
  uint32_t n = 0;
  for (uint32_t i = 0; i < kShare; ++i) {
    const bool has_runs = (first + i) * kWordBits < place.head.n_runs;
    bits[i] = has_runs ? tiles.is_first[tiles.run_words(place.index) + first + i] : 0;
    n += __popc(bits[i]);
  }
  uint32_t base = warp_exclusive_sum(n);
  for (uint32_t i = 0; i < kShare; ++i) {
    tile.is_first[first + i] = bits[i];
    tile.first_base[first + i] = static_cast<uint16_t>(base);
    base += __popc(bits[i]);
  }
  if (threadIdx.x % kWarpSize == kWarpSize - 1) {
    tile.n_first_runs = base;
  }
}

/// Lists them.
template <uint32_t kWords>
__device__ void list_first_runs(Tile<kWords>& tile) {
  for (uint32_t word = threadIdx.x; word < kMaxRunWords; word += kThreads) {
    uint32_t i = tile.first_base[word];
    for (uint32_t rest = tile.is_first[word]; rest != 0; rest &= rest - 1) {
      tile.first_run[i++] = static_cast<uint16_t>(word * kWordBits + __ffs(static_cast<int>(rest)) - 1);
    }
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
__device__ void measure_run(const Tiles& tiles, const Emitter& emitter, const Place& place, TileRun run,
                            uint32_t (&words)[kWords]) {
  sums_of_run(run, words);
  if constexpr (kWords == TileSums::kAllWords) {
    const Connectivity connectivity = emitter.settings.connectivity;
    const uint32_t x = place.x0 + run.first();
    const uint32_t last = place.x0 + run.last();
    const uint32_t y = place.y0 + run.row();
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

/// Adds to sums in shared memory.
template <uint32_t kWords>
__device__ void add(const uint32_t (&words)[kWords], uint32_t* sums) {
  for (uint32_t i = 0; i < kWords; ++i) {
    if (is_sum(i)) {
      atomicAdd(sums + i, words[i]);
    } else if (i == TileSums::kXMin) {
      atomicMin(sums + i, words[i]);
    } else {
      atomicMax(sums + i, words[i]);
    }
  }
}

/// Adds up the runs of the components from `window` on.
template <bool kValues, uint32_t kWords>
__device__ void add_runs(const Tiles& tiles, const Emitter& emitter, const Place& place, uint32_t window,
                         Tile<kWords>& tile) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < place.head.n_runs; i += kThreads) {
    const TileRun run = i < place.head.n_runs ? place.runs[i] : TileRun{};
    const uint32_t index = i < place.head.n_runs ? run.component() - window : kMaxRuns;
    const uint32_t lanes = __ballot_sync(kAllLanes, index < Tile<kWords>::kWindow);
    if (lanes == 0) {
      continue;
    }
    const uint32_t leader = __ffs(static_cast<int>(lanes)) - 1;
    const uint32_t same = __ballot_sync(kAllLanes, index == __shfl_sync(kAllLanes, index, leader));
    if (index >= Tile<kWords>::kWindow) {
      continue;
    }
    uint32_t words[kWords];
    measure_run<kValues>(tiles, emitter, place, run, words);
    const bool is_reduced = (same >> lane & 1) != 0 && __popc(same) >= kManyLanes;
    if (is_reduced) {
      reduce(same, words);
    }
    if (!is_reduced || lane == leader) {
      add(words, tile.sums[index]);
    }
  }
}

/// Makes ready the sums of the components from `window` on.
template <uint32_t kWords>
__device__ void clear_sums(const Place& place, uint32_t window, Tile<kWords>& tile) {
  const uint32_t n = min(place.head.n_components - window, Tile<kWords>::kWindow) * kWords;
  for (uint32_t i = threadIdx.x; i < n; i += kThreads) {
    (&tile.sums[0][0])[i] = i % kWords == TileSums::kXMin ? kTileWidth : 0;
  }
}

/// From the tile's coordinates to the frame's.
template <uint32_t kWords>
__device__ Sums sums_in_frame(const Place& place, uint32_t y_min, const uint32_t (&words)[kWords]) {
  const uint64_t n = area_of(words);
  const uint64_t y = words[TileSums::kAreaAndY] >> TileSums::kAreaBits;
  const uint64_t x = words[TileSums::kX];
  const uint64_t x0 = place.x0;
  const uint64_t y0 = place.y0;
  Sums sums;
  sums.x_min = place.x0 + words[TileSums::kXMin];
  sums.y_min = place.y0 + y_min;
  sums.x_max = place.x0 + words[TileSums::kXMax];
  sums.y_max = place.y0 + words[TileSums::kYMax];
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

/// The slot of a thread, if there are as many; there are never more slots than threads.
struct OwnSlot {
  bool is_any;
  uint32_t slot;
  uint32_t component;
  uint32_t run;  ///< the component's first one in the tile
  uint32_t row;
  Parent root;
};

__device__ OwnSlot load_slot(const Tiles& tiles, const Place& place) {
  OwnSlot own{};
  if (threadIdx.x < place.head.n_slots) {
    own.is_any = true;
    own.slot = place.index * tiles.max_slots + threadIdx.x;
    own.component = tiles.slot_component[own.slot];
    own.run = tiles.slot_run[own.slot];
    own.row = place.runs[own.run].row();
    own.root = find_root(tiles.parent, own.slot);
  }
  return own;
}

/// Labels of shared components that begin in the tile. Brings their sums to their roots; those of one root
/// are added up in the warp first, because many meet in a large component. Whole warps call it.
template <uint32_t kWords>
__device__ void finish_slots(const Tiles& tiles, const Place& place, const OwnSlot& own, uint32_t window,
                             Tile<kWords>& tile) {
  const bool is_here = own.is_any && own.component - window < Tile<kWords>::kWindow;
  const uint32_t lanes = __ballot_sync(kAllLanes, is_here);
  if (!is_here) {
    return;
  }
  tile.ink[own.component] = threadIdx.x;
  if (tile.is_first_run(own.run)) {
    tiles.slot_label[own.slot] = tile.label_of(own.run, own.row);
  }
  uint32_t words[kWords];
  for (uint32_t i = 0; i < kWords; ++i) {
    words[i] = tile.sums[own.component - window][i];
  }
  uint32_t y_min = own.row;
  const uint32_t same = __match_any_sync(lanes, slot_of(own.root));
  if (__popc(same) > 1) {
    reduce(same, words);
    y_min = warp_min(same, y_min);
  }
  if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
    add_to_slot<kWords == TileSums::kAllWords>(area_of(words), sums_in_frame(place, y_min, words),
                                               tiles.slot_sums + slot_of(own.root));
  }
}

/// Labels, records and inks of the components that lie in the tile as a whole.
template <uint32_t kWords>
__device__ void finish_components(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                  const Place& place, uint32_t window, Tile<kWords>& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_first_runs; i += kThreads) {
    const TileRun run = place.runs[tile.first_run[i]];
    const uint32_t component = run.component();
    if (component - window >= Tile<kWords>::kWindow || tile.is_component_shared(component)) {
      continue;
    }
    const uint32_t(&words)[kWords] = tile.sums[component - window];
    const uint32_t label = tile.row_base[run.row()] + i + 1;
    const uint32_t x = place.x0 + run.first();
    const uint32_t y = place.y0 + run.row();
    emit<kWords == TileSums::kAllWords>(
        emitter, tiles.frame, label, area_of(words), [&] { return sums_in_frame(place, run.row(), words); },
        [&] { return tiles.frame.segment(x, y); });
    tile.ink[component] = ink_of(inker, label, area_of(words), y * tiles.frame.width + x);
  }
}

/// Turns runs into inks, or slots where the ink is not known yet.
template <uint32_t kWords>
__device__ void ink_runs(const Tiles& tiles, const Place& place, const Tile<kWords>& tile) {
  TileRun* runs = tiles.run + size_t{place.index} * tiles.max_runs;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < place.head.n_runs; i += kThreads) {
    bool is_shared = false;
    if (i < place.head.n_runs) {
      const uint32_t component = runs[i].component();
      is_shared = tile.is_component_shared(component);
      runs[i].word = tile.ink[component];
    }
    const uint32_t shared = __ballot_sync(kAllLanes, is_shared);
    if (i % kWarpSize == 0) {
      tiles.is_shared[tiles.run_words(place.index) + i / kWordBits] = shared;
    }
  }
}

template <bool kValues, uint32_t kWords>
__global__ void __launch_bounds__(kThreads, 3) measure(Tiles tiles, Emitter emitter, Inker inker) {
  __shared__ Tile<kWords> tile;
  wait_for_kernel_before();
  let_next_kernel_start();
  const Place place = place_of_block(tiles);
  const uint32_t warp = threadIdx.x / kWarpSize;
  if (warp == kWarps - 1) {
    add_strip_counts(tiles, emitter, tile);
  }
  if (place.head.n_runs == 0) {
    return;
  }
  if (warp == kWarps - 2) {
    rank_first_runs(tiles, place, tile);
  }
  add_row_counts(tiles, tile);
  for (uint32_t word = threadIdx.x; word * kWordBits < place.head.n_components; word += kThreads) {
    tile.is_shared[word] = tiles.is_shared[tiles.run_words(place.index) + word];
  }
  clear_sums(place, 0, tile);
  const OwnSlot own = load_slot(tiles, place);
  __syncthreads();
  if (warp == 0) {
    number_rows(tile);
  }
  list_first_runs(tile);
  for (uint32_t window = 0; window < place.head.n_components; window += Tile<kWords>::kWindow) {
    if (window > 0) {
      __syncthreads();
      clear_sums(place, window, tile);
      __syncthreads();
    }
    add_runs<kValues>(tiles, emitter, place, window, tile);
    __syncthreads();
    finish_slots(tiles, place, own, window, tile);
    finish_components(tiles, emitter, inker, place, window, tile);
  }
  if (inker.ink != Ink::kNone) {
    __syncthreads();
    ink_runs(tiles, place, tile);
  }
}

}  // namespace

Status measure_tiles(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                     const EarlyLaunch& launch) {
  const bool has_values = tiles.frame.rule.foreground == Foreground::kValues;
  constexpr uint32_t kBasic = TileSums::kBasicWords;
  constexpr uint32_t kAll = TileSums::kAllWords;
  const auto kernel = emitter.settings.features != 0
                          ? (has_values ? measure<true, kAll> : measure<false, kAll>)
                          : (has_values ? measure<true, kBasic> : measure<false, kBasic>);
  EarlyLaunch whole = launch;
  whole.threads = kThreads;
  return whole("measure", kernel, tiles, emitter, inker);
}

}  // namespace ccl::device::runs
