// SPDX-License-Identifier: LGPL-2.1-or-later
#include "expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>

#include "ccl/colors.h"
#include "painting.h"

namespace cudaccl::test {

namespace {

ccl::Settings settings_of(const Rule& rule) {
  ccl::Filter filter = rule.filter;
  filter.min_area = rule.min_area;
  filter.max_area = rule.max_area;
  return {.connectivity = rule.connectivity == 4 ? ccl::Connectivity::k4 : ccl::Connectivity::k8,
          .rule = {.foreground = rule.values ? ccl::Foreground::kValues : ccl::Foreground::kBinary,
                   .threshold = static_cast<uint8_t>(rule.threshold),
                   .invert = rule.invert},
          .filter = filter};
}

/// The record with its reals rounded to floats.
CclComponent rounded(const ccl::test::ExpectedRecord& record) {
  CclComponent c = record.integers;
  c.cx = static_cast<float>(record.cx.value);
  c.cy = static_cast<float>(record.cy.value);
  c.mxx = static_cast<float>(record.mxx.value);
  c.mxy = static_cast<float>(record.mxy.value);
  c.myy = static_cast<float>(record.myy.value);
  return c;
}

/// Where the letters of a format such as "xRGB" place the channels.
ccl::PixelLayout layout_of(const std::string& format) {
  ccl::PixelLayout layout;
  for (uint8_t i = 0; i < 4; ++i) {
    (format[i] == 'R'   ? layout.red
     : format[i] == 'G' ? layout.green
     : format[i] == 'B' ? layout.blue
                        : layout.alpha) = i;
  }
  return layout;
}

ccl::test::Colors colors_of(const Expected& expected, const Paint& paint) {
  ccl::test::Colors colors = {0};
  for (uint32_t label = 1; label <= expected.frame.n_labels; ++label) {
    colors.push_back(ccl::palette_colors()[paint.palette * 256 + (label - 1 + paint.seed) % 256]);
  }
  return colors;
}

std::vector<uint8_t> painted(const Expected& expected, const Image& image, ccl::Output output,
                             const Paint& paint = {}) {
  const ccl::Config config{.width = expected.frame.width,
                           .height = expected.frame.height,
                           .output = output,
                           .layout = layout_of(paint.format)};
  ccl::Settings settings = expected.settings;
  settings.background_color = paint.background;
  settings.overlay_alpha = static_cast<uint8_t>(paint.alpha);
  settings.limited_range = paint.limited_range;
  return expect_pixels(with_rows(image), expected.frame, config, settings, colors_of(expected, paint));
}

/// For outputs that do not show the frame.
std::vector<uint8_t> painted(const Expected& expected, ccl::Output output, const Paint& paint = {}) {
  return painted(expected, blank(expected.frame.width, expected.frame.height), output, paint);
}

}  // namespace

ccl::test::Image with_rows(const Image& image) {
  return {.name = "the frame",
          .width = image.width,
          .height = image.height,
          .stride = image.width,
          .offset = 0,
          .memory = image.pixels};
}

Image blank(uint32_t width, uint32_t height, uint8_t value) {
  return {width, height, std::vector<uint8_t>(size_t{width} * height, value)};
}

Image noise(uint32_t width, uint32_t height, uint32_t seed) {
  constexpr std::array<uint8_t, 16> kValues = {0,   0,   0,   0,   1,   15,  16,  17,
                                               125, 126, 127, 128, 200, 234, 235, 255};
  Image image = blank(width, height);
  std::minstd_rand random(seed + 1);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      // Every other pixel repeats a neighbour, so that segments of one value are more than specks.
      const uint32_t dice = static_cast<uint32_t>(random() >> 8);
      image.at(x, y) = dice % 4 == 0 && x > 0   ? image.at(x - 1, y)
                       : dice % 4 == 1 && y > 0 ? image.at(x, y - 1)
                                                : kValues[dice / 4 % kValues.size()];
    }
  }
  return image;
}

Image cut(const Image& outer, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  Image inner = blank(width, height);
  for (uint32_t row = 0; row < height; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      inner.at(column, row) = outer.at(x + column, y + row);
    }
  }
  return inner;
}

