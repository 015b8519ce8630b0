// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties of the segment stage, changed between the frames of a running stream. What each must find
/// is computed here from the definition, pixel by pixel.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;

Image where(const Image& image, const std::function<bool(int, int)>& is_foreground) {
  Image out = blank(image.width, image.height);
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      out.at(x, y) = is_foreground(static_cast<int>(x), static_cast<int>(y)) ? 255 : 0;
    }
  }
  return out;
}

Image at_least(const Image& image, int threshold, bool invert = false) {
  return where(image, [&](int x, int y) {
    return (image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) >= threshold) != invert;
  });
}

/// The level with the largest variance between the classes; of several the lowest.
int otsu_level(const Image& image) {
  std::array<double, 256> histogram{};
  for (const uint8_t value : image.pixels) {
    ++histogram[value];
  }
  int best = 1;
  double best_variance = 0;
  for (int level = 1; level < 256; ++level) {
    double n[2] = {};
    double sum[2] = {};
    for (int value = 0; value < 256; ++value) {
      n[value >= level] += histogram[static_cast<size_t>(value)];
      sum[value >= level] += value * histogram[static_cast<size_t>(value)];
    }
    if (n[0] == 0 || n[1] == 0) {
      continue;
    }
    const double difference = sum[0] / n[0] - sum[1] / n[1];
    const double variance = n[0] * n[1] * difference * difference;
    if (variance > best_variance * (1 + 1e-12)) {
      best_variance = variance;
      best = level;
    }
  }
  return best;
}

/// Sauvola's threshold, with weight 0 the mean.
Image local(const Image& image, int radius, int offset, double weight) {
  return where(image, [&](int x, int y) {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (int v = std::max(0, y - radius); v <= std::min<int>(image.height - 1, y + radius); ++v) {
      for (int u = std::max(0, x - radius); u <= std::min<int>(image.width - 1, x + radius); ++u) {
        const double value = image.at(static_cast<uint32_t>(u), static_cast<uint32_t>(v));
        ++n;
        sum += value;
        squares += value * value;
      }
    }
    const double mean = sum / n;
    const double deviation = std::floor(std::sqrt(n * squares - sum * sum)) / n;
    const double threshold = mean * (1 + (weight != 0 ? weight * (deviation / 128 - 1) : 0)) - offset;
    return image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) >= threshold - 1e-9;
  });
}

/// Dilates the foreground, or with `erodes` the background; outside the frame there is neither.
Image moved(const Image& bits, int radius, bool cross, bool erodes) {
  return where(bits, [&](int x, int y) {
    bool found = false;
    for (int v = y - radius; v <= y + radius; ++v) {
      for (int u = x - radius; u <= x + radius; ++u) {
        const bool in_frame =
            u >= 0 && v >= 0 && u < static_cast<int>(bits.width) && v < static_cast<int>(bits.height);
        if (in_frame && (!cross || u == x || v == y)) {
          found |= (bits.at(static_cast<uint32_t>(u), static_cast<uint32_t>(v)) == 0) == erodes;
        }
      }
    }
    return found != erodes;
  });
}

Image opened(const Image& bits, int radius, bool cross = false) {
  return moved(moved(bits, radius, cross, true), radius, cross, false);
}

Image closed(const Image& bits, int radius, bool cross = false) {
  return moved(moved(bits, radius, cross, false), radius, cross, true);
}

class SegmentProperties : public testing::Test {
 protected:
  void start(const std::string& properties) {
    h = std::make_unique<Harness>("output=labels " + properties);
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  }

  void set(const char* property, const std::string& value) {
    h->set(property, value);
    what += std::string(" ") + property + "=" + value;
  }

  /// The next frame must have these foreground pixels.
  void expect(const Image& bits, const Rule& rule = {}) {
    SCOPED_TRACE(what);
    const Expected expected = label(bits, rule);
    const Ref<GstBuffer> out = h->process(image);
    EXPECT_EQ(h->pixels(out), labels(expected));
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected.records);
  }

  const Image image = noise(kWidth, kHeight, 41);
  std::unique_ptr<Harness> h;
  std::string what;
};

}  // namespace

TEST_F(SegmentProperties, Otsu) {
  start("threshold=200");
  expect(at_least(image, 200));
  set("foreground", "otsu");
  const int level = otsu_level(image);
  expect(at_least(image, level));
  set("invert", "true");
  expect(at_least(image, level, true));
  set("connectivity", "4-way");
  expect(at_least(image, level, true), {.connectivity = 4});
  set("min-area", "4");
  expect(at_least(image, level, true), {.connectivity = 4, .min_area = 4});
}

