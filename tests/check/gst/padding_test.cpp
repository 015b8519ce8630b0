// SPDX-License-Identifier: LGPL-2.1-or-later
/// The padding of rows in output buffers is zero, so that two runs write the same file.
#include <gtest/gtest.h>
#include <malloc.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// Fills memory from the heap with a byte while it lives.
class PoisonedHeap {
 public:
  explicit PoisonedHeap(int byte) { mallopt(M_PERTURB, byte); }
  ~PoisonedHeap() { mallopt(M_PERTURB, 0); }
};

/// All bytes that a sink would write to a file.
std::vector<uint8_t> file_of(const std::string& properties, uint32_t width, int poison) {
  const PoisonedHeap heap(poison);
  Harness h(properties);
  EXPECT_TRUE(h.send_caps("GRAY8", width, 12));
  std::vector<uint8_t> file;
  std::vector<Ref<GstBuffer>> held;  // so that the pool must allocate
  for (uint32_t frame = 0; frame < 4; ++frame) {
    held.push_back(h.process(noise(width, 12, frame)));
    const std::vector<uint8_t> bytes = bytes_of(held.back().get());
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  return file;
}

class RowPadding : public testing::TestWithParam<std::tuple<const char*, uint32_t>> {};

}  // namespace

TEST_P(RowPadding, IsZeroAndTheSameInEveryRun) {
  const auto& [output, width] = GetParam();
  const std::string properties = std::string("output=") + output;
  const std::vector<uint8_t> first = file_of(properties, width, 0x5a);
  EXPECT_EQ(file_of(properties, width, 0xa5), first);
  const size_t row = width * (std::string(output) == "labels" ? 2 : 1);
  const size_t stride = (row + 3) / 4 * 4;
  ASSERT_EQ(first.size(), stride * 12 * 4);
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_TRUE(i % stride < row || first[i] == 0) << "byte " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, RowPadding,
                         testing::Combine(testing::Values("labels", "mask"),
                                          testing::Values(1u, 3u, 13u, 33u, 129u)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + std::string("_") +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace cudaccl::test
