// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/kernels.cuh"

namespace ccl::device::runs {

template Kernel kernel_of<Form::kFiltered>(const Purpose& purpose);
template Kernel kernel_of<Form::kFilteredParked>(const Purpose& purpose);

}  // namespace ccl::device::runs
