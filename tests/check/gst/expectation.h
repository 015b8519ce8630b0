// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the element must find and paint: the common oracle's answers in the terms of the element's properties
/// and formats. The table of palette colours is the library's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/component.h"
#include "ccl/config.h"
#include "oracle.h"

namespace cudaccl::test {

/// A dense 8-bit image: the luma plane of a frame.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> pixels;

  uint8_t at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x]; }
  uint8_t& at(uint32_t x, uint32_t y) { return pixels[size_t{y} * width + x]; }
};

/// The image as the oracle takes it.
ccl::test::Image with_rows(const Image& image);

Image blank(uint32_t width, uint32_t height, uint8_t value = 0);

/// Blobs and specks whose values lie on, just below and just above every threshold that the tests use.
Image noise(uint32_t width, uint32_t height, uint32_t seed);

/// '.' is 0, 'a'..'z' are 1..26, '#' is 255; rows of equal length.
Image picture(const std::vector<std::string>& rows);

/// Components of the areas 1, 4, 4, 6, 1: every size but the largest twice.
inline const Image kShapes = picture({"#..##....", "...##..##", ".......##", "###......", "###....#."});

/// A part of an image.
Image cut(const Image& outer, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/// Every other pixel of every other row.
Image dots(uint32_t width, uint32_t height);

struct Rule {
  int connectivity = 8;
  bool values = false;
  uint32_t threshold = 1;
  bool invert = false;
  uint32_t min_area = 1;
  uint32_t max_area = UINT32_MAX;
  ccl::Filter filter = {};  ///< less the areas above
};

struct Expected {
  ccl::Settings settings;
  ccl::test::ExpectedFrame frame;
  std::vector<CclComponent>
      records;  ///< of the components that the filter keeps, ascending labels, all features
};

Expected label(const Image& image, const Rule& rule);

/// The `count` largest records (ties: smaller label), ascending labels.
std::vector<CclComponent> largest(const std::vector<CclComponent>& records, size_t count);

struct Paint {
  std::string format = "RGBA";  ///< its letters are the order of the channels
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
std::vector<uint8_t> distance(const Expected& expected, const Image& image);
std::vector<uint8_t> distance_8(const Expected& expected, const Image& image);  ///< in GRAY8

/// Fails the running test unless the records agree: integers exactly, reals to the last places.
void expect_records(const CclComponent* records, size_t count, const std::vector<CclComponent>& expected);

}  // namespace cudaccl::test
