// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu.h"

#include <gmodule.h>

namespace cudaccl::soak {

Gpu::Gpu() {
  GModule* library = g_module_open("libnvidia-ml.so.1", G_MODULE_BIND_LAZY);
  if (library == nullptr) {
    return;
  }
  const auto find = [library]<typename F>(const char* name, F** function) {
    return g_module_symbol(library, name, reinterpret_cast<gpointer*>(function)) == TRUE;
  };
  constexpr unsigned kLength = 96;
  char name[kLength] = {};
  char driver[kLength] = {};
  int cuda = 0;
  int (*init)() = nullptr;
  int (*find_device)(unsigned, void**) = nullptr;
  int (*read_name)(void*, char*, unsigned) = nullptr;
  int (*read_driver)(char*, unsigned) = nullptr;
  int (*read_cuda)(int*) = nullptr;
  if (find("nvmlInit_v2", &init) && find("nvmlDeviceGetHandleByIndex_v2", &find_device) &&
      find("nvmlDeviceGetName", &read_name) && find("nvmlSystemGetDriverVersion", &read_driver) &&
      find("nvmlSystemGetCudaDriverVersion", &read_cuda) && find("nvmlDeviceGetMemoryInfo", &read_memory_) &&
      init() == 0 && find_device(0, &device_) == 0 && read_name(device_, name, kLength) == 0 &&
      read_driver(driver, kLength) == 0 && read_cuda(&cuda) == 0) {
    facts_ = {{"gpu", name},
              {"driver", driver},
              {"cuda", std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10)}};
  }
}

uint64_t Gpu::used_kb() const {
  struct {
    unsigned long long total, free, used;
  } memory{};
  return device_ != nullptr && read_memory_(device_, &memory) == 0 ? memory.used / 1024 : 0;
}

}  // namespace cudaccl::soak
