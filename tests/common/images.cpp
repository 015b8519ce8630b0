// SPDX-License-Identifier: LGPL-2.1-or-later
#include "images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace ccl::test {

namespace {

/// True with a chance of `percent` in 100. By hand, since what a distribution of the standard library makes
/// of a generator's numbers differs from one library to another.
bool happens(std::mt19937& random, uint32_t percent) {
  return random() % 100 < percent;
}

/// A value for every block of granularity × granularity pixels, in raster order of the blocks.
template <typename Value>
void fill_blocks(Image* image, uint32_t granularity, Value next_value) {
  for (uint32_t y0 = 0; y0 < image->height; y0 += granularity) {
    for (uint32_t x0 = 0; x0 < image->width; x0 += granularity) {
      const uint8_t value = next_value();
      for (uint32_t y = y0; y < std::min(image->height, y0 + granularity); ++y) {
        for (uint32_t x = x0; x < std::min(image->width, x0 + granularity); ++x) {
          image->at(x, y) = value;
        }
      }
    }
  }
}

}  // namespace

Image plain(const std::string& name, uint32_t width, uint32_t height, uint8_t value) {
  return {.name = name + " " + std::to_string(width) + "x" + std::to_string(height),
          .width = width,
          .height = height,
          .stride = width,
          .offset = 0,
          .memory = std::vector<uint8_t>(size_t{width} * height, value)};
}

Image picture(const std::vector<std::string>& rows) {
  Image image =
      plain("picture", static_cast<uint32_t>(rows.front().size()), static_cast<uint32_t>(rows.size()));
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      const char c = rows[y][x];
      image.at(x, y) = c == '#' ? kForeground : c == '.' ? 0 : static_cast<uint8_t>(c - '0');
    }
  }
  return image;
}

Image spread(const Image& image, size_t offset, size_t padding) {
  Image out = image;
  out.name += " offset " + std::to_string(offset) + " padding " + std::to_string(padding);
  out.offset = offset;
  out.stride = image.width + padding;
  out.memory.resize(offset + (image.height - 1) * out.stride + image.width);
  std::mt19937 random(static_cast<uint32_t>(offset * 1000 + padding));
  std::generate(out.memory.begin(), out.memory.end(), [&] { return static_cast<uint8_t>(random()); });
  for (uint32_t y = 0; y < image.height; ++y) {
    std::copy_n(image.pixels() + y * image.stride, image.width, &out.at(0, y));
  }
  return out;
}

void write_pattern(Image* image, uint32_t x0, uint32_t y0, uint32_t width, uint32_t height,
                   std::span<const uint8_t> states, uint64_t number) {
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      image->at(x0 + x, y0 + y) = states[number % states.size()];
      number /= states.size();
    }
  }
}

uint64_t count_patterns(uint32_t width, uint32_t height, size_t n_states) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < width * height; ++i) {
    count *= n_states;
  }
  return count;
}

Image all_patterns(uint32_t width, uint32_t height, std::span<const uint8_t> states) {
  const uint64_t n_patterns = count_patterns(width, height, states.size());
  const auto n_columns = static_cast<uint32_t>(std::ceil(std::sqrt(static_cast<double>(n_patterns))));
  const auto n_rows = static_cast<uint32_t>((n_patterns + n_columns - 1) / n_columns);
  Image image =
      plain("all patterns of " + std::to_string(width) + "x" + std::to_string(height) + " pixels in",
            n_columns * (width + 1), n_rows * (height + 1), states[0]);
  for (uint64_t i = 0; i < n_patterns; ++i) {
    const auto column = static_cast<uint32_t>(i % n_columns);
    const auto row = static_cast<uint32_t>(i / n_columns);
    write_pattern(&image, column * (width + 1), row * (height + 1), width, height, states, i);
  }
  return image;
}

std::vector<std::pair<uint32_t, uint32_t>> sizes_up_to(uint32_t n_pixels) {
  std::vector<std::pair<uint32_t, uint32_t>> sizes;
  for (uint32_t width = 1; width <= n_pixels; ++width) {
    for (uint32_t height = 1; width * height <= n_pixels; ++height) {
      sizes.emplace_back(width, height);
    }
  }
  return sizes;
}

Image noise(uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed) {
  Image image = plain("noise, granularity " + std::to_string(granularity) + ", density " +
                          std::to_string(density) + "%, seed " + std::to_string(seed) + ",",
                      width, height);
  std::mt19937 random(seed);
  fill_blocks(&image, granularity, [&] { return happens(random, density) ? kForeground : uint8_t{0}; });
  return image;
}

