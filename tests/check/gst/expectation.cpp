// SPDX-License-Identifier: LGPL-2.1-or-later
#include "expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "ccl/colors.h"

namespace cudaccl::test {

namespace {

using Place = std::pair<int, int>;

/// Visits every pixel reached from `seed` over neighbours that `visit` accepts; it returns true the first
/// time.
void flood(Place seed, int connectivity, const std::function<bool(int, int)>& visit) {
  std::vector<Place> open;
  if (visit(seed.first, seed.second)) {
    open.push_back(seed);
  }
  while (!open.empty()) {
    const auto [x, y] = open.back();
    open.pop_back();
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((connectivity == 8 || dx == 0 || dy == 0) && visit(x + dx, y + dy)) {
          open.emplace_back(x + dx, y + dy);
        }
      }
    }
  }
}

uint8_t segment(uint8_t value, const Rule& rule) {
  if (rule.values) {
    return value;
  }
  return ((value >= rule.threshold) != rule.invert) ? 255 : 0;
}

/// Holes are the parts of the component's complement that the outside does not reach. The complement has the
/// other connectivity.
int euler_number(const Expected& e, const CclComponent& c, int connectivity) {
  const int width = static_cast<int>(c.width) + 2;
  const int height = static_cast<int>(c.height) + 2;
  std::vector<uint8_t> seen(static_cast<size_t>(width) * static_cast<size_t>(height));
  const auto visit = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= width || y >= height) {
      return false;
    }
    const bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1 &&
                        e.labels[(c.y + y - 1) * size_t{e.width} + c.x + x - 1] == c.label;
    return !inside && std::exchange(seen[static_cast<size_t>(y) * width + x], uint8_t{1}) == 0;
  };
  int parts = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      bool fresh = false;
      flood({x, y}, connectivity == 8 ? 4 : 8, [&](int px, int py) {
        const bool is_new = visit(px, py);
        fresh |= is_new;
        return is_new;
      });
      parts += fresh;
    }
  }
  return 2 - parts;
}

CclComponent describe(const Expected& e, uint32_t label, uint16_t value, int connectivity) {
  CclComponent c{};
  c.label = c.id = label;
  c.value = value;
  c.x = e.width;
  c.y = e.height;
  uint32_t right = 0;
  uint32_t bottom = 0;
  double sx = 0;
  double sy = 0;
  const auto is_in = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < static_cast<int>(e.width) && y < static_cast<int>(e.height) &&
           e.labels[static_cast<size_t>(y) * e.width + x] == label;
  };
  const auto for_each_pixel = [&](const auto& act) {
    for (size_t i = 0; i < e.labels.size(); ++i) {
      if (e.labels[i] == label) {
        act(static_cast<int>(i % e.width), static_cast<int>(i / e.width));
      }
    }
  };
  for_each_pixel([&](int x, int y) {
    ++c.area;
    c.x = std::min<uint32_t>(c.x, x);
    c.y = std::min<uint32_t>(c.y, y);
    right = std::max<uint32_t>(right, x);
    bottom = std::max<uint32_t>(bottom, y);
    sx += x;
    sy += y;
    c.perimeter += !is_in(x - 1, y) + !is_in(x + 1, y) + !is_in(x, y - 1) + !is_in(x, y + 1);
  });
  c.width = right - c.x + 1;
  c.height = bottom - c.y + 1;
  c.cx = static_cast<float>(sx / c.area);
  c.cy = static_cast<float>(sy / c.area);
  double mxx = 0, mxy = 0, myy = 0;
  for_each_pixel([&](int x, int y) {
    mxx += (x - sx / c.area) * (x - sx / c.area);
    mxy += (x - sx / c.area) * (y - sy / c.area);
    myy += (y - sy / c.area) * (y - sy / c.area);
  });
  c.mxx = static_cast<float>(mxx / c.area);
  c.mxy = static_cast<float>(mxy / c.area);
  c.myy = static_cast<float>(myy / c.area);
  c.euler = euler_number(e, c, connectivity);
  const bool at_border = c.x == 0 || c.y == 0 || right == e.width - 1 || bottom == e.height - 1;
  c.flags = at_border ? CCL_COMPONENT_TOUCHES_BORDER : 0;
  return c;
}

using Color = std::array<uint8_t, 4>;  // red, green, blue, alpha

Color color(uint32_t argb) {
  return {static_cast<uint8_t>(argb >> 16), static_cast<uint8_t>(argb >> 8), static_cast<uint8_t>(argb),
          static_cast<uint8_t>(argb >> 24)};
}

