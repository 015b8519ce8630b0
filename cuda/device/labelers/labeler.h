// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every GPU labeler takes and gives.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "ccl/status.h"
#include "device/segment_source.h"

namespace ccl::device {

/// Finds the components of a frame. A labeler has no memory of its own.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// How much device memory label() needs besides the root map. Those that iterate need some.
  virtual size_t workspace_bytes(uint32_t /*width*/, uint32_t /*height*/) const { return 0; }

  /// Enqueues on `stream` the writing of width × height dense values to `root_map` in device memory: 0
  /// for background, else 1 + the smallest raster index of the pixel's component. `workspace` is
  /// workspace_bytes() of device memory as cudaMalloc() aligns it, in any state, for this frame alone
  /// until the stream is done with it. A labeler that repeats its steps over the whole frame until nothing
  /// changes also writes how many turns that took to `n_iterations` in device memory; the others leave it
  /// as it is.
  virtual Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
                       void* workspace, uint32_t* n_iterations, cudaStream_t stream) = 0;
};

}  // namespace ccl::device
