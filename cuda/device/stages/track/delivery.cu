// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/launch.cuh"
#include "device/stages/track/tracker.h"

namespace ccl::device {

namespace {

constexpr uint32_t kBlocks = 32;

/// Copies as many tracks as there are to page-locked host memory.
__global__ void __launch_bounds__(kBlockThreads)
    deliver_tracks(const track::TrackHeader* header, const CclTrack* tracks, uint32_t* n_tracks,
                   CclTrack* host_tracks) {
  static_assert(sizeof(CclTrack) % sizeof(uint4) == 0);
  wait_for_previous_kernel();
  const uint32_t thread = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t n = header->n_tracks;
  if (thread == 0) {
    *n_tracks = n;
  }
  const auto* from = reinterpret_cast<const uint4*>(tracks);
  auto* to = reinterpret_cast<uint4*>(host_tracks);
  const size_t n_vectors = size_t{n} * (sizeof(CclTrack) / sizeof(uint4));
  for (size_t i = thread; i < n_vectors; i += kBlocks * kBlockThreads) {
    to[i] = from[i];
  }
}

}  // namespace

Status TrackDelivery::configure(uint32_t max_tracks) {
  CCL_RETURN_IF_ERROR(tracks_.allocate(max_tracks));
  CCL_RETURN_IF_ERROR(n_tracks_.allocate(1));
  return host_tracks_.allocate(max_tracks);
}

Status TrackDelivery::enqueue(const track::TrackHeader* header, cudaStream_t stream) const {
  return launch_overlapped("deliver_tracks", deliver_tracks, kBlocks, kBlockThreads, stream, header,
                           tracks_.data(), n_tracks_.data(), host_tracks_.data());
}

}  // namespace ccl::device
