// SPDX-License-Identifier: LGPL-2.1-or-later
#include "separation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace ccl::test {

namespace {

struct Roots {
  const std::vector<uint32_t>& map;
  int64_t width, height;

  bool contains(int64_t x, int64_t y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  size_t index(int64_t x, int64_t y) const { return static_cast<size_t>(y * width + x); }
  uint32_t at(int64_t x, int64_t y) const { return map[index(x, y)]; }
  /// 0 outside the frame.
  uint32_t root(int64_t x, int64_t y) const { return contains(x, y) ? at(x, y) : 0; }
};

/* Distances */

constexpr int64_t kFar = int64_t{1} << 31;  ///< its square is more than 32 bits

/// By pixel the number of rows to the nearest pixel of its column that has another root.
std::vector<int64_t> rows_to_another(const Roots& roots) {
  std::vector<int64_t> rows(roots.map.size(), kFar);
  for (int64_t x = 0; x < roots.width; ++x) {
    int64_t first = 0;  // of the pixels with one root
    for (int64_t end = 1; end <= roots.height; ++end) {
      if (end < roots.height && roots.at(x, end) == roots.at(x, first)) {
        continue;
      }
      for (int64_t y = first; y < end; ++y) {
        const int64_t above = first > 0 ? y - first + 1 : kFar;
        const int64_t below = end < roots.height ? end - y : kFar;
        rows[roots.index(x, y)] = std::min(above, below);
      }
      first = end;
    }
  }
  return rows;
}

/// The nearest pixel of another root is in some column. Those that are farther away than it need no look.
uint32_t square_at(const Roots& roots, const std::vector<int64_t>& rows, int64_t x, int64_t y,
                   int64_t aspect) {
  const uint32_t root = roots.at(x, y);
  if (root == 0) {
    return 0;
  }
  int64_t best = kNoSquare;
  const int64_t most = std::max(x, roots.width - 1 - x);
  for (int64_t way = 0; way <= most && aspect * way * aspect * way < best; ++way) {
    for (const int64_t column : {x - way, x + way}) {
      if (column >= 0 && column < roots.width) {
        const int64_t dx = aspect * way;
        const int64_t dy = roots.at(column, y) == root ? rows[roots.index(column, y)] : 0;
        best = std::min(best, dx * dx + dy * dy);
      }
    }
  }
  return static_cast<uint32_t>(best);
}

/// ⌊16 √square⌋, at most what 16 bits hold.
uint32_t height_from(uint32_t square) {
  uint64_t height = 0;
  for (uint64_t bit = 1 << 16; bit > 0; bit /= 2) {
    const uint64_t larger = height + bit;
    height = larger * larger <= uint64_t{256} * square ? larger : height;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(height, 65535));
}

/* Regions */

/// The two pixels of a link are neighbours.
struct Link {
  uint32_t number;
  size_t p, q;  ///< raster indices
  uint32_t saddle;
};

struct Region {
  uint64_t n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;  ///< sums over its pixels
  uint32_t summit = 0;
  size_t first = std::numeric_limits<size_t>::max();  ///< the smallest raster index

  void add(const Region& other) {
    n += other.n;
    x += other.x;
    y += other.y;
    xx += other.xx;
    xy += other.xy;
    yy += other.yy;
    summit = std::max(summit, other.summit);
    first = std::min(first, other.first);
  }
};

double form(const Region& region) {
  const auto n = static_cast<double>(region.n);
  const double x = static_cast<double>(region.x) / n;
  const double y = static_cast<double>(region.y) / n;
  const double xx = static_cast<double>(region.xx) / n - x * x + 1.0 / 12.0;
  const double yy = static_cast<double>(region.yy) / n - y * y + 1.0 / 12.0;
  const double xy = static_cast<double>(region.xy) / n - x * y;
  return n * n / (157.91367041742973 * (xx * yy - xy * xy));
}

double fourth_power(double v) {
  const double square = v * v;
  return square * square;
}

float score_of(const Region& a, const Region& b, uint32_t saddle) {
  Region both = a;
  both.add(b);
  const uint32_t summit = std::min(a.summit, b.summit);
  const double alone_4 = fourth_power(form(a) * form(b));
  const double score = fourth_power(form(both)) * saddle / (summit * (alone_4 * alone_4));
  const bool is_too_large = score > double{std::numeric_limits<float>::max()};
  return is_too_large ? std::numeric_limits<float>::infinity() : static_cast<float>(score);
}

/// The regions of a frame, basins at first. A region is named by the summit that its first basin had.
class Partition {
 public:
  Partition(const Roots& roots, std::vector<uint32_t> heights, Connectivity connectivity)
      : roots_(roots), heights_(std::move(heights)), connectivity_(connectivity), region_of_(find_basins()) {
    for (size_t i = 0; i < region_of_.size(); ++i) {
      if (roots_.map[i] != 0) {
        const uint64_t x = i % static_cast<size_t>(roots_.width);
        const uint64_t y = i / static_cast<size_t>(roots_.width);
        regions_[region_of_[i]].add({1, x, y, x * x, x * y, y * y, heights_[i], i});
      }
    }
    list_links();
  }

