// SPDX-License-Identifier: LGPL-2.1-or-later
/// The contract of every GPU labeler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "ccl/status.h"
#include "device/segment_source.h"

namespace ccl::device {

/// Finds the components of a frame. A labeler owns no device memory.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// The device memory that label() needs in addition to the root map. Only iterating labelers need some.
  virtual size_t workspace_bytes(uint32_t /*width*/, uint32_t /*height*/) const { return 0; }

  /// Enqueues on `stream` the work that writes width × height dense values to `root_map` in device memory: 0
  /// for background, else 1 + the smallest raster index of the pixel's component.
  ///
  /// `workspace` is workspace_bytes() of device memory with the alignment of cudaMalloc() and any content. No
  /// other frame may use it until this work has ended. A labeler that repeats its steps over the whole frame
  /// until nothing changes writes the number of iterations to `n_iterations` in device memory; the others
  /// leave it unchanged.
  virtual Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
                       void* workspace, uint32_t* n_iterations, cudaStream_t stream) = 0;
};

}  // namespace ccl::device
