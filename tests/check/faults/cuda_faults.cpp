// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_faults.h"

#include <atomic>
#include <string_view>

#include "faults.h"

namespace faults {

namespace {

std::atomic<cudaError_t> chosen = cudaErrorMemoryAllocation;
std::atomic<cudaError_t> last =
    cudaSuccess;  ///< what cudaGetLastError() returns, of calls that failed on purpose
std::atomic<const char*> failed_call = nullptr;

bool has_part(int index, std::string_view part) {
  return std::string_view(kCudaCalls[index]).find(part) != std::string_view::npos;
}

/// What gives something back or waits does so before it fails: else the test would leak it, or the GPU would
/// write into memory that is freed.
bool is_done_in_any_case(int index) {
  return has_part(index, "Free") || has_part(index, "Destroy") || has_part(index, "Synchronize") ||
         has_part(index, "EndCapture");
}

int64_t living_change(int index) {
  const bool acquires = has_part(index, "Malloc") || has_part(index, "HostAlloc") ||
                        has_part(index, "Create") || has_part(index, "Instantiate");
  const bool releases = has_part(index, "Free") || has_part(index, "Destroy");
  const bool is_graph =
      std::string_view(kCudaCalls[index]) == "cudaGraphDestroy";  // made by the end of a capture
  return acquires ? 1 : releases && !is_graph ? -1 : 0;
}

int fail(int index) {
  failed_call = kCudaCalls[index];
  last = chosen.load();
  return chosen.load();
}

}  // namespace

void set_cuda_error(cudaError_t error) {
  chosen = error;
  failed_call = nullptr;
}

const char* failed_cuda_call() {
  return failed_call;
}

}  // namespace faults

int faults_before_call(int index) {
  return !faults::is_done_in_any_case(index) && faults::fails() ? faults::fail(index) : cudaSuccess;
}

int faults_after_call(int index, int result) {
  if (result == cudaSuccess) {
    faults::count_living(faults::living_change(index));
  }
  return faults::is_done_in_any_case(index) && faults::fails() ? faults::fail(index) : result;
}

extern "C" cudaError_t __real_cudaGetLastError();

extern "C" cudaError_t __wrap_cudaGetLastError() {
  const cudaError_t on_purpose = faults::last.exchange(cudaSuccess);
  const cudaError_t real = __real_cudaGetLastError();
  return on_purpose != cudaSuccess ? on_purpose : real;
}
