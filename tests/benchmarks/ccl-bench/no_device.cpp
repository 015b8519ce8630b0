// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device.h"

namespace ccl::bench {

Status Device::open(std::unique_ptr<Device>*) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

}  // namespace ccl::bench
