// SPDX-License-Identifier: LGPL-2.1-or-later
/// The exactness matrix: every labeler with either connectivity and either foreground on sets of
/// images, against the tests' oracle, which fills components from their definition.
#pragma once

#include "ccl/status.h"

namespace ccl::bench {

/// `ccl-bench matrix ...`: the whole command line. Fails where one frame is not exact.
Status run_matrix(int argc, char** argv);

}  // namespace ccl::bench
