// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of both background models, as one unit; see device/kernels.cu.
#include "device/stages/segment/mixture.cu"
#include "device/stages/segment/mixture_begin.cu"
#include "device/stages/segment/sigma_delta.cu"
#include "device/stages/segment/sigma_delta_chroma.cu"
