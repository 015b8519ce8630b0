// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the library must paint, given the labels and the colours of the components.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/config.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

/// A colour for every label, at its index, as 0xAARRGGBB. What stands at index 0 is not used.
using Colors = std::vector<uint32_t>;

/// The output's pixels, rows without padding. `colors` is read for outputs that have colours.
std::vector<uint8_t> expect_pixels(const Image& image, const ExpectedFrame& frame, const Config& config,
                                   const Settings& settings, const Colors& colors);

/// The colours that components have in a colorized output of 0xAARRGGBB pixels, big endian, rows without
/// padding: the colour of each label's first pixel.
Colors read_colors(const ExpectedFrame& frame, const std::vector<uint8_t>& pixels);

/// The layout in which read_colors() reads.
inline constexpr PixelLayout kArgb = {.red = 1, .green = 2, .blue = 3, .alpha = 0};

}  // namespace ccl::test
