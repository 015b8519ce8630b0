// SPDX-License-Identifier: LGPL-2.1-or-later
/// One thread's processor time from a grey frame to the records of its components, beside OpenCV.
#pragma once

#include "machine.h"
#include "options.h"

namespace ccl::bench {

/// Prints times and ratios, and writes them to Options::csv if it is not empty.
void time_methods(const Options& options, const Facts& facts);

}  // namespace ccl::bench
