// SPDX-License-Identifier: LGPL-2.1-or-later
/// The level of Foreground::kOtsu (ccl/segment/otsu.h), from the frame's histogram.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "ccl/segment/otsu.h"
#include "host/stages/row_strips.h"

namespace ccl::host {

class OtsuStage {
 public:
  OtsuStage(uint32_t width, const RowStrips& strips);

  uint32_t find_level(const InputImage& image) const;

 private:
  using Histogram = std::array<uint32_t, kOtsuBins>;

  void count(const InputImage& image, RowSpan rows, Histogram* histogram) const;

  uint32_t width_;
  const RowStrips& strips_;
  std::unique_ptr<Histogram[]> histograms_;  ///< per strip
};

}  // namespace ccl::host