Image random_levels(uint32_t width, uint32_t height, uint32_t granularity, std::span<const uint8_t> levels,
                    uint32_t seed) {
  Image image = plain("levels " + std::to_string(levels.size()) + ", granularity " +
                          std::to_string(granularity) + ", seed " + std::to_string(seed) + ",",
                      width, height);
  std::mt19937 random(seed);
  fill_blocks(&image, granularity, [&] { return levels[random() % levels.size()]; });
  return image;
}

Image grey_noise(uint32_t width, uint32_t height, uint32_t seed) {
  Image image = plain("grey noise, seed " + std::to_string(seed) + ",", width, height);
  std::mt19937 random(seed);
  fill_blocks(&image, 1, [&] { return static_cast<uint8_t>(random() >> 24); });
  return image;
}

Image blobs(uint32_t width, uint32_t height, uint32_t seed) {
  Image image = plain("blobs, seed " + std::to_string(seed) + ",", width, height);
  std::mt19937 random(seed);
  const uint32_t largest = std::max(2u, std::min(width, height) / 8);
  const uint32_t n_discs = width * height / (largest * largest * 4) + 1;
  for (uint32_t i = 0; i < n_discs; ++i) {
    const auto cx = static_cast<int64_t>(random() % width);
    const auto cy = static_cast<int64_t>(random() % height);
    const auto radius = static_cast<int64_t>(random() % largest + 1);
    for (int64_t y = std::max<int64_t>(0, cy - radius); y <= std::min<int64_t>(height - 1, cy + radius);
         ++y) {
      for (int64_t x = std::max<int64_t>(0, cx - radius); x <= std::min<int64_t>(width - 1, cx + radius);
           ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius) {
          image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = kForeground;
        }
      }
    }
  }
  return image;
}

Image touching_ellipses(uint32_t width, uint32_t height, uint32_t aspect, uint32_t seed) {
  Image image =
      plain("touching ellipses, aspect " + std::to_string(aspect) + ", seed " + std::to_string(seed), width,
            height);
  std::mt19937 random(seed);
  const int64_t step = 6 + random() % 16;  // columns from one to the next
  for (int64_t row = 0; row * step * aspect < height; ++row) {
    for (int64_t column = 0; column * step < width; ++column) {
      const int64_t radius = step * (30 + random() % 40) / 100 + 1;
      const int64_t center_x = column * step + random() % 4;
      const int64_t center_y = row * step * aspect + random() % (4 * aspect);
      const bool is_ragged = happens(random, 30);
      const bool has_hole = happens(random, 10);
      for (int64_t y = std::max<int64_t>(0, center_y - radius * aspect);
           y < std::min<int64_t>(height, center_y + radius * aspect + 1); ++y) {
        for (int64_t x = std::max<int64_t>(0, center_x - radius);
             x < std::min<int64_t>(width, center_x + radius + 1); ++x) {
          const int64_t dx = (x - center_x) * aspect;
          const int64_t dy = y - center_y;
          const int64_t square = (dx * dx + dy * dy) / aspect / aspect;
          const bool is_at_edge = square > (radius - 1) * (radius - 1);
          const bool is_out = square > radius * radius || (is_ragged && is_at_edge && happens(random, 40)) ||
                              (has_hole && square < radius * radius / 4);
          image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) |= is_out ? 0 : kForeground;
        }
      }
    }
  }
  return image;
}

Image spiral(uint32_t width, uint32_t height) {
  Image image = plain("spiral", width, height);
  const auto inside = [&](int64_t x, int64_t y) { return x >= 0 && y >= 0 && x < width && y < height; };
  const auto is_drawn = [&](int64_t x, int64_t y) {
    return inside(x, y) && image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) != 0;
  };
  int64_t x = 0;
  int64_t y = 0;
  int64_t dx = 1;
  int64_t dy = 0;
  // A step is free if it stays inside and leaves a pixel of space to what is drawn already.
  const auto is_free = [&] {
    return inside(x + dx, y + dy) && !is_drawn(x + dx, y + dy) && !is_drawn(x + 2 * dx, y + 2 * dy);
  };
  image.at(0, 0) = kForeground;
  while (true) {
    if (!is_free()) {
      dx = -std::exchange(dy, dx);
      if (!is_free()) {
        return image;
      }
    }
    x += dx;
    y += dy;
    image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = kForeground;
  }
}

