// SPDX-License-Identifier: LGPL-2.1-or-later
/// `ccl-bench track FILE.csv`: device time of frames of about 1,000 moving objects that lie on the GPU, with
/// and without the track stage, for records only and for colours.
#pragma once

#include "ccl/status.h"

namespace ccl::bench {

Status run_track(int argc, char** argv);

}  // namespace ccl::bench