Image dots(uint32_t width, uint32_t height) {
  Image image = blank(width, height);
  for (uint32_t y = 0; y < height; y += 2) {
    for (uint32_t x = 0; x < width; x += 2) {
      image.at(x, y) = 255;
    }
  }
  return image;
}

Image picture(const std::vector<std::string>& rows) {
  Image image = blank(static_cast<uint32_t>(rows.front().size()), static_cast<uint32_t>(rows.size()));
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      const char c = rows[y][x];
      image.at(x, y) = c == '#' ? 255 : c == '.' ? 0 : static_cast<uint8_t>(c - 'a' + 1);
    }
  }
  return image;
}

Expected label(const Image& image, const Rule& rule) {
  const ccl::test::Image input = with_rows(image);
  Expected expected{.settings = settings_of(rule), .frame = {}, .records = {}};
  expected.frame = ccl::test::expect_labels(input, expected.settings);
  for (const ccl::test::ExpectedRecord& record :
       ccl::test::expect_records(expected.frame, expected.settings, expected.frame.n_labels)) {
    expected.records.push_back(rounded(record));
  }
  return expected;
}

std::vector<CclComponent> largest(const std::vector<CclComponent>& records, size_t count) {
  std::vector<uint32_t> labels;
  std::vector<uint32_t> areas;
  for (const CclComponent& record : records) {
    labels.push_back(record.label);
    areas.resize(record.label + 1);
    areas[record.label] = record.area;
  }
  labels = ccl::test::largest_labels(labels, areas, count);
  std::vector<CclComponent> kept;
  std::copy_if(records.begin(), records.end(), std::back_inserter(kept), [&](const CclComponent& record) {
    return std::binary_search(labels.begin(), labels.end(), record.label);
  });
  return kept;
}

std::vector<uint8_t> colorized(const Expected& expected, const Paint& paint) {
  return painted(expected, ccl::Output::kColorized, paint);
}

std::vector<uint8_t> overlay(const Expected& expected, const Image& image, const Paint& paint) {
  return painted(expected, image, ccl::Output::kOverlay, paint);
}

std::vector<uint8_t> labels(const Expected& expected) {
  return painted(expected, ccl::Output::kLabels);
}

std::vector<uint8_t> mask(const Expected& expected) {
  return painted(expected, ccl::Output::kMask);
}

std::vector<uint8_t> distance(const Expected& expected, const Image& image) {
  return painted(expected, image, ccl::Output::kDistance);
}

std::vector<uint8_t> distance_8(const Expected& expected, const Image& image) {
  return painted(expected, image, ccl::Output::kDistance8);
}

void expect_records(const CclComponent* records, size_t count, const std::vector<CclComponent>& expected) {
  ASSERT_EQ(count, expected.size());
  for (size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(testing::Message() << "record " << i);
    const CclComponent& got = records[i];
    const CclComponent& want = expected[i];
    EXPECT_EQ(got.label, want.label);
    EXPECT_EQ(got.id, want.id);
    EXPECT_EQ(got.area, want.area);
    EXPECT_EQ(got.x, want.x);
    EXPECT_EQ(got.y, want.y);
    EXPECT_EQ(got.width, want.width);
    EXPECT_EQ(got.height, want.height);
    EXPECT_FLOAT_EQ(got.cx, want.cx);
    EXPECT_FLOAT_EQ(got.cy, want.cy);
    EXPECT_NEAR(got.mxx, want.mxx, 1e-4 + want.mxx * 1e-6);
    EXPECT_NEAR(got.mxy, want.mxy, 1e-4 + std::abs(want.mxy) * 1e-6);
    EXPECT_NEAR(got.myy, want.myy, 1e-4 + want.myy * 1e-6);
    EXPECT_EQ(got.perimeter, want.perimeter);
    EXPECT_EQ(got.euler, want.euler);
    EXPECT_EQ(got.flags, want.flags);
    EXPECT_EQ(got.value, want.value);
    EXPECT_EQ(got.age, want.age);
  }
}

}  // namespace cudaccl::test
