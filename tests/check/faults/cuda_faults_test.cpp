// SPDX-License-Identifier: LGPL-2.1-or-later
/// The C interface on a GPU, in lives in which each call of the CUDA runtime fails, one after the other.
#include "c_life.h"
#include "cuda_sweep.h"

namespace faults {

namespace {

std::string why_no_cuda() {
  cudaccl::EngineOptions options;
  options.backend = CUDACCL_BACKEND_CUDA;
  CudacclEngine* engine = nullptr;
  const CudacclStatus status = cudaccl_engine_new(&options, &engine);
  cudaccl_engine_free(engine);
  return status == CUDACCL_OK ? "" : cudaccl_last_error(nullptr);
}

TEST_P(CudaFaultsTest, EachLivesOrFailsOnce) {
  CLife life(CUDACCL_BACKEND_CUDA);
  sweep_calls([&] { return life.live(); });
}

INSTANTIATE_TEST_SUITE_P(Errors, CudaFaultsTest, testing::ValuesIn(kCudaErrors), name_of);

}  // namespace

}  // namespace faults

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return faults::run_tests_on_gpu(faults::why_no_cuda);
}
