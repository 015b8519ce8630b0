// SPDX-License-Identifier: LGPL-2.1-or-later
/// Comparing what the library found with what it should have, and telling the difference.
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

/// Whether the maps agree. Where not, the message tells the first pixel in which they differ and, if the
/// image is small, shows it.
testing::AssertionResult same_map(std::span<const uint32_t> got, std::span<const uint32_t> want,
                                  const Image& image, const std::string& what);

/// Whether the records agree: integers, and reals that are integers, exactly; other reals to the last place.
testing::AssertionResult same_records(std::span<const CclComponent> got,
                                      const std::vector<ExpectedRecord>& want);

}  // namespace ccl::test
