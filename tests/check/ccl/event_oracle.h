// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of docs/events.md for lines and zones once more, written from the document: slow, and from the
/// whole path of each track in each frame.
///
/// Where the document speaks of a point on a line, it is moved to the right by a tiny amount, and down by a
/// far smaller one. Here both amounts are powers of a variable, and a sign is that of the first coefficient
/// that is not 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ccl/regions.h"
#include "event_fixture.h"

namespace ccl::test {

class EventOracle {
 public:
  EventOracle(uint32_t width, uint32_t height) : width_(width), height_(height) {}

  /// In pixels. Nothing changes if they are the same as before.
  void use(const Regions& regions) {
    if (regions.zones == regions_.zones && regions.lines == regions_.lines) {
      return;
    }
    regions_ = regions;
    for (auto& [id, path] : paths_) {
      path.n_forgotten = path.places.empty() ? 0 : path.places.size() - 1;
      path.is_in = {};
      path.counted = {};
    }
  }

  /// Births, deaths and what happens at edges and lines in a frame; `now` increases.
  Facts next(const std::vector<CclTrack>& tracks, int64_t now) {
    now_ = now;
    Facts facts;
    std::map<uint32_t, const CclTrack*> shown;
    for (const CclTrack& track : tracks) {
      shown[track.id] = &track;
      paths_.try_emplace(track.id);
    }
    for (auto path = paths_.begin(); path != paths_.end();) {
      const auto track = shown.find(path->first);
      if (track != shown.end()) {
        follow(&path->second, *track->second, !is_hidden(*track->second, tracks), &facts);
        ++path;
      } else {
        end(path->first, path->second, &facts);
        path = paths_.erase(path);
      }
    }
    return facts;
  }

  /// Bits of the zones that the track is in.
  uint32_t zones_of(uint32_t id) const {
    uint32_t bits = 0;
    for (size_t i = 0; i < regions_.zones.size(); ++i) {
      const auto& is_in = paths_.at(id).is_in;
      bits |= uint32_t{is_in.contains(i) && is_in.at(i)} << i;
    }
    return bits;
  }

 private:
  using Number = __int128;
  struct Place {
    int64_t x, y;  // 1/256 pixel
  };
  /// Where a track was seen, by anchor.
  struct Places {
    Place of[2];
    int64_t time;
  };
  struct Count {
    int64_t time;
    int sign;
  };
  struct Path {
    std::vector<Places> places;  ///< the first one, and those since the track is confirmed
    size_t n_forgotten = 0;      ///< moves that were made with other lines
    std::map<size_t, bool> is_in;
    std::map<size_t, std::vector<Count>> counted;  ///< by line: 1 to the right, −1 to the left
    bool was_confirmed = false;
    bool was_at_border = false;
  };

  static Place place_of(const Point& point) {
    return {std::llround(point.x * 256), std::llround(point.y * 256)};
  }

  int64_t in_frame(int64_t at, uint32_t extent) const {
    return at < 0 ? 0 : at >= int64_t{extent} * 256 ? int64_t{extent} * 256 - 1 : at;
  }

  Places places_of(const CclTrack& track) const {
    const Place bottom = {256 * track.x + 128 * track.width, 256 * (track.y + track.height) - 128};
    const Place middle = {std::llround((track.cx + 0.5) * 256), std::llround((track.cy + 0.5) * 256)};
    Places places{.of = {}, .time = now_};
    for (size_t anchor = 0; anchor < 2; ++anchor) {
      const Place& place = anchor == 0 ? bottom : middle;
      places.of[anchor] = {in_frame(place.x, width_), in_frame(place.y, height_)};
    }
    return places;
  }

  /* Sides */

  /// The sign of a + b t + c t², t positive and tiny.
  static int sign(Number a, Number b, Number c) {
    const Number first = a != 0 ? a : b != 0 ? b : c;
    return first < 0 ? -1 : first > 0 ? 1 : 0;
  }

  /// The side of the moved point: positive to the right on the way from a to b.
  static int side(const Place& a, const Place& b, const Place& p) {
    const Number dx = b.x - a.x, dy = b.y - a.y;
    return sign(dx * (p.y - a.y) - dy * (p.x - a.x), -dy, dx);
  }

  /// The side of a fixed point, seen on the way of a moved one.
  static int side_of_end(const Place& from, const Place& to, const Place& end) {
    const Number dx = to.x - from.x, dy = to.y - from.y;
    return sign(dx * (end.y - from.y) - dy * (end.x - from.x), dy, -dx);
  }

