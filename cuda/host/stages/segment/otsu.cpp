// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/otsu.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace ccl::host {

OtsuStage::OtsuStage(uint32_t width, const RowStrips& strips)
    : width_(width), strips_(strips), histograms_(std::make_unique<Histogram[]>(strips.count())) {}

uint32_t OtsuStage::find_level(const InputImage& image) const {
  strips_.for_each([&](uint32_t strip, RowSpan rows) { count(image, rows, &histograms_[strip]); });
  Histogram sum{};
  for (uint32_t strip = 0; strip < strips_.count(); ++strip) {
    std::transform(sum.begin(), sum.end(), histograms_[strip].begin(), sum.begin(), std::plus<>());
  }
  return otsu_level(sum.data());
}

/// Counts neighbouring pixels in different histograms: they often have equal values, and an increment must
/// wait for the one before it on the same address.
void OtsuStage::count(const InputImage& image, RowSpan rows, Histogram* histogram) const {
  constexpr uint32_t kStep = sizeof(uint64_t);
  std::array<Histogram, kStep> parts{};
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    const uint8_t* row = image.pixels + y * image.stride;
    uint32_t x = 0;
    for (; x + kStep <= width_; x += kStep) {
      uint64_t values;
      std::memcpy(&values, row + x, kStep);
      for (uint32_t i = 0; i < kStep; ++i) {
        ++parts[i][values >> (8 * i) & 0xff];
      }
    }
    for (; x < width_; ++x) {
      ++parts[0][row[x]];
    }
  }
  histogram->fill(0);
  for (const Histogram& part : parts) {
    std::transform(histogram->begin(), histogram->end(), part.begin(), histogram->begin(), std::plus<>());
  }
}

}  // namespace ccl::host
