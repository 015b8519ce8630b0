// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first scan of a two-scan labeler.
#pragma once

#include <cstdint>

#include "host/labelers/labeler.h"

namespace ccl::host {

/// Writes a provisional label for every pixel, in raster order: 0 for background, else the label that
/// decide(segment, label) takes from the neighbours before it or, if that is 0, new_label(1 + raster index).
/// `segment` and `label` point to the pixel's entries; the neighbours' entries lie around them.
template <typename Decide, typename NewLabel>
void first_scan(const SegmentSource& image, uint32_t* labels, Decide decide, NewLabel new_label) {
  uint32_t pixel = 0;
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.row(y);
    for (uint32_t x = 0; x < image.width; ++x, ++pixel) {
      uint32_t label = 0;
      if (row[x] != 0) {
        label = decide(row + x, labels + pixel);
        label = label != 0 ? label : new_label(pixel + 1);
      }
      labels[pixel] = label;
    }
  }
}

}  // namespace ccl::host
