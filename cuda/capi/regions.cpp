// SPDX-License-Identifier: LGPL-2.1-or-later
/// Regions: from structs to those of the engine, and from documents to structs. What they must be is in
/// ccl/region_rules.h.
#include <memory>
#include <string>
#include <vector>

#include "capi/call.h"
#include "capi/convert.h"
#include "capi/structs.h"
#include "ccl/region_rules.h"
#include "ccl/regions_reader.h"

namespace ccl::capi {

namespace {

static_assert(CUDACCL_ANCHOR_BOTTOM == static_cast<int>(Anchor::kBottom));
static_assert(CUDACCL_ANCHOR_CENTROID == static_cast<int>(Anchor::kCentroid));
static_assert(CUDACCL_NO_CROWD == kNoCrowd);
static_assert(CUDACCL_DEFAULT_MARGIN == kDefaultMargin);

std::string text_of(const char* name) {
  return name != nullptr ? name : "";
}

Status check_anchor(uint32_t anchor, const std::string& place) {
  return check_range((place + ".anchor").c_str(), anchor, 0, CUDACCL_ANCHOR_CENTROID);
}

Point convert(const CudacclPoint& given) {
  return {given.x, given.y};
}

Status convert(const CudacclPolygon& given, const std::string& place, std::vector<Point>* polygon) {
  if (given.n_points > kMaxPoints || (given.n_points > 0 && given.points == nullptr)) {
    return refuse(place + ".polygon has " + std::to_string(given.points != nullptr ? given.n_points : 0) +
                  " points; 3 to " + std::to_string(kMaxPoints) + " are possible");
  }
  for (size_t i = 0; i < given.n_points; ++i) {
    polygon->push_back(convert(given.points[i]));
  }
  return {};
}

Status convert(const CudacclPolygon& given, const std::string& place, Region* region) {
  region->name = text_of(given.name);
  return convert(given, place, &region->polygon);
}

Status convert(const CudacclZone& given, const std::string& place, Zone* zone) {
  CCL_RETURN_IF_ERROR(check_anchor(given.anchor, place));
  zone->name = text_of(given.polygon.name);
  zone->anchor = static_cast<Anchor>(given.anchor);
  zone->margin = given.margin;
  zone->dwell_ns = given.dwell_ns;
  zone->crowd = given.crowd;
  return convert(given.polygon, place, &zone->polygon);
}

Status convert(const CudacclLine& given, const std::string& place, Line* line) {
  CCL_RETURN_IF_ERROR(check_anchor(given.anchor, place));
  CCL_RETURN_IF_ERROR(check_range((place + ".reserved").c_str(), given.reserved, 0, 0));
  *line = {.name = text_of(given.name),
           .from = convert(given.from),
           .to = convert(given.to),
           .anchor = static_cast<Anchor>(given.anchor),
           .margin = given.margin};
  return {};
}

/// `most` bounds the memory before validate() sees the list.
template <typename Given, typename Made>
Status convert_list(const char* name, const Given* given, size_t n, size_t most, std::vector<Made>* made) {
  if (n > most) {
    return refuse(std::string(name) + " has " + std::to_string(n) + " elements; at most " +
                  std::to_string(most) + " are possible");
  }
  if (n > 0 && given == nullptr) {
    return refuse(std::string(name) + " is NULL, and should have " + std::to_string(n) + " elements");
  }
  for (size_t i = 0; i < n; ++i) {
    const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
    CCL_RETURN_IF_ERROR(convert(given[i], place, &made->emplace_back()));
  }
  return {};
}

/// Structs that point into the regions that were read.
struct ReadRegions : CudacclRegions {
  explicit ReadRegions(Regions read) : CudacclRegions(defaults<CudacclRegions>()), regions(std::move(read)) {
    struct_size = sizeof(CudacclRegions);
    CudacclRegions::is_relative = regions.is_relative ? 1 : 0;
    for (const Region& region : regions.include) {
      include_.push_back(polygon_of(region));
    }
    for (const Region& region : regions.exclude) {
      exclude_.push_back(polygon_of(region));
    }
    for (const Zone& zone : regions.zones) {
      zones_.push_back(
          {polygon_of(zone), static_cast<uint32_t>(zone.anchor), zone.crowd, zone.dwell_ns, zone.margin});
    }
    for (const Line& line : regions.lines) {
      lines_.push_back({line.name.c_str(),
                        {line.from.x, line.from.y},
                        {line.to.x, line.to.y},
                        static_cast<uint32_t>(line.anchor),
                        0,
                        line.margin});
    }
    point_to(include_, &(CudacclRegions::include), &n_include);
    point_to(exclude_, &(CudacclRegions::exclude), &n_exclude);
    point_to(zones_, &(CudacclRegions::zones), &n_zones);
    point_to(lines_, &(CudacclRegions::lines), &n_lines);
  }

 private:
  template <typename Named>
  CudacclPolygon polygon_of(const Named& named) {
    std::vector<CudacclPoint>& points = points_.emplace_back();
    for (const Point& point : named.polygon) {
      points.push_back({point.x, point.y});
    }
    return {named.name.empty() ? nullptr : named.name.c_str(), points.data(), points.size()};
  }

  template <typename T>
  static void point_to(const std::vector<T>& list, const T** first, size_t* count) {
    *first = list.data();
    *count = list.size();
  }

  const Regions regions;
  std::vector<std::vector<CudacclPoint>> points_;  // whose arrays stay where they are when this one grows
  std::vector<CudacclPolygon> include_;
  std::vector<CudacclPolygon> exclude_;
  std::vector<CudacclZone> zones_;
  std::vector<CudacclLine> lines_;
};

}  // namespace

Status convert(const CudacclRegions& given, Regions* regions) {
  CCL_RETURN_IF_ERROR(check_range("is_relative", given.is_relative, 0, 1));
  CCL_RETURN_IF_ERROR(check_range("CudacclRegions::reserved", given.reserved, 0, 0));
  regions->is_relative = given.is_relative != 0;
  CCL_RETURN_IF_ERROR(
      convert_list("include", given.include, given.n_include, kMaxPolygons, &regions->include));
  CCL_RETURN_IF_ERROR(
      convert_list("exclude", given.exclude, given.n_exclude, kMaxPolygons, &regions->exclude));
  CCL_RETURN_IF_ERROR(convert_list("zones", given.zones, given.n_zones, kMaxZones, &regions->zones));
  CCL_RETURN_IF_ERROR(convert_list("lines", given.lines, given.n_lines, kMaxLines, &regions->lines));
  return validate(*regions);
}

}  // namespace ccl::capi

using ccl::capi::refuse;

CudacclStatus cudaccl_regions_read(const char* source, size_t size, CudacclRegions** regions) {
  return ccl::capi::call(&ccl::capi::thread_error(), [=]() -> ccl::Status {
    if (regions == nullptr) {
      return refuse("the place of the regions is NULL");
    }
    *regions = nullptr;
    if (source == nullptr) {
      return refuse("the text of the regions is NULL");
    }
    ccl::Regions read;
    CCL_RETURN_IF_ERROR(ccl::read_regions({source, size}, &read));
    *regions = std::make_unique<ccl::capi::ReadRegions>(std::move(read)).release();
    return {};
  });
}

void cudaccl_regions_free(CudacclRegions* regions) {
  delete static_cast<ccl::capi::ReadRegions*>(regions);
}
