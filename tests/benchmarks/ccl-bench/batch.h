// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ccl/status.h"

namespace ccl::bench {

/// `ccl-bench batch FILE.csv`: frames of a batch, in the GPU's memory, through the engine.
Status run_batch(int argc, char** argv);

}  // namespace ccl::bench
