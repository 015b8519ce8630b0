// SPDX-License-Identifier: LGPL-2.1-or-later
/// The filter in tests: what it keeps, by definition, and the filters that every labeler and
/// every output is tested with.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/filter.h"
#include "oracle.h"

namespace ccl::test {

/// Whether the filter keeps a component of the frame.
bool is_kept(const Filter& filter, const ExpectedFrame& frame, uint32_t label);

/// Filters that keep all components of a frame of noise, some of them, or none; each condition alone, and
/// some together.
std::vector<Filter> filter_cases();

}  // namespace ccl::test
