// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the segment stage must find in a frame, pixel by pixel from the definitions in ccl/segment.h. It
/// shares the library's plain types, and no code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ccl/segment.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

/// A pixel of 0 or kForeground for every pixel of a frame.
using Mask = std::vector<uint8_t>;

/// What a frame is segmented by. `regions` is empty, or has a pixel of 0 for each pixel that does not count.
struct SegmentationCase {
  ForegroundRule rule = {};
  Segmentation segmentation = {};
  Connectivity connectivity = Connectivity::k8;
  Mask regions = {};
};

/// The level of Otsu's method, among those of the same pixels the smallest one: foreground is value ≥ level.
uint32_t expect_otsu_level(const Image& image);

/// The foreground. Not for Foreground::kMotion and kValues.
Mask expect_foreground(const Image& image, const SegmentationCase& segmentation);

/// The foreground as an image: `image` with the rows and the memory that it had.
Image as_image(const Image& image, const Mask& mask);

/// With hysteresis: whether each label of the frame's foreground has a pixel that reaches the high threshold.
/// Index 0 is not used.
std::vector<bool> expect_strong_labels(const Image& image, const SegmentationCase& segmentation,
                                       const ExpectedFrame& frame);

}  // namespace ccl::test
