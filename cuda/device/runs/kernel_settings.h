// SPDX-License-Identifier: LGPL-2.1-or-later
/// The settings as kernels get them. The filter is its limits of the area there. Kernels of a full filter
/// (form.h) get the whole filter as another parameter. So a new condition of a filter leaves the
/// parameters and the instructions of all other kernels as they are.
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "ccl/filter.h"

namespace ccl::device::runs {

/// The limits of the area, see Filter.
struct AreaLimits {
  uint32_t min_area;
  uint32_t max_area;

  constexpr bool keeps(uint32_t area) const { return min_area <= area && area <= max_area; }
};

inline constexpr AreaLimits kNoLimits{Filter::neutral().min_area, Filter::neutral().max_area};

/// The fields of Settings.
struct KernelSettings {
  Connectivity connectivity;
  ForegroundRule rule;
  AreaLimits limits;
  uint32_t features;
  Palette palette;
  uint32_t color_seed;
  uint32_t background_color;
  uint8_t overlay_alpha;
  bool draw_boxes;
  bool limited_range;
  ColorMatrix matrix;
  uint8_t mask_on;
  uint8_t mask_off;
};

constexpr KernelSettings kernel_settings(const Settings& s) {
  return {.connectivity = s.connectivity,
          .rule = s.rule,
          .limits = {s.filter.min_area, s.filter.max_area},
          .features = record_features(s),
          .palette = s.palette,
          .color_seed = s.color_seed,
          .background_color = s.background_color,
          .overlay_alpha = s.overlay_alpha,
          .draw_boxes = s.draw_boxes,
          .limited_range = s.limited_range,
          .matrix = s.matrix,
          .mask_on = s.mask_on,
          .mask_off = s.mask_off};
}

/// All that decides about a component: the whole filter but its top_n, what is known by labels, and
/// hysteresis.
struct FullFilter {
  Filter filter = Filter::neutral();
  const uint32_t* chosen =
      nullptr;  ///< per label − 1: 0 if the component is not kept; null: nothing is known
  /// A bit image of the strong pixels: a component without one is not kept; null: there is no hysteresis.
  const uint32_t* strong = nullptr;

  constexpr bool has_chosen(uint32_t label, uint32_t n_strong) const {
    return (chosen == nullptr || chosen[label - 1] != 0) && (strong == nullptr || n_strong > 0);
  }
};

/// Takes the place of a FullFilter in kernels that apply the limits of the area only.
struct NoFullFilter {};

template <typename AnyFilter>
inline constexpr bool kIsFull = false;
template <>
inline constexpr bool kIsFull<FullFilter> = true;

}  // namespace ccl::device::runs