  /// 1 to the right of the line, −1 to the left of it, 0: not crossed.
  static int crossing(const Line& line, const Place& from, const Place& to) {
    const Place a = place_of(line.from), b = place_of(line.to);
    const int before = side(a, b, from), after = side(a, b, to);
    const bool is_between = side_of_end(from, to, a) * side_of_end(from, to, b) < 0;
    return before == after || !is_between ? 0 : after;
  }

  /// Whether a ray to the right leaves the polygon.
  static bool is_inside(const Zone& zone, const Place& p) {
    bool is_odd = false;
    for (size_t i = 0; i < zone.polygon.size(); ++i) {
      const Place a = place_of(zone.polygon[i]), b = place_of(zone.polygon[(i + 1) % zone.polygon.size()]);
      const bool a_is_above = a.y <= p.y, b_is_above = b.y <= p.y;  // the moved point is below its row's edge
      if (a_is_above != b_is_above) {
        // It is on the left of the edge on the screen: on the right on the way down.
        is_odd ^= side(a_is_above ? a : b, a_is_above ? b : a, p) > 0;
      }
    }
    return is_odd;
  }

  /* Distances */

  static long double length(const Place& a, const Place& b) {
    return std::sqrt(static_cast<long double>((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)));
  }

  static bool is_nearer(const Place& a, const Place& b, const Place& p, int64_t distance) {
    const int64_t along = (b.x - a.x) * (p.x - a.x) + (b.y - a.y) * (p.y - a.y);
    const int64_t whole = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y);
    if (along <= 0 || along >= whole) {
      const Place& end = along <= 0 ? a : b;
      return (p.x - end.x) * (p.x - end.x) + (p.y - end.y) * (p.y - end.y) < distance * distance;
    }
    const int64_t area = std::abs((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x));
    return area < distance * static_cast<int64_t>(std::floor(length(a, b)));
  }

  static int64_t margin(const CclTrack& track, double margin) {
    return std::llround(margin * 256 * (track.width + track.height) / 2);
  }

  /// The share of the margin that a small zone has room for.
  static int64_t room(const Zone& zone) {
    int64_t twice_area = 0, around = 0;
    for (size_t i = 0; i < zone.polygon.size(); ++i) {
      const Place a = place_of(zone.polygon[i]), b = place_of(zone.polygon[(i + 1) % zone.polygon.size()]);
      twice_area += a.x * b.y - a.y * b.x;
      around += static_cast<int64_t>(std::floor(length(a, b)));
    }
    return std::abs(twice_area) / (4 * around);
  }

  bool is_at_edge(const Zone& zone, const CclTrack& track, const Place& p) const {
    const int64_t distance = std::min(margin(track, zone.margin), room(zone));
    for (size_t i = 0; i < zone.polygon.size(); ++i) {
      const Point& a = zone.polygon[i];
      const Point& b = zone.polygon[(i + 1) % zone.polygon.size()];
      const bool is_in_frame = (a.x > 0 || b.x > 0) && (a.y > 0 || b.y > 0) &&
                               (a.x < width_ || b.x < width_) && (a.y < height_ || b.y < height_);
      if (is_in_frame && is_nearer(place_of(a), place_of(b), p, distance)) {
        return true;
      }
    }
    return false;
  }

  /* Tracks */

  static bool is_visible_member(const CclTrack& track) {
    return (track.flags & CCL_TRACK_MERGED) != 0 && (track.flags & CCL_TRACK_PREDICTED) == 0;
  }

  /// In a component that it shares with a track whose box is more than twice as large.
  static bool is_hidden(const CclTrack& track, const std::vector<CclTrack>& tracks) {
    return is_visible_member(track) && std::any_of(tracks.begin(), tracks.end(), [&](const CclTrack& other) {
             return is_visible_member(other) && other.component == track.component &&
                    other.width * other.height > 2 * track.width * track.height;
           });
  }

  void follow(Path* path, const CclTrack& track, bool is_in_sight, Facts* facts) {
    if ((track.flags & CCL_TRACK_PREDICTED) == 0) {
      path->was_at_border = (track.flags & CCL_TRACK_TOUCHES_BORDER) != 0;
    }
    if (path->places.empty()) {
      path->places.push_back(places_of(track));
    }
    if ((track.flags & CCL_TRACK_CONFIRMED) == 0) {
      return;
    }
    if (!path->was_confirmed) {
      path->was_confirmed = true;
      facts->push_back({CCL_EVENT_BORN, track.id});
    }
    if ((track.flags & CCL_TRACK_PREDICTED) == 0 && is_in_sight) {
      path->places.push_back(places_of(track));
      compare_with_zones(path, track, facts);
      compare_with_lines(path, track, facts);
    }
  }

