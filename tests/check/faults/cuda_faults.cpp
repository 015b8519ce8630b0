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

bool has_part(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// It returns the error of another call, and has none of its own.
bool is_last_error(std::string_view name) {
  return name == "cudaGetLastError";
}

/// What gives something back or waits does so before it fails: else the test would leak it, or the GPU would
/// write into memory that is freed.
bool is_done_in_any_case(std::string_view name) {
  return has_part(name, "Free") || has_part(name, "Destroy") || has_part(name, "Synchronize") ||
         has_part(name, "EndCapture");
}

int64_t living_change(std::string_view name) {
  const bool acquires = has_part(name, "Malloc") || has_part(name, "HostAlloc") || has_part(name, "Create") ||
                        has_part(name, "Instantiate");
  const bool releases = has_part(name, "Free") || has_part(name, "Destroy");
  const bool is_graph = name == "cudaGraphDestroy";  // made by the end of a capture
  return acquires ? 1 : releases && !is_graph ? -1 : 0;
}

int fail(const char* name) {
  failed_call = name;
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

const char* take_uncleared_cuda_call() {
  return last.exchange(cudaSuccess) != cudaSuccess ? failed_call.load() : nullptr;
}

}  // namespace faults

int faults_before_call(const char* name) {
  const bool may_fail = !faults::is_last_error(name) && !faults::is_done_in_any_case(name);
  return may_fail && faults::fails() ? faults::fail(name) : cudaSuccess;
}

int faults_after_call(const char* name, int result) {
  if (faults::is_last_error(name)) {
    const cudaError_t on_purpose = faults::last.exchange(cudaSuccess);
    return on_purpose != cudaSuccess ? on_purpose : result;
  }
  if (result == cudaSuccess) {
    faults::count_living(faults::living_change(name));
  }
  return faults::is_done_in_any_case(name) && faults::fails() ? faults::fail(name) : result;
}
