// SPDX-License-Identifier: LGPL-2.1-or-later
/// Finds the kernel of a purpose, which compiles all of them: those of a full filter, or all others.
#pragma once

#include "device/runs/kernel.cuh"
#include "device/runs/kernels.h"

namespace ccl::device::runs {

template <typename Tile, bool kHasBits, bool kHasFeatures>
Kernel filtered_kernel_of(Specialization specialization) {
  return has_resident_tiles(specialization)
             ? Kernel{process<Tile, kHasFeatures, Specialization::kFiltered, kHasBits>, sizeof(Tile)}
             : Kernel{process<Tile, kHasFeatures, Specialization::kFilteredParked, kHasBits>, sizeof(Tile)};
}

template <typename Tile, bool kHasBits, bool kHasFeatures>
Kernel unfiltered_kernel_of(Specialization specialization) {
  switch (specialization) {
    case Specialization::kParked:
      return {process<Tile, kHasFeatures, Specialization::kParked, kHasBits>, sizeof(Tile)};
    case Specialization::kRecords:
      return {process<Tile, kHasFeatures, Specialization::kRecords, kHasBits>, sizeof(Tile)};
    case Specialization::kColors:
      return {process<Tile, kHasFeatures, Specialization::kColors, kHasBits>, sizeof(Tile)};
    case Specialization::kGeneral:
    case Specialization::kFiltered:
    case Specialization::kFilteredParked:
      break;
  }
  return {process<Tile, kHasFeatures, Specialization::kGeneral, kHasBits>, sizeof(Tile)};
}

template <RunKind kKind, uint32_t kWidth, bool kHasBits, bool kIsFiltered>
Kernel kernel_of(const Purpose& purpose) {
  using Tile = TileOf<kKind, kWidth>;
  const auto find = [&]<bool kHasFeatures>() {
    if constexpr (kIsFiltered) {
      return filtered_kernel_of<Tile, kHasBits, kHasFeatures>(purpose.specialization);
    } else {
      return unfiltered_kernel_of<Tile, kHasBits, kHasFeatures>(purpose.specialization);
    }
  };
  return purpose.has_features ? find.template operator()<true>() : find.template operator()<false>();
}

/// The kernel for binary foreground. Where corners connect, runs of pairs of rows are fewer.
template <bool kHasBits, bool kIsFiltered>
Kernel binary_kernel_of(const Purpose& purpose, uint32_t tile_width) {
  if (purpose.connectivity == Connectivity::k4) {
    return tile_width == kWide ? kernel_of<RunKind::kRow, kWide, kHasBits, kIsFiltered>(purpose)
                               : kernel_of<RunKind::kRow, kNarrow, kHasBits, kIsFiltered>(purpose);
  }
  return tile_width == kWide ? kernel_of<RunKind::kPair, kWide, kHasBits, kIsFiltered>(purpose)
                             : kernel_of<RunKind::kPair, kNarrow, kHasBits, kIsFiltered>(purpose);
}

/// The kernel for pixels.
template <bool kIsFiltered>
Kernel pixel_kernel_of(const Purpose& purpose, uint32_t tile_width) {
  return purpose.has_values ? kernel_of<RunKind::kValue, kNarrow, false, kIsFiltered>(purpose)
                            : binary_kernel_of<false, kIsFiltered>(purpose, tile_width);
}

}  // namespace ccl::device::runs
