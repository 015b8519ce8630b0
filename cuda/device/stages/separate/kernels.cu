// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of separation, compiled as one unit (see device/kernels.cu).
#include "device/stages/separate/distance.cu"
#include "device/stages/separate/guide.cu"
#include "device/stages/separate/hills.cu"
#include "device/stages/separate/regions.cu"
