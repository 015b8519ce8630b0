// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the pixels of a component become.
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "device/runs/kernel_settings.h"

namespace ccl::device::runs {

/// What is painted. The maps show all components, whether the filter keeps them or not.
enum class PaintMode : uint8_t {
  kNone,
  kColor,     ///< the palette's colour, in the output's layout
  kOverlay,   ///< the same, blended with the input
  kLabel,     ///< the canonical label, saturated at kMaxPaintedLabel
  kMask,      ///< 255
  kLabelMap,  ///< the canonical label
  kRootMap,   ///< 1 + the raster index of the first pixel
};

/// Makes the *paint value* of each component: see value_of().
struct PaintRule {
  PaintMode mode;
  KernelSettings settings;
  PixelLayout layout;
  uint32_t n_pixels;
  const uint32_t* palettes;  ///< palette_colors()
  uint32_t background;       ///< the value of all pixels that belong to no kept component
  bool needs_areas;          ///< values depend on areas, not on labels alone
};

}  // namespace ccl::device::runs
