// SPDX-License-Identifier: LGPL-2.1-or-later
/// Replaces cuda/device/ in a build without a CUDA toolkit.
#include "ccl/devices.h"
#include "ccl/engine.h"

namespace ccl {

namespace {

Status no_cuda() {
  return {
      StatusCode::kUnsupported,
      "this build of cudaccl has no CUDA backend; build it where nvcc and an NVIDIA GPU are found, or with "
      "nvcc and -Dcuda-archs=all"};
}

}  // namespace

bool has_device_engine() {
  return false;
}

Status make_device_engine(const DeviceOptions&, std::unique_ptr<Engine>*) {
  return no_cuda();
}

Status list_devices(std::vector<DeviceDescription>*) {
  return no_cuda();
}

}  // namespace ccl
