// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties/regions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "ccl/region_rules.h"
#include "ccl/regions_reader.h"

namespace cudaccl {

namespace {

/// From here on, a coordinate in parts of the frame is probably one in pixels.
constexpr double kFarOutside = 10;

/// Calls `look(place, points)` for each polygon and each line.
template <typename Look>
void look_at_all(const ccl::Regions& regions, Look look) {
  const auto look_at = [&](const char* list, const auto& members) {
    for (size_t i = 0; i < members.size(); ++i) {
      look(ccl::element(list, i), members[i].polygon);
    }
  };
  look_at("include", regions.include);
  look_at("exclude", regions.exclude);
  look_at("zones", regions.zones);
  for (size_t i = 0; i < regions.lines.size(); ++i) {
    look(ccl::element("lines", i), std::array{regions.lines[i].from, regions.lines[i].to});
  }
}

/// Whether these regions are in pixels, and were probably meant in parts of the frame.
bool has_parts_of_pixels(const ccl::Regions& regions) {
  bool is_all_small = !regions.is_relative;
  bool has_part = false;
  look_at_all(regions, [&](const std::string&, std::span<const ccl::Point> points) {
    for (const ccl::Point& point : points) {
      for (const double coordinate : {point.x, point.y}) {
        is_all_small = is_all_small && coordinate >= 0 && coordinate <= 1;
        has_part = has_part || coordinate != std::round(coordinate);
      }
    }
  });
  return is_all_small && has_part;
}

/// What was probably not meant; empty if there is nothing.
std::string doubt_of(const ccl::Regions& regions) {
  if (has_parts_of_pixels(regions)) {
    return "regions: all coordinates are between 0 and 1, but in pixels; for parts of the frame, leave "
           "\"units\" out";
  }
  std::string doubt;
  look_at_all(regions, [&](const std::string& place, std::span<const ccl::Point> points) {
    const auto far = std::find_if(points.begin(), points.end(), [](const ccl::Point& point) {
      return std::abs(point.x) > kFarOutside || std::abs(point.y) > kFarOutside;
    });
    if (regions.is_relative && doubt.empty() && far != points.end()) {
      doubt = "regions: point " + std::to_string(far - points.begin()) + " of " + place +
              " is far outside the frame, whose edges are 0 and 1; for pixels, write \"units\": \"pixels\"";
    }
  });
  return doubt;
}

/// Whether the box around the points is outside a frame of this size. A polygon that only touches it has no
/// pixel of it; a line may lie on its border.
bool is_outside(std::span<const ccl::Point> points, double width, double height) {
  const auto [left, right] = std::minmax_element(
      points.begin(), points.end(), [](const ccl::Point& a, const ccl::Point& b) { return a.x < b.x; });
  const auto [top, bottom] = std::minmax_element(
      points.begin(), points.end(), [](const ccl::Point& a, const ccl::Point& b) { return a.y < b.y; });
  const auto is_beyond = [&](double first, double second) {
    return first > second || (points.size() > 2 && first == second);
  };
  return is_beyond(0, right->x) || is_beyond(0, bottom->y) || is_beyond(left->x, width) ||
         is_beyond(top->y, height);
}

}  // namespace

std::string outside_of_frame(const ccl::Regions& regions, uint32_t width, uint32_t height) {
  std::string found;
  look_at_all(regions, [&](const std::string& place, std::span<const ccl::Point> points) {
    if (found.empty() &&
        is_outside(points, regions.is_relative ? 1 : width, regions.is_relative ? 1 : height)) {
      found = place;
    }
  });
  return found;
}

std::shared_ptr<const RegionSetting> read_regions(const std::string& text, std::string* reason) {
  ccl::Regions regions;
  if (const ccl::Status status = ccl::read_regions(text, &regions); !status.ok()) {
    *reason = status.message();
    return nullptr;
  }
  std::string doubt = doubt_of(regions);
  return std::make_shared<const RegionSetting>(
      RegionSetting{.text = text, .regions = std::move(regions), .doubt = std::move(doubt)});
}

}  // namespace cudaccl
