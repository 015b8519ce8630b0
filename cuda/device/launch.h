// SPDX-License-Identifier: LGPL-2.1-or-later
/// What all labelers end with: launching kernels, and choosing them by connectivity.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/check.h"
#include "device/labeler.h"

namespace ccl::device {

/// Enqueues a kernel without dynamic shared memory; nothing where there are no blocks. `name` is for
/// messages.
template <typename... Parameters, typename... Arguments>
Status launch(const char* name, void (*kernel)(Parameters...), dim3 blocks, uint32_t threads,
              cudaStream_t stream, Arguments... arguments) {
  if (blocks.x == 0 || blocks.y == 0) {
    return {};
  }
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
  return check_launch(name);
}

/// The labeler whose two forms are Steps<Connectivity::k4> and Steps<Connectivity::k8>: each has a
/// static member run(frame, root_map, stream) with the contract of Labeler::label().
template <template <Connectivity> typename Steps>
class LabelerOf final : public Labeler {
 public:
  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
               cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? Steps<Connectivity::k8>::run(frame, root_map, stream)
                                            : Steps<Connectivity::k4>::run(frame, root_map, stream);
  }
};

}  // namespace ccl::device
