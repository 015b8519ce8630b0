// SPDX-License-Identifier: LGPL-2.1-or-later
/// Finds the kernel of a purpose, which compiles all kernels of a form.
#pragma once

#include "device/runs/kernel.cuh"
#include "device/runs/kernels.h"

namespace ccl::device::runs {

/// Returns visit.operator()<Tile>() for the tile of a purpose. Where corners connect, runs of pairs of rows
/// are fewer. `kHasValues`: whether frames of values are possible.
template <bool kHasValues, typename Visit>
auto with_tile(const Purpose& purpose, Visit visit) {
  if constexpr (kHasValues) {
    if (purpose.has_values) {
      return visit.template operator()<TileOf<RunKind::kValue, kNarrow>>();
    }
  }
  const auto with_width = [&]<uint32_t kWidth>() {
    return purpose.connectivity == Connectivity::k4
               ? visit.template operator()<TileOf<RunKind::kRow, kWidth>>()
               : visit.template operator()<TileOf<RunKind::kPair, kWidth>>();
  };
  return purpose.tile_width == kWide ? with_width.template operator()<kWide>()
                                     : with_width.template operator()<kNarrow>();
}

template <Form kForm>
Kernel kernel_of(const Purpose& purpose) {
  return with_tile<kForm != Form::kBits>(purpose, [&]<typename Tile>() -> Kernel {
    return {purpose.has_features ? process<Tile, true, kForm> : process<Tile, false, kForm>, sizeof(Tile)};
  });
}

template <Form kForm>
BatchKernel batch_kernel_of(const Purpose& purpose) {
  return with_tile<true>(purpose, [&]<typename Tile>() -> BatchKernel {
    return {purpose.has_features ? process_batch<Tile, true, kForm> : process_batch<Tile, false, kForm>,
            sizeof(Tile)};
  });
}

}  // namespace ccl::device::runs
