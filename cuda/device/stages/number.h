// SPDX-License-Identifier: LGPL-2.1-or-later
/// The numbering stage: canonical labels from a root map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/status.h"
#include "device/memory.h"

namespace ccl::device {

/// Counts roots by a prefix sum: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components
/// labeling algorithms using GPUs", SIBGRAPI 2010, section VII, algorithm 4. Roots are the first pixels of
/// their components, so a root's rank in raster order is its canonical label.
class Numbering {
 public:
  /// Allocates memory for frames of `n_pixels`.
  Status configure(uint32_t n_pixels);

  /// Enqueues the writing of `labels` (n_pixels, 0 for background, else 1..n) and of n to `n_labels`. All
  /// pointers are to device memory.
  Status run(const uint32_t* root_map, uint32_t* labels, uint32_t* n_labels, cudaStream_t stream);

 private:
  uint32_t n_pixels_ = 0;
  DeviceArray<uint32_t> ranks_;  ///< per pixel: roots up to and including it
  DeviceArray<std::byte> scan_memory_;
  size_t scan_bytes_ = 0;
};

}  // namespace ccl::device
