// SPDX-License-Identifier: LGPL-2.1-or-later
/// Kernels of separation: plain loops over the pixels of a row that are compiled once for each instruction
/// set (loops.h).
#pragma once

#include <cstdint>

#include "host/runs/simd/level.h"

namespace ccl::host {

/// A pixel whose whole column belongs to its component.
inline constexpr uint16_t kNoColumnDistance = 0xffff;

/// What short squares have in place of larger numbers.
inline constexpr uint16_t kNoShortSquare = 0xffff;

/// Pixels of a row that are searched together.
inline constexpr uint32_t kSearchBlock = 64;

/// Three rows that follow each other. Entries −1 and n can be read, too.
template <typename T>
struct ThreeRows {
  const T* above;
  const T* middle;
  const T* below;
};

/// Where a pixel climbs to: 3 · (1 + row) + 1 + column, both relative to the pixel. Ascending steps lead to
/// ascending raster indices.
inline constexpr uint8_t kNoStep = 4;  ///< of a summit
inline constexpr uint8_t kBackground = 9;

/// Kernels that read roots: those of a root map or, where components do not touch, 0 for background and any
/// other value for foreground.
template <typename Root>
struct RootKernels {
  /// Of each column, how many pixels of the row and those next to it belong to one component, in the
  /// direction in which rows are visited. `previous`: the row visited before. Changes `counts`, which stay at
  /// kNoColumnDistance where the component reaches the border.
  void (*count_rows)(const Root* roots, const Root* previous, uint32_t n, uint16_t* counts);
  /// distances[x] = counts[x], or 0 for background.
  void (*write_distances)(const Root* roots, const uint16_t* counts, uint32_t n, uint16_t* distances);
  /// Smooths a row of heights. Heights and roots outside the frame are those of the nearest pixel.
  void (*smooth)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n, uint16_t* out);
  /// The step to the highest neighbour, of equals that with the smallest raster index. Outside the frame,
  /// heights are 0. Returns the number of summits.
  uint32_t (*climb_4)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                      uint8_t* steps);
  uint32_t (*climb_8)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                      uint8_t* steps);
  /// Bit i: the link in direction i (LinkDirection) leads to another basin of the component. The rows are
  /// that of the pixels, and the next one.
  void (*find_links_4)(const uint32_t* basins, const uint32_t* next_basins, const Root* roots,
                       const Root* next_roots, uint32_t n, uint8_t* links);
  void (*find_links_8)(const uint32_t* basins, const uint32_t* next_basins, const Root* roots,
                       const Root* next_roots, uint32_t n, uint8_t* links);
};

struct SeparationKernels {
  RootKernels<uint32_t> of_roots;
  RootKernels<uint8_t> of_mask;
  /// distances[x] = the smaller one of both.
  void (*lower_distances)(const uint16_t* counts, uint32_t n, uint16_t* distances);
  /// Squares of distances in columns; kNoSquare for kNoColumnDistance.
  void (*square_distances)(const uint16_t* distances, uint32_t n, uint32_t* squares);
  /// The same with 16 bits: kNoShortSquare for larger ones.
  void (*square_short_distances)(const uint16_t* distances, uint32_t n, uint16_t* squares);
  /// out[i] = min over d < n_steps of (aspect · d)² + squares[i ± d], for the kSearchBlock entries of a
  /// block. It ends as soon as nothing can become smaller. Returns the largest one; those below
  /// kNoShortSquare and (aspect · n_steps)² are exact.
  uint32_t (*search)(const uint16_t* squares, uint32_t aspect, uint32_t n_steps, uint16_t* out);
  /// height_of() each square.
  void (*measure_heights)(const uint32_t* squares, uint32_t n, uint16_t* heights);

  template <typename Root>
  const RootKernels<Root>& of() const {
    if constexpr (sizeof(Root) == 1) {
      return of_mask;
    } else {
      return of_roots;
    }
  }
};

/// The kernels of a level, which must be supported.
const SeparationKernels& separation_kernels(SimdLevel level);

extern const SeparationKernels kPortableSeparationKernels;
#if defined(__x86_64__)
extern const SeparationKernels kAvx2SeparationKernels;
extern const SeparationKernels kAvx512SeparationKernels;
#endif

}  // namespace ccl::host
