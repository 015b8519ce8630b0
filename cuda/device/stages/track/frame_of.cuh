// SPDX-License-Identifier: LGPL-2.1-or-later
/// The frame that the kernels of the track stage work on, as the rules see it.
#pragma once

#include <cstdint>

#include "ccl/counts.h"
#include "track/tables.h"

namespace ccl::device {

/// A frame to be matched, without overlaps. `Job` is OverlapJob or AssociateJob.
template <typename Job>
__device__ track::TrackFrame frame_of(const Job& job) {
  const uint32_t max_components = job.tables.sizes.max_components;
  const uint32_t n_components = job.counts->n_components;
  return {.width = job.width,
          .height = job.height,
          .n_components = min(n_components, max_components),
          .is_matched = n_components <= max_components ? 1u : 0u,
          .n_overlaps = 0,
          .overlaps = nullptr,
          .origins = job.origins,
          .records = job.records,
          .tracks = nullptr};
}

}  // namespace ccl::device
