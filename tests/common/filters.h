// SPDX-License-Identifier: LGPL-2.1-or-later
/// The filter in tests: what it keeps, by definition, and the filters that every labeler and
/// every output is tested with.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ccl/filter.h"
#include "oracle.h"

namespace ccl::test {

/// No condition of a filter: the component has no strong pixel, see expect_conditions().
inline constexpr uint32_t kWeak = kPassed + 1;

/// Per label the first condition of the filter that the component fails, or kPassed. With hysteresis,
/// `is_strong` says per label which components have a strong pixel; the others are kWeak. Entry 0 is not
/// used.
std::vector<uint32_t> expect_conditions(const Filter& filter, const ExpectedFrame& frame,
                                        const std::vector<bool>& is_strong = {});

/// By condition: a filter that has it alone, and removes some components of a frame of noise.
std::array<Filter, kFilterConditions> single_filters();

/// Filters that keep all components of a frame of noise, some of them, or none; each condition alone, and
/// some together.
std::vector<Filter> filter_cases();

}  // namespace ccl::test
