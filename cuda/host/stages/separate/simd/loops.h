// SPDX-License-Identifier: LGPL-2.1-or-later
/// The loops of separation, included once by each instruction set, whose compiler options make vectors of
/// them.
#pragma once

#include <cstdint>

#include "ccl/parts.h"
#include "host/stages/separate/simd/kernels.h"

namespace ccl::host {

namespace {

constexpr uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

template <typename Root>
bool has_foreground(const Root* roots, uint32_t n) {
  Root any = 0;
  for (uint32_t x = 0; x < n; ++x) {
    any = static_cast<Root>(any | roots[x]);
  }
  return any != 0;
}

/// The count of a column after one more row. In a mask, what comes before a component is background, and its
/// count is 0.
template <typename Root>
uint16_t next_count(Root root, Root previous, uint16_t count) {
  const auto next =
      static_cast<uint16_t>((count < kNoColumnDistance - 1 ? count : kNoColumnDistance - 1) + 1);
  const auto of_root = static_cast<uint16_t>(sizeof(Root) == 1 || root == previous ? next : 1);
  return static_cast<uint16_t>(root != 0 ? of_root : 0);
}

template <bool kIsUp, typename Root>
void count_rows(const Root* __restrict roots, const Root* __restrict previous, uint32_t n,
                uint16_t* __restrict counts, uint16_t* __restrict distances) {
  for (uint32_t x = 0; x < n; ++x) {
    counts[x] = next_count(roots[x], previous[x], counts[x]);
    distances[x] = kIsUp && distances[x] < counts[x] ? distances[x] : counts[x];
  }
}

void square_distances(const uint16_t* __restrict distances, uint32_t n, uint32_t* __restrict squares) {
  for (uint32_t x = 0; x < n; ++x) {
    const uint32_t distance = distances[x];
    squares[x] = distance == kNoColumnDistance ? kNoSquare : distance * distance;
  }
}

void square_short_distances(const uint16_t* __restrict distances, uint32_t n, uint16_t* __restrict squares) {
  for (uint32_t x = 0; x < n; ++x) {
    constexpr uint16_t kEnd = 182;  // the first one whose square is larger than kNoShortSquare
    const uint16_t distance = distances[x] < kEnd ? distances[x] : 0;
    squares[x] = static_cast<uint16_t>(distances[x] < kEnd ? distance * distance : kNoShortSquare);
  }
}

uint32_t largest_of_block(const uint16_t* squares) {
  uint16_t largest = 0;
  for (uint32_t i = 0; i < kSearchBlock; ++i) {
    largest = largest > squares[i] ? largest : squares[i];
  }
  return largest;
}

/// Takes what is nearer `way` to way + 3 pixels aside, of a block.
void search_aside(const uint16_t* squares, uint32_t aspect, uint32_t way, uint16_t* __restrict out) {
  const auto aside_of = [&](uint32_t d) {
    return static_cast<uint16_t>(smaller(aspect * (way + d) * aspect * (way + d), kNoShortSquare));
  };
  const uint16_t aside[] = {aside_of(0), aside_of(1), aside_of(2), aside_of(3)};
  const uint16_t* before = squares - way;
  const uint16_t* after = squares + way;
  for (uint32_t i = 0; i < kSearchBlock; ++i) {
    const auto square_at = [&](uint32_t d) {
      const uint16_t near = before[i - int64_t{d}] < after[i + d] ? before[i - int64_t{d}] : after[i + d];
      return static_cast<uint16_t>(near + aside[d]);
    };
    const uint16_t first = square_at(0) < square_at(1) ? square_at(0) : square_at(1);
    const uint16_t last = square_at(2) < square_at(3) ? square_at(2) : square_at(3);
    const uint16_t least = first < last ? first : last;
    out[i] = out[i] < least ? out[i] : least;
  }
}

/// Whether it is done is asked after some steps only: the answer takes longer than a step.
uint32_t search(const uint16_t* __restrict squares, uint32_t aspect, uint32_t n_steps,
                uint16_t* __restrict out) {
  for (uint32_t i = 0; i < kSearchBlock; ++i) {
    out[i] = squares[i];
  }
  uint32_t largest = largest_of_block(squares);
  for (uint32_t d = 1; d < n_steps && aspect * d * aspect * d < largest; d += 4) {
    search_aside(squares, aspect, d, out);
    largest = largest_of_block(out);
  }
  return largest;
}

/// height_of() in 32 bits and without branches: sixteen times the root as a float is less than one off.
void measure_heights(const uint32_t* __restrict squares, uint32_t n, uint16_t* __restrict heights) {
  constexpr uint32_t kFlat = (kFlatHeight + 1) / kHeightSteps * ((kFlatHeight + 1) / kHeightSteps);
  for (uint32_t x = 0; x < n; ++x) {
    const uint32_t square = smaller(squares[x], kFlat - 1);
    const uint32_t wanted = kHeightSteps * kHeightSteps * square;
    const float root = kHeightSteps * __builtin_sqrtf(static_cast<float>(static_cast<int32_t>(square)));
    uint32_t height = smaller(static_cast<uint32_t>(static_cast<int32_t>(root)), kFlatHeight);
    height -= height * height > wanted ? 1 : 0;
    height += height < kFlatHeight && (height + 1) * (height + 1) <= wanted ? 1 : 0;
    heights[x] = static_cast<uint16_t>(squares[x] < kFlat ? height : kFlatHeight);
  }
}

/// The same for squares of 16 bits: a float's root is never too small.
void measure_short_heights(const uint16_t* __restrict squares, uint32_t n, uint16_t* __restrict heights) {
  for (uint32_t x = 0; x < n; ++x) {
    const int32_t square = squares[x];
    const auto height = static_cast<int32_t>(kHeightSteps * __builtin_sqrtf(static_cast<float>(square)));
    const int32_t wanted = static_cast<int32_t>(kHeightSteps * kHeightSteps) * square;
    heights[x] = static_cast<uint16_t>(height - (height * height > wanted ? 1 : 0));
  }
}

/// A neighbour's height, or 0 if it belongs to another component. Heights of background are 0.
template <typename Root>
uint16_t height_in(Root root, const uint16_t* heights, const Root* roots, int64_t x) {
  if constexpr (sizeof(Root) == 1) {
    return heights[x];
  } else {
    return static_cast<uint16_t>(roots[x] == root ? heights[x] : 0);
  }
}

template <typename Root>
Root root_at(const Root* roots, int64_t x) {
  if constexpr (sizeof(Root) == 1) {
    return 1;
  } else {
    return roots[x];
  }
}

/// Sum: what the sums of heights fit in.
template <typename Sum, typename Root>
void smooth(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
            uint16_t* __restrict out) {
  const auto sum = [](const uint16_t* row, const Root* row_roots, int64_t x, Root root) {
    return static_cast<Sum>(height_in(root, row, row_roots, x - 1) + 2 * height_in(root, row, row_roots, x) +
                            height_in(root, row, row_roots, x + 1));
  };
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  for (uint32_t x = 0; x < n; ++x) {
    const Root root = root_at(of.middle, x);
    const uint16_t height =
        smooth_height(sum(in.above, of.above, x, root), sum(in.middle, of.middle, x, root),
                      sum(in.below, of.below, x, root));
    out[x] = static_cast<uint16_t>(in.middle[x] != 0 ? height : 0);
  }
}

/// Calls try_pixel(heights, roots, column, step) for pixel x and its neighbours, in raster order.
template <bool kHasDiagonals, typename Root, typename Try>
void for_each_neighbor(const ThreeRows<uint16_t>& in, const ThreeRows<Root>& of, int64_t x, Try try_pixel) {
  if constexpr (kHasDiagonals) {
    try_pixel(in.above, of.above, x - 1, 0);
  }
  try_pixel(in.above, of.above, x, 1);
  if constexpr (kHasDiagonals) {
    try_pixel(in.above, of.above, x + 1, 2);
  }
  try_pixel(in.middle, of.middle, x - 1, kLeft);
  try_pixel(in.middle, of.middle, x, kNoStep);
  try_pixel(in.middle, of.middle, x + 1, kRight);
  if constexpr (kHasDiagonals) {
    try_pixel(in.below, of.below, x - 1, 6);
  }
  try_pixel(in.below, of.below, x, 7);
  if constexpr (kHasDiagonals) {
    try_pixel(in.below, of.below, x + 1, 8);
  }
}

template <bool kHasDiagonals, typename Root>
void climb(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
           uint8_t* __restrict steps) {
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  for (uint32_t x = 0; x < n; ++x) {
    const Root root = root_at(of.middle, x);
    uint16_t highest = 0;
    uint16_t step = kNoStep;
    for_each_neighbor<kHasDiagonals>(
        in, of, x, [&](const uint16_t* row, const Root* row_roots, int64_t at, uint16_t to) {
          const uint16_t height = height_in(root, row, row_roots, at);
          step = height > highest ? to : step;
          highest = height > highest ? height : highest;
        });
    steps[x] = static_cast<uint8_t>(in.middle[x] != 0 ? step : kBackground);
  }
}

/// The same for heights below kLowHeights: a height and a step are one number, so the largest is both.
template <bool kHasDiagonals, typename Root>
void climb_low(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
               uint8_t* __restrict steps) {
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  for (uint32_t x = 0; x < n; ++x) {
    const Root root = root_at(of.middle, x);
    uint16_t best = 0;
    for_each_neighbor<kHasDiagonals>(
        in, of, x, [&](const uint16_t* row, const Root* row_roots, int64_t at, uint16_t to) {
          const auto one = static_cast<uint16_t>(height_in(root, row, row_roots, at) * 16 + (15 - to));
          best = one > best ? one : best;
        });
    steps[x] = static_cast<uint8_t>(in.middle[x] != 0 ? 15 - best % 16 : kBackground);
  }
}

/// `value` if a step is the one that is asked for, else 0. With masks, compilers make vectors.
template <typename Basin>
constexpr Basin value_if(Basin step, Basin asked, Basin value) {
  return static_cast<Basin>(value & static_cast<Basin>(0u - static_cast<uint32_t>(step == asked)));
}

template <typename Basin>
void begin_from_above(const uint8_t* __restrict steps, const Basin* __restrict above, uint32_t n,
                      Basin* __restrict basins) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const auto if_step = [step = Basin{steps[i]}](Basin asked, Basin basin) {
      return value_if(step, asked, basin);
    };
    basins[i] = static_cast<Basin>(if_step(kNoStep, basins[i]) | if_step(0, above[x - 1]) |
                                   if_step(1, above[x]) | if_step(2, above[x + 1]));
  }
}

