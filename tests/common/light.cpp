// SPDX-License-Identifier: LGPL-2.1-or-later
#include "light.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace ccl::test {

namespace {

constexpr int kBlackLuma = 16;
constexpr int kWhiteLuma = 230;       // from here on a value may be cut off
constexpr int kDifferingLuma = 6;     // beyond the variance, of sigma-delta
constexpr int kSettledVariance = 2;   // the smallest one of sigma-delta
constexpr double kSettledSquare = 4;  // and of the mixture, in squared levels
constexpr double kGainSteps = 4096;   // a gain is a multiple of 1 / kGainSteps

class Oracle {
 public:
  explicit Oracle(const LightCase& light)
      : light_(light), is_mixture_(light.model == BackgroundModel::kMixture) {}

  LightOutcome outcome() {
    find_differing();
    LightOutcome outcome;
    outcome.background = light_.now;
    outcome.keeps_objects = part_of_pixels(n_differed_) <= 1.0 / 4;
    if (!outcome.keeps_objects) {
      return outcome;
    }
    find_gain();
    find_white();
    for (size_t i = 0; i < n_pixels(); ++i) {
      outcome.n_misfits += counts_as_misfit(i) ? 1 : 0;
    }
    outcome.keeps_misfits = part_of_pixels(outcome.n_misfits) <= (is_mixture_ ? 1.0 / 4 : 1.0 / 16);
    for (size_t i = 0; i < n_pixels(); ++i) {
      if (keeps_what_it_knew(i, outcome.keeps_misfits)) {
        outcome.background[i] = static_cast<uint8_t>(in_new_light(i));
      }
    }
    return outcome;
  }

 private:
  size_t n_pixels() const { return light_.known.size(); }
  double part_of_pixels(uint32_t n) const { return double(n) / double(n_pixels()); }
  int known(size_t i) const { return light_.known[i]; }
  int now(size_t i) const { return light_.now[i]; }

  void find_differing() {
    // Objects of the tests differ by more than either model's threshold, or not at all.
    for (size_t i = 0; i < n_pixels(); ++i) {
      differed_.push_back(std::abs(light_.before[i] - known(i)) > kSettledVariance + kDifferingLuma);
      n_differed_ += differed_[i] ? 1 : 0;
    }
  }

  /// By how much the pixels that show their luma became lighter: sigma-delta leaves out what differed.
  void find_gain() {
    const auto is_seen = [](int luma) { return luma >= kBlackLuma && luma < kWhiteLuma; };
    double sum_now = 0;
    double sum_known = 0;
    for (size_t i = 0; i < n_pixels(); ++i) {
      if (is_seen(known(i)) && is_seen(now(i)) && (is_mixture_ || !differed_[i])) {
        sum_now += now(i) - kBlackLuma;
        sum_known += known(i) - kBlackLuma;
      }
    }
    const double gain = sum_known > 0 ? sum_now / sum_known : 1;
    gain_ = std::min(std::floor(gain * kGainSteps + 0.5), 65535.0) / kGainSteps;
  }

  void find_white() {
    double sum = 0;
    double n = 0;
    for (size_t i = 0; i < n_pixels(); ++i) {
      if (known(i) >= kWhiteLuma) {
        sum += now(i);
        n += 1;
      }
    }
    white_ = n > 0 ? static_cast<int>(std::floor(sum / n)) : 0;
  }

  /// The known luma times the gain, from black on.
  int times_gain(size_t i) const {
    if (known(i) < kBlackLuma) {
      return known(i);
    }
    return static_cast<int>(std::min(std::floor(kBlackLuma + (known(i) - kBlackLuma) * gain_ + 0.5), 255.0));
  }

  int in_new_light(size_t i) const { return is_mixture_ && known(i) >= kWhiteLuma ? white_ : times_gain(i); }

  /// What is cut off fits any gain.
  bool is_misfit(size_t i) const {
    const int expected = times_gain(i);
    if (known(i) >= kWhiteLuma || (expected >= kWhiteLuma && now(i) >= kWhiteLuma)) {
      return false;
    }
    const int margin = is_mixture_ ? 16 : kDifferingLuma + kSettledVariance;
    return std::abs(now(i) - expected) > margin + expected / 16;
  }

  bool counts_as_misfit(size_t i) const { return is_misfit(i) && (is_mixture_ || !differed_[i]); }

  /// Whether the pixel's background is what was known, and not what the frame shows.
  bool keeps_what_it_knew(size_t i, bool keeps_misfits) const {
    if (!is_mixture_) {
      return differed_[i] || (keeps_misfits && is_misfit(i));
    }
    return keeps_misfits && !is_within_three_deviations(i);
  }

  /// A variance grows with the squared gain, up to 75, and is rounded down to 1/256 after each factor.
  bool is_within_three_deviations(size_t i) const {
    double variance = kSettledSquare;
    if (gain_ > 1) {
      variance = std::floor(std::floor(variance * 256 * gain_) * gain_) / 256;
    }
    variance = std::min(variance, 75.0);
    return std::pow(now(i) - in_new_light(i), 2) <= 9 * variance;
  }

  const LightCase& light_;
  bool is_mixture_;
  std::vector<bool> differed_;
  uint32_t n_differed_ = 0;
  double gain_ = 1;
  int white_ = 0;
};

}  // namespace

LightOutcome expect_after_light(const LightCase& light) {
  return Oracle(light).outcome();
}

}  // namespace ccl::test
