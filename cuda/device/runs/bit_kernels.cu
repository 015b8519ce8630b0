// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/kernels.cuh"

namespace ccl::device::runs {

Kernel kernel_of_bits(const Purpose& purpose, uint32_t tile_width) {
  return binary_kernel_of<true, false>(purpose, tile_width);
}

}  // namespace ccl::device::runs
