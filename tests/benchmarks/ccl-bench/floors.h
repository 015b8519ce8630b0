// SPDX-License-Identifier: LGPL-2.1-or-later
/// What no labeler can beat on this GPU.
#pragma once

#include <vector>

#include "ccl/status.h"
#include "device/memory.h"
#include "measurement.h"
#include "options.h"

namespace ccl::bench {

/// Rows named floor-launch (an empty kernel), floor-read1 and floor-read1-write4 (bytes a pixel, in a graph),
/// and upload1, download1, download2, download4 (pinned copies of as many bytes a pixel).
Status time_floors(Size size, const device::Stream& stream, const Repetitions& repetitions,
                   std::vector<Row>* rows);

}  // namespace ccl::bench
