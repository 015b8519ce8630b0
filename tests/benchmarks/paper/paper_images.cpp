// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paper_images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <random>

#include "ccl/config.h"
#include "pgm.h"

namespace ccl::bench {

namespace {

using test::Image;
using test::kForeground;

/// Below `limit`. By hand, since what a distribution of the standard library makes of a generator's
/// numbers differs from one library to another.
uint32_t below(std::mt19937& random, uint32_t limit) {
  return static_cast<uint32_t>(uint64_t{random()} * limit >> 32);
}

/// From 0 to 1.
double uniform(std::mt19937& random) {
  return random() * 0x1p-32;
}

/// Pixels for which `is_inside(dx, dy)`, centred at (x, y), within `reach`; what leaves the image is
/// cut off. Returns how many were background before.
template <typename IsInside>
uint32_t stamp(Image* image, double x, double y, double reach, uint8_t value, IsInside is_inside) {
  uint32_t n_new = 0;
  const auto first = [reach](double centre) { return static_cast<int64_t>(std::ceil(centre - reach)); };
  const auto last = [reach](double centre) { return static_cast<int64_t>(std::floor(centre + reach)); };
  for (int64_t row = std::max<int64_t>(0, first(y)); row <= std::min<int64_t>(image->height - 1, last(y));
       ++row) {
    for (int64_t column = std::max<int64_t>(0, first(x));
         column <= std::min<int64_t>(image->width - 1, last(x)); ++column) {
      if (is_inside(static_cast<double>(column) - x, static_cast<double>(row) - y)) {
        uint8_t& pixel = image->at(static_cast<uint32_t>(column), static_cast<uint32_t>(row));
        n_new += pixel == 0 ? 1 : 0;
        pixel = value;
      }
    }
  }
  return n_new;
}

uint32_t stamp_disc(Image* image, double x, double y, double radius, uint8_t value) {
  return stamp(image, x, y, radius, value,
               [radius](double dx, double dy) { return dx * dx + dy * dy <= radius * radius; });
}

/// A value of 1..255.
uint8_t value_of(uint32_t object) {
  return static_cast<uint8_t>(1 + object % 255);
}

/// The least grey value of the upper class.
uint32_t otsu_threshold(const std::array<uint64_t, 256>& histogram) {
  double n_all = 0;
  double sum_all = 0;
  for (size_t i = 0; i < histogram.size(); ++i) {
    n_all += static_cast<double>(histogram[i]);
    sum_all += static_cast<double>(histogram[i] * i);
  }
  double n_low = 0;
  double sum_low = 0;
  double best = -1;
  uint32_t threshold = 1;
  for (uint32_t i = 0; i + 1 < histogram.size(); ++i) {
    n_low += static_cast<double>(histogram[i]);
    sum_low += static_cast<double>(histogram[i] * i);
    const double n_high = n_all - n_low;
    if (n_low == 0 || n_high == 0) {
      continue;
    }
    const double apart = sum_low / n_low - (sum_all - sum_low) / n_high;
    if (const double between = n_low * n_high * apart * apart; between > best) {
      best = between;
      threshold = i + 1;
    }
  }
  return threshold;
}

/// For each of `n_to` samples, the two of `n_from` it lies between and the weight of the second in
/// 256ths.
struct Sample {
  uint32_t first, second, weight;
};

std::vector<Sample> samples(uint32_t n_from, uint32_t n_to) {
  std::vector<Sample> all(n_to);
  for (uint32_t i = 0; i < n_to; ++i) {
    const double at = std::clamp((i + 0.5) * n_from / n_to - 0.5, 0.0, static_cast<double>(n_from - 1));
    const auto first = static_cast<uint32_t>(at);
    all[i] = {first, std::min(first + 1, n_from - 1), static_cast<uint32_t>((at - first) * 256)};
  }
  return all;
}

}  // namespace

Image blobs_with_noise(const std::string& name, uint32_t length, uint32_t radius, uint32_t seed) {
  Image image = test::plain("", length, length);
  image.name = name;
  std::mt19937 random(seed);
  const uint32_t n_pixels = length * length;
  uint32_t n_occupied = 0;
  while (n_occupied < n_pixels / 4) {
    const uint32_t x = below(random, length);
    n_occupied += stamp_disc(&image, x, below(random, length), radius, kForeground);
  }
  while (n_occupied < n_pixels / 2) {
    uint8_t& pixel = image.memory[below(random, n_pixels)];
    n_occupied += pixel == 0 ? 1 : 0;
    pixel = kForeground;
  }
  return image;
}

Image spheres(uint32_t length, uint32_t n_per_tile, uint32_t seed) {
  constexpr uint32_t kTile = 1024;
  constexpr double kRadius = 18;
  Image tile = test::plain("", kTile, kTile);
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < n_per_tile; ++i) {
    const uint32_t x = below(random, kTile);
    stamp_disc(&tile, x, below(random, kTile), kRadius, value_of(i));
  }
  Image image = test::plain("", length, length);
  image.name = std::to_string(n_per_tile) + " spheres";
  for (uint32_t y = 0; y < length; ++y) {
    for (uint32_t x = 0; x < length; x += kTile) {
      std::copy_n(&tile.at(0, y % kTile), std::min(kTile, length - x), &image.at(x, y));
    }
  }
  return image;
}

