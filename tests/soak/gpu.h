// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first GPU, as NVIDIA's management library sees it: memory of all processes, and names.
#pragma once

#include <cstdint>

#include "machine.h"

namespace cudaccl::soak {

class Gpu {
 public:
  /// Without the library, or a GPU, there are no facts.
  Gpu();

  /// GPU, driver, and the driver's version of CUDA.
  const ccl::bench::Facts& facts() const { return facts_; }
  /// Memory in use, KiB; 0 without a GPU.
  uint64_t used_kb() const;

 private:
  void* device_ = nullptr;
  int (*read_memory_)(void*, void*) = nullptr;
  ccl::bench::Facts facts_;
};

}  // namespace cudaccl::soak
