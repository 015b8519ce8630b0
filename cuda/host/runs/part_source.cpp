// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/part_source.h"

#include "host/memory.h"
#include "host/runs/table.h"

namespace ccl::host {

PartSource::PartSource(uint32_t width, uint32_t height, ThreadPool& pool, StreamTracks* tracks)
    : width_(width),
      strips_(height, pool),
      separator_(width, height, pool, tracks),
      pixels_(uninitialized<uint8_t>(size_t{width} * height)) {}

const RowSource* PartSource::run(const Settings& settings, const RowSource& frame) {
  read(frame);
  source_ = frame;
  if (separator_.find_parts(settings, pixels_.get()) == Parts::kNone) {
    return &source_;
  }
  if (!separator_.color()) {
    return nullptr;
  }
  separator_.paint(pixels_.get(), width_);
  source_ = {.image = {.pixels = pixels_.get(), .stride = width_},
             .rule = {.foreground = Foreground::kValues, .record_value = kBinarySegment}};
  return &source_;
}

/// Makes kBinarySegment of all foreground, and 0 of the rest.
void PartSource::read(const RowSource& frame) {
  const SeparationKernels& kernels = separation_kernels(choose_simd_level());
  strips_.for_each_row([&](uint32_t y) {
    uint8_t* out = pixels_.get() + size_t{y} * width_;
    if (frame.bits != nullptr) {
      frame.bits->write_segments(y, out);
    } else {
      kernels.read_mask(frame.pixels(y), frame.rule.threshold, frame.rule.invert, width_, out);
    }
  });
}

}  // namespace ccl::host
