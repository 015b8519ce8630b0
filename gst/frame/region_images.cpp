// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/region_images.h"

#include <tuple>
#include <vector>

namespace cudaccl {

bool RegionImages::is_first(const Setting& setting, uint32_t width, uint32_t height) {
  const bool is_other = std::tie(met_, met_width_, met_height_) != std::tie(setting, width, height);
  std::tie(met_, met_width_, met_height_) = std::tie(setting, width, height);
  return is_other;
}

std::shared_ptr<const ccl::RegionMask> RegionImages::mask(const Setting& setting, uint32_t width,
                                                          uint32_t height) {
  if (setting == nullptr || !setting->has_polygons()) {
    return nullptr;
  }
  if (!mask_.is_of(setting, width, height)) {
    mask_ = {setting, std::make_shared<const ccl::RegionMask>(setting->regions, width, height)};
  }
  return mask_.image;
}

std::shared_ptr<const ccl::OutlineLayer> RegionImages::outlines(const Setting& setting, uint32_t width,
                                                                uint32_t height) {
  if (setting == nullptr) {
    return nullptr;
  }
  if (!outlines_.is_of(setting, width, height)) {
    const std::vector<ccl::Outline> outlines = ccl::outlines_of(setting->regions, width, height);
    outlines_ = {setting, std::make_shared<const ccl::OutlineLayer>(outlines, width, height)};
  }
  return outlines_.image;
}

}  // namespace cudaccl
