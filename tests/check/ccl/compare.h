// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares what the library found with what it should find, and describes the difference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace ccl::test
