// SPDX-License-Identifier: LGPL-2.1-or-later
/// `ccl-bench segment FILE.csv`: device time of frames that are labelled from a bit image (segment stage, all
/// records and RGBA, of frames that lie on the GPU), beside the plain threshold.
#pragma once

#include "ccl/status.h"

namespace ccl::bench {

Status run_segment(int argc, char** argv);

}  // namespace ccl::bench
