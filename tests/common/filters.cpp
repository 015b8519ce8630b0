// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filters.h"

#include <algorithm>
#include <cmath>

#include "names.h"

namespace ccl {

void PrintTo(const Filter& filter, std::ostream* out) {
  const auto& [min_area, max_area, min_width, min_height, max_width, max_height, clear_border, min_extent,
               min_circularity, max_eccentricity, top_n] = filter;
  *out << "areas from " << min_area << " to " << max_area << ", widths from " << min_width << " to "
       << max_width << ", heights from " << min_height << " to " << max_height
       << (clear_border ? ", not at the border" : "") << ", extent " << min_extent << ", circularity "
       << min_circularity << ", eccentricity " << max_eccentricity << ", the largest " << top_n;
}

}  // namespace ccl

namespace ccl::test {

namespace {

constexpr long double kOne = 65536;  // of the filter's real limits

/// Perimeter and second moments of all components, pixel by pixel.
struct Shapes {
  explicit Shapes(const ExpectedFrame& frame) : of_label(frame.n_labels + size_t{1}) {
    const auto label_at = [&](int64_t x, int64_t y) {
      const bool is_inside = x >= 0 && y >= 0 && x < frame.width && y < frame.height;
      return is_inside ? frame.labels[static_cast<size_t>(y) * frame.width + static_cast<size_t>(x)] : 0;
    };
    for (int64_t y = 0; y < frame.height; ++y) {
      for (int64_t x = 0; x < frame.width; ++x) {
        const uint32_t label = label_at(x, y);
        if (label == 0) {
          continue;
        }
        Shape& shape = of_label[label];
        for (const uint32_t other :
             {label_at(x - 1, y), label_at(x + 1, y), label_at(x, y - 1), label_at(x, y + 1)}) {
          shape.edges += other != label ? 1 : 0;
        }
        const auto dx = static_cast<long double>(x - frame.boxes[label].x);
        const auto dy = static_cast<long double>(y - frame.boxes[label].y);
        shape.x += dx;
        shape.y += dy;
        shape.xx += dx * dx;
        shape.xy += dx * dy;
        shape.yy += dy * dy;
      }
    }
  }

