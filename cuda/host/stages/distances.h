// SPDX-License-Identifier: LGPL-2.1-or-later
/// The distances of a frame as a plane and as an output: see kDistancePlane and Output::kDistance.
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/stages/separate/distance.h"
#include "host/thread_pool.h"

namespace ccl::host {

class Distances {
 public:
  /// Takes all memory that frames need. `pool` must outlive the object.
  Distances(uint32_t width, uint32_t height, ThreadPool& pool);

  /// Measures the components of a root map.
  void measure(const uint32_t* root_map, uint32_t aspect);

  /// Writes what was measured last. `labels`: per pixel; `shown`: per label, 0 where 0 is to be written, else
  /// all bits. `output`: one that has_distances().
  void write(const uint32_t* labels, const uint32_t* shown, const PlaneImage& plane) const;
  void write(const uint32_t* labels, const uint32_t* shown, Output output, const OutputImage& image) const;

 private:
  uint32_t width_;
  uint32_t height_;
  ThreadPool& pool_;
  const SeparationKernels& kernels_;
  DistanceTransform transform_;
  std::unique_ptr<uint32_t[]> squares_;  ///< per pixel
};

}  // namespace ccl::host
