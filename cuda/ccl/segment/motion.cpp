// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/segment/motion.h"

#include <algorithm>

namespace ccl {

namespace {

/// Σ-Δ: the number of steps is a power of two, so that each count of trailing zeros has its period.
constexpr uint64_t kStepUs = 1'000'000 / 64;
constexpr uint32_t kStepLevels = 6;
constexpr uint64_t kRiseUs = 125'000;
constexpr uint64_t kFallUs = 500'000;

/// Mixture: a ghost shrinks by a pixel on each side in this time.
constexpr uint64_t kGhostUs = 125'000;
/// Mixture: the time constant of means and variances.
constexpr uint64_t kMeanUs = 500'000;
constexpr uint64_t kChromaUs = 1'000'000 / 16;

/// A stretch of the stream's time.
struct Span {
  uint64_t begin_us;
  uint64_t end_us;

  /// How many periods end in it. Over any number of frames, none is lost.
  uint64_t count(uint64_t period_us) const { return end_us / period_us - begin_us / period_us; }

  template <typename Count>
  Count count(uint64_t period_us, uint64_t most) const {
    return static_cast<Count>(std::min(count(period_us), most));
  }
};

uint32_t to_us(uint32_t ms) {
  return static_cast<uint32_t>(std::min(uint64_t{ms} * 1000, uint64_t{kOldestUs}));
}

/// 4·base at no sensitivity, base at 50, a quarter of it at 100: a factor of 2 every 25, linear between.
constexpr uint32_t scale(uint32_t base, uint32_t sensitivity) {
  const uint32_t insensitivity = 100 - std::min(sensitivity, 100u);
  const uint32_t octave = std::min(insensitivity / 25, 3u);
  return ((base << octave) * (25 + insensitivity - 25 * octave) + 50) / 100;
}
static_assert(scale(8, 50) == 8 && scale(8, 100) == 2 && scale(8, 0) == 32 && scale(8, 25) == 16);

sigma_delta::Thresholds sigma_delta_thresholds(const Motion& motion) {
  const auto scaled = [&](uint32_t base) { return static_cast<uint8_t>(scale(base, motion.sensitivity)); };
  constexpr sigma_delta::Thresholds base;
  static_assert(scale(base.luma, 0) <= sigma_delta::kMaxLumaThreshold);
  return {.luma = scaled(base.luma),
          .around = scaled(base.around),
          .chroma = scaled(base.chroma),
          .shadow = base.shadow,
          .shadows = motion.shadows};
}

/// A code of octave o rises by 1 every 2^o ticks.
credit::Rates credit_rates(const Span& span, uint32_t learning_us) {
  credit::Rates rates;
  for (uint32_t octave = 0; octave < credit::kOctaves; ++octave) {
    const uint32_t end = std::min((octave + 1) << credit::kOctaveBits, credit::kMaxCode);
    const auto n_ticks = span.count<uint32_t>(uint64_t{credit::kTickUs} << octave, credit::kMostTicks);
    std::fill_n(rates.below, n_ticks, static_cast<uint8_t>(end));
  }
  rates.most = static_cast<uint8_t>(std::max(credit::code(learning_us / credit::kTickUs), 1u));
  return rates;
}

/// In step n of the Zipfian form, with 2^k the largest power of two that divides n, M moves where
/// V ≥ 2^kStepLevels / 2^k: so where V ≥ 2^j, it moves every 2^(kStepLevels − j) steps.
sigma_delta::Rates sigma_delta_rates(const Span& span, uint32_t learning_us) {
  sigma_delta::Rates rates;
  for (uint32_t level = 0; level <= kStepLevels; ++level) {
    const uint64_t n_moves = span.count(kStepUs << level);
    const auto variance = static_cast<uint8_t>(1u << (kStepLevels - level));
    for (uint32_t i = 0; i < 3; ++i) {
      if (n_moves >= (1u << i)) {
        rates.steps[i] = variance;
      }
    }
  }
  rates.up = span.count<uint8_t>(kRiseUs, 16);
  rates.down = span.count<uint8_t>(kFallUs, 16);
  rates.credit = credit_rates(span, learning_us);
  return rates;
}

mixture::Thresholds mixture_thresholds(const Motion& motion, const Span& span) {
  const mixture::Thresholds base;
  return {.variances = static_cast<uint16_t>(scale(base.variances, motion.sensitivity)),
          .around = static_cast<uint8_t>(scale(base.around, motion.sensitivity)),
          .shadow = base.shadow,
          .shadows = motion.shadows,
          .ghosts = span.count(kGhostUs) > 0};
}

mixture::Rates mixture_rates(const Span& span) {
  return {.mean = span.count<uint16_t>(kMeanUs >> mixture::kRateBits, 2048),
          .chroma = span.count<uint8_t>(kChromaUs, 8)};
}

}  // namespace

MotionStep MotionClock::next(const Motion& motion, int64_t time, bool resets) {
  const uint64_t begin_ns = resets ? 0 : end_ns_;
  end_ns_ = begin_ns + static_cast<uint64_t>(clock_.next(time, resets).seen_ns());
  const Span span = {begin_ns / uint64_t{kNsPerUs}, end_ns_ / uint64_t{kNsPerUs}};
  return {.model = motion.model,
          .resets = resets,
          .max_change = motion.max_change,
          .ends_ramp_time = span.count(kRampUs) > 0,
          .duration_us = static_cast<uint32_t>(span.end_us - span.begin_us),
          .warm_up_us = to_us(motion.warm_up_ms),
          .learning_us = to_us(motion.learning_ms),
          .sigma_delta = sigma_delta_thresholds(motion),
          .sigma_delta_rates = sigma_delta_rates(span, to_us(motion.learning_ms)),
          .mixture = mixture_thresholds(motion, span),
          .mixture_rates = mixture_rates(span)};
}

}  // namespace ccl
