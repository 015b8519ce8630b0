// SPDX-License-Identifier: LGPL-2.1-or-later
/// Parts of the frame that count, as polygons and as a bit image; zones and lines for events.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ccl/segment.h"

namespace ccl {

struct Point {
  double x;
  double y;

  bool operator==(const Point&) const = default;
};

/// A closed polygon; its last point is joined to its first one. It may cross itself: a point is inside if a
/// ray from it crosses the outline an odd number of times.
struct Region {
  std::string name;
  std::vector<Point> polygon;
};

/// The point of a track that is in a zone, or crosses a line.
enum class Anchor : uint8_t {
  kBottom,    ///< the middle of the lowest row of its box: where something stands
  kCentroid,  ///< its place
};

/// How far a track must be on the other side of a line or of a zone's edge before it counts there, in sizes
/// of the track. Its box is unsteady by less while it stands.
inline constexpr double kDefaultMargin = 0.25;

/// CclTrack::zones has a bit for each zone.
inline constexpr uint32_t kMaxZones = 32;
inline constexpr uint32_t kMaxLines = 32;

/// Zone::crowd of a zone that is never crowded.
inline constexpr uint32_t kNoCrowd = std::numeric_limits<uint32_t>::max();

/// A part of the frame in which tracks are counted. Its polygon is one as in Region.
struct Zone {
  std::string name;
  std::vector<Point> polygon;
  Anchor anchor = Anchor::kBottom;
  double margin = kDefaultMargin;
  int64_t dwell_ns = 0;       ///< time after which a track has dwelled; 0: never
  uint32_t crowd = kNoCrowd;  ///< the zone is crowded with more tracks than this

  bool operator==(const Zone&) const = default;
};

/// A line that tracks cross.
struct Line {
  std::string name;
  Point from;
  Point to;
  Anchor anchor = Anchor::kBottom;
  double margin = kDefaultMargin;

  bool operator==(const Line&) const = default;
};

struct Regions {
  bool is_relative = true;  ///< points are fractions of width and height; else pixels
  /// A pixel counts if it is in one of `include`, or `include` is empty, and in none of `exclude`.
  std::vector<Region> include;
  std::vector<Region> exclude;
  std::vector<Zone> zones = {};  ///< at most kMaxZones
  std::vector<Line> lines = {};  ///< at most kMaxLines
};

/// The regions of one frame size, immutable.
class RegionMask {
 public:
  /// A pixel is inside a polygon if its centre is. Points may lie outside the frame.
  RegionMask(const Regions& regions, uint32_t width, uint32_t height);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  /// A bit image: 1 where foreground counts. Rows of bit_row_words(width) words.
  const std::vector<uint32_t>& bits() const { return bits_; }
  /// Differs between any two masks of a process.
  uint64_t id() const { return id_; }

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<uint32_t> bits_;
  uint64_t id_;
};

}  // namespace ccl