  void compare_with_zones(Path* path, const CclTrack& track, Facts* facts) const {
    Facts entered;
    for (size_t i = 0; i < regions_.zones.size(); ++i) {
      const Zone& zone = regions_.zones[i];
      const size_t anchor = zone.anchor == Anchor::kCentroid;
      const Place& p = path->places.back().of[anchor];
      const bool is_first = !path->is_in.contains(i);
      const bool was_in = !is_first && path->is_in[i];
      // Since the first of the last places that are all on the other side.
      int64_t since = now_;
      for (auto seen = path->places.rbegin();
           seen != path->places.rend() && is_inside(zone, seen->of[anchor]) != was_in; ++seen) {
        since = seen->time;
      }
      const bool has_stayed = zone.margin == 0 || now_ - since >= kSecond / 4;
      const bool changes =
          is_inside(zone, p) != was_in && (is_first || (has_stayed && !is_at_edge(zone, track, p)));
      path->is_in[i] = was_in != changes;
      if (changes) {
        (was_in ? facts : &entered)
            ->push_back({was_in ? uint32_t{CCL_EVENT_LEFT} : uint32_t{CCL_EVENT_ENTERED}, track.id, 0,
                         static_cast<uint32_t>(i)});
      }
    }
    facts->insert(facts->end(), entered.begin(), entered.end());
  }

  /// What was crossed, and has not been counted.
  struct Pending {
    int64_t sum = 0;
    int64_t since = 0;
  };

  Pending pending_at(const Path& path, size_t line) const {
    const Line& its = regions_.lines[line];
    const size_t anchor = its.anchor == Anchor::kCentroid;
    std::vector<Count> changes;
    for (size_t i = path.n_forgotten + 1; i < path.places.size(); ++i) {
      const Places& to = path.places[i];
      changes.push_back({to.time, crossing(its, path.places[i - 1].of[anchor], to.of[anchor])});
    }
    if (path.counted.contains(line)) {
      for (const Count& count : path.counted.at(line)) {
        changes.push_back({count.time, -count.sign});
      }
    }
    // In a frame the move comes first.
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Count& a, const Count& b) { return a.time < b.time; });
    Pending pending;
    for (const Count& change : changes) {
      pending.since = pending.sum == 0 ? change.time : pending.since;
      pending.sum += change.sign;
    }
    return pending;
  }

  void compare_with_lines(Path* path, const CclTrack& track, Facts* facts) const {
    for (size_t i = 0; i < regions_.lines.size(); ++i) {
      const Line& line = regions_.lines[i];
      const Place& p = path->places.back().of[line.anchor == Anchor::kCentroid];
      const Pending pending = pending_at(*path, i);
      const bool has_stayed = line.margin == 0 || now_ - pending.since >= kSecond / 4;
      if (pending.sum != 0 && has_stayed &&
          !is_nearer(place_of(line.from), place_of(line.to), p, margin(track, line.margin))) {
        path->counted[i].push_back({now_, pending.sum > 0 ? 1 : -1});
        facts->push_back(crossed(track.id, i, pending.sum));
      }
    }
  }

  static Fact crossed(uint32_t id, size_t line, int64_t pending) {
    return {pending > 0 ? uint32_t{CCL_EVENT_CROSSED_RIGHT} : uint32_t{CCL_EVENT_CROSSED_LEFT}, id, 0,
            static_cast<uint32_t>(line)};
  }

  void end(uint32_t id, const Path& path, Facts* facts) const {
    if (!path.was_confirmed) {
      return;
    }
    for (size_t i = 0; path.was_at_border && i < regions_.lines.size(); ++i) {
      if (const Pending pending = pending_at(path, i); pending.sum != 0) {
        facts->push_back(crossed(id, i, pending.sum));
      }
    }
    for (const auto& [zone, is_in] : path.is_in) {
      if (is_in) {
        facts->push_back({CCL_EVENT_LEFT, id, 0, static_cast<uint32_t>(zone)});
      }
    }
    facts->push_back({CCL_EVENT_DIED, id});
  }

  uint32_t width_;
  uint32_t height_;
  int64_t now_ = 0;
  Regions regions_ = {.is_relative = false, .include = {}, .exclude = {}};
  std::map<uint32_t, Path> paths_;
};

}  // namespace ccl::test
