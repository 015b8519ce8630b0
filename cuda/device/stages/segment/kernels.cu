// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the stage that finds the foreground, without those of background models, as one unit; see
/// device/kernels.cu.
#include "device/stages/segment/components.cu"
#include "device/stages/segment/local.cu"
#include "device/stages/segment/luma.cu"
#include "device/stages/segment/morphology.cu"
#include "device/stages/segment/otsu.cu"
#include "device/stages/segment/threshold.cu"
#include "device/stages/segment/unpack.cu"
