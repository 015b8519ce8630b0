// SPDX-License-Identifier: LGPL-2.1-or-later
/// Root maps, labels and records of every small image there is: all 2^n masks of n pixels, and with values
/// all 3^n images of background and two segments, in every shape. All labelers give the same bytes.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "compare.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

/// The first two for masks, all for values.
constexpr std::array<uint8_t, 3> kStates = {0, 5, 250};

constexpr uint32_t kMaxComponents = 1u << 20;

/// A connectivity and a foreground. What is expected of an image is found once for all labelers, which takes
/// more time than they do.
class ExhaustiveTest : public testing::TestWithParam<LabelerCase> {
 protected:
  ExhaustiveTest() : labelers_(labelers()), runners_(labelers_.size()) {
    for (size_t i = 0; i < labelers_.size(); ++i) {
      runners_[i].config.algorithm = labelers_[i].algorithm;
      runners_[i].config.max_components = kMaxComponents;
    }
  }

  bool is_binary() const { return GetParam().foreground == Foreground::kBinary; }
  std::span<const uint8_t> states() const { return std::span(kStates).first(is_binary() ? 2 : 3); }

  /// Whether all labelers find what the oracle does.
  testing::AssertionResult is_exact(const Image& image) {
    const Settings settings = GetParam().settings();
    const ExpectedFrame want = expect_labels(image, settings);
    const std::vector<ExpectedRecord> want_records = expect_records(want, settings, kMaxComponents);
    const Outcome* first = nullptr;  // that has what is expected
    for (size_t i = 0; i < runners_.size(); ++i) {
      const Outcome& got = runners_[i].run(image, settings);
      if (first != nullptr && same_bytes(got, *first)) {
        continue;
      }
      testing::AssertionResult same = same_map(got.root_map, want.root_map, image, "root");
      same = same ? same_map(got.labels, want.labels, image, "label") : same;
      same = same ? same_records(got.records, want_records) : same;
      same = same && first != nullptr ? same_bytes(got, *first) : same;
      first = &got;
      if (!same) {
        return same << image.name << ", labeler " << labelers_[i].nick;
      }
    }
    return testing::AssertionSuccess();
  }

 private:
  std::vector<AlgorithmInfo> labelers_;
  std::vector<FrameRunner> runners_;
};

/// Each image as a frame of its own, with the frame's border around it. Larger images are left to the other
/// test, which takes far less time for each.
TEST_P(ExhaustiveTest, EverySmallFrame) {
  const bool is_slow = backend() == Backend::kCuda;
  const uint32_t largest = is_binary() ? (is_slow ? 9 : 12) : (is_slow ? 6 : 8);
  for (const auto& [width, height] : sizes_up_to(largest)) {
    Image image = plain("", width, height);
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    for (uint64_t i = 0; i < count_patterns(width, height, states().size()); ++i) {
      image.name = "pattern " + std::to_string(i) + " of " + size;
      write_pattern(&image, 0, 0, width, height, states(), i);
      ASSERT_TRUE(is_exact(image));
    }
  }
}

/// All images of a size side by side in one frame, where they meet every edge inside a tile.
TEST_P(ExhaustiveTest, EverySmallImageInALargeFrame) {
  for (const auto& [width, height] : sizes_up_to(is_binary() ? 16 : 10)) {
    ASSERT_TRUE(is_exact(all_patterns(width, height, states())));
  }
}

std::string rule_name(const testing::TestParamInfo<LabelerCase>& info) {
  const std::string name = name_of(info.param);
  return name.substr(name_of(info.param.labeler).size() + 1);
}

INSTANTIATE_TEST_SUITE_P(Rules, ExhaustiveTest, testing::ValuesIn(labeler_cases(Algorithm::kRuns)),
                         rule_name);

}  // namespace

}  // namespace ccl::test
