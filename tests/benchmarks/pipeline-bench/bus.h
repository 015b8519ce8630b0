// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the bus between host and GPU allows.
#pragma once

#include <cstddef>

namespace ccl::bench {

/// Frames a second that can be brought up and down at the same time, page-locked memory on the host's side,
/// and nothing done with them. 0 without a GPU.
double measure_bus_fps(size_t bytes_up, size_t bytes_down);

}  // namespace ccl::bench
