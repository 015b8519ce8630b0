// SPDX-License-Identifier: LGPL-2.1-or-later
/// For CUDA_INJECTION64_PATH: the driver loads this library into each process that uses CUDA. It appends the
/// mangled name of each kernel to the file CUDACCL_LAUNCHES when the process has launched it for the first
/// time.
///
/// A kernel of a graph counts when its launch is captured: the library makes its graphs in no other way.
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_set>

namespace {

struct Launch {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
};

constexpr auto kDriver = CUPTI_CB_DOMAIN_DRIVER_API;
constexpr auto kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;

/// What the runtime launches, it launches by the driver, and a program may call the driver itself. The
/// runtime's own are here as well, because it need not call the driver by a public function.
constexpr Launch kLaunches[] = {
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
    {kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000},
#if CUPTI_API_VERSION >= 130000
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000},
    {kRuntime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000},
#endif
};

class LaunchList {
 public:
  explicit LaunchList(int file) : file_(file) {}

  void add(const char* kernel) {
    const std::lock_guard lock(mutex_);
    if (!kernels_.insert(kernel).second) {
      return;
    }
    // One write per line: with O_APPEND, lines of several processes do not mix.
    const std::string line = std::string(kernel) + '\n';
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      perror("CUDACCL_LAUNCHES");
    }
  }

 private:
  int file_;
  std::mutex mutex_;
  std::unordered_set<std::string> kernels_;
};

void CUPTIAPI on_launch(void* list, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  if (call->callbackSite != CUPTI_API_EXIT || call->symbolName == nullptr) {
    return;
  }
  // A CUresult or a cudaError_t, whose 0 is success.
  if (*static_cast<const int*>(call->functionReturnValue) == 0) {
    static_cast<LaunchList*>(list)->add(call->symbolName);
  }
}

/// Toolkits keep it outside of the loader's folders, so CUDACCL_CUPTI may name it.
void* open_cupti() {
  const char* named = getenv("CUDACCL_CUPTI");
  for (const char* path : {named, "libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
    if (void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr) {
      return library;
    }
  }
  return nullptr;
}

/// Why nothing is listed, or null.
const char* subscribe(LaunchList* list) {
  void* cupti = open_cupti();
  if (cupti == nullptr) {
    return "no libcupti: CUDACCL_CUPTI may name it";
  }
  const auto cupti_subscribe = reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(cupti, "cuptiSubscribe"));
  const auto enable = reinterpret_cast<decltype(&cuptiEnableCallback)>(dlsym(cupti, "cuptiEnableCallback"));
  CUpti_SubscriberHandle subscriber{};
  if (cupti_subscribe == nullptr || enable == nullptr ||
      cupti_subscribe(&subscriber, on_launch, list) != CUPTI_SUCCESS) {
    return "CUPTI refuses: is another profiler at work?";
  }
  for (const Launch& launch : kLaunches) {
    if (enable(1, subscriber, launch.domain, launch.id) != CUPTI_SUCCESS) {
      return "CUPTI does not know one of the calls that launch kernels";
    }
  }
  return nullptr;
}

}  // namespace

/// The driver calls it in cuInit(). What fails here is printed, and the program goes on.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = getenv("CUDACCL_LAUNCHES");
  if (path == nullptr) {
    return 1;
  }
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    perror(path);
    return 1;
  }
  // Kept until the process ends: it may launch kernels until then.
  if (const char* problem = subscribe(new LaunchList(file))) {
    fprintf(stderr, "CUDACCL_LAUNCHES: %s\n", problem);
  }
  return 1;
}
