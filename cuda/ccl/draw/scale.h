// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sizes of text and lines, from the frame's height.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ccl/draw/stroke.h"

namespace ccl::draw {

/// Frames of more rows have the sizes of this one (8K), which bounds the memory of the font.
inline constexpr uint32_t kMaxScaledHeight = 4320;

/// A frame of 240 rows is shown larger on a screen than one of 2160, but not nine times: sizes have a
/// constant part, below which nothing can be read, and one that grows with the height.
struct Scale {
  uint32_t text_height;  ///< of a capital letter, pixels
  Pen text;
  Pen trail;
  Pen outline;  ///< of regions, zones and lines

  bool operator==(const Scale&) const = default;
};

constexpr Scale scale_for(uint32_t frame_height) {
  const uint32_t height = std::min(frame_height, kMaxScaledHeight);
  const auto radius = [height](uint32_t least, uint32_t per_1080) {
    return least + height * per_1080 / 1080;
  };
  const uint32_t text_height = 6 + (height + 36) / 72;
  const uint32_t text_radius = text_height * kDistanceUnit / 13;
  const uint32_t rim = radius(210, 150);
  const uint32_t trail = radius(110, 270);
  const uint32_t outline = radius(110, 190);
  return {.text_height = text_height,
          .text = {text_radius, text_radius + rim},
          .trail = {trail, trail + rim},
          .outline = {outline, outline + rim}};
}

}  // namespace ccl::draw
