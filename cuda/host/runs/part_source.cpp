// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/part_source.h"

#include "host/runs/table.h"

namespace ccl::host {

PartSource::PartSource(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      strips_(height, pool),
      hills_(width, height, pool),
      regions_(width, height, pool),
      pixels_(uninitialized<uint8_t>(size_t{width} * height)),
      colors_(uninitialized<uint8_t>(size_t{width} * height + 1)) {}

const RowSource* PartSource::run(const Settings& settings, const RowSource& frame) {
  read(frame);
  hills_.measure(pixels_.get(), settings.connectivity, settings.separation.aspect);
  source_ = frame;
  if (!regions_.join(pixels_.get(), hills_, settings)) {
    return &source_;
  }
  if (!regions_.color()) {
    return nullptr;
  }
  paint();
  source_ = {.image = {.pixels = pixels_.get(), .stride = width_},
             .rule = {.foreground = Foreground::kValues, .record_value = kBinarySegment}};
  return &source_;
}

/// Makes kBinarySegment of all foreground, and 0 of the rest.
void PartSource::read(const RowSource& frame) {
  const ForegroundRule rule = frame.rule;
  strips_.for_each([&, rule](uint32_t, const RowSpan& rows) {
    const uint8_t threshold = rule.threshold;
    const bool invert = rule.invert;
    for (uint32_t y = rows.begin; y < rows.end; ++y) {
      uint8_t* out = pixels_.get() + size_t{y} * width_;
      if (frame.bits != nullptr) {
        const uint64_t* in = frame.bits->row(y);
        for (uint32_t x = 0; x < width_; ++x) {
          out[x] = has_bit(in, x) ? kBinarySegment : 0;
        }
      } else {
        const uint8_t* in = frame.pixels(y);
        for (uint32_t x = 0; x < width_; ++x) {
          out[x] = ((in[x] >= threshold) != invert) ? kBinarySegment : 0;
        }
      }
    }
  });
}

/// Writes the colours of parts.
void PartSource::paint() {
  regions_.write_colors(hills_.n_basins(), colors_.get());
  const uint32_t* basins = hills_.basins();
  strips_.for_each([&](uint32_t, const RowSpan& rows) {
    uint32_t basin = 0;
    uint8_t color = 0;
    for (size_t pixel = size_t{rows.begin} * width_; pixel < size_t{rows.end} * width_; ++pixel) {
      if (basins[pixel] != basin) {
        basin = basins[pixel];
        color = colors_[basin];
      }
      pixels_[pixel] = color;
    }
  });
}

}  // namespace ccl::host
