// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/region_rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "ccl/json.h"

namespace ccl {

namespace {

Status refuse(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

Status check_coordinate(double coordinate, const std::string& place) {
  return std::abs(coordinate) <= kMaxCoordinate ? Status()
                                                : refuse(place + " is not between -1000000 and 1000000");
}

Status check_point(const Point& point, const std::string& place) {
  CCL_RETURN_IF_ERROR(check_coordinate(point.x, element(place, 0)));
  return check_coordinate(point.y, element(place, 1));
}

bool is_on_one_line(const std::vector<Point>& points) {
  const Point& first = points[0];
  const Point& other = *std::max_element(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return std::hypot(a.x - first.x, a.y - first.y) < std::hypot(b.x - first.x, b.y - first.y);
  });
  return std::all_of(points.begin(), points.end(), [&](const Point& point) {
    return (point.x - first.x) * (other.y - first.y) == (point.y - first.y) * (other.x - first.x);
  });
}

Status check_polygon(const std::vector<Point>& polygon, const std::string& place) {
  if (polygon.size() < 3) {
    return refuse(place + " has " + std::to_string(polygon.size()) + " points; at least 3 enclose an area");
  }
  for (size_t i = 0; i < polygon.size(); ++i) {
    CCL_RETURN_IF_ERROR(check_point(polygon[i], element(place, i)));
  }
  return {};
}

Status check(const Region& region, const std::string& place) {
  return check_polygon(region.polygon, place + ".polygon");
}

Status check_name(const std::string& name, const std::string& place) {
  return !name.empty() ? Status() : refuse(place + " has no name; events and counts need one");
}

Status check_margin(double margin, const std::string& place) {
  return margin >= 0 && margin <= kMaxMargin ? Status() : refuse(place + ".margin is not between 0 and 10");
}

Status check(const Zone& zone, const std::string& place) {
  CCL_RETURN_IF_ERROR(check_name(zone.name, place));
  if (zone.crowd > kMaxCrowd && zone.crowd != kNoCrowd) {
    return refuse(place + ".crowd is not an integer between 0 and " + std::to_string(kMaxCrowd));
  }
  if (zone.dwell_ns < 0 || zone.dwell_ns > kMaxDwellNs) {
    return refuse(place + ".dwell_ns is not between 0 and " + std::to_string(kMaxDwellNs));
  }
  CCL_RETURN_IF_ERROR(check_margin(zone.margin, place));
  CCL_RETURN_IF_ERROR(check_polygon(zone.polygon, place + ".polygon"));
  return !is_on_one_line(zone.polygon)
             ? Status()
             : refuse(place + ".polygon has no area, so nothing can enter it: its points are on one line");
}

Status check(const Line& line, const std::string& place) {
  CCL_RETURN_IF_ERROR(check_name(line.name, place));
  CCL_RETURN_IF_ERROR(check_margin(line.margin, place));
  CCL_RETURN_IF_ERROR(check_point(line.from, place + ".from"));
  CCL_RETURN_IF_ERROR(check_point(line.to, place + ".to"));
  return line.from == line.to ? refuse(place + " has no length: from and to are the same point") : Status();
}

template <typename T>
Status check_list(const char* name, const std::vector<T>& list, size_t most) {
  if (list.size() > most) {
    return refuse(std::string(name) + " has " + std::to_string(list.size()) + " elements; at most " +
                  std::to_string(most) + " are possible");
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!json::is_utf8(list[i].name)) {
      return refuse(element(name, i) + ".name is not UTF-8");
    }
    CCL_RETURN_IF_ERROR(check(list[i], element(name, i)));
  }
  return {};
}

/// Events name zones and lines by their index, and people by their name.
template <typename Named>
Status check_names(const char* list, const std::vector<Named>& named) {
  for (size_t i = 0; i < named.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (named[i].name == named[j].name) {
        return refuse(element(list, i) + " and " + element(list, j) + " have the same name \"" +
                      named[i].name + "\"");
      }
    }
  }
  return {};
}

size_t count_points(const Regions& regions) {
  size_t count = 0;
  const auto add = [&](const auto& list) {
    for (const auto& member : list) {
      count += member.polygon.size();
    }
  };
  add(regions.include);
  add(regions.exclude);
  add(regions.zones);
  return count;
}

}  // namespace

Status validate(const Regions& regions) {
  if (const size_t count = count_points(regions); count > kMaxPoints) {
    return refuse("the polygons have " + std::to_string(count) + " points together; at most " +
                  std::to_string(kMaxPoints) + " are possible");
  }
  CCL_RETURN_IF_ERROR(check_list("include", regions.include, kMaxPolygons));
  CCL_RETURN_IF_ERROR(check_list("exclude", regions.exclude, kMaxPolygons));
  CCL_RETURN_IF_ERROR(check_list("zones", regions.zones, kMaxZones));
  CCL_RETURN_IF_ERROR(check_list("lines", regions.lines, kMaxLines));
  CCL_RETURN_IF_ERROR(check_names("zones", regions.zones));
  return check_names("lines", regions.lines);
}

}  // namespace ccl
