// SPDX-License-Identifier: LGPL-2.1-or-later
/// The GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/status.h"

namespace ccl {

struct DeviceDescription {
  std::string name;
  int compute_major = 0;  ///< compute capability
  int compute_minor = 0;
  uint64_t memory = 0;  ///< bytes in total
};

/// All GPUs; the index is the device id. kUnsupported in a build without CUDA; kNoDevice if there is no
/// driver or no GPU. Makes no CUDA context.
Status list_devices(std::vector<DeviceDescription>* devices);

}  // namespace ccl
