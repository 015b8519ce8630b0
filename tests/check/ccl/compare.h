// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares what the library found with what it should find, and describes the difference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ccl/counts.h"
#include "images.h"
#include "names.h"
#include "oracle.h"

namespace ccl::test {

/// Whether the maps agree. If not, the message names the first pixel in which they differ and shows the
/// image if it is small.
testing::AssertionResult same_map(std::span<const uint32_t> got, std::span<const uint32_t> want,
                                  const Image& image, const std::string& what);

/// Whether the records agree: integers, and reals that are integers, exactly; other reals to the last place.
testing::AssertionResult same_records(std::span<const CclComponent> got,
                                      const std::vector<ExpectedRecord>& want);

/// Whether the counts agree, except for iterations: each labeler has its own.
testing::AssertionResult same_counts(const FrameCounts& got, FrameCounts want);

struct Outcome;

/// Whether a frame has these maps, counts and records.
testing::AssertionResult same_frame(const Outcome& got, const ExpectedFrame& want, const FrameCounts& counts,
                                    const std::vector<ExpectedRecord>& records, const Image& image);

}  // namespace ccl::test
