// SPDX-License-Identifier: LGPL-2.1-or-later
/// The sequences of the benchmark.
#pragma once

#include <vector>

#include "sequence.h"

namespace ccl::bench {

/// All of them, by category. The same arguments give the same sequences.
std::vector<Sequence> make_sequences(Pictures* pictures, cv::Size size, uint32_t seed);

}  // namespace ccl::bench
