// SPDX-License-Identifier: LGPL-2.1-or-later
/// The distance transform of the CPU: rule in ccl/parts.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/stages/row_strips.h"
#include "host/stages/separate/blocks.h"
#include "host/stages/separate/simd/kernels.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// In two passes, after A. Meijster, J. B. T. M. Roerdink, W. H. Hesselink, "A General Algorithm for
/// Computing Distance Transforms in Linear Time", Mathematical Morphology and its Applications to Image and
/// Signal Processing, 2000: within columns, then within rows. Where distances are short, a row is searched
/// outwards, many pixels at a time; where they are long, the lower envelope of parabolas is made as in
/// P. F. Felzenszwalb, D. P. Huttenlocher, "Distance Transforms of Sampled Functions", Theory of Computing 8,
/// 2012. Both find the same minima.
class DistanceTransform {
 public:
  /// `pool` must outlive the transform.
  DistanceTransform(uint32_t width, uint32_t height, ThreadPool& pool);
  ~DistanceTransform();

  /// Writes width × height dense squared distances (ccl/parts.h). Roots: see RootKernels.
  template <typename Root>
  void measure(const Root* roots, uint32_t aspect, uint32_t* squares);

  /// The first pass; finds out where the frame has foreground.
  template <typename Root>
  void measure_columns(const Root* roots);
  const Blocks& blocks() const { return blocks_; }

  /// After measure_columns(): writes the heights of a row, which are not smoothed. Returns whether all are
  /// below kLowHeights for sure. Threads that call it at the same time have different strips.
  template <typename Root>
  bool write_heights(const Root* roots, uint32_t aspect, uint32_t strip, uint32_t y, uint16_t* heights);

 private:
  class RowSearch;

  template <typename Root>
  void measure_columns(const Root* roots, uint32_t x_begin, uint32_t x_end);
  template <typename Root, typename Write>
  void measure_row(const Root* roots, uint32_t aspect, uint32_t strip, uint32_t y, Write write);

  uint32_t width_;
  uint32_t height_;
  ThreadPool& pool_;
  RowStrips strips_;
  const SeparationKernels& kernels_;
  Blocks blocks_;
  std::unique_ptr<uint16_t[]>
      column_distances_;  ///< per pixel of blocks with foreground: in the column, or kNoColumnDistance
  std::vector<RowSearch> searches_;  ///< per strip
};

}  // namespace ccl::host
