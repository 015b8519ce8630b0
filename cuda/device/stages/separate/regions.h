// SPDX-License-Identifier: LGPL-2.1-or-later
/// Joins basins to parts, in the rounds that ccl/parts.h describes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/stages/separate/region_table.h"

namespace ccl::device {

/// Enqueues the joining of basins, and the writing of the parts' roots to `root_map`. `arrivals` is device
/// memory, zero before the first call (GridBarrier).
Status join_to_roots(const RegionTable& table, const Settings& settings, uint32_t* arrivals,
                     uint32_t* root_map, cudaStream_t stream);

/// The same, without writing them: the colours of parts are in RegionTable::joined if there are links.
Status join_to_colors(const RegionTable& table, const Settings& settings, uint32_t* arrivals,
                      cudaStream_t stream);

/// The same, with values in place of roots: rows of `pitch` bytes, a multiple of 4. Background is 0, and
/// parts of a component that touch have different values.
Status join_to_values(const RegionTable& table, const Settings& settings, uint32_t* arrivals, size_t pitch,
                      uint8_t* values, cudaStream_t stream);

}  // namespace ccl::device
