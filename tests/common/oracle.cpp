// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "filters.h"
#include "separation.h"

namespace ccl::test {

namespace {

struct Pixel {
  int64_t x, y;
};

constexpr Pixel kNeighbors[8] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};

/// The first four share an edge, the others a corner.
std::span<const Pixel> neighbors(Connectivity connectivity) {
  return std::span(kNeighbors).first(connectivity == Connectivity::k4 ? 4 : 8);
}

/// Visits every pixel that steps between neighbours reach from `start`. `enter` returns true for a pixel that
/// belongs to the region, the first time only.
template <typename Enter>
void flood(Pixel start, Connectivity connectivity, std::vector<Pixel>& stack, Enter enter) {
  if (!enter(start.x, start.y)) {
    return;
  }
  stack.assign(1, start);
  while (!stack.empty()) {
    const Pixel at = stack.back();
    stack.pop_back();
    for (const Pixel& step : neighbors(connectivity)) {
      if (enter(at.x + step.x, at.y + step.y)) {
        stack.push_back({at.x + step.x, at.y + step.y});
      }
    }
  }
}

/// 0 for background; pixels with different segments never connect.
uint8_t segment(uint8_t value, const ForegroundRule& rule) {
  if (rule.foreground == Foreground::kValues) {
    return value;
  }
  const bool is_bright = int{value} >= int{rule.threshold};
  return (rule.invert ? !is_bright : is_bright) ? 255 : 0;
}

/// By pixel 0 for background, else 1 + the smallest raster index of its component.
std::vector<uint32_t> flood_components(const Image& image, const Settings& settings) {
  std::vector<uint32_t> root_map(size_t{image.width} * image.height);
  std::vector<Pixel> stack;
  for (size_t i = 0; i < root_map.size(); ++i) {
    const Pixel start{static_cast<int64_t>(i % image.width), static_cast<int64_t>(i / image.width)};
    const uint8_t own =
        segment(image.at(static_cast<uint32_t>(start.x), static_cast<uint32_t>(start.y)), settings.rule);
    if (own == 0 || root_map[i] != 0) {
      continue;
    }
    flood(start, settings.connectivity, stack, [&](int64_t x, int64_t y) {
      if (x < 0 || y < 0 || x >= image.width || y >= image.height) {
        return false;
      }
      const size_t at = static_cast<size_t>(y) * image.width + static_cast<size_t>(x);
      if (root_map[at] != 0 ||
          segment(image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)), settings.rule) != own) {
        return false;
      }
      root_map[at] = static_cast<uint32_t>(i + 1);
      return true;
    });
  }
  return root_map;
}

/// Makes the box contain this pixel too. It is in the box's rows or below.
void extend(Box* box, uint32_t x, uint32_t y) {
  const uint32_t end = std::max(box->x + box->width, x + 1);
  box->x = std::min(box->x, x);
  box->width = end - box->x;
  box->height = y + 1 - box->y;
}

/// The pixels of all components, those of one label together and in raster order.
class PixelLists {
 public:
  explicit PixelLists(const ExpectedFrame& frame) : begin_(frame.n_labels + 2, 0) {
    std::partial_sum(frame.areas.begin(), frame.areas.end(), begin_.begin() + 1);
    pixels_.resize(begin_.back());
    std::vector<size_t> next = begin_;
    for (size_t i = 0; i < frame.labels.size(); ++i) {
      if (const uint32_t label = frame.labels[i]; label != 0) {
        pixels_[next[label]++] = {static_cast<int64_t>(i % frame.width),
                                  static_cast<int64_t>(i / frame.width)};
      }
    }
  }

  std::span<const Pixel> of(uint32_t label) const {
    return std::span(pixels_).subspan(begin_[label], begin_[label + 1] - begin_[label]);
  }

 private:
  std::vector<size_t> begin_;  ///< per label, and one more
  std::vector<Pixel> pixels_;
};

/// Makes records, one component at a time.
class Describer {
 public:
  Describer(const ExpectedFrame& frame, const Settings& settings)
      : frame_(frame), settings_(settings), lists_(frame) {}

  ExpectedRecord describe(uint32_t label) {
    ExpectedRecord record;
    CclComponent& c = record.integers;
    c.label = label;
    c.id = label;
    c.area = frame_.areas[label];
    c.value = frame_.values[label];
    const std::span<const Pixel> pixels = lists_.of(label);
    const Box& box = frame_.boxes[label];
    c.x = box.x;
    c.y = box.y;
    c.width = box.width;
    c.height = box.height;
    const bool touches =
        c.x == 0 || c.y == 0 || c.x + c.width == frame_.width || c.y + c.height == frame_.height;
    c.flags = touches ? CCL_COMPONENT_TOUCHES_BORDER : 0;
    find_reals(pixels, &record);
    if (settings_.features & kFeaturePerimeter) {
      c.perimeter = count_edges(pixels, label);
    }
    if (settings_.features & kFeatureEuler) {
      c.euler = 1 - count_holes(pixels, c);
    }
    return record;
  }

 private:
  /// Sums in coordinates from the box's corner are small, and moments do not depend on the origin.
  void find_reals(std::span<const Pixel> pixels, ExpectedRecord* record) const {
    const CclComponent& c = record->integers;
    __int128 x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (const Pixel& pixel : pixels) {
      const int64_t dx = pixel.x - c.x;
      const int64_t dy = pixel.y - c.y;
      x += dx;
      y += dy;
      xx += dx * dx;
      xy += dx * dy;
      yy += dy * dy;
    }
    const __int128 n = c.area;
    record->cx = quotient(x + n * c.x, n);
    record->cy = quotient(y + n * c.y, n);
    if (settings_.features & kFeatureMoments) {
      record->mxx = quotient(n * xx - x * x, n * n);
      record->mxy = quotient(n * xy - x * y, n * n);
      record->myy = quotient(n * yy - y * y, n * n);
    } else {
      record->mxx = record->mxy = record->myy = {0, true};
    }
  }

