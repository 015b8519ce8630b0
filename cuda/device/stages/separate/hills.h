// SPDX-License-Identifier: LGPL-2.1-or-later
/// Heights and basins of the components of a root map; see ccl/parts.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/rule.h"
#include "ccl/status.h"
#include "device/stages/separate/region_table.h"

namespace ccl::device {

/// `roots` is a RootMap or a Mask. Enqueues the smoothing of `raw_heights` to `heights`, which the table has,
/// too, and the writing of basins, their regions and links. The counts of basins and links must be 0.
template <typename RootsOf>
Status find_basins(const RegionTable& table, const RootsOf& roots, const uint16_t* raw_heights,
                   uint16_t* heights, Connectivity connectivity, cudaStream_t stream);

}  // namespace ccl::device
