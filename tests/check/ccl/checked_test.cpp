// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sums and products at the limits of their types, and the ends of images.
#include "ccl/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace ccl::test {

namespace {

constexpr size_t kMost = std::numeric_limits<size_t>::max();
constexpr auto kMostSigned = std::numeric_limits<ptrdiff_t>::max();
constexpr uint32_t kMost32 = std::numeric_limits<uint32_t>::max();

}  // namespace

TEST(CheckedTest, Sums) {
  EXPECT_EQ(checked_sum(), 0u);
  EXPECT_EQ(checked_sum(2u, size_t{3}, 4), 9u);
  EXPECT_EQ(checked_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_sum(kMost, 1), std::nullopt);
  EXPECT_EQ(checked_sum(kMost, 1, -1), std::nullopt) << "although the sum would fit";
  EXPECT_EQ(checked_sum(3, -3), 0u);
  EXPECT_EQ(checked_sum(3, -4), std::nullopt);
  EXPECT_EQ(checked_sum<uint32_t>(kMost32, 0u), kMost32);
  EXPECT_EQ(checked_sum<uint32_t>(kMost32, 1u), std::nullopt);
  EXPECT_EQ(checked_sum<uint32_t>(size_t{1} << 32), std::nullopt);
}

TEST(CheckedTest, Products) {
  EXPECT_EQ(checked_product(), 1u);
  EXPECT_EQ(checked_product(2u, size_t{3}, 4), 24u);
  EXPECT_EQ(checked_product(size_t{1} << 32, kMost32, 1), kMost << 32);
  EXPECT_EQ(checked_product(size_t{1} << 32, size_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_product(kMost, 0), 0u);
  EXPECT_EQ(checked_product(-1, -1), std::nullopt) << "no size is negative, on the way either";
  EXPECT_EQ(checked_product<uint32_t>(32768, 32767, 4), 4294836224u);
  EXPECT_EQ(checked_product<uint32_t>(32768, 32768, 4), std::nullopt);
  EXPECT_EQ(checked_product<int64_t>(int64_t{1} << 62, 2), std::nullopt);
  EXPECT_EQ(checked_product<int64_t>(-(int64_t{1} << 62), 2), std::numeric_limits<int64_t>::min());
}

TEST(CheckedTest, EndsOfImages) {
  EXPECT_EQ(checked_end(5, 3, 10, 7), 32u) << "the last row has no padding";
  EXPECT_EQ(checked_end(0, 1, kMost, 7), 7u) << "a single row may have any stride";
  EXPECT_EQ(checked_end(0, 1, -32, 7), 7u);
  EXPECT_EQ(checked_end(0, 2, -32, 32), std::nullopt);
  EXPECT_EQ(checked_end(-1, 2, 32, 32), std::nullopt);
  EXPECT_EQ(checked_end(kMost - 63, 2, 32, 32), std::nullopt);
  EXPECT_EQ(checked_end(kMost - 64, 2, 32, 32), kMost);
  EXPECT_EQ(checked_end(0, 3, kMost / 2, 2), std::nullopt);
  EXPECT_EQ(checked_end(0, 0, 32, 32), std::nullopt);
  EXPECT_EQ(checked_end(0, std::numeric_limits<int>::min(), 32, 32), std::nullopt);
  EXPECT_EQ(checked_end<ptrdiff_t>(0, 2u, size_t{1} << 63, 1u), std::nullopt);
  EXPECT_EQ(checked_end<ptrdiff_t>(0, 2u, size_t{kMostSigned} - 7, 7u), kMostSigned);
}

}  // namespace ccl::test