  static Real quotient(__int128 numerator, __int128 denominator) {
    return {static_cast<long double>(numerator) / static_cast<long double>(denominator),
            numerator % denominator == 0};
  }

  bool has_label(int64_t x, int64_t y, uint32_t label) const {
    return x >= 0 && y >= 0 && x < frame_.width && y < frame_.height &&
           frame_.labels[static_cast<size_t>(y) * frame_.width + static_cast<size_t>(x)] == label;
  }

  uint32_t count_edges(std::span<const Pixel> pixels, uint32_t label) const {
    uint32_t edges = 0;
    for (const Pixel& pixel : pixels) {
      for (const Pixel& step : neighbors(Connectivity::k4)) {
        edges += has_label(pixel.x + step.x, pixel.y + step.y, label) ? 0 : 1;
      }
    }
    return edges;
  }

  /// Holes are the parts of the complement that the outside does not reach. What is not in the component
  /// connects the other way: over edges if the component connects over corners too.
  int32_t count_holes(std::span<const Pixel> pixels, const CclComponent& c) {
    const Connectivity dual =
        settings_.connectivity == Connectivity::k8 ? Connectivity::k4 : Connectivity::k8;
    const int64_t width = int64_t{c.width} + 2;
    const int64_t height = int64_t{c.height} + 2;
    is_taken_.assign(static_cast<size_t>(width * height), 0);
    for (const Pixel& pixel : pixels) {
      is_taken_[static_cast<size_t>((pixel.y - c.y + 1) * width + pixel.x - c.x + 1)] = 1;
    }
    int32_t n_parts = 0;
    for (int64_t start = 0; start < width * height; ++start) {
      if (is_taken_[static_cast<size_t>(start)]) {
        continue;
      }
      ++n_parts;
      flood({start % width, start / width}, dual, stack_, [&](int64_t x, int64_t y) {
        if (x < 0 || y < 0 || x >= width || y >= height) {
          return false;
        }
        uint8_t& is_taken = is_taken_[static_cast<size_t>(y * width + x)];
        return is_taken == 0 && (is_taken = 1) == 1;
      });
    }
    return n_parts - 1;
  }

  const ExpectedFrame& frame_;
  const Settings& settings_;
  PixelLists lists_;
  std::vector<uint8_t> is_taken_;
  std::vector<Pixel> stack_;
};

}  // namespace

ExpectedFrame expect_labels(const Image& image, const Settings& settings) {
  ExpectedFrame frame{.width = image.width,
                      .height = image.height,
                      .connectivity = settings.connectivity,
                      .root_map = flood_components(image, settings),
                      .labels = std::vector<uint32_t>(size_t{image.width} * image.height),
                      .n_labels = 0,
                      .areas = {0},
                      .boxes = {{}},
                      .values = {0},
                      .first_pixel = {0}};
  if (settings.separation.is_active()) {
    frame.root_map = expect_parts(frame.root_map, image.width, image.height, settings.connectivity,
                                  settings.separation, settings.filter.min_area);
  }
  for (size_t i = 0; i < frame.labels.size(); ++i) {
    const uint32_t root = frame.root_map[i];
    if (root == 0) {
      continue;
    }
    const auto x = static_cast<uint32_t>(i % image.width);
    const auto y = static_cast<uint32_t>(i / image.width);
    if (root == i + 1) {
      frame.labels[i] = ++frame.n_labels;
      frame.areas.push_back(0);
      frame.boxes.push_back({.x = x, .y = y, .width = 1, .height = 1});
      frame.values.push_back(segment(image.at(x, y), settings.rule));
      frame.first_pixel.push_back(static_cast<uint32_t>(i));
    }
    const uint32_t label = frame.labels[root - 1];
    frame.labels[i] = label;
    ++frame.areas[label];
    extend(&frame.boxes[label], x, y);
  }
  return frame;
}

FrameCounts expect_counts(const ExpectedFrame& frame, const Settings& settings,
                          const std::vector<bool>& is_strong) {
  FrameCounts counts{.n_labels = frame.n_labels};
  const std::vector<uint32_t> conditions = expect_conditions(settings.filter, frame, is_strong);
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    if (conditions[label] == kPassed) {
      ++counts.n_components;
    } else if (conditions[label] != kWeak) {
      ++counts.n_removed[conditions[label]];
    }
  }
  return counts;
}

std::vector<uint32_t> largest_labels(std::vector<uint32_t> labels, std::span<const uint32_t> areas,
                                     size_t count) {
  if (labels.size() > count) {
    // Stable: of equal areas the smaller label stays in front.
    std::stable_sort(labels.begin(), labels.end(),
                     [&](uint32_t a, uint32_t b) { return areas[a] > areas[b]; });
    labels.resize(count);
    std::sort(labels.begin(), labels.end());
  }
  return labels;
}

std::vector<ExpectedRecord> expect_records(const ExpectedFrame& frame, const Settings& settings,
                                           uint32_t max_components, const std::vector<bool>& is_strong) {
  std::vector<uint32_t> kept;
  const std::vector<uint32_t> conditions = expect_conditions(settings.filter, frame, is_strong);
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    if (conditions[label] == kPassed) {
      kept.push_back(label);
    }
  }
  kept = largest_labels(std::move(kept), frame.areas, max_components);
  Describer describer(frame, settings);
  std::vector<ExpectedRecord> records;
  for (const uint32_t label : kept) {
    records.push_back(describer.describe(label));
  }
  return records;
}

}  // namespace ccl::test