template <typename Basin>
void take_from_below(const uint8_t* __restrict steps, const Basin* __restrict below, uint32_t n,
                     uint32_t offset, Basin* __restrict basins) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const auto if_step = [step = Basin{steps[i]}](Basin asked, Basin basin) {
      return value_if(step, asked, basin);
    };
    const auto moved = static_cast<Basin>(basins[i] + (basins[i] != 0 ? static_cast<Basin>(offset) : 0));
    basins[i] = static_cast<Basin>(moved | if_step(6, below[x - 1]) | if_step(7, below[x]) |
                                   if_step(8, below[x + 1]));
  }
}

template <typename Basin>
void find_open(const uint8_t* __restrict steps, const Basin* __restrict basins, uint32_t n,
               uint8_t* __restrict is_open) {
  for (uint32_t x = 0; x < n; ++x) {
    const Basin step = steps[x];
    is_open[x] = static_cast<uint8_t>((step != kBackground ? 1 : 0) & (basins[x] == 0 ? 1 : 0));
  }
}

template <bool kHasDiagonals, typename Basin, typename Root>
void find_links(const Basin* basins, const Basin* next_basins, const Root* roots, const Root* next_roots,
                uint32_t n, uint8_t* __restrict links) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const Basin basin = basins[x];
    const Root root = root_at(roots, x);
    const auto link = [&](const Basin* row, const Root* row_roots, int64_t to, uint32_t direction) {
      const bool is_neighbor = sizeof(Root) == 1 ? row[to] != 0 : row_roots[to] == root;
      return static_cast<Basin>(row[to] != basin && is_neighbor ? 1u << direction : 0);
    };
    auto found = static_cast<Basin>(link(basins, roots, x + 1, kLinkEast) |
                                    link(next_basins, next_roots, x, kLinkSouth));
    if constexpr (kHasDiagonals) {
      found = static_cast<Basin>(found | link(next_basins, next_roots, x - 1, kLinkSouthWest) |
                                 link(next_basins, next_roots, x + 1, kLinkSouthEast));
    }
    const auto end = static_cast<Basin>(basins[x + 1] != basin ? 1u << kRunEnd : 0);
    links[i] = static_cast<uint8_t>((basin != 0 ? found : 0) | end);
  }
}

