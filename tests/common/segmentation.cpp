// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace ccl::test {

namespace {

/// A mask with its size.
struct Canvas {
  int64_t width;
  int64_t height;
  Mask mask;

  bool contains(int64_t x, int64_t y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  uint8_t& at(int64_t x, int64_t y) { return mask[static_cast<size_t>(y * width + x)]; }
  uint8_t at(int64_t x, int64_t y) const { return mask[static_cast<size_t>(y * width + x)]; }
};

template <typename Predicate>
Canvas make_canvas(const Image& image, Predicate is_foreground) {
  Canvas canvas{image.width, image.height, Mask(size_t{image.width} * image.height)};
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      canvas.at(x, y) = is_foreground(x, y) ? kForeground : 0;
    }
  }
  return canvas;
}

/// ⌊√v⌋, from the definition.
int64_t floor_of_root(int64_t v) {
  auto root = static_cast<int64_t>(std::sqrt(static_cast<long double>(v)));
  while (root * root > v) {
    --root;
  }
  while ((root + 1) * (root + 1) <= v) {
    ++root;
  }
  return root;
}

/// Sums of all windows that begin in the frame's corner, so that any window takes four of them.
class SumTable {
 public:
  template <typename Value>
  SumTable(const Image& image, Value value)
      : stride_(image.width + size_t{1}), sums_(stride_ * (image.height + size_t{1})) {
    for (size_t y = 0; y < image.height; ++y) {
      for (size_t x = 0; x < image.width; ++x) {
        sums_[(y + 1) * stride_ + x + 1] =
            value(image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y))) + sums_[y * stride_ + x + 1] +
            sums_[(y + 1) * stride_ + x] - sums_[y * stride_ + x];
      }
    }
  }

  /// Over columns x0..x1 − 1 and rows y0..y1 − 1.
  int64_t sum(int64_t x0, int64_t y0, int64_t x1, int64_t y1) const {
    return at(x1, y1) - at(x0, y1) - at(x1, y0) + at(x0, y0);
  }

 private:
  int64_t at(int64_t x, int64_t y) const {
    return sums_[static_cast<size_t>(y) * stride_ + static_cast<size_t>(x)];
  }

  size_t stride_;
  std::vector<int64_t> sums_;
};

Canvas local_foreground(const Image& image, const LocalThreshold& local, bool invert) {
  const SumTable sums(image, [](int64_t v) { return v; });
  const SumTable squares(image, [](int64_t v) { return v * v; });
  const int64_t radius = local.radius;
  return make_canvas(image, [&](uint32_t x, uint32_t y) {
    const int64_t x0 = std::max<int64_t>(0, x - radius);
    const int64_t y0 = std::max<int64_t>(0, y - radius);
    const int64_t x1 = std::min<int64_t>(image.width, x + radius + 1);
    const int64_t y1 = std::min<int64_t>(image.height, y + radius + 1);
    const __int128 n = (x1 - x0) * (y1 - y0);
    const __int128 sum = sums.sum(x0, y0, x1, y1);
    // value ≥ T, times the denominators of T. With a deviation: T = m·(1 + k·(s/128 − 1)) − offset.
    const __int128 value = int{image.at(x, y)} + int{local.offset};
    if (local.deviation == 0) {
      return (value * n >= sum) != invert;
    }
    const __int128 variance = n * squares.sum(x0, y0, x1, y1) - sum * sum;     // times n²
    const __int128 s = floor_of_root(static_cast<int64_t>(variance));          // times n
    const __int128 factor = 1024 * 128 * n + local.deviation * (s - 128 * n);  // times 1024·128·n
    return (value * n * 1024 * 128 * n >= sum * factor) != invert;
  });
}

bool reaches(int value, int threshold, bool invert) {
  return invert ? value < threshold : value >= threshold;
}

Canvas rule_foreground(const Image& image, const SegmentationCase& c) {
  if (c.rule.foreground == Foreground::kLocal) {
    return local_foreground(image, c.segmentation.local, c.rule.invert);
  }
  int threshold = c.rule.threshold;
  if (c.rule.foreground == Foreground::kOtsu) {
    threshold = static_cast<int>(expect_otsu_level(image));
  } else if (c.segmentation.threshold_low > 0 && !c.rule.invert) {
    threshold = c.segmentation.threshold_low;
  }
  return make_canvas(
      image, [&](uint32_t x, uint32_t y) { return reaches(image.at(x, y), threshold, c.rule.invert); });
}

/// Pixels of the structuring element.
bool is_in(Element element, int64_t radius, int64_t dx, int64_t dy) {
  return std::abs(dx) <= radius && std::abs(dy) <= radius &&
         (element == Element::kSquare || dx == 0 || dy == 0);
}

