// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels that are compiled as one unit: alone, each would take longer for the toolkit's headers than
/// for its code.
#include "device/delivery.cu"
#include "device/engine.cu"
#include "device/runs/dispatch.cu"
#include "device/runs/order.cu"
#include "device/stages/compose.cu"
#include "device/stages/draw.cu"
#include "device/stages/grey.cu"
#include "device/stages/measure.cu"
#include "device/stages/number.cu"
#include "device/stages/paint.cu"
#include "device/stages/plane.cu"
#include "device/stages/select.cu"
