// SPDX-License-Identifier: LGPL-2.1-or-later
/// What no labeler can beat on this GPU.
#pragma once

#include "ccl/status.h"
#include "device/memory.h"
#include "measurement.h"
#include "options.h"

namespace ccl::bench {

/// A row named floor-read1-write4: a kernel in a graph that reads 1 byte a pixel and writes 4.
Status time_floor(Size size, const device::Stream& stream, const Repetitions& repetitions, Row* row);

}  // namespace ccl::bench
