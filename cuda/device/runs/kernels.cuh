// SPDX-License-Identifier: LGPL-2.1-or-later
/// Finds the kernel of a purpose, which compiles all of them.
#pragma once

#include "device/runs/kernel.cuh"
#include "device/runs/kernels.h"

namespace ccl::device::runs {

template <typename Tile, bool kHasBits, bool kHasFeatures>
Kernel kernel_of(Specialization specialization) {
  switch (specialization) {
    case Specialization::kParked:
      return {process<Tile, kHasFeatures, Specialization::kParked, kHasBits>, sizeof(Tile)};
    case Specialization::kRecords:
      return {process<Tile, kHasFeatures, Specialization::kRecords, kHasBits>, sizeof(Tile)};
    case Specialization::kColors:
      return {process<Tile, kHasFeatures, Specialization::kColors, kHasBits>, sizeof(Tile)};
    case Specialization::kGeneral:
      break;
  }
  return {process<Tile, kHasFeatures, Specialization::kGeneral, kHasBits>, sizeof(Tile)};
}

template <RunKind kKind, uint32_t kWidth, bool kHasBits>
Kernel kernel_of(const Purpose& purpose) {
  using Tile = TileOf<kKind, kWidth>;
  return purpose.has_features ? kernel_of<Tile, kHasBits, true>(purpose.specialization)
                              : kernel_of<Tile, kHasBits, false>(purpose.specialization);
}

/// The kernel for binary foreground. Where corners connect, runs of pairs of rows are fewer.
template <bool kHasBits>
Kernel binary_kernel_of(const Purpose& purpose, uint32_t tile_width) {
  if (purpose.connectivity == Connectivity::k4) {
    return tile_width == kWide ? kernel_of<RunKind::kRow, kWide, kHasBits>(purpose)
                               : kernel_of<RunKind::kRow, kNarrow, kHasBits>(purpose);
  }
  return tile_width == kWide ? kernel_of<RunKind::kPair, kWide, kHasBits>(purpose)
                             : kernel_of<RunKind::kPair, kNarrow, kHasBits>(purpose);
}

}  // namespace ccl::device::runs