Color component_color(uint32_t label, const Paint& paint) {
  return color(ccl::palette_colors()[paint.palette * 256 + (label - 1 + paint.seed) % 256]);
}

void put(std::vector<uint8_t>* pixels, const Color& color, const std::string& format) {
  for (const char channel : format) {
    const size_t place = std::string("RGBA").find(channel);
    pixels->push_back(color[place == std::string::npos ? 3 : place]);
  }
}

}  // namespace

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
      // Every other pixel repeats a neighbour, so that segments of one value have more than one pixel.
      const uint32_t dice = static_cast<uint32_t>(random() >> 8);
      image.at(x, y) = dice % 4 == 0 && x > 0   ? image.at(x - 1, y)
                       : dice % 4 == 1 && y > 0 ? image.at(x, y - 1)
                                                : kValues[dice / 4 % kValues.size()];
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
  Expected e{image.width, image.height, std::vector<uint32_t>(image.pixels.size()), {}, {}};
  std::vector<CclComponent> all;
  for (size_t i = 0; i < e.labels.size(); ++i) {
    const uint8_t own = segment(image.pixels[i], rule);
    if (own == 0 || e.labels[i] != 0) {
      continue;
    }
    const auto next = static_cast<uint32_t>(all.size() + 1);
    const auto width = static_cast<int>(image.width);
    flood({static_cast<int>(i) % width, static_cast<int>(i) / width}, rule.connectivity, [&](int x, int y) {
      if (x < 0 || y < 0 || x >= width || y >= static_cast<int>(image.height) ||
          segment(image.at(x, y), rule) != own) {
        return false;
      }
      return std::exchange(e.labels[static_cast<size_t>(y) * width + x], next) == 0;
    });
    all.push_back(describe(e, next, own, rule.connectivity));
  }
  for (const CclComponent& c : all) {
    if (c.area >= rule.min_area && c.area <= rule.max_area) {
      e.records.push_back(c);
    }
  }
  for (const uint32_t l : e.labels) {
    const bool is_kept = l != 0 && all[l - 1].area >= rule.min_area && all[l - 1].area <= rule.max_area;
    e.kept.push_back(is_kept ? l : 0);
  }
  return e;
}

std::vector<CclComponent> largest(std::vector<CclComponent> records, size_t count) {
  std::stable_sort(records.begin(), records.end(),
                   [](const CclComponent& a, const CclComponent& b) { return a.area > b.area; });
  records.resize(std::min(count, records.size()));
  std::sort(records.begin(), records.end(),
            [](const CclComponent& a, const CclComponent& b) { return a.label < b.label; });
  return records;
}

std::vector<uint8_t> colorized(const Expected& expected, const Paint& paint) {
  std::vector<uint8_t> pixels;
  for (const uint32_t l : expected.kept) {
    put(&pixels, l != 0 ? component_color(l, paint) : color(paint.background), paint.format);
  }
  return pixels;
}

std::vector<uint8_t> overlay(const Expected& expected, const Image& image, const Paint& paint) {
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < expected.kept.size(); ++i) {
    const double luma = image.pixels[i];
    const double stretched = paint.limited_range ? std::clamp((luma - 16) / 219 * 255, 0.0, 255.0) : luma;
    const double grey = std::floor(stretched + 0.5);
    Color mixed{};
    mixed.fill(static_cast<uint8_t>(grey));
    mixed[3] = 255;
    if (expected.kept[i] != 0) {
      const Color over = component_color(expected.kept[i], paint);
      for (size_t channel = 0; channel < 4; ++channel) {
        mixed[channel] = static_cast<uint8_t>(
            std::lround((over[channel] * paint.alpha + mixed[channel] * (255.0 - paint.alpha)) / 255));
      }
    }
    put(&pixels, mixed, paint.format);
  }
  return pixels;
}

std::vector<uint8_t> labels(const Expected& expected) {
  std::vector<uint8_t> pixels;
  for (const uint32_t l : expected.kept) {
    const uint32_t saturated = std::min(l, 65535u);
    pixels.push_back(static_cast<uint8_t>(saturated));
    pixels.push_back(static_cast<uint8_t>(saturated >> 8));
  }
  return pixels;
}

std::vector<uint8_t> mask(const Expected& expected) {
  std::vector<uint8_t> pixels;
  for (const uint32_t l : expected.kept) {
    pixels.push_back(l != 0 ? 255 : 0);
  }
  return pixels;
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
