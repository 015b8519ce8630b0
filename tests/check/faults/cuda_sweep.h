// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lives on a GPU in which each call of the CUDA runtime fails, one after the other.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "cuda_faults.h"
#include "cudaccl/cudaccl.hpp"
#include "sweep.h"

namespace faults {

struct CudaError {
  cudaError_t code;
  const char* name;
};

inline constexpr CudaError kCudaErrors[] = {{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation"},
                                            {cudaErrorUnknown, "cudaErrorUnknown"},
                                            {cudaErrorLaunchFailure, "cudaErrorLaunchFailure"}};

inline std::string name_of(const testing::TestParamInfo<CudaError>& info) {
  return info.param.name;
}

class CudaFaultsTest : public testing::TestWithParam<CudaError> {
 protected:
  /// As sweep(), with the parameter as the error of the calls.
  template <typename Live>
  void sweep_calls(Live live) {
    set_cuda_error(GetParam().code);
    std::set<std::string> calls;
    sweep(GetParam().name, "", [&] {
      Story story = live();
      if (const char* call = failed_cuda_call()) {
        calls.insert(call);
      }
      if (const char* call = take_uncleared_cuda_call()) {
        story.errors.push_back(std::string("nobody has cleared the error of ") + call);
        story.gave_after_error = true;
      }
      return story;
    });
    EXPECT_GT(calls.size(), 5u) << "functions of the runtime";
  }
};

/// Runs all tests. `why_no_cuda` tries to use a GPU, and returns why it cannot. Returns what main() must: 77
/// if there is no GPU.
template <typename WhyNoCuda>
int run_tests_on_gpu(WhyNoCuda why_no_cuda) {
  begin({});
  const std::string reason = armed(why_no_cuda);
  if (n_requests() == 0) {
    std::printf("failed: no call of the CUDA runtime came here, so none would fail\n");
    return 1;
  }
  if (!reason.empty()) {
    std::printf("skipped: backend=cuda cannot be used here: %s\n", reason.c_str());
    return 77;
  }
  cudaccl::EngineOptions options;
  options.backend = CUDACCL_BACKEND_CUDA;
  CudacclEngine* engine = nullptr;  // it keeps the GPU's context, which is slow to make
  cudaccl_engine_new(&options, &engine);
  const int result = RUN_ALL_TESTS();
  cudaccl_engine_free(engine);
  return result;
}

}  // namespace faults
