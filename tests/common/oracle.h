// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the library must find in a frame, from the definitions: components by flood fill, every field of a
/// record from its component's pixels. It takes no code from the library, only its plain types.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/component.h"
#include "ccl/config.h"
#include "images.h"

namespace ccl::test {

/// A real as exactly as can be had here.
struct Real {
  long double value = 0;
  bool is_integer = false;  ///< then nothing but this very value will do
};

/// A record, with its reals before they are rounded. The record's own reals are left 0.
struct ExpectedRecord {
  CclComponent integers{};
  Real cx, cy, mxx, mxy, myy;
};

struct ExpectedFrame {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> root_map;
  std::vector<uint32_t> labels;
  uint32_t n_labels = 0;
  std::vector<uint32_t> areas;        ///< per label; areas[0] is not used
  std::vector<uint8_t> values;        ///< per label: its segment's value, 255 in binary mode
  std::vector<uint32_t> first_pixel;  ///< per label: raster index
};

/// Root map, labels, areas and values.
ExpectedFrame expect_labels(const Image& image, const Settings& settings);

/// True where a component is left after filtering.
bool is_left(const ExpectedFrame& frame, uint32_t label, const Settings& settings);

/// How many components are left after filtering.
uint32_t count_left(const ExpectedFrame& frame, const Settings& settings);

/// The table of records: of the components left the largest, at most `max_components`, by ascending labels.
std::vector<ExpectedRecord> expect_records(const ExpectedFrame& frame, const Settings& settings,
                                           uint32_t max_components);

}  // namespace ccl::test