  /// Phase 1.
  void join_over_wide_necks(uint32_t neck, uint32_t min_area) {
    const auto rate = [](const Link& link) { return double(link.saddle); };
    bool has_joined = true;
    while (has_joined) {
      const std::map<size_t, Link> taken = take_links(rate);
      std::vector<Link> joins;
      for (const auto& [name, link] : taken) {
        const Region& region = regions_.at(name);
        if (uint64_t{1024} * link.saddle >= uint64_t{neck} * region.summit || region.n < min_area) {
          joins.push_back(link);
        }
      }
      has_joined = join(joins);
    }
  }

  /// Phase 2.
  void join_what_is_one_object() {
    const auto rate = [&](const Link& link) -> std::optional<double> {
      const float score =
          score_of(regions_.at(region_of_[link.p]), regions_.at(region_of_[link.q]), link.saddle);
      return score >= 2 ? std::optional<double>(score) : std::nullopt;
    };
    bool has_joined = true;
    while (has_joined) {
      const std::map<size_t, Link> taken = take_links(rate);
      std::vector<Link> joins;
      for (const auto& [name, link] : taken) {
        const size_t other = region_of_[link.p] == name ? region_of_[link.q] : region_of_[link.p];
        const auto of_other = taken.find(other);
        const bool took_both = of_other != taken.end() && of_other->second.number == link.number;
        if (took_both || 16 * regions_.at(name).n <= regions_.at(other).n) {
          joins.push_back(link);
        }
      }
      has_joined = join(joins);
    }
  }

  std::vector<uint32_t> root_map() const {
    std::vector<uint32_t> map(region_of_.size());
    for (size_t i = 0; i < map.size(); ++i) {
      map[i] = roots_.map[i] == 0 ? 0 : static_cast<uint32_t>(regions_.at(region_of_[i]).first + 1);
    }
    return map;
  }

 private:
  /// Calls with the raster index of each neighbour of the same component, of those that differ by `steps`.
  template <typename Steps, typename Visit>
  void for_neighbors(size_t i, const Steps& steps, Visit visit) const {
    const int64_t x = static_cast<int64_t>(i) % roots_.width;
    const int64_t y = static_cast<int64_t>(i) / roots_.width;
    uint32_t direction = 0;
    for (const auto& [dx, dy] : steps) {
      const bool is_neighbor = dx == 0 || dy == 0 || connectivity_ == Connectivity::k8;
      if (is_neighbor && roots_.map[i] != 0 && roots_.root(x + dx, y + dy) == roots_.map[i]) {
        visit(roots_.index(x + dx, y + dy), direction);
      }
      ++direction;
    }
  }

  /// By pixel the summit that it leads to.
  std::vector<size_t> find_basins() const {
    constexpr std::pair<int, int> kAround[] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0},
                                               {1, 0},   {-1, 1}, {0, 1},  {1, 1}};
    std::vector<size_t> next(roots_.map.size());
    for (size_t i = 0; i < next.size(); ++i) {
      next[i] = i;
      for_neighbors(i, kAround, [&](size_t neighbor, uint32_t) {
        const bool is_higher = heights_[neighbor] > heights_[next[i]];
        const bool is_first_of_equals = heights_[neighbor] == heights_[next[i]] && neighbor < next[i];
        next[i] = is_higher || is_first_of_equals ? neighbor : next[i];
      });
    }
    std::vector<size_t> summits(next.size());
    for (size_t i = 0; i < next.size(); ++i) {
      size_t at = i;
      while (next[at] != at) {
        at = next[at];
      }
      // The way is not gone again by those that come to it.
      for (size_t on_way = i; next[on_way] != on_way;) {
        on_way = std::exchange(next[on_way], at);
      }
      summits[i] = at;
    }
    return summits;
  }

