// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the stage that tracks, without the one of associate.cu, as one unit; see device/kernels.cu.
#include "device/stages/track/delivery.cu"
#include "device/stages/track/overlap.cu"
#include "device/stages/track/paint.cu"
#include "device/stages/track/settle.cu"
