// SPDX-License-Identifier: LGPL-2.1-or-later
/// The state of a background model in addition to its planes.
#pragma once

#include <cstdint>

#include "ccl/counts.h"
#include "ccl/segment/motion.h"

namespace ccl::device::segment {

/// What kernels need of the state in addition to planes.
struct Decision {
  ModelState* model;
  uint32_t* has_no_foreground;
  uint32_t* n_ended;
  FrameCounts* counts;
  uint64_t n_pixels;
};

}  // namespace ccl::device::segment
