// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage after labelling: from the root map to canonical labels.
#pragma once

#include <cstdint>

namespace ccl::host {

/// Writes the canonical labels 1..n, in the raster order of each component's first pixel, of a dense root
/// map of `n_pixels` values; background stays 0. Returns n.
///
/// Also writes the area of each label into areas[1..n], since it visits all runs of equal roots anyway. Entry
/// 0 has no meaning.
uint32_t number(const uint32_t* root_map, uint32_t n_pixels, uint32_t* labels, uint32_t* areas);

}  // namespace ccl::host
