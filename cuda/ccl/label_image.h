// SPDX-License-Identifier: LGPL-2.1-or-later
/// The labels of a finished frame, from which shapes are made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/component.h"

namespace ccl {

/// Rows of labels, `stride` values from one row's start to the next one's.
struct LabelImage {
  const uint32_t* labels;
  size_t stride;
};

/// Pixels of a label image.
struct PixelBox {
  uint32_t x, y, width, height;
};

inline PixelBox box_of(const CclComponent& component) {
  return {component.x, component.y, component.width, component.height};
}

}  // namespace ccl