TEST_F(SegmentProperties, Local) {
  start("foreground=local");
  expect(local(image, 15, 10, 0));
  set("local-radius", "3");
  expect(local(image, 3, 10, 0));
  set("local-offset", "-7");
  expect(local(image, 3, -7, 0));
  set("local-deviation", "0.25");
  expect(local(image, 3, -7, 0.25));
  set("local-radius", "127");
  expect(local(image, 127, -7, 0.25));
  set("foreground", "binary");
  expect(at_least(image, 1));
}

TEST_F(SegmentProperties, Morphology) {
  start("threshold=100 threads=2");
  const Image bits = at_least(image, 100);
  set("open-radius", "1");
  expect(opened(bits, 1));
  set("morphology-shape", "cross");
  expect(opened(bits, 1, true));
  set("close-radius", "2");
  expect(closed(opened(bits, 1, true), 2, true));
  set("morphology-shape", "square");
  expect(closed(opened(bits, 1), 2));
  set("open-radius", "0");
  expect(closed(bits, 2));
  set("close-radius", "8");
  expect(closed(bits, 8));
  set("close-radius", "0");
  expect(bits);
}

TEST_F(SegmentProperties, FillHoles) {
  const Image rings = picture({"......###......", "......#.#......", "#####.####.....", "#...#....###...",
                               "#...#....#.#...", "#####....###...", "...............", "..###..........",
                               "..#.#..........", "...##.........."});
  const auto filled = [&](uint32_t area) {
    Image out = rings;
    out.at(7, 1) = area >= 1 ? 255 : 0;
    out.at(10, 4) = area >= 1 ? 255 : 0;
    out.at(3, 8) = area >= 1 ? 255 : 0;  // closed by a corner
    for (uint32_t i = 0; i < 6; ++i) {
      out.at(1 + i % 3, 3 + i / 3) = area >= 6 ? 255 : 0;
    }
    return out;
  };
  Harness h("output=mask");
  ASSERT_TRUE(h.send_caps("GRAY8", rings.width, rings.height));
  for (const uint32_t area : {0u, 1u, 5u, 6u, 4000000000u}) {
    h.set("fill-holes", std::to_string(area));
    EXPECT_EQ(h.pixels(h.process(rings)), filled(area).pixels) << area;
  }
}

TEST_F(SegmentProperties, Hysteresis) {
  start("output=mask threshold=200 threshold-low=16");
  const auto expected = [&](int high, int low) {
    const Image weak = at_least(image, low);
    const Expected components = label(weak, {});
    std::vector<uint8_t> out(weak.pixels.size());
    const std::vector<uint8_t> of_pixel = labels(components);
    for (const CclComponent& c : components.records) {
      bool is_strong = false;
      const auto has_label = [&](size_t i) {
        return of_pixel[2 * i] + 256u * of_pixel[2 * i + 1] == c.label;
      };
      for (size_t i = 0; i < out.size(); ++i) {
        is_strong |= has_label(i) && image.pixels[i] >= high;
      }
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = is_strong && has_label(i) ? 255 : out[i];
      }
    }
    return out;
  };
  EXPECT_EQ(h->pixels(h->process(image)), expected(200, 16));
  h->set("threshold-low", "128");
  EXPECT_EQ(h->pixels(h->process(image)), expected(200, 128));
  h->set("threshold", "255");
  EXPECT_EQ(h->pixels(h->process(image)), expected(255, 128));
  h->set("threshold-low", "0");
  EXPECT_EQ(h->pixels(h->process(image)), expected(255, 255));
}

/// Each pixel is its own rule at the smallest frame.
TEST(SegmentOnePixel, EveryRule) {
  for (const char* properties :
       {"foreground=otsu", "foreground=local", "foreground=local local-deviation=0.5", "open-radius=8",
        "close-radius=8 morphology-shape=cross", "fill-holes=9", "threshold-low=3 threshold=9"}) {
    Harness h(std::string("output=mask ") + properties);
    ASSERT_TRUE(h.send_caps("GRAY8", 1, 1));
    EXPECT_EQ(h.pixels(h.process(blank(1, 1, 255))), std::vector<uint8_t>{255}) << properties;
  }
}

TEST(SegmentValues, HaveNoBitImage) {
  const Image image = noise(kWidth, kHeight, 42);
  Harness h("output=labels foreground=values open-radius=3 fill-holes=9 threshold-low=5");
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  EXPECT_EQ(h.pixels(h.process(image)), labels(label(image, {.values = true})));
}

}  // namespace cudaccl::test