Image large_objects(uint32_t length, uint32_t seed) {
  constexpr uint32_t kObjects = 24;
  Image image = test::plain("", length, length);
  image.name = "large objects";
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < kObjects; ++i) {
    const double x = uniform(random) * length;
    const double y = uniform(random) * length;
    stamp_disc(&image, x, y, (0.08 + 0.17 * uniform(random)) * length, value_of(i));
  }
  return image;
}

Image log_slice(uint32_t length, uint32_t seed) {
  constexpr uint8_t kKnot = 1;
  constexpr uint8_t kPith = 2;
  constexpr uint8_t kCrack = 3;
  constexpr uint8_t kBark = 4;
  constexpr uint8_t kSpeck = 5;
  Image image = test::plain("", length, length);
  image.name = "log slices";
  std::mt19937 random(seed);
  const double trunk = 0.45 * length;
  const double x = (0.48 + 0.04 * uniform(random)) * length;
  const double y = (0.48 + 0.04 * uniform(random)) * length;
  stamp(&image, x, y, trunk, kBark, [trunk](double dx, double dy) {
    const double distance = std::hypot(dx, dy);
    return distance <= trunk && distance > 0.95 * trunk;
  });
  const uint32_t n_knots = 3 + below(random, 6);
  for (uint32_t i = 0; i < n_knots; ++i) {
    const double angle = uniform(random) * 2 * std::numbers::pi;
    const double reach = (0.4 + 0.5 * uniform(random)) * trunk;
    const double width = (0.03 + 0.05 * uniform(random)) * trunk;
    // A wedge from the pith outwards, round at its end.
    stamp(&image, x, y, reach, kKnot, [=](double dx, double dy) {
      const double along = dx * std::cos(angle) + dy * std::sin(angle);
      const double across = std::abs(dy * std::cos(angle) - dx * std::sin(angle));
      return along > 0 && along * along + across * across <= reach * reach && across <= width * along / reach;
    });
  }
  const uint32_t n_cracks = 2 + below(random, 4);
  for (uint32_t i = 0; i < n_cracks; ++i) {
    double angle = uniform(random) * 2 * std::numbers::pi;
    double crack_x = x;
    double crack_y = y;
    for (uint32_t step = 0; step < length / 3; ++step) {
      angle += (uniform(random) - 0.5) * 0.3;
      crack_x += std::cos(angle);
      crack_y += std::sin(angle);
      stamp_disc(&image, crack_x, crack_y, 1, kCrack);
    }
  }
  stamp_disc(&image, x, y, 0.03 * trunk, kPith);
  for (uint32_t i = 0; i < length * length / 400; ++i) {
    const uint32_t column = below(random, length);
    image.at(column, below(random, length)) = kSpeck;
  }
  return image;
}

Image enlarge_and_binarize(const Image& grey, Size size) {
  Image image = test::plain("", size.width, size.height);
  image.name = grey.name;
  const std::vector<Sample> columns = samples(grey.width, size.width);
  const std::vector<Sample> rows = samples(grey.height, size.height);
  std::array<uint64_t, 256> histogram{};
  std::vector<uint32_t> blended(grey.width);  // of two rows, 256 times the grey value
  for (uint32_t y = 0; y < size.height; ++y) {
    const uint8_t* above = grey.pixels() + rows[y].first * grey.stride;
    const uint8_t* below = grey.pixels() + rows[y].second * grey.stride;
    for (uint32_t x = 0; x < grey.width; ++x) {
      blended[x] = above[x] * (256 - rows[y].weight) + below[x] * rows[y].weight;
    }
    uint8_t* out = &image.at(0, y);
    for (uint32_t x = 0; x < size.width; ++x) {
      const auto& [first, second, weight] = columns[x];
      out[x] = static_cast<uint8_t>((blended[first] * (256 - weight) + blended[second] * weight) >> 16);
      ++histogram[out[x]];
    }
  }
  const uint32_t threshold = otsu_threshold(histogram);
  uint64_t n_low = 0;
  for (uint32_t i = 0; i < threshold; ++i) {
    n_low += histogram[i];
  }
  const bool invert = n_low * 2 < size_t{size.width} * size.height;
  const ForegroundRule rule{
      .foreground = Foreground::kBinary, .threshold = static_cast<uint8_t>(threshold), .invert = invert};
  std::transform(image.memory.begin(), image.memory.end(), image.memory.begin(),
                 [rule](uint8_t value) { return rule.segment(value); });
  return image;
}

Status read_folder(const std::string& folder, std::vector<Image>* images) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pgm") {
      files.push_back(entry.path());
    }
  }
  if (error || files.empty()) {
    return {StatusCode::kInvalidArgument, folder + " has no PGM files"};
  }
  std::sort(files.begin(), files.end());
  images->clear();
  for (const std::filesystem::path& file : files) {
    Image& image = images->emplace_back();
    CCL_RETURN_IF_ERROR(test::read_pgm(file.string(), &image));
    image.name = file.stem().string();
  }
  return {};
}

}  // namespace ccl::bench
