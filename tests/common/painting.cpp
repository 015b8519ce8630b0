// SPDX-License-Identifier: LGPL-2.1-or-later
#include "painting.h"

#include <algorithm>
#include <cmath>

#include "filters.h"
#include "separation.h"

namespace ccl::test {

namespace {

/// Channels as they are spoken of, apart from where they lie in memory.
struct Color {
  uint8_t alpha, red, green, blue;
};

constexpr Color kWhite = {255, 255, 255, 255};

Color from_argb(uint32_t argb) {
  return {static_cast<uint8_t>(argb >> 24), static_cast<uint8_t>(argb >> 16), static_cast<uint8_t>(argb >> 8),
          static_cast<uint8_t>(argb)};
}

uint8_t rounded(double channel) {
  return static_cast<uint8_t>(std::floor(channel + 0.5));
}

/// Black and white lie at 16 and 235 in limited range, and there is nothing beyond them.
Color grey(uint8_t luma, bool limited_range) {
  const double stretched = limited_range ? std::clamp((luma - 16) / 219.0, 0.0, 1.0) * 255 : luma;
  const uint8_t level = rounded(stretched);
  return {255, level, level, level};
}

Color mixed(const Color& over, const Color& under, uint8_t alpha) {
  const double weight = alpha / 255.0;
  const auto channel = [weight](uint8_t o, uint8_t u) { return rounded(o * weight + u * (1 - weight)); };
  return {channel(over.alpha, under.alpha), channel(over.red, under.red), channel(over.green, under.green),
          channel(over.blue, under.blue)};
}

/// An output image with the few ways to write to it.
class Canvas {
 public:
  Canvas(uint32_t width, uint32_t height, const Config& config)
      : width_(width),
        bytes_per_pixel_(bytes_per_pixel(config.output)),
        layout_(config.layout),
        bytes_(size_t{width} * height * bytes_per_pixel_) {}

  void put(uint32_t x, uint32_t y, const Color& color) {
    uint8_t* pixel = at(x, y);
    pixel[layout_.alpha] = color.alpha;
    pixel[layout_.red] = color.red;
    pixel[layout_.green] = color.green;
    pixel[layout_.blue] = color.blue;
  }

  void put_16_bits(uint32_t x, uint32_t y, uint32_t value) {
    const uint32_t saturated = std::min(value, 65535u);
    at(x, y)[0] = static_cast<uint8_t>(saturated % 256);
    at(x, y)[1] = static_cast<uint8_t>(saturated / 256);
  }

  void put_8_bits(uint32_t x, uint32_t y, uint32_t value) {
    *at(x, y) = static_cast<uint8_t>(std::min(value, 255u));
  }

  void put_mask(uint32_t x, uint32_t y, bool is_set) { put_8_bits(x, y, is_set ? 255 : 0); }

  void outline(const CclComponent& box) {
    for (uint32_t y = box.y; y < box.y + box.height; ++y) {
      for (uint32_t x = box.x; x < box.x + box.width; ++x) {
        if (x == box.x || y == box.y || x == box.x + box.width - 1 || y == box.y + box.height - 1) {
          put(x, y, kWhite);
        }
      }
    }
  }

  std::vector<uint8_t> bytes() && { return std::move(bytes_); }

 private:
  uint8_t* at(uint32_t x, uint32_t y) { return &bytes_[(size_t{y} * width_ + x) * bytes_per_pixel_]; }

  uint32_t width_;
  uint32_t bytes_per_pixel_;
  PixelLayout layout_;
  std::vector<uint8_t> bytes_;
};

/// The distances within the components, before they are separated.
std::vector<uint32_t> distances_of(const Image& image, Settings settings) {
  const uint32_t aspect = settings.separation.aspect;
  settings.separation = {};
  const std::vector<uint32_t> root_map = expect_labels(image, settings).root_map;
  return expect_raw_heights(expect_squares(root_map, image.width, image.height, aspect));
}

}  // namespace

std::vector<uint8_t> expect_pixels(const Image& image, const ExpectedFrame& frame, const Config& config,
                                   const Settings& settings, const Colors& colors) {
  Canvas canvas(frame.width, frame.height, config);
  const std::vector<uint32_t> conditions = expect_conditions(settings.filter, frame);
  const std::vector<uint32_t> distances =
      has_distances(config.output) ? distances_of(image, settings) : std::vector<uint32_t>();
  for (uint32_t y = 0; y < frame.height; ++y) {
    for (uint32_t x = 0; x < frame.width; ++x) {
      const uint32_t label = frame.labels[size_t{y} * frame.width + x];
      const bool is_seen = label != 0 && conditions[label] == kPassed;
      const Color under = grey(image.at(x, y), settings.limited_range);
      switch (config.output) {
        case Output::kNone:
          break;
        case Output::kColorized:
          canvas.put(x, y, from_argb(is_seen ? colors[label] : settings.background_color));
          break;
        case Output::kOverlay:
          canvas.put(x, y, is_seen ? mixed(from_argb(colors[label]), under, settings.overlay_alpha) : under);
          break;
        case Output::kLabels:
          canvas.put_16_bits(x, y, is_seen ? label : 0);
          break;
        case Output::kMask:
          canvas.put_mask(x, y, is_seen);
          break;
        case Output::kBackground:
          canvas.put(x, y, under);
          break;
        case Output::kForeground:
          canvas.put(x, y, is_seen ? under : from_argb(settings.background_color));
          break;
        case Output::kDistance:
          canvas.put_16_bits(x, y, is_seen ? distances[size_t{y} * frame.width + x] : 0);
          break;
        case Output::kDistance8:
          canvas.put_8_bits(x, y, is_seen ? distances[size_t{y} * frame.width + x] / 16 : 0);
          break;
      }
    }
  }
  const bool has_colors = config.output == Output::kColorized || config.output == Output::kOverlay;
  if (has_colors && settings.draw_boxes) {
    for (const ExpectedRecord& record : expect_records(frame, settings, config.max_components)) {
      canvas.outline(record.integers);
    }
  }
  return std::move(canvas).bytes();
}

Colors read_colors(const ExpectedFrame& frame, const std::vector<uint8_t>& pixels) {
  Colors colors = {0};
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    const uint8_t* pixel = &pixels[size_t{frame.first_pixel[label]} * 4];
    colors.push_back(uint32_t{pixel[0]} << 24 | uint32_t{pixel[1]} << 16 | uint32_t{pixel[2]} << 8 |
                     pixel[3]);
  }
  return colors;
}

}  // namespace ccl::test
