// SPDX-License-Identifier: LGPL-2.1-or-later
/// Several frames in one call of the C interface.
#include <cstddef>
#include <string>

#include "c_engine.h"
#include "oracle.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 61;
constexpr uint32_t kHeight = 47;

}  // namespace

/// Frames of one call, each with settings of its own.
TEST(CBatchesTest, AreTheirFrames) {
  const Image images[] = {noise(kWidth, kHeight, 1, 45, 3), noise(kWidth, kHeight, 2, 45, 4)};
  cudaccl::Config config = c_config(kWidth, kHeight);
  config.batch = 2;
  CEngine c(images[0], config);
  cudaccl::Input inputs[2];
  cudaccl::Settings settings[2];
  cudaccl::Frame frames[2];
  const CudacclFrame* pointers[] = {&frames[0], &frames[1], nullptr};
  for (uint32_t i = 0; i < 2; ++i) {
    inputs[i] = c_input(images[i]);
    settings[i].connectivity = i == 0 ? 4 : 8;
    frames[i].input = &inputs[i];
    frames[i].settings = &settings[i];
  }
  for (const size_t n_frames : {size_t{0}, size_t{3}}) {
    EXPECT_EQ(cudaccl_engine_push_batch(c.engine.get(), pointers, n_frames), CUDACCL_INVALID_ARGUMENT);
    EXPECT_STREQ(c.error(), ("a push of " + std::to_string(n_frames) +
                             " frames; 1 to 2 are possible, see CudacclConfig.batch")
                                .c_str());
  }
  EXPECT_EQ(cudaccl_engine_push_batch(c.engine.get(), nullptr, 1), CUDACCL_INVALID_ARGUMENT);
  EXPECT_STREQ(c.error(), "the array of frames is NULL");
  c.engine.push({pointers[0], pointers[1]});
  for (uint32_t i = 0; i < 2; ++i) {
    const cudaccl::Result result = c.engine.pop();
    const Settings expected{.connectivity = i == 0 ? Connectivity::k4 : Connectivity::k8};
    EXPECT_EQ(result.n_labels, expect_labels(images[i], expected).n_labels);
  }
}

}  // namespace ccl::test
