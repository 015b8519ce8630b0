// SPDX-License-Identifier: LGPL-2.1-or-later
/// What regions are in frames of one size: a mask, and outlines to draw.
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/draw/outlines.h"
#include "ccl/regions.h"
#include "properties/regions.h"

namespace cudaccl {

/// Keeps the last ones: they are made again when the property or the size of frames changes. Calls may throw
/// std::bad_alloc, and then nothing changes.
class RegionImages {
 public:
  using Setting = std::shared_ptr<const RegionSetting>;

  /// Whether this setting, which may be null, meets frames of this size for the first time since another one.
  bool is_first(const Setting& setting, uint32_t width, uint32_t height);

  /// Null: the whole frame counts. So it is without a setting, and without polygons in it.
  std::shared_ptr<const ccl::RegionMask> mask(const Setting& setting, uint32_t width, uint32_t height);
  /// Null: there is nothing to draw.
  std::shared_ptr<const ccl::OutlineLayer> outlines(const Setting& setting, uint32_t width, uint32_t height);

 private:
  /// An image, and what it is made of.
  template <typename Image>
  struct Kept {
    Setting setting;
    std::shared_ptr<const Image> image;

    bool is_of(const Setting& wanted, uint32_t width, uint32_t height) const {
      return image != nullptr && setting == wanted && image->width() == width && image->height() == height;
    }
  };

  Setting met_;
  uint32_t met_width_ = 0;
  uint32_t met_height_ = 0;
  Kept<ccl::RegionMask> mask_;
  Kept<ccl::OutlineLayer> outlines_;
};

}  // namespace cudaccl
