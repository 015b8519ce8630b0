// SPDX-License-Identifier: LGPL-2.1-or-later
/// Heights and basins of the components of a root map; see ccl/parts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/rule.h"
#include "host/stages/segment/row_strips.h"
#include "host/stages/separate/distance.h"
#include "host/stages/separate/simd/kernels.h"
#include "host/thread_pool.h"

namespace ccl::host {

class Hills {
 public:
  /// `pool` must outlive the hills.
  Hills(uint32_t width, uint32_t height, ThreadPool& pool);
  ~Hills();

  /// Roots: see RootKernels.
  template <typename Root>
  void measure(const Root* roots, Connectivity connectivity, uint32_t aspect);

  uint32_t n_basins() const { return n_basins_; }
  const uint16_t* heights() const { return heights_.get(); }         ///< per pixel, smoothed
  uint32_t summit(uint32_t basin) const { return summits_[basin]; }  ///< its pixel
  /// Per pixel: 0 for background, else 1 + the number of the basin. Basins are numbered in the raster order
  /// of their summits. One more entry on each side can be read.
  const uint32_t* basins() const { return basins_.get() + 1; }

 private:
  struct Scratch;

  template <typename Root>
  void climb(const Root* roots, Connectivity connectivity, const RowSpan& rows, Scratch* scratch);
  template <typename Root>
  void smooth_row(int64_t y, const RowSpan& rows, Scratch* scratch);
  template <typename Visit>
  void for_each_summit(const RowSpan& rows, Visit visit) const;
  uint32_t count_summits(const RowSpan& rows) const;
  void number_summits(const RowSpan& rows, uint32_t number);
  uint32_t* basins() { return basins_.get() + 1; }
  void follow(const RowSpan& rows, Scratch* scratch);
  void take_from(uint32_t y, const uint32_t* other, decltype(SeparationKernels::take_from_below) take);
  void follow_ways_of(uint32_t y, const RowSpan& rows, Scratch* scratch);
  void follow_way(size_t pixel, size_t begin, size_t end);
  size_t next(size_t pixel) const { return pixel + static_cast<size_t>(offsets_[steps_[pixel]]); }

  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  const SeparationKernels& kernels_;
  DistanceTransform distance_;
  std::unique_ptr<uint16_t[]> raw_heights_;
  std::unique_ptr<uint16_t[]> heights_;
  std::unique_ptr<uint8_t[]> steps_;
  std::unique_ptr<uint32_t[]> basins_;     ///< with an entry on each side
  std::unique_ptr<uint32_t[]> no_basins_;  ///< a row, likewise
  std::unique_ptr<uint32_t[]> summits_;
  std::vector<uint32_t> first_numbers_;  ///< per strip; the number of its summits before
  std::vector<Scratch> scratch_;         ///< per strip
  int64_t offsets_[10]{};                ///< of steps, in pixels
  uint32_t n_basins_ = 0;
};

}  // namespace ccl::host
