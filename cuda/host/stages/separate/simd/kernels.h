// SPDX-License-Identifier: LGPL-2.1-or-later
/// Kernels of separation: plain loops over the pixels of a row that are compiled once for each instruction
/// set (loops.h).
#pragma once

#include <cstdint>

#include "ccl/rule.h"
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

/// In what find_links() writes of a pixel: the bit that says that the next pixel is not in the same basin.
inline constexpr uint32_t kRunEnd = 4;

/// Where a pixel climbs to: 3 · (1 + row) + 1 + column, both relative to the pixel. Ascending steps lead to
/// ascending raster indices.
inline constexpr uint8_t kLeft = 3;
inline constexpr uint8_t kNoStep = 4;  ///< of a summit
inline constexpr uint8_t kRight = 5;
inline constexpr uint8_t kBackground = 9;

/// Kernels that know components by their roots. Where components do not touch, roots are 0 for
/// background and one other value for foreground, and only the first two kernels read them.
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
  /// heights are 0.
  void (*climb_4)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                  uint8_t* steps);
  void (*climb_8)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                  uint8_t* steps);
  /// Bit i: the link in direction i (LinkDirection) leads to another basin of the component. Bit kRunEnd: see
  /// there. The rows are that of the pixels, and the next one.
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
  void (*measure_short_heights)(const uint16_t* squares, uint32_t n, uint16_t* heights);
  /// Gives pixels the basin of the pixel in the row above to which they step. Those of summits stay, and all
  /// others become 0. Entries −1 and n of `above` are read, too.
  void (*begin_from_above)(const uint8_t* steps, const uint32_t* above, uint32_t n, uint32_t* basins);
  /// The same for the row below. All others stay.
  void (*take_from_below)(const uint8_t* steps, const uint32_t* below, uint32_t n, uint32_t* basins);
  /// Writes 1 for pixels of the foreground that have no basin yet, 0 for all others.
  void (*find_open)(const uint8_t* steps, const uint32_t* basins, uint32_t n, uint8_t* is_open);
  /// mask[x] = kBinarySegment where ForegroundRule::threshold and invert make a pixel foreground, else 0.
  void (*read_mask)(const uint8_t* pixels, uint8_t threshold, bool invert, uint32_t n, uint8_t* mask);

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
