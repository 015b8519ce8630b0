// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the element must find and paint, computed in the simplest way: flood fill and counting. It shares
/// no code with the labelling library except the record and the table of palette colours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/component.h"

namespace cudaccl::test {

/// A dense 8-bit image: the luma plane of a frame.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> pixels;

  uint8_t at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x]; }
  uint8_t& at(uint32_t x, uint32_t y) { return pixels[size_t{y} * width + x]; }
};

Image blank(uint32_t width, uint32_t height, uint8_t value = 0);

/// Blobs and specks. Their values are on, just below and just above every threshold that the tests use.
Image noise(uint32_t width, uint32_t height, uint32_t seed);

/// '.' is 0, 'a'..'z' are 1..26, '#' is 255; rows of equal length.
Image picture(const std::vector<std::string>& rows);

struct Rule {
  int connectivity = 8;
  bool values = false;
  uint32_t threshold = 1;
  bool invert = false;
  uint32_t min_area = 1;
  uint32_t max_area = UINT32_MAX;
};

struct Expected {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> labels;       ///< canonical, before the filter
  std::vector<uint32_t> kept;         ///< the same, but 0 in components that the filter does not keep
  std::vector<CclComponent> records;  ///< of those kept, ascending labels, all features
};

Expected label(const Image& image, const Rule& rule);

/// The `count` largest records (ties: smaller label), ascending labels.
std::vector<CclComponent> largest(std::vector<CclComponent> records, size_t count);

struct Paint {
  std::string format = "RGBA";  ///< the letters give the order of the channels
  uint32_t palette = 0;
  uint32_t seed = 0;
  uint32_t background = 0xff000000;
  uint32_t alpha = 128;
  bool limited_range = false;
};

/// Dense pixels of each output.
std::vector<uint8_t> colorized(const Expected& expected, const Paint& paint);
std::vector<uint8_t> overlay(const Expected& expected, const Image& image, const Paint& paint);
std::vector<uint8_t> labels(const Expected& expected);
std::vector<uint8_t> mask(const Expected& expected);

/// Fails the running test unless the records agree: integers exactly, reals to the last digits.
void expect_records(const CclComponent* records, size_t count, const std::vector<CclComponent>& expected);

}  // namespace cudaccl::test
