// SPDX-License-Identifier: LGPL-2.1-or-later
/// Joins basins to parts, in the rounds that ccl/parts.h describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ccl/config.h"
#include "ccl/parts.h"
#include "host/stages/separate/hills.h"
#include "host/stages/separate/links.h"
#include "host/thread_pool.h"

namespace ccl::host {

class Regions {
 public:
  /// `pool` must outlive the regions.
  Regions(uint32_t width, uint32_t height, ThreadPool& pool);

  /// Finds the parts of components. Returns whether a component has several. Roots: see RootKernels.
  template <typename Root>
  bool join(const Root* roots, const Hills& hills, const Settings& settings);

  /// After a join() that found no component with several parts: makes parts of the components.
  void take_components(const Hills& hills);

  /// After join(), chooses a colour from 1 on for each part, another one than those of the parts of its
  /// component that it touches. Returns false if more were needed than track::kFirstMemberColor leaves.
  bool color();

  /// The part of a basin, as the number of one of its basins.
  uint32_t part_of(uint32_t basin) const { return regions_[basin].parent; }
  uint64_t area(uint32_t part) const { return regions_[part].sums.n; }
  uint8_t color(uint32_t part) const { return regions_[part].color; }

  /// Links between different parts of a component.
  std::span<const Link> links() const { return links_; }

  /// Calls visit(run) for the stretches of a row that lie in one basin.
  template <typename Visit>
  void for_each_run(uint32_t y, Visit visit) const {
    lister_.for_each_run(y, visit);
  }

  /// After join(): calls visit(begin, end, root of the part) for the stretches of a row that lie in one
  /// basin.
  template <typename Visit>
  void for_each_root(uint32_t y, Visit visit) const {
    lister_.for_each_run(
        y, [&](const BasinRun& run) { visit(run.begin, run.end, 1 + part_of(run).first_pixel); });
  }
  /// The same for colours, after color().
  template <typename Visit>
  void for_each_color(uint32_t y, Visit visit) const {
    lister_.for_each_run(y, [&](const BasinRun& run) { visit(run.begin, run.end, part_of(run).color); });
  }

 private:
  /// At first a basin. Of basins that were joined, the one with the smallest number has what is the region's.
  struct Region {
    RegionSums sums;
    double form;
    uint64_t best;  ///< order_of() the link that it takes; 0: none
    uint32_t summit;
    uint32_t first_pixel;
    uint32_t parent;   ///< or itself
    uint32_t changed;  ///< the round in which others joined
    uint8_t color;
  };

  const Region& part_of(const BasinRun& run) const { return regions_[regions_[run.basin - 1].parent]; }
  void measure_basins(const Hills& hills);
  void join_over_saddles(const Separation& separation, uint32_t min_area);
  void join_by_form(const uint16_t* heights);
  void begin_round();
  void rate(const uint16_t* heights, Link* link);
  void offer(const Link& link);
  template <typename IsJoined>
  bool join_where(IsJoined is_joined);
  void unite(uint32_t a, uint32_t b);
  uint32_t find(uint32_t basin);

  uint32_t width_;
  uint32_t height_;
  LinkLister lister_;
  std::unique_ptr<Region[]> regions_;   ///< per basin
  std::unique_ptr<uint32_t[]> joined_;  ///< regions that joined another one in this round
  size_t n_joined_ = 0;
  std::span<Link> links_;  ///< between different regions
  bool is_measured_ = false;
  uint32_t round_ = 0;
};

}  // namespace ccl::host
