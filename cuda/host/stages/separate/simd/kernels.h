// SPDX-License-Identifier: LGPL-2.1-or-later
/// Kernels of separation: plain loops over the pixels of a row that are compiled once for each instruction
/// set (loops.h).
#pragma once

#include <cstdint>

#include "ccl/rule.h"
#include "host/simd_level.h"

namespace ccl::host {

/// A pixel whose whole column belongs to its component.
inline constexpr uint16_t kNoColumnDistance = 0xffff;

/// What short squares have in place of larger numbers. Twice as much has 16 bits, too.
inline constexpr uint16_t kNoShortSquare = 0x7fff;

/// Heights below it are low: sixteen of them fit into 16 bits. Those of short squares are.
inline constexpr uint32_t kLowHeights = 4096;

/// Pixels of a row that are searched together.
inline constexpr uint32_t kSearchBlock = 64;

/// Three rows that follow each other. Entries −1 and n can be read, too.
template <typename T>
struct ThreeRows {
  const T* above;
  const T* middle;
  const T* below;

  /// The rows from column x on. Rows that are not read are null.
  ThreeRows from(uint32_t x) const {
    return middle != nullptr ? ThreeRows{above + x, middle + x, below + x} : *this;
  }
};

/// In what find_links() writes of a pixel: the bit that says that the next pixel is not in the same basin.
inline constexpr uint32_t kRunEnd = 4;

/// Where a pixel climbs to: 3 · (1 + row) + 1 + column, both relative to the pixel. Ascending steps lead to
/// ascending raster indices.
inline constexpr uint8_t kLeft = 3;
inline constexpr uint8_t kNoStep = 4;  ///< of a summit
inline constexpr uint8_t kRight = 5;
inline constexpr uint8_t kBackground = 9;

/// Kernels that know components by their roots. A mask has one root for all: in 8-connectivity, components of
/// binary foreground have no neighbours in others. Only the first three kernels read it.
template <typename Root>
struct RootKernels {
  /// Whether a pixel is one of the foreground.
  bool (*has_foreground)(const Root* roots, uint32_t n);
  /// Of each column, how many pixels of the row and those next to it belong to one component, in the
  /// direction in which rows are visited. `previous`: the row visited before. Updates `counts`, which stay at
  /// kNoColumnDistance where the component reaches the border, and are 0 in background; copies them to
  /// `distances`.
  void (*count_down)(const Root* roots, const Root* previous, uint32_t n, uint16_t* counts,
                     uint16_t* distances);
  /// The same from below: copies those that are smaller.
  void (*count_up)(const Root* roots, const Root* previous, uint32_t n, uint16_t* counts,
                   uint16_t* distances);
  /// Smooths a row of heights. Heights and roots outside the frame are those of the nearest pixel.
  void (*smooth)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n, uint16_t* out);
  decltype(smooth) smooth_low;  ///< the same for heights below kLowHeights
  /// The step to the highest neighbour, of equals that with the smallest raster index. Outside the frame,
  /// heights are 0.
  void (*climb_4)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                  uint8_t* steps);
  void (*climb_8)(const ThreeRows<uint16_t>& heights, const ThreeRows<Root>& roots, uint32_t n,
                  uint8_t* steps);
  decltype(climb_4) climb_low_4, climb_low_8;  ///< the same for heights below kLowHeights
};

/// Kernels of a type that the numbers of all basins of a frame fit in.
template <typename Basin>
struct BasinKernels {
  /// Gives pixels the basin of the pixel in the row above to which they step. Those of summits stay, and all
  /// others become 0. Entries −1 and n of `above` are read, too.
  void (*begin_from_above)(const uint8_t* steps, const Basin* above, uint32_t n, Basin* basins);
  /// The same for the row below. To basins that are there, `offset` is added.
  void (*take_from_below)(const uint8_t* steps, const Basin* below, uint32_t n, uint32_t offset,
                          Basin* basins);
  /// Writes 1 for pixels of the foreground that have no basin yet, 0 for all others.
  void (*find_open)(const uint8_t* steps, const Basin* basins, uint32_t n, uint8_t* is_open);

  /// Bit i: the link in direction i (LinkDirection) leads to another basin of the component. Bit kRunEnd: see
  /// there. The rows are that of the pixels, and the next one.
  template <typename Root>
  struct Links {
    void (*find_4)(const Basin* basins, const Basin* next_basins, const Root* roots, const Root* next_roots,
                   uint32_t n, uint8_t* links);
    decltype(find_4) find_8;
  };
  Links<uint32_t> of_roots;
  Links<uint8_t> of_mask;

  template <typename Root>
  const Links<Root>& of() const {
    if constexpr (sizeof(Root) == 1) {
      return of_mask;
    } else {
      return of_roots;
    }
  }
};

struct SeparationKernels {
  RootKernels<uint32_t> of_roots;
  RootKernels<uint8_t> of_mask;
  BasinKernels<uint16_t> with_few_basins;
  BasinKernels<uint32_t> with_many_basins;
  /// Squares of distances in columns; kNoSquare for kNoColumnDistance.
  void (*square_distances)(const uint16_t* distances, uint32_t n, uint32_t* squares);
  /// The same with 16 bits: kNoShortSquare for larger ones.
  void (*square_short_distances)(const uint16_t* distances, uint32_t n, uint16_t* squares);
  /// out[i] = min over d ≤ n_steps, a multiple of 4, of (aspect · d)² + squares[i ± d], for the kSearchBlock
  /// entries of a block. It ends as soon as nothing can become smaller. Returns the largest one; those below
  /// kNoShortSquare and up to (aspect · n_steps)² are exact.
  uint32_t (*search)(const uint16_t* squares, uint32_t aspect, uint32_t n_steps, uint16_t* out);
  /// height_of() each square.
  void (*measure_heights)(const uint32_t* squares, uint32_t n, uint16_t* heights);
  void (*measure_short_heights)(const uint16_t* squares, uint32_t n, uint16_t* heights);
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
  template <typename Basin>
  const BasinKernels<Basin>& with() const {
    if constexpr (sizeof(Basin) == sizeof(uint16_t)) {
      return with_few_basins;
    } else {
      return with_many_basins;
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
