// SPDX-License-Identifier: LGPL-2.1-or-later
/// The C interface on a GPU, in lives in which each call of the CUDA runtime fails, one after the other.
#include "cuda_faults.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "c_life.h"

namespace faults {

namespace {

class CudaFaultsTest : public testing::TestWithParam<cudaError_t> {};

TEST_P(CudaFaultsTest, EachLivesOrFailsOnce) {
  CLife life(CUDACCL_BACKEND_CUDA);
  set_cuda_error(GetParam());
  std::set<std::string> calls;
  sweep(cudaGetErrorName(GetParam()), "", [&] {
    Story story = life.live();
    if (const char* call = failed_cuda_call()) {
      calls.insert(call);
    }
    return story;
  });
  EXPECT_GT(calls.size(), 10u) << "of " << kCudaCallCount;
}

INSTANTIATE_TEST_SUITE_P(Errors, CudaFaultsTest,
                         testing::Values(cudaErrorMemoryAllocation, cudaErrorUnknown,
                                         cudaErrorLaunchFailure));

}  // namespace

}  // namespace faults

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  cudaccl::EngineOptions options;
  options.backend = CUDACCL_BACKEND_CUDA;
  CudacclEngine* engine = nullptr;
  if (cudaccl_engine_new(&options, &engine) != CUDACCL_OK) {
    std::printf("skipped: backend=cuda cannot be used here: %s\n", cudaccl_last_error(nullptr));
    return 77;
  }
  const int result = RUN_ALL_TESTS();
  cudaccl_engine_free(engine);  // it has kept the GPU's context, which is slow to make
  return result;
}
