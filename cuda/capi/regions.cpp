// SPDX-License-Identifier: LGPL-2.1-or-later
/// Regions. The limits are those of the element's property: see docs/regions.md.
#include <cmath>
#include <string>

#include "capi/convert.h"

namespace ccl::capi {

namespace {

constexpr double kMaxCoordinate = 1e6;
constexpr uint32_t kMaxCrowd = 1'000'000;
constexpr size_t kMaxPoints = 1'000'000;
static_assert(CUDACCL_ANCHOR_BOTTOM == static_cast<int>(Anchor::kBottom));
static_assert(CUDACCL_ANCHOR_CENTROID == static_cast<int>(Anchor::kCentroid));
static_assert(CUDACCL_NO_CROWD == kNoCrowd);

/// "zones[2]"
std::string place_of(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

Status convert(const CudacclPoint& given, const std::string& place, Point* point) {
  if (!(std::abs(given.x) <= kMaxCoordinate && std::abs(given.y) <= kMaxCoordinate)) {
    return refuse(place + " is not between -1000000 and 1000000");
  }
  *point = {given.x, given.y};
  return {};
}

Status convert(const CudacclPolygon& given, const std::string& place, std::vector<Point>* polygon) {
  if (given.n_points < 3 || given.n_points > kMaxPoints || given.points == nullptr) {
    return refuse(place + " has " + std::to_string(given.points != nullptr ? given.n_points : 0) +
                  " points; 3 to " + std::to_string(kMaxPoints) + " are possible");
  }
  polygon->resize(given.n_points);
  for (size_t i = 0; i < given.n_points; ++i) {
    CCL_RETURN_IF_ERROR(convert(given.points[i], place + ", point " + std::to_string(i), &(*polygon)[i]));
  }
  return {};
}

Status convert(const CudacclPolygon& given, const std::string& place, Region* region) {
  region->name = given.name != nullptr ? given.name : "";
  return convert(given, place, &region->polygon);
}

Status check_name(const char* name, const std::string& place) {
  return name != nullptr && *name != '\0' ? Status() : refuse(place + " has no name; events need one");
}

Status check_anchor(uint32_t anchor, const std::string& place) {
  return check_range((place + ".anchor").c_str(), anchor, 0, CUDACCL_ANCHOR_CENTROID);
}

Status convert(const CudacclZone& given, const std::string& place, Zone* zone) {
  CCL_RETURN_IF_ERROR(check_name(given.polygon.name, place));
  CCL_RETURN_IF_ERROR(check_anchor(given.anchor, place));
  if (given.crowd > kMaxCrowd && given.crowd != CUDACCL_NO_CROWD) {
    return refuse(place + ".crowd is " + std::to_string(given.crowd) +
                  "; 0 to 1000000, or CUDACCL_NO_CROWD, is possible");
  }
  if (given.dwell_ns < 0) {
    return refuse(place + ".dwell_ns is negative");
  }
  zone->name = given.polygon.name;
  zone->anchor = static_cast<Anchor>(given.anchor);
  zone->dwell_ns = given.dwell_ns;
  zone->crowd = given.crowd;
  return convert(given.polygon, place, &zone->polygon);
}

Status convert(const CudacclLine& given, const std::string& place, Line* line) {
  CCL_RETURN_IF_ERROR(check_name(given.name, place));
  CCL_RETURN_IF_ERROR(check_anchor(given.anchor, place));
  CCL_RETURN_IF_ERROR(check_range((place + ".reserved").c_str(), given.reserved, 0, 0));
  CCL_RETURN_IF_ERROR(convert(given.from, place + ".from", &line->from));
  CCL_RETURN_IF_ERROR(convert(given.to, place + ".to", &line->to));
  if (line->from == line->to) {
    return refuse(place + " has no length: from and to are the same point");
  }
  line->name = given.name;
  line->anchor = static_cast<Anchor>(given.anchor);
  return {};
}

template <typename Given, typename Made>
Status convert_list(const char* name, const Given* given, size_t n, size_t most, std::vector<Made>* made) {
  if (n > most) {
    return refuse(std::string(name) + " has " + std::to_string(n) + " elements; at most " +
                  std::to_string(most) + " are possible");
  }
  if (n > 0 && given == nullptr) {
    return refuse(std::string(name) + " is NULL, and should have " + std::to_string(n) + " elements");
  }
  made->resize(n);
  for (size_t i = 0; i < n; ++i) {
    CCL_RETURN_IF_ERROR(convert(given[i], place_of(name, i), &(*made)[i]));
  }
  return {};
}

/// Events name zones and lines by their index, and people by their name.
template <typename Named>
Status check_names(const char* list, const std::vector<Named>& named) {
  for (size_t i = 0; i < named.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (named[i].name == named[j].name) {
        return refuse(place_of(list, i) + " and " + place_of(list, j) + " have the same name \"" +
                      named[i].name + "\"");
      }
    }
  }
  return {};
}

}  // namespace

Status convert(const CudacclRegions& given, Regions* regions) {
  constexpr size_t kMaxPolygons = 10'000;
  CCL_RETURN_IF_ERROR(check_range("is_relative", given.is_relative, 0, 1));
  CCL_RETURN_IF_ERROR(check_range("CudacclRegions::reserved", given.reserved, 0, 0));
  regions->is_relative = given.is_relative != 0;
  CCL_RETURN_IF_ERROR(
      convert_list("include", given.include, given.n_include, kMaxPolygons, &regions->include));
  CCL_RETURN_IF_ERROR(
      convert_list("exclude", given.exclude, given.n_exclude, kMaxPolygons, &regions->exclude));
  CCL_RETURN_IF_ERROR(convert_list("zones", given.zones, given.n_zones, kMaxZones, &regions->zones));
  CCL_RETURN_IF_ERROR(convert_list("lines", given.lines, given.n_lines, kMaxLines, &regions->lines));
  CCL_RETURN_IF_ERROR(check_names("zones", regions->zones));
  return check_names("lines", regions->lines);
}

}  // namespace ccl::capi