/// A dilation finds a pixel of `wanted` foreground under the element, an erosion one of background. Pixels
/// outside the frame are never found.
Canvas morphed(const Canvas& in, Element element, int64_t radius, uint8_t wanted) {
  Canvas out = in;
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      bool found = false;
      for (int64_t dy = -radius; dy <= radius && !found; ++dy) {
        for (int64_t dx = -radius; dx <= radius && !found; ++dx) {
          found = is_in(element, radius, dx, dy) && in.contains(x + dx, y + dy) &&
                  in.at(x + dx, y + dy) == wanted;
        }
      }
      const uint8_t other = wanted == kForeground ? 0 : kForeground;
      out.at(x, y) = found ? wanted : other;
    }
  }
  return out;
}

void open_and_close(const Morphology& morphology, Canvas* canvas) {
  if (const int64_t radius = morphology.open_radius; radius > 0) {
    *canvas = morphed(*canvas, morphology.element, radius, 0);
    *canvas = morphed(*canvas, morphology.element, radius, kForeground);
  }
  if (const int64_t radius = morphology.close_radius; radius > 0) {
    *canvas = morphed(*canvas, morphology.element, radius, kForeground);
    *canvas = morphed(*canvas, morphology.element, radius, 0);
  }
}

/// Fills the components of background that are small and do not touch the frame's border. They connect over
/// edges if foreground connects over corners too, else over both.
void fill_holes(uint32_t largest, Connectivity connectivity, Canvas* canvas) {
  constexpr std::array<std::array<int, 2>, 8> kSteps = {
      {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}}};
  const size_t n_steps = connectivity == Connectivity::k8 ? 4 : 8;
  Canvas seen = *canvas;
  std::vector<std::pair<int64_t, int64_t>> hole;
  for (int64_t y = 0; y < canvas->height; ++y) {
    for (int64_t x = 0; x < canvas->width; ++x) {
      if (seen.at(x, y) != 0) {
        continue;
      }
      bool touches = false;
      hole.assign(1, {x, y});
      seen.at(x, y) = kForeground;
      for (size_t i = 0; i < hole.size(); ++i) {
        const auto [px, py] = hole[i];
        touches |= px == 0 || py == 0 || px == canvas->width - 1 || py == canvas->height - 1;
        for (size_t k = 0; k < n_steps; ++k) {
          const int64_t nx = px + kSteps[k][0];
          const int64_t ny = py + kSteps[k][1];
          if (canvas->contains(nx, ny) && seen.at(nx, ny) == 0) {
            seen.at(nx, ny) = kForeground;
            hole.emplace_back(nx, ny);
          }
        }
      }
      if (!touches && hole.size() <= largest) {
        for (const auto& [px, py] : hole) {
          canvas->at(px, py) = kForeground;
        }
      }
    }
  }
}

}  // namespace

uint32_t expect_otsu_level(const Image& image) {
  std::array<__int128, 256> counts{};
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      ++counts[image.at(x, y)];
    }
  }
  const auto total = static_cast<long double>(image.width) * image.height;
  uint32_t best = 1;
  long double best_variance = 0;
  for (uint32_t level = 1; level < 256; ++level) {
    __int128 n0 = 0, n1 = 0, sum0 = 0, sum1 = 0;
    for (uint32_t value = 0; value < 256; ++value) {
      (value < level ? n0 : n1) += counts[value];
      (value < level ? sum0 : sum1) += counts[value] * value;
    }
    if (n0 == 0 || n1 == 0) {
      continue;
    }
    // (μ₀ − μ₁)²·n₀·n₁, over a common denominator: exact except the last two operations.
    const auto difference = static_cast<long double>(sum0 * n1 - sum1 * n0);
    const long double variance =
        difference * difference / (static_cast<long double>(n0 * n1) * total * total);
    if (variance > best_variance) {
      best = level;
      best_variance = variance;
    }
  }
  return best;
}

Mask expect_foreground(const Image& image, const SegmentationCase& c) {
  Canvas canvas = rule_foreground(image, c);
  const Morphology& morphology = c.segmentation.morphology;
  open_and_close(morphology, &canvas);
  if (morphology.fill_holes > 0) {
    fill_holes(morphology.fill_holes, c.connectivity, &canvas);
  }
  for (size_t i = 0; i < c.regions.size(); ++i) {
    canvas.mask[i] = c.regions[i] != 0 ? canvas.mask[i] : 0;
  }
  return canvas.mask;
}

Image as_image(const Image& image, const Mask& mask) {
  Image out = image;
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      out.at(x, y) = mask[size_t{y} * image.width + x];
    }
  }
  return out;
}

std::vector<bool> expect_strong_labels(const Image& image, const SegmentationCase& c,
                                       const ExpectedFrame& frame) {
  const int high = c.rule.invert ? c.segmentation.threshold_low : c.rule.threshold;
  std::vector<bool> strong(frame.n_labels + size_t{1});
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      if (reaches(image.at(x, y), high, c.rule.invert)) {
        strong[frame.labels[size_t{y} * image.width + x]] = true;
      }
    }
  }
  return strong;
}

}  // namespace ccl::test
