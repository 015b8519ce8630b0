// SPDX-License-Identifier: LGPL-2.1-or-later
/// Root maps and labels of every small image there is: all 2^n masks of n pixels, and with values all 3^n
/// images of background and two segments, in every shape.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "exact_test.h"

namespace ccl::test {

namespace {

/// The first two for masks, all for values.
constexpr std::array<uint8_t, 3> kStates = {0, 5, 250};

class ExhaustiveTest : public ExactTest {
 protected:
  ExhaustiveTest() : ExactTest(1) {}

  std::span<const uint8_t> states() const { return std::span(kStates).first(is_binary() ? 2 : 3); }

  testing::AssertionResult is_exact(const Image& image) {
    const Settings settings = GetParam().settings();
    return has_labels(expect_labels(image, settings), image, settings);
  }
};

/// Each image as a frame of its own. On the GPU a frame costs far more than its few pixels, so that larger
/// images are left to the other test.
TEST_P(ExhaustiveTest, EverySmallFrame) {
  const uint32_t largest_mask = backend() == Backend::kCuda ? 9 : 16;
  const uint32_t largest_image = backend() == Backend::kCuda ? 6 : 10;
  for (const auto& [width, height] : sizes_up_to(is_binary() ? largest_mask : largest_image)) {
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

INSTANTIATE_TEST_SUITE_P(Labelers, ExhaustiveTest, testing::ValuesIn(labeler_cases()),
                         test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
