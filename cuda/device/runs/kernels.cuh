// SPDX-License-Identifier: LGPL-2.1-or-later
/// Finds the kernel of a purpose, which compiles all kernels of a form.
#pragma once

#include "device/runs/kernel.cuh"
#include "device/runs/kernels.h"

namespace ccl::device::runs {

template <Form kForm, typename Tile>
Kernel kernel_for_tile(bool has_features) {
  return {has_features ? process<Tile, true, kForm> : process<Tile, false, kForm>, sizeof(Tile)};
}

/// The kernel for binary foreground. Where corners connect, runs of pairs of rows are fewer.
template <Form kForm, uint32_t kWidth>
Kernel binary_kernel(const Purpose& purpose) {
  return purpose.connectivity == Connectivity::k4
             ? kernel_for_tile<kForm, TileOf<RunKind::kRow, kWidth>>(purpose.has_features)
             : kernel_for_tile<kForm, TileOf<RunKind::kPair, kWidth>>(purpose.has_features);
}

template <Form kForm>
Kernel kernel_of(const Purpose& purpose) {
  if constexpr (kForm != Form::kBits) {
    if (purpose.has_values) {
      return kernel_for_tile<kForm, TileOf<RunKind::kValue, kNarrow>>(purpose.has_features);
    }
  }
  return purpose.tile_width == kWide ? binary_kernel<kForm, kWide>(purpose)
                                     : binary_kernel<kForm, kNarrow>(purpose);
}

}  // namespace ccl::device::runs