Image serpentine(uint32_t width, uint32_t height) {
  return drawn("serpentine", width, height,
               [width](uint32_t x, uint32_t y) { return y % 2 == 0 || x == (y % 4 == 1 ? width - 1 : 0); });
}

Image gradient(uint32_t width, uint32_t height) {
  Image image = plain("gradient", width, height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      image.at(x, y) = static_cast<uint8_t>((x * 20 / width + y * 12 / height) * 8);
    }
  }
  return image;
}

Image split_foreground(const Image& image) {
  constexpr std::array<uint8_t, 3> kValues = {1, 128, 255};
  Image out = image;
  out.name += ", foreground split";
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      if (out.at(x, y) != 0) {
        out.at(x, y) = kValues[(x / 11 + y / 7) % kValues.size()];
      }
    }
  }
  return out;
}

Image two_segments(const Image& image) {
  Image out = image;
  out.name += ", background a segment";
  for (uint8_t& value : out.memory) {
    value = value != 0 ? 9 : 3;
  }
  return out;
}

std::vector<Image> adversarial_set(uint32_t width, uint32_t height) {
  const auto to_border = [width, height](uint32_t x, uint32_t y) {
    return std::min({x, y, width - 1 - x, height - 1 - y});
  };
  const auto make = [width, height](const std::string& name, auto is_foreground) {
    return drawn(name, width, height, is_foreground);
  };
  return {
      plain("full", width, height, kForeground),
      plain("empty", width, height),
      make("checkerboard", [](uint32_t x, uint32_t y) { return (x + y) % 2 == 0; }),
      make("odd checkerboard", [](uint32_t x, uint32_t y) { return (x + y) % 2 == 1; }),
      make("horizontal lines", [](uint32_t, uint32_t y) { return y % 2 == 0; }),
      make("vertical lines", [](uint32_t x, uint32_t) { return x % 2 == 0; }),
      make("lattice of holes", [](uint32_t x, uint32_t y) { return x % 2 == 0 || y % 2 == 0; }),
      make("lattice of dots", [](uint32_t x, uint32_t y) { return x % 2 == 0 && y % 2 == 0; }),
      make("comb, teeth up", [=](uint32_t x, uint32_t y) { return y == height - 1 || x % 2 == 0; }),
      make("comb, teeth down", [](uint32_t x, uint32_t y) { return y == 0 || x % 2 == 0; }),
      make("comb, teeth left", [=](uint32_t x, uint32_t y) { return x == width - 1 || y % 2 == 0; }),
      make("comb, teeth right", [](uint32_t x, uint32_t y) { return x == 0 || y % 2 == 0; }),
      make("nested rings", [=](uint32_t x, uint32_t y) { return to_border(x, y) % 2 == 0; }),
      make("nested cups",
           [=](uint32_t x, uint32_t y) {
             return std::min({x, width - 1 - x, height - 1 - y}) % 2 == 0;
           }),
      make("nested caps",
           [=](uint32_t x, uint32_t y) {
             return std::min({x, width - 1 - x, y}) % 2 == 0;
           }),
      make("stripes falling", [=](uint32_t x, uint32_t y) { return (x + 3 * height - y) % 3 == 0; }),
      make("stripes rising", [](uint32_t x, uint32_t y) { return (x + y) % 3 == 0; }),
      make("staircases", [](uint32_t x, uint32_t y) { return (x + y) % 4 < 2; }),
      make("zigzag", [](uint32_t x, uint32_t y) { return (x % 8 < 4 ? x % 4 + y : 3 - x % 4 + y) % 5 == 0; }),
      spiral(width, height),
      serpentine(width, height),
      blobs(width, height, 1),
  };
}

std::vector<Image> value_set(uint32_t width, uint32_t height) {
  std::vector<Image> images;
  for (const Image& image : adversarial_set(width, height)) {
    images.push_back(split_foreground(image));
    images.push_back(two_segments(image));
  }
  constexpr std::array<uint8_t, 4> kLevels = {0, 1, 2, 255};
  for (const uint32_t granularity : {1u, 2u, 5u}) {
    images.push_back(random_levels(width, height, granularity, std::span(kLevels).first(2), granularity));
    images.push_back(
        random_levels(width, height, granularity, std::span(kLevels).subspan(1, 2), granularity));
    images.push_back(random_levels(width, height, granularity, kLevels, granularity));
  }
  images.push_back(gradient(width, height));
  images.push_back(grey_noise(width, height, 1));
  return images;
}

}  // namespace ccl::test
