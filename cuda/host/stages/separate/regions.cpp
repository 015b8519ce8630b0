// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/regions.h"

#include <algorithm>
#include <bit>
#include <bitset>

#include "host/memory.h"
#include "host/stages/sums.h"
#include "track/guide.h"

namespace ccl::host {

Regions::Regions(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      lister_(width, height, pool),
      regions_(uninitialized<Region>(size_t{width} * height)),
      joined_(uninitialized<uint32_t>(size_t{width} * height)) {}

template <typename Root>
bool Regions::join(const Root* roots, const Hills& hills, const Settings& settings) {
  links_ = lister_.list(roots, hills, settings.connectivity);
  is_measured_ = !links_.empty();
  if (!is_measured_) {
    return false;
  }
  measure_basins(hills);
  round_ = 0;
  join_over_saddles(settings.separation, settings.filter.min_area);
  join_by_form(hills.heights());
  for (uint32_t basin = 0; basin < hills.n_basins(); ++basin) {
    regions_[basin].parent = find(basin);
  }
  return !links_.empty();
}

void Regions::take_components(const Hills& hills) {
  if (!is_measured_) {
    measure_basins(hills);
  }
}

void Regions::measure_basins(const Hills& hills) {
  for (uint32_t basin = 0; basin < hills.n_basins(); ++basin) {
    regions_[basin] = {.sums = {},
                       .form = 0,
                       .best = 0,
                       .summit = hills.heights()[hills.summit(basin)],
                       .first_pixel = hills.summit(basin),
                       .parent = basin,
                       .changed = 0,
                       .color = 1};
  }
  for (uint32_t row = 0; row < height_; ++row) {
    lister_.for_each_run(row, [&](const BasinRun& run) {
      Region& region = regions_[run.basin - 1];
      const uint64_t n = run.end - run.begin;
      const uint64_t x = n * (uint64_t{run.begin} + run.end - 1) / 2;
      const uint64_t y = row;
      region.sums =
          region.sums + RegionSums{n, x, n * y, sum_of_squares(run.begin, run.end), x * y, n * y * y};
      region.first_pixel = std::min(region.first_pixel, row * width_ + run.begin);
    });
  }
}

/// Each part takes the first colour that no earlier part that it touches has.
bool Regions::color() {
  std::sort(links_.begin(), links_.end(),
            [](const Link& a, const Link& b) { return std::max(a.a, a.b) < std::max(b.a, b.b); });
  for (auto link = links_.begin(); link != links_.end();) {
    const uint32_t part = std::max(link->a, link->b);
    std::bitset<256> is_taken(1);
    for (; link != links_.end() && std::max(link->a, link->b) == part; ++link) {
      is_taken.set(regions_[std::min(link->a, link->b)].color);
    }
    uint32_t color = 1;
    while (color < track::kFirstMemberColor && is_taken.test(color)) {
      ++color;
    }
    if (color == track::kFirstMemberColor) {
      return false;
    }
    regions_[part].color = static_cast<uint8_t>(color);
  }
  return true;
}

void Regions::join_over_saddles(const Separation& separation, uint32_t min_area) {
  const auto joins = [&](uint32_t basin, const Link& link) {
    const Region& region = regions_[basin];
    return is_wide(link.rank, region.summit, separation) || region.sums.n < min_area;
  };
  do {
    begin_round();
    for (const Link& link : links_) {
      offer(link);
    }
  } while (join_where([&](const Link& link, bool is_of_a, bool is_of_b) {
    return (is_of_a && joins(link.a, link)) || (is_of_b && joins(link.b, link));
  }));
}

void Regions::join_by_form(const uint16_t* heights) {
  for (const Link& link : links_) {
    for (const uint32_t basin : {link.a, link.b}) {
      regions_[basin].form = form_of(regions_[basin].sums);
      regions_[basin].changed = round_;
    }
  }
  do {
    begin_round();
    for (Link& link : links_) {
      rate(heights, &link);
      if (link.rank != 0) {
        offer(link);
      }
    }
  } while (join_where([&](const Link& link, bool is_of_a, bool is_of_b) {
    const uint64_t n_a = regions_[link.a].sums.n;
    const uint64_t n_b = regions_[link.b].sums.n;
    return (is_of_a && (is_of_b || is_much_smaller(n_a, n_b))) || (is_of_b && is_much_smaller(n_b, n_a));
  }));
}

/// Finds the regions of all links, and drops the links within one region.
void Regions::begin_round() {
  ++round_;
  size_t n = 0;
  for (Link& link : links_) {
    link.a = find(link.a);
    link.b = find(link.b);
    links_[n] = link;
    n += link.a != link.b ? 1 : 0;
  }
  links_ = links_.first(n);
}

/// Writes the score of a link, if one of its regions has changed in the round before.
void Regions::rate(const uint16_t* heights, Link* link) {
  const Region& a = regions_[link->a];
  const Region& b = regions_[link->b];
  if (std::max(a.changed, b.changed) + 1 == round_) {
    const LinkEnds of = lister_.ends(link->number);
    const float rating = score(a.form, b.form, form_of(a.sums + b.sums),
                               std::min(heights[of.from], heights[of.to]), std::min(a.summit, b.summit));
    link->rank = is_one_object(rating) ? std::bit_cast<uint32_t>(rating) : 0;
  }
}

void Regions::offer(const Link& link) {
  const uint64_t order = order_of(link.rank, link.number);
  regions_[link.a].best = std::max(regions_[link.a].best, order);
  regions_[link.b].best = std::max(regions_[link.b].best, order);
}

/// Ends a round: joins the regions of all links that were taken and is_joined(link, whether a took it,
/// whether b took it). Returns whether there was one.
template <typename IsJoined>
bool Regions::join_where(IsJoined is_joined) {
  n_joined_ = 0;
  for (const Link& link : links_) {
    const uint64_t order = order_of(link.rank, link.number);
    if (link.rank != 0 && is_joined(link, regions_[link.a].best == order, regions_[link.b].best == order)) {
      unite(link.a, link.b);
    }
  }
  for (const Link& link : links_) {
    regions_[link.a].best = 0;
    regions_[link.b].best = 0;
  }
  for (size_t i = 0; i < n_joined_; ++i) {
    const Region& part = regions_[joined_[i]];
    Region& region = regions_[find(joined_[i])];
    region.sums = region.sums + part.sums;
    region.summit = std::max(region.summit, part.summit);
    region.first_pixel = std::min(region.first_pixel, part.first_pixel);
    region.changed = round_;
  }
  for (size_t i = 0; i < n_joined_; ++i) {
    Region& region = regions_[find(joined_[i])];
    region.form = form_of(region.sums);
  }
  return n_joined_ > 0;
}

void Regions::unite(uint32_t a, uint32_t b) {
  a = find(a);
  b = find(b);
  if (a != b) {
    regions_[std::max(a, b)].parent = std::min(a, b);
    joined_[n_joined_++] = std::max(a, b);
  }
}

uint32_t Regions::find(uint32_t basin) {
  while (regions_[basin].parent != basin) {
    regions_[basin].parent = regions_[regions_[basin].parent].parent;
    basin = regions_[basin].parent;
  }
  return basin;
}

template bool Regions::join(const uint32_t*, const Hills&, const Settings&);
template bool Regions::join(const uint8_t*, const Hills&, const Settings&);

}  // namespace ccl::host
