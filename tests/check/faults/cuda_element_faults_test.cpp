// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element on a GPU, in lives in which each call of the CUDA runtime fails, one after the other.
#include "cuda_sweep.h"
#include "element_life.h"
#include "harness.h"

namespace faults {

namespace {

TEST_P(CudaFaultsTest, EachElementLivesOrFailsOnce) {
  ElementLife life(with_all_attached("cuda"));
  sweep_calls([&] { return life.live(); });
}

TEST_P(CudaFaultsTest, EachElementLivesOrFailsOnceWithThePassedOnPicture) {
  ElementLife life(with_passed_on_picture("cuda"));
  sweep_calls([&] { return life.live(); });
}

INSTANTIATE_TEST_SUITE_P(Errors, CudaFaultsTest, testing::ValuesIn(kCudaErrors), name_of);

}  // namespace

}  // namespace faults

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const int result = faults::run_tests_on_gpu(cudaccl::test::why_no_cuda);
  gst_deinit();  // for GStreamer's leaks tracer, which lists then what is left
  return result;
}
