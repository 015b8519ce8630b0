// SPDX-License-Identifier: LGPL-2.1-or-later
/// From what a configuration shows to the paint rule of its frames.
#pragma once

#include "ccl/colors.h"
#include "ccl/config.h"
#include "device/runs/paint_rule.h"

namespace ccl::device::runs {

/// The mode for an output that the pipeline paints; see painted_output().
constexpr PaintMode paint_mode_for(Output output) {
  switch (output) {
    case Output::kNone:
      return PaintMode::kNone;
    case Output::kColorized:
      return PaintMode::kColor;
    case Output::kOverlay:
      return PaintMode::kOverlay;
    case Output::kLabels:
      return PaintMode::kLabel;
    case Output::kMask:
      return PaintMode::kMask;
    case Output::kBackground:
    case Output::kForeground:
    case Output::kDistance:
    case Output::kDistance8:  // see painted_output()
      break;
  }
  return PaintMode::kNone;
}

/// `palettes`: palette_colors() in device memory.
constexpr PaintRule paint_rule(PaintMode mode, const Settings& settings, const Config& config,
                               const uint32_t* palettes) {
  const uint32_t n_pixels = config.width * config.height;
  return {.mode = mode,
          .settings = kernel_settings(settings),
          .layout = config.layout,
          .n_pixels = n_pixels,
          .palettes = palettes,
          .background = mode == PaintMode::kColor ? pack(settings.background_color, config.layout) : 0,
          .needs_areas = settings.filter.is_active(n_pixels) || settings.palette == Palette::kViridisByArea};
}

/// The labels that a frame may have.
constexpr uint32_t max_labels(const Config& config, bool has_values) {
  const uint32_t n_pixels = config.width * config.height;
  return has_values ? n_pixels : (n_pixels + 1) / 2;
}

}  // namespace ccl::device::runs
