// SPDX-License-Identifier: LGPL-2.1-or-later
/// The distance transform of the GPU: rule in ccl/parts.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/separate/region_table.h"

namespace ccl::device {

/// In two kernels, after A. Meijster, J. B. T. M. Roerdink, W. H. Hesselink, "A General Algorithm for
/// Computing Distance Transforms in Linear Time", Mathematical Morphology and its Applications to Image and
/// Signal Processing, 2000: within columns, then within rows. A pixel searches its row outwards, and leaves
/// out groups of columns that are too high to have its nearest border, so that long distances cost little
/// more than short ones. Masks have kernels of their own (mask_distance.cuh), which search two pixels at
/// once.
class DistanceTransform {
 public:
  Status configure(uint32_t width, uint32_t height);

  /// Enqueues the writing of width × height dense squared distances (ccl/parts.h) to device memory.
  Status measure(const RootMap& roots, uint32_t aspect, uint32_t* squares, cudaStream_t stream);

  /// The same for heights that are not smoothed.
  Status measure_heights(const RootMap& roots, uint32_t aspect, uint16_t* heights, cudaStream_t stream);
  Status measure_heights(const Mask& mask, uint32_t aspect, uint16_t* heights, cudaStream_t stream);

 private:
  template <typename Roots, typename Distance>
  Status run(const Roots& roots, uint32_t aspect, Distance* out, cudaStream_t stream);

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  DeviceArray<uint16_t> distances_;        ///< per pixel: within the column
  DeviceArray<uint16_t> group_distances_;  ///< per row: the least of each group of columns
};

}  // namespace ccl::device