void read_mask(const uint8_t* __restrict pixels, uint8_t threshold, bool invert, uint32_t n,
               uint8_t* __restrict mask) {
  const auto inside = static_cast<uint8_t>(invert ? 0 : kBinarySegment);
  const auto outside = static_cast<uint8_t>(kBinarySegment - inside);
  for (uint32_t x = 0; x < n; ++x) {
    mask[x] = pixels[x] >= threshold ? inside : outside;
  }
}

template <typename Root>
constexpr RootKernels<Root> root_kernel_set() {
  return {.has_foreground = has_foreground<Root>,
          .count_down = count_rows<false, Root>,
          .count_up = count_rows<true, Root>,
          .smooth = smooth<uint32_t, Root>,
          .smooth_low = smooth<uint16_t, Root>,
          .climb_4 = climb<false, Root>,
          .climb_8 = climb<true, Root>,
          .climb_low_4 = climb_low<false, Root>,
          .climb_low_8 = climb_low<true, Root>};
}

template <typename Basin>
constexpr BasinKernels<Basin> basin_kernel_set() {
  return {
      .begin_from_above = begin_from_above<Basin>,
      .take_from_below = take_from_below<Basin>,
      .find_open = find_open<Basin>,
      .of_roots = {.find_4 = find_links<false, Basin, uint32_t>, .find_8 = find_links<true, Basin, uint32_t>},
      .of_mask = {.find_4 = find_links<false, Basin, uint8_t>, .find_8 = find_links<true, Basin, uint8_t>}};
}

constexpr SeparationKernels separation_kernel_set() {
  return {.of_roots = root_kernel_set<uint32_t>(),
          .of_mask = root_kernel_set<uint8_t>(),
          .with_few_basins = basin_kernel_set<uint16_t>(),
          .with_many_basins = basin_kernel_set<uint32_t>(),
          .square_distances = square_distances,
          .square_short_distances = square_short_distances,
          .search = search,
          .measure_heights = measure_heights,
          .measure_short_heights = measure_short_heights,
          .read_mask = read_mask};
}

}  // namespace

}  // namespace ccl::host