  void list_links() {
    constexpr std::pair<int, int> kForward[] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}};
    for (size_t p = 0; p < region_of_.size(); ++p) {
      for_neighbors(p, kForward, [&](size_t q, uint32_t direction) {
        links_.push_back(
            {static_cast<uint32_t>(4 * p + direction), p, q, std::min(heights_[p], heights_[q])});
      });
    }
    drop_inner_links();
  }

  void drop_inner_links() {
    std::erase_if(links_, [&](const Link& link) { return region_of_[link.p] == region_of_[link.q]; });
  }

  /// By region the link to another one that rates highest, of equals the one with the smallest number. A link
  /// without a rating does not count.
  template <typename Rate>
  std::map<size_t, Link> take_links(Rate rate) const {
    std::map<size_t, std::pair<double, Link>> best;
    for (const Link& link : links_) {  // by ascending number
      const std::optional<double> rating = rate(link);
      for (const size_t name : {region_of_[link.p], region_of_[link.q]}) {
        if (rating.has_value()) {
          const auto [it, is_first] = best.try_emplace(name, *rating, link);
          if (!is_first && *rating > it->second.first) {
            it->second = {*rating, link};
          }
        }
      }
    }
    std::map<size_t, Link> taken;
    for (const auto& [name, rated] : best) {
      taken.emplace(name, rated.second);
    }
    return taken;
  }

  /// Joins the regions at both ends of each link, all at once. Whether there was one.
  bool join(const std::vector<Link>& joins) {
    std::map<size_t, std::vector<size_t>> joined;
    for (const Link& link : joins) {
      joined[region_of_[link.p]].push_back(region_of_[link.q]);
      joined[region_of_[link.q]].push_back(region_of_[link.p]);
    }
    std::map<size_t, size_t> new_name;
    for (const auto& [name, others] : joined) {
      std::vector<size_t> reached;
      if (new_name.try_emplace(name, name).second) {
        reached.push_back(name);
      }
      while (!reached.empty()) {
        const size_t from = reached.back();
        reached.pop_back();
        for (const size_t to : joined.at(from)) {
          if (new_name.try_emplace(to, name).second) {
            reached.push_back(to);
            regions_.at(name).add(regions_.at(to));
            regions_.erase(to);
          }
        }
      }
    }
    if (joins.empty()) {
      return false;
    }
    for (size_t& name : region_of_) {
      const auto it = new_name.find(name);
      name = it == new_name.end() ? name : it->second;
    }
    drop_inner_links();
    return true;
  }

  const Roots& roots_;
  std::vector<uint32_t> heights_;
  Connectivity connectivity_;
  std::vector<size_t> region_of_;     ///< by pixel, the name
  std::map<size_t, Region> regions_;  ///< by name
  std::vector<Link> links_;           ///< between regions, by ascending number
};

}  // namespace

std::vector<uint32_t> expect_squares(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                     uint32_t aspect) {
  const Roots roots{root_map, width, height};
  const std::vector<int64_t> rows = rows_to_another(roots);
  std::vector<uint32_t> squares;
  squares.reserve(root_map.size());
  for (int64_t y = 0; y < roots.height; ++y) {
    for (int64_t x = 0; x < roots.width; ++x) {
      squares.push_back(square_at(roots, rows, x, y, aspect));
    }
  }
  return squares;
}

std::vector<uint32_t> expect_raw_heights(const std::vector<uint32_t>& squares) {
  std::vector<uint32_t> heights(squares.size());
  std::transform(squares.begin(), squares.end(), heights.begin(), height_from);
  return heights;
}

std::vector<uint32_t> expect_heights(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                     uint32_t aspect) {
  const Roots roots{root_map, width, height};
  const std::vector<uint32_t> raw = expect_raw_heights(expect_squares(root_map, width, height, aspect));
  std::vector<uint32_t> heights;
  heights.reserve(root_map.size());
  for (int64_t y = 0; y < roots.height; ++y) {
    for (int64_t x = 0; x < roots.width; ++x) {
      uint32_t sum = 8;
      for (int64_t dy = -1; dy <= 1; ++dy) {
        for (int64_t dx = -1; dx <= 1; ++dx) {
          // Outside the frame, the nearest pixel inside.
          const int64_t column = std::clamp<int64_t>(x + dx, 0, roots.width - 1);
          const int64_t row = std::clamp<int64_t>(y + dy, 0, roots.height - 1);
          const uint32_t weight = (dx == 0 ? 2u : 1u) * (dy == 0 ? 2u : 1u);
          const bool is_same = roots.at(column, row) == roots.at(x, y);
          sum += is_same ? weight * raw[roots.index(column, row)] : 0;
        }
      }
      heights.push_back(roots.at(x, y) == 0 ? 0 : sum / 16);
    }
  }
  return heights;
}

std::vector<uint32_t> expect_parts(const std::vector<uint32_t>& root_map, uint32_t width, uint32_t height,
                                   Connectivity connectivity, const Separation& separation,
                                   uint32_t min_area) {
  if (separation.neck == 0) {
    return root_map;
  }
  const Roots roots{root_map, width, height};
  Partition partition(roots, expect_heights(root_map, width, height, separation.aspect), connectivity);
  partition.join_over_wide_necks(separation.neck, min_area);
  partition.join_what_is_one_object();
  return partition.root_map();
}

}  // namespace ccl::test
