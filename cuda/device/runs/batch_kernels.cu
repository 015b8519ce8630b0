// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/kernels.cuh"

namespace ccl::device::runs {

template BatchKernel batch_kernel_of<Form::kGeneral>(const Purpose& purpose);
template BatchKernel batch_kernel_of<Form::kPixels>(const Purpose& purpose);

}  // namespace ccl::device::runs