  struct Shape {
    long double edges = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  std::vector<Shape> of_label;
};

/// 1 − e² = λ₂ / λ₁ of the covariance of the pixels.
long double axis_ratio(const Shapes::Shape& s, long double n) {
  const long double a = n * s.xx - s.x * s.x;
  const long double b = n * s.xy - s.x * s.y;
  const long double c = n * s.yy - s.y * s.y;
  const long double root = std::hypot((a - c) / 2, b);
  const long double large = (a + c) / 2 + root;
  return large > 0 ? (a * c - b * b) / large / large : 1;
}

/// No lambda, because Clang 14 captures no structured bindings.
bool fails(uint32_t condition, const Filter& filter, const ExpectedFrame& frame, const Shapes* shapes,
           uint32_t label) {
  // All fields: a new one does not compile until it is used here.
  const auto& [min_area, max_area, min_width, min_height, max_width, max_height, clear_border, min_extent,
               min_circularity, max_eccentricity, top_n] = filter;
  (void)top_n;
  const Box& box = frame.boxes[label];
  const auto area = static_cast<long double>(frame.areas[label]);
  switch (condition) {
    case kMinArea:
      return frame.areas[label] < min_area;
    case kMaxArea:
      return frame.areas[label] > max_area;
    case kMinWidth:
      return box.width < min_width;
    case kMinHeight:
      return box.height < min_height;
    case kMaxWidth:
      return max_width != 0 && box.width > max_width;
    case kMaxHeight:
      return max_height != 0 && box.height > max_height;
    case kClearBorder:
      return clear_border && (box.x == 0 || box.y == 0 || box.x + box.width == frame.width ||
                              box.y + box.height == frame.height);
    case kMinExtent:
      return area / (static_cast<long double>(box.width) * box.height) < min_extent / kOne;
    case kMinCircularity:
      return min_circularity > 0 && 16 * area < min_circularity / kOne * shapes->of_label[label].edges *
                                                    shapes->of_label[label].edges;
    case kMaxEccentricity: {
      // No frame of a test has a component so close to the limit that is not exactly at the limit.
      constexpr long double kRounding = 1e-15L;
      const long double e = max_eccentricity / kOne;
      return max_eccentricity < kFilterOne &&
             axis_ratio(shapes->of_label[label], area) < 1 - e * e - kRounding;
    }
    default:
      return false;
  }
}

uint32_t failed_condition(const Filter& filter, const ExpectedFrame& frame, const Shapes* shapes,
                          uint32_t label) {
  uint32_t condition = 0;
  while (condition < kFilterConditions && !fails(condition, filter, frame, shapes, label)) {
    ++condition;
  }
  return condition;
}

}  // namespace

std::vector<uint32_t> expect_conditions(const Filter& filter, const ExpectedFrame& frame,
                                        const std::vector<bool>& is_strong) {
  const bool needs_shapes = filter.min_circularity > 0 || filter.max_eccentricity < kFilterOne;
  const Shapes shapes(needs_shapes ? frame : ExpectedFrame{});
  std::vector<uint32_t> conditions(frame.n_labels + size_t{1});
  std::vector<uint32_t> passed;
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    conditions[label] =
        is_strong.empty() || is_strong[label] ? failed_condition(filter, frame, &shapes, label) : kWeak;
    if (conditions[label] == kPassed) {
      passed.push_back(label);
    }
  }
  if (filter.top_n > 0) {
    const std::vector<uint32_t> largest = largest_labels(passed, frame.areas, filter.top_n);
    for (const uint32_t label : passed) {
      conditions[label] = std::binary_search(largest.begin(), largest.end(), label) ? kPassed : kTopN;
    }
  }
  return conditions;
}

std::array<Filter, kFilterConditions> single_filters() {
  return {{{.min_area = 2},
           {.max_area = 60},
           {.min_width = 3},
           {.min_height = 3},
           {.max_width = 4},
           {.max_height = 4},
           {.clear_border = true},
           {.min_extent = 49152},
           {.min_circularity = 32768},
           {.max_eccentricity = 58982},
           {.top_n = 5}}};
}

std::vector<Filter> filter_cases() {
  const std::array<Filter, kFilterConditions> singles = single_filters();
  std::vector<Filter> cases(singles.begin(), singles.end());
  for (const uint32_t min_area : {0u, 1u, 2u, 3u, 10u, 100000u}) {
    for (const uint32_t max_area : {0u, 1u, 2u, 9u, 10u, 60u, 5000u, 0xffffffffu}) {
      cases.push_back({.min_area = min_area, .max_area = max_area});
    }
  }
  const auto add = [&](auto member, std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values) {
      Filter filter;
      filter.*member = value;
      cases.push_back(filter);
      filter.min_area = 3;
      cases.push_back(filter);
    }
  };
  add(&Filter::min_width, {1, 2, 4, 1000});
  add(&Filter::min_height, {1, 2, 4, 1000});
  add(&Filter::max_width, {1, 3, 1000});
  add(&Filter::max_height, {1, 3, 1000});
  add(&Filter::min_extent, {1, 32768, 43690, 43691, 65535, 65536});
  add(&Filter::min_circularity, {1, 20000, 32768, 58254, 58255, 65536});
  add(&Filter::max_eccentricity, {0, 20000, 56755, 65535});
  add(&Filter::top_n, {1, 2, 7, 100, 100000});
  cases.push_back({.min_area = 4,
                   .max_area = 200,
                   .min_width = 2,
                   .min_height = 2,
                   .max_width = 30,
                   .max_height = 25,
                   .clear_border = true,
                   .min_extent = 30000,
                   .min_circularity = 15000,
                   .max_eccentricity = 64000,
                   .top_n = 9});
  cases.push_back({.clear_border = true, .max_eccentricity = 60000});
  cases.push_back({.max_height = 6, .min_circularity = 25000, .top_n = 40});
  return cases;
}

}  // namespace ccl::test
