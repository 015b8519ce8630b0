// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/segmenter.h"

#include <algorithm>

#include "ccl/segment/otsu.h"

namespace ccl::host {

Segmenter::Segmenter(uint32_t width, uint32_t height, ThreadPool& pool, StreamBackground& background)
    : pool_(pool),
      kernels_(kernels(choose_simd_level())),
      width_(width),
      height_(height),
      strips_(height, pool),
      bits_(width, height),
      other_(width, height),
      strong_(width, height),
      otsu_(width, strips_),
      local_(width, height, strips_, segment_kernels(kernels_.level)),
      background_(background),
      morphology_(width, height, strips_, segment_kernels(kernels_.level)),
      holes_(width, height, pool, kernels_) {}

FrameBits Segmenter::run(const FrameJob& job, FrameCounts* counts) {
  apply_rule(job, counts);
  const Morphology& morphology = job.segmentation.morphology;
  BitImage* bits = morphology_.run(morphology, &bits_, &other_);
  if (morphology.fill_holes > 0) {
    holes_.fill(morphology, job.settings.connectivity, bits, bits == &bits_ ? &other_ : &bits_);
  }
  if (job.regions != nullptr) {
    apply_regions(*job.regions, bits);
  }
  return {.foreground = bits,
          .strong = has_hysteresis(job.settings.rule, job.segmentation) ? &strong_ : nullptr};
}

void Segmenter::apply_rule(const FrameJob& job, FrameCounts* counts) {
  const ForegroundRule& rule = job.settings.rule;
  switch (rule.foreground) {
    case Foreground::kOtsu:
      counts->level = otsu_.find_level(job.input);
      apply_threshold(job.input, {counts->level, rule.invert}, &bits_);
      break;
    case Foreground::kLocal:
      local_.run(job.input, job.segmentation.local, rule.invert, &bits_);
      break;
    case Foreground::kBinary: {
      const bool is_wide = job.segmentation.wide_threshold > 0 && job.input.source.pixels != nullptr;
      const auto apply = [&](const ThresholdRule& threshold, BitImage* bits) {
        if (is_wide) {
          apply_wide_threshold(job.input.source, threshold, bits);
        } else {
          apply_threshold(job.input, threshold, bits);
        }
      };
      const HysteresisRule thresholds =
          hysteresis_rule(is_wide ? job.segmentation.wide_threshold : rule.threshold, rule.invert,
                          job.segmentation.threshold_low);
      apply(thresholds.weak, &bits_);
      if (has_hysteresis(rule, job.segmentation)) {
        apply(thresholds.strong, &strong_);
      }
      break;
    }
    case Foreground::kMotion: {
      const Motion& motion = job.segmentation.motion;
      const bool resets = job.resets_background || background_.model.needs_model(job.input, motion.model);
      background_.model.update(job.input, background_.clock.next(motion, job.time, resets), pool_,
                               {.words = bits_.row(0), .stride = bits_.stride()}, counts);
      break;
    }
    case Foreground::kValues:  // makes no bits
      break;
  }
}

void Segmenter::apply_threshold(const InputImage& image, const ThresholdRule& rule, BitImage* bits) const {
  const ForegroundRule row_rule{.threshold = static_cast<uint8_t>(rule.threshold), .invert = rule.invert};
  strips_.for_each_row([&](uint32_t y) {
    kernels_.pack_row({.pixels = image.pixels + y * image.stride,
                       .width = width_,
                       .rule = row_rule,
                       .bits = {bits->row(y), nullptr}});
  });
}

/// The same for pixels of more than 8 bits.
void Segmenter::apply_wide_threshold(const SourcePixels& source, const ThresholdRule& rule,
                                     BitImage* bits) const {
  strips_.for_each_row([&](uint32_t y) {
    const uint8_t* pixels = source.pixels + y * source.stride;
    uint64_t* row = bits->row(y);
    std::fill_n(row, bits->n_words(), 0);
    for (uint32_t x = 0; x < width_; ++x) {
      const bool is_foreground = rule.is_foreground(wide_luma(source, pixels + size_t{x} * source.step));
      row[x / kBitsPerWord] |= uint64_t{is_foreground} << (x % kBitsPerWord);
    }
  });
}

void Segmenter::apply_regions(const RegionMask& regions, BitImage* bits) const {
  const uint32_t* mask = regions.bits().data();
  for (uint32_t y = 0; y < height_; ++y, mask += bit_row_words(width_)) {
    uint64_t* row = bits->row(y);
    for (uint32_t i = 0; i < bits->n_words(); ++i) {
      row[i] &= mask[2 * i] | uint64_t{mask[2 * i + 1]} << 32;
    }
  }
}

}  // namespace ccl::host
