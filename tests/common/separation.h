// SPDX-License-Identifier: LGPL-2.1-or-later
/// What `separate` must make of components, from the definitions. It shares the library's plain types, and no
/// code.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/config.h"
#include "ccl/parts.h"

namespace ccl::test {

/// Of each pixel of a root map the squared distance to the nearest pixel that is not of its component; one
/// column counts as `aspect` rows. 0 for background, kNoSquare if there is no such pixel.
std::vector<uint32_t> expect_squares(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                     uint32_t aspect);

/// Of each squared distance ⌊16 √square⌋, at most 65535.
std::vector<uint32_t> expect_raw_heights(const std::vector<uint32_t>& squares);

/// Of each pixel of a root map 16 times the root of the squared distance, smoothed. 0 for background.
std::vector<uint32_t> expect_heights(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                     uint32_t aspect);

/// The root map of the parts that the components of a root map are cut into: 0 for background, else 1 + the
/// smallest raster index of the pixel's part.
std::vector<uint32_t> expect_parts(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                   Connectivity connectivity, const Separation& separation,
                                   uint32_t min_area);

}  // namespace ccl::test
