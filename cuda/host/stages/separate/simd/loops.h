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

uint32_t search(const uint16_t* __restrict squares, uint32_t aspect, uint32_t n_steps,
                uint16_t* __restrict out) {
  uint16_t largest = 0;
  for (uint32_t i = 0; i < kSearchBlock; ++i) {
    out[i] = squares[i];
    largest = largest > out[i] ? largest : out[i];
  }
  for (uint32_t d = 1; d < n_steps; ++d) {
    const uint32_t way = aspect * d * aspect * d;
    if (way >= largest) {
      break;
    }
    const auto aside = static_cast<uint16_t>(way);
    const auto most = static_cast<uint16_t>(kNoShortSquare - way);
    const uint16_t* before = squares - d;
    const uint16_t* after = squares + d;
    largest = 0;
    for (uint32_t i = 0; i < kSearchBlock; ++i) {
      uint16_t square = before[i] < after[i] ? before[i] : after[i];
      square = static_cast<uint16_t>((square < most ? square : most) + aside);
      out[i] = out[i] < square ? out[i] : square;
      largest = largest > out[i] ? largest : out[i];
    }
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

/// A neighbour's height, or 0 if it belongs to another component.
template <typename Root>
constexpr uint32_t height_in(Root root, Root neighbor_root, uint32_t height) {
  return neighbor_root == root ? height : 0;
}

template <typename Root>
void smooth(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
            uint16_t* __restrict out) {
  const auto sum = [](const uint16_t* row, const Root* row_roots, uint32_t x, Root root) {
    return height_in(root, row_roots[int64_t{x} - 1], row[int64_t{x} - 1]) +
           2 * height_in(root, row_roots[x], row[x]) + height_in(root, row_roots[x + 1], row[x + 1]);
  };
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  for (uint32_t x = 0; x < n; ++x) {
    const Root root = of.middle[x];
    const uint16_t height =
        smooth_height(sum(in.above, of.above, x, root), sum(in.middle, of.middle, x, root),
                      sum(in.below, of.below, x, root));
    out[x] = static_cast<uint16_t>(root != 0 ? height : 0);
  }
}

/// The highest neighbour so far.
template <typename Root>
struct Climb {
  Root root;
  uint32_t height;
  uint32_t step;

  /// Of equal heights, the first one that is tried counts.
  void try_pixel(const uint16_t* heights, const Root* roots, int64_t x, uint32_t to) {
    const uint32_t other = height_in(root, roots[x], heights[x]);
    step = other > height ? to : step;
    height = other > height ? other : height;
  }
};

template <bool kHasDiagonals, typename Root>
uint32_t climb(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
               uint8_t* __restrict steps) {
  const ThreeRows<uint16_t> in = heights;
  const ThreeRows<Root> of = roots;
  uint32_t n_summits = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    Climb<Root> climb{of.middle[i], 0, kNoStep};
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
    const uint32_t step = climb.root != 0 ? climb.step : kBackground;
    steps[i] = static_cast<uint8_t>(step);
    n_summits += step == kNoStep ? 1 : 0;
  }
  return n_summits;
}

template <bool kHasDiagonals, typename Root>
void find_links(const uint32_t* basins, const uint32_t* next_basins, const Root* roots,
                const Root* next_roots, uint32_t n, uint8_t* __restrict links) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t x = i;
    const uint32_t basin = basins[x];
    const Root root = roots[x];
    const auto link = [&](const uint32_t* row, const Root* row_roots, int64_t to, uint32_t direction) {
      return (row[to] != basin && row_roots[to] == root ? 1u : 0u) << direction;
    };
    uint32_t found = link(basins, roots, x + 1, kLinkEast) | link(next_basins, next_roots, x, kLinkSouth);
    if constexpr (kHasDiagonals) {
      found |= link(next_basins, next_roots, x - 1, kLinkSouthWest) |
               link(next_basins, next_roots, x + 1, kLinkSouthEast);
    }
    links[i] = static_cast<uint8_t>(root != 0 ? found : 0);
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
          .measure_heights = measure_heights};
}

}  // namespace

}  // namespace ccl::host
