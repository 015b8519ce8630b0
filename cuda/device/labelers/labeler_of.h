// SPDX-License-Identifier: LGPL-2.1-or-later
/// The class of all labelers: makes a Labeler of the steps of an algorithm, which are compiled once for each
/// connectivity.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/labelers/labeler.h"

namespace ccl::device {

/// The labeler with the steps Steps<Connectivity::k4> and Steps<Connectivity::k8>. Each has a member function
/// run(frame, root_map, stream) with the contract of Labeler::label(), no workspace and no iterations. `Form`
/// initialises the steps of a labeler that has forms (forms.h); the others have no data.
template <template <Connectivity> typename Steps, typename... Form>
class LabelerOf final : public Labeler {
 public:
  explicit LabelerOf(const Form&... form) : steps_4_{form...}, steps_8_{form...} {}

  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map, void* /*workspace*/,
               uint32_t* /*n_iterations*/, cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? steps_8_.run(frame, root_map, stream)
                                            : steps_4_.run(frame, root_map, stream);
  }

 private:
  Steps<Connectivity::k4> steps_4_;
  Steps<Connectivity::k8> steps_8_;
};

/// The same for an iterating labeler. Its steps have member functions workspace_bytes(width, height), whose
/// result does not depend on the connectivity, and run(frame, root_map, workspace, n_iterations, stream).
template <template <Connectivity> typename Steps, typename... Form>
class IteratingLabelerOf final : public Labeler {
 public:
  explicit IteratingLabelerOf(const Form&... form) : steps_4_{form...}, steps_8_{form...} {}

  size_t workspace_bytes(uint32_t width, uint32_t height) const override {
    return steps_8_.workspace_bytes(width, height);
  }

  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map, void* workspace,
               uint32_t* n_iterations, cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? steps_8_.run(frame, root_map, workspace, n_iterations, stream)
                                            : steps_4_.run(frame, root_map, workspace, n_iterations, stream);
  }

 private:
  Steps<Connectivity::k4> steps_4_;
  Steps<Connectivity::k8> steps_8_;
};

}  // namespace ccl::device
