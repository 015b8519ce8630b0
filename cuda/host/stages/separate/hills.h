// SPDX-License-Identifier: LGPL-2.1-or-later
/// Heights and basins of the components of a root map or a mask; see ccl/parts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/rule.h"
#include "host/stages/row_strips.h"
#include "host/stages/separate/distance.h"
#include "host/stages/separate/simd/kernels.h"
#include "host/stages/separate/ways.h"
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
  const Blocks& blocks() const { return distance_.blocks(); }
  const uint16_t* heights() const { return heights_.get(); }  ///< per pixel of the foreground, smoothed
  uint32_t summit(uint32_t basin) const { return summits_[basin]; }  ///< its pixel
  /// Calls visit(basins): per pixel, 0 for background, else 1 + the number of the basin, with 16 or 32 bits.
  /// Basins are numbered in the raster order of their summits. A row of background and one more entry follow.
  template <typename Visit>
  void visit_basins(Visit visit) const {
    if (are_few()) {
      visit(few_.basins());
    } else {
      visit(many_.basins());
    }
  }
  uint32_t basin_at(size_t pixel) const { return are_few() ? few_.basins()[pixel] : many_.basins()[pixel]; }

 private:
  struct Scratch;

  template <typename Root>
  void measure_strip(const Root* roots, Connectivity connectivity, uint32_t aspect, uint32_t strip,
                     const RowSpan& rows);
  template <typename Root>
  void read_row(const Root* roots, uint32_t aspect, uint32_t strip, int64_t y);
  template <typename Root>
  void smooth_row(int64_t y, const RowSpan& rows, Scratch* scratch);
  template <typename Root>
  void climb_row(Connectivity connectivity, uint32_t y, Scratch* scratch);
  void number_summits(uint32_t y, const RowSpan& rows, Scratch* scratch);
  void join_summits();
  void begin_many(const RowSpan& rows, uint32_t n_before, uint32_t n_summits);
  bool are_few() const { return n_basins_ <= UINT16_MAX; }

  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  const SeparationKernels& kernels_;
  DistanceTransform distance_;
  std::unique_ptr<uint16_t[]> heights_;
  std::unique_ptr<uint8_t[]> steps_;
  Ways<uint16_t> few_;   ///< of frames with few basins
  Ways<uint32_t> many_;  ///< of the others
  std::unique_ptr<uint32_t[]> summits_;
  std::vector<Scratch> scratch_;  ///< per strip
  uint32_t n_basins_ = 0;
};

}  // namespace ccl::host
