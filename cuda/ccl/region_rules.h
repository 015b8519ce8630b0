// SPDX-License-Identifier: LGPL-2.1-or-later
/// What regions must be, whether a program or a document has made them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ccl/regions.h"
#include "ccl/status.h"

namespace ccl {

/// Polygons of `include`, and of `exclude`; points of all polygons together. They bound the time in which a
/// mask and outlines are made, and in which a track is found in zones.
inline constexpr size_t kMaxPolygons = 1000;
inline constexpr size_t kMaxPoints = 10'000;
inline constexpr double kMaxCoordinate = 1e6;
inline constexpr double kMaxMargin = 10;
inline constexpr uint32_t kMaxCrowd = 1'000'000;
inline constexpr int64_t kMaxDwellNs = 1'000'000'000'000'000;

/// The place of an element of a list, such as "zones[0]".
inline std::string element(const std::string& place, size_t index) {
  return place + "[" + std::to_string(index) + "]";
}

/// kInvalidArgument if the regions break a rule of docs/regions.md. The message begins with the place, such
/// as "zones[0].polygon[2][1]".
Status validate(const Regions& regions);

}  // namespace ccl
