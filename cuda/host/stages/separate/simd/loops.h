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
void count_rows(const Root* __restrict roots, const Root* __restrict previous, uint32_t n,
                uint16_t* __restrict counts) {
  for (uint32_t x = 0; x < n; ++x) {
    const uint32_t next = smaller(counts[x], kNoColumnDistance - 1) + 1;
    counts[x] = static_cast<uint16_t>(roots[x] == previous[x] ? next : 1);
  }
}

template <typename Root>
void write_distances(const Root* __restrict roots, const uint16_t* __restrict counts, uint32_t n,
                     uint16_t* __restrict distances) {
  for (uint32_t x = 0; x < n; ++x) {
    distances[x] = static_cast<uint16_t>(roots[x] != 0 ? counts[x] : 0);
  }
}

void lower_distances(const uint16_t* __restrict counts, uint32_t n, uint16_t* __restrict distances) {
  for (uint32_t x = 0; x < n; ++x) {
    distances[x] = distances[x] < counts[x] ? distances[x] : counts[x];
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
    const uint16_t distance = distances[x] < 256 ? distances[x] : 0;
    squares[x] = static_cast<uint16_t>(distances[x] < 256 ? distance * distance : kNoShortSquare);
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
      const auto most = static_cast<uint16_t>(kNoShortSquare - aside[d]);
      return static_cast<uint16_t>((near < most ? near : most) + aside[d]);
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
  uint32_t largest = largest_of_block(out);
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

template <typename Root>
void smooth(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
            uint16_t* __restrict out) {
  const auto sum = [](const uint16_t* row, const Root* row_roots, int64_t x, Root root) {
    return uint32_t{height_in(root, row, row_roots, x - 1)} + 2 * height_in(root, row, row_roots, x) +
           height_in(root, row, row_roots, x + 1);
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

/// The highest neighbour so far.
template <typename Root>
struct Climb {
  Root root;
  uint16_t height;
  uint16_t step;

  /// Of equal heights, the first one that is tried counts.
  void try_pixel(const uint16_t* heights, const Root* roots, int64_t x, uint16_t to) {
    const uint16_t other = height_in(root, heights, roots, x);
    step = other > height ? to : step;
    height = other > height ? other : height;
  }
};

template <bool kHasDiagonals, typename Root>
void climb(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
           uint8_t* __restrict steps) {
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    Climb<Root> climb{root_at(of.middle, x), 0, kNoStep};
    if constexpr (kHasDiagonals) {
      climb.try_pixel(in.above, of.above, x - 1, 0);
    }
    climb.try_pixel(in.above, of.above, x, 1);
    if constexpr (kHasDiagonals) {
      climb.try_pixel(in.above, of.above, x + 1, 2);
    }
    climb.try_pixel(in.middle, of.middle, x - 1, 3);
    climb.try_pixel(in.middle, of.middle, x, kNoStep);
    climb.try_pixel(in.middle, of.middle, x + 1, 5);
    if constexpr (kHasDiagonals) {
      climb.try_pixel(in.below, of.below, x - 1, 6);
    }
    climb.try_pixel(in.below, of.below, x, 7);
    if constexpr (kHasDiagonals) {
      climb.try_pixel(in.below, of.below, x + 1, 8);
    }
    steps[i] = static_cast<uint8_t>(in.middle[i] != 0 ? climb.step : kBackground);
  }
}

/// `value` if a step is the one that is asked for, else 0. With masks, compilers make vectors.
constexpr uint32_t value_if(uint32_t step, uint32_t asked, uint32_t value) {
  return value & (0u - static_cast<uint32_t>(step == asked));
}

void begin_from_above(const uint8_t* __restrict steps, const uint32_t* __restrict above, uint32_t n,
                      uint32_t* __restrict basins) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const uint32_t step = steps[i];
    basins[i] = value_if(step, kNoStep, basins[i]) | value_if(step, 0, above[x - 1]) |
                value_if(step, 1, above[x]) | value_if(step, 2, above[x + 1]);
  }
}

void take_from_below(const uint8_t* __restrict steps, const uint32_t* __restrict below, uint32_t n,
                     uint32_t* __restrict basins) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const uint32_t step = steps[i];
    basins[i] |=
        value_if(step, 6, below[x - 1]) | value_if(step, 7, below[x]) | value_if(step, 8, below[x + 1]);
  }
}

void find_open(const uint8_t* __restrict steps, const uint32_t* __restrict basins, uint32_t n,
               uint8_t* __restrict is_open) {
  for (uint32_t x = 0; x < n; ++x) {
    is_open[x] = steps[x] != kBackground && basins[x] == 0 ? 1 : 0;
  }
}

template <bool kHasDiagonals, typename Root>
void find_links(const uint32_t* basins, const uint32_t* next_basins, const Root* roots,
                const Root* next_roots, uint32_t n, uint8_t* __restrict links) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const uint32_t basin = basins[x];
    const Root root = root_at(roots, x);
    const auto link = [&](const uint32_t* row, const Root* row_roots, int64_t to, uint32_t direction) {
      const bool is_neighbor = sizeof(Root) == 1 ? row[to] != 0 : row_roots[to] == root;
      return (row[to] != basin && is_neighbor ? 1u : 0u) << direction;
    };
    uint32_t found = link(basins, roots, x + 1, kLinkEast) | link(next_basins, next_roots, x, kLinkSouth);
    if constexpr (kHasDiagonals) {
      found |= link(next_basins, next_roots, x - 1, kLinkSouthWest) |
               link(next_basins, next_roots, x + 1, kLinkSouthEast);
    }
    const uint32_t end = (basins[x + 1] != basin ? 1u : 0u) << kRunEnd;
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
  return {.count_rows = count_rows<Root>,
          .write_distances = write_distances<Root>,
          .smooth = smooth<Root>,
          .climb_4 = climb<false, Root>,
          .climb_8 = climb<true, Root>,
          .find_links_4 = find_links<false, Root>,
          .find_links_8 = find_links<true, Root>};
}

constexpr SeparationKernels separation_kernel_set() {
  return {.of_roots = root_kernel_set<uint32_t>(),
          .of_mask = root_kernel_set<uint8_t>(),
          .lower_distances = lower_distances,
          .square_distances = square_distances,
          .square_short_distances = square_short_distances,
          .search = search,
          .measure_heights = measure_heights,
          .measure_short_heights = measure_short_heights,
          .begin_from_above = begin_from_above,
          .take_from_below = take_from_below,
          .find_open = find_open,
          .read_mask = read_mask};
}

}  // namespace

}  // namespace ccl::host
