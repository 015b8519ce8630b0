// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions, as _regions.py has checked them, in the structs of the C interface.
#include "regions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cudaccl_python {

namespace {

using Point = std::pair<double, double>;
using Polygon = std::pair<std::optional<std::string>, std::vector<Point>>;
using Zone = std::tuple<Polygon, uint32_t, uint32_t, int64_t>;  // anchor, crowd, dwell_ns
using Line = std::tuple<std::string, Point, Point, uint32_t>;   // from, to, anchor

/// Structs that point into `polygons`, which live on in `points`.
class Polygons {
 public:
  explicit Polygons(size_t count) { points_.reserve(count); }

  CudacclPolygon add(const Polygon& polygon) {
    std::vector<CudacclPoint>& points = points_.emplace_back();
    for (const auto& [x, y] : polygon.second) {
      points.push_back({x, y});
    }
    return {polygon.first ? polygon.first->c_str() : nullptr, points.data(), points.size()};
  }

 private:
  std::vector<std::vector<CudacclPoint>> points_;
};

}  // namespace

CudacclStatus set_regions(CudacclEngine* engine, const nb::dict& regions) {
  const auto include = nb::cast<std::vector<Polygon>>(regions["include"]);
  const auto exclude = nb::cast<std::vector<Polygon>>(regions["exclude"]);
  const auto zones = nb::cast<std::vector<Zone>>(regions["zones"]);
  const auto lines = nb::cast<std::vector<Line>>(regions["lines"]);
  Polygons polygons(include.size() + exclude.size() + zones.size());

  std::vector<CudacclPolygon> included, excluded;
  for (const Polygon& polygon : include) {
    included.push_back(polygons.add(polygon));
  }
  for (const Polygon& polygon : exclude) {
    excluded.push_back(polygons.add(polygon));
  }
  std::vector<CudacclZone> wanted_zones;
  for (const auto& [polygon, anchor, crowd, dwell_ns] : zones) {
    wanted_zones.push_back({polygons.add(polygon), anchor, crowd, dwell_ns});
  }
  std::vector<CudacclLine> wanted_lines;
  for (const auto& [name, from, to, anchor] : lines) {
    wanted_lines.push_back({name.c_str(), {from.first, from.second}, {to.first, to.second}, anchor, 0});
  }

  CudacclRegions wanted;
  cudaccl_regions_init(&wanted, sizeof wanted);
  wanted.is_relative = nb::cast<bool>(regions["is_relative"]) ? 1 : 0;
  wanted.include = included.data();
  wanted.n_include = included.size();
  wanted.exclude = excluded.data();
  wanted.n_exclude = excluded.size();
  wanted.zones = wanted_zones.data();
  wanted.n_zones = wanted_zones.size();
  wanted.lines = wanted_lines.data();
  wanted.n_lines = wanted_lines.size();
  return cudaccl_engine_set_regions(engine, &wanted);
}

}  // namespace cudaccl_python
