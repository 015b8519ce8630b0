// SPDX-License-Identifier: LGPL-2.1-or-later
/// Random frames of objects that touch, separated by every labeler, against the oracle.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "compare.h"
#include "fixture.h"
#include "fuzz.h"
#include "images.h"
#include "random.h"
#include "segmentation.h"
#include "separation_cases.h"

namespace ccl::test {

namespace {

/// Frames and settings of all kinds, one after the other in one engine for each labeler.
class RandomFrames : private Random {
 public:
  explicit RandomFrames(uint32_t seed) : Random(seed), width_(size()), height_(size()) {
    const uint32_t max_components = is_once_in(4) ? 1 + below(20) : 1u << 16;
    const uint32_t threads = 1 + below(4);
    for (const AlgorithmInfo& labeler : labelers_) {
      FrameRunner& runner = runners_.emplace_back();
      runner.config.algorithm = labeler.algorithm;
      runner.config.max_components = max_components;
      runner.config.threads = threads;
    }
  }

  /// Whether all labelers find in the next frame what the oracle does.
  testing::AssertionResult next_is_exact() {
    const Image image = next_image();
    const Settings settings = next_settings();
    const uint32_t max_components = runners_.front().config.max_components;
    const ExpectedFrame want = expect_labels(image, settings);
    const std::vector<ExpectedRecord> want_records = expect_records(want, settings, max_components);
    const FrameCounts want_counts = expect_counts(want, settings);
    for (size_t i = 0; i < runners_.size(); ++i) {
      const Outcome& got = runners_[i].run(image, settings);
      testing::AssertionResult same = same_frame(got, want, want_counts, want_records, image);
      if (!same) {
        return same << ", labeler " << labelers_[i].nick << describe(settings);
      }
    }
    return testing::AssertionSuccess();
  }

 private:
  uint32_t size() { return is_once_in(8) ? 1 + below(4) : 5 + below(130); }

  Image next_drawing() {
    const uint32_t seed = bits();
    switch (below(6)) {
      case 0:
        return noise(width_, height_, 1 + below(4), below(101), seed);
      case 1:
        return blobs(width_, height_, seed);
      case 2: {
        const std::vector<Image> images = adversarial_set(width_, height_);
        return images[below(static_cast<uint32_t>(images.size()))];
      }
      default:
        return touching_ellipses(width_, height_, 1 + below(4), seed);
    }
  }

  Image next_image() {
    Image image = next_drawing();
    if (is_once_in(3)) {
      image = is_once_in(2) ? split_foreground(image) : two_segments(image);
    }
    return is_once_in(4) ? spread(image, below(32), below(32)) : image;
  }

  Settings next_settings() {
    constexpr std::array<uint16_t, 5> kNecks = {0, 1, 922, 993, 1024};
    Settings settings;
    settings.connectivity = is_once_in(2) ? Connectivity::k4 : Connectivity::k8;
    settings.rule.foreground = is_once_in(2) ? Foreground::kBinary : Foreground::kValues;
    settings.rule.threshold = 1;
    settings.rule.invert = is_once_in(5);
    settings.separation.neck = is_once_in(2) ? kNecks[below(5)] : static_cast<uint16_t>(below(1025));
    settings.separation.aspect = static_cast<uint8_t>(is_once_in(2) ? 1 : 1 + below(16));
    settings.features = is_once_in(3) ? below(kAllFeatures + 1) : uint32_t{kAllFeatures};
    settings.filter.min_area = is_once_in(2) ? 1 : below(60);
    settings.filter.clear_border = is_once_in(6);
    settings.filter.top_n = is_once_in(6) ? 1 + below(10) : 0;
    settings.filter.min_circularity = is_once_in(6) ? 30000 : 0;
    return settings;
  }

  uint32_t width_;
  uint32_t height_;
  std::vector<AlgorithmInfo> labelers_ = labelers();
  std::deque<FrameRunner> runners_;
};

/// See fuzz.h for longer runs.
TEST(SeparateFuzzTest, RandomFrames) {
  constexpr uint32_t kFrames = 20;
  fuzz(40, kFrames, [](uint32_t seed) {
    RandomFrames frames(seed);
    uint32_t n_compared = 0;
    while (n_compared < kFrames) {
      const testing::AssertionResult is_exact = frames.next_is_exact();
      EXPECT_TRUE(is_exact) << "frame " << n_compared << " of seed " << seed;
      if (!is_exact) {
        break;
      }
      ++n_compared;
    }
    return n_compared;
  });
}

}  // namespace

}  // namespace ccl::test
