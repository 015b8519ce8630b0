// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the library must find in a frame, from the definitions: components by flood fill, the parts that they
/// are separated into, every field of a record from the pixels of its component or part. It shares the
/// library's plain types, and no code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "images.h"

namespace ccl::test {

/// A real number before it is rounded to a float.
struct Real {
  long double value = 0;
  bool is_integer = false;  ///< then the library must return exactly this value
};

/// A record, with its reals before they are rounded. The record's own reals are left 0.
struct ExpectedRecord {
  CclComponent integers{};
  Real cx, cy, mxx, mxy, myy;
};

/// The smallest rectangle around a component.
struct Box {
  uint32_t x, y, width, height;
};

struct ExpectedFrame {
  uint32_t width = 0;
  uint32_t height = 0;
  Connectivity connectivity = Connectivity::k8;
  std::vector<uint32_t> root_map;
  std::vector<uint32_t> labels;
  uint32_t n_labels = 0;
  std::vector<uint32_t> areas;        ///< per label; areas[0] is not used
  std::vector<Box> boxes;             ///< per label
  std::vector<uint8_t> values;        ///< per label: its segment's value, 255 in binary mode
  std::vector<uint32_t> first_pixel;  ///< per label: raster index
};

/// All of these. With Settings::separation, each part is a component of its own.
ExpectedFrame expect_labels(const Image& image, const Settings& settings);

/// What the library must report of the frame. n_iterations is 0: each labeler has its own number. With
/// hysteresis, `is_strong` says per label which components have a strong pixel.
FrameCounts expect_counts(const ExpectedFrame& frame, const Settings& settings,
                          const std::vector<bool>& is_strong = {});

/// The `count` largest of these labels (of equal areas, the smaller label), ascending. `areas` is indexed by
/// label.
std::vector<uint32_t> largest_labels(std::vector<uint32_t> labels, std::span<const uint32_t> areas,
                                     size_t count);

/// The table of records: the largest `max_components` of the components that the filter keeps, ascending
/// labels.
std::vector<ExpectedRecord> expect_records(const ExpectedFrame& frame, const Settings& settings,
                                           uint32_t max_components, const std::vector<bool>& is_strong = {});

}  // namespace ccl::test
