// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/track/associate.h"

#include "ccl/colors.h"
#include "device/launch.cuh"
#include "device/stages/track/block_team.cuh"
#include "device/warp.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

constexpr uint32_t kClearThreads = 256;

/// Makes the list of overlaps, and frees the cells. Their order differs from run to run, the rules' results
/// do not.
__device__ void take_overlaps(const PairTable& table, uint32_t n_pairs, track::Overlap* overlaps) {
  constexpr PairCell kFree{};
  if (n_pairs > table.max_pairs) {
    for (uint32_t cell = threadIdx.x; cell < 1u << table.log2_capacity; cell += blockDim.x) {
      table.cells[cell] = kFree;
    }
    return;
  }
  for (uint32_t i = threadIdx.x; i < n_pairs; i += blockDim.x) {
    PairCell& cell = table.cells[table.used[i]];
    overlaps[i] = {.previous = static_cast<uint32_t>(cell.pair >> 32) - 1,
                   .current = static_cast<uint32_t>(cell.pair) - 1,
                   .pixels = cell.pixels};
    cell = kFree;
  }
}

__device__ void write_colors(const ColorTable& table, uint32_t n_pixels, uint32_t n_records,
                             uint32_t max_components, const CclComponent* records) {
  const uint32_t no_id = pack(kNoIdColor, table.layout);
  for (uint32_t i = threadIdx.x; i < n_records; i += blockDim.x) {
    const uint32_t id = records[i].id;
    table.colors[i + 1] =
        id != 0
            ? pack(table.palettes[color_index(table.settings, id, records[i].area, n_pixels)], table.layout)
            : no_id;
  }
  if (threadIdx.x == 0) {
    table.colors[0] = pack(table.settings.background_color, table.layout);
    table.colors[max_components + 1] = no_id;
  }
}

__global__ void __launch_bounds__(kTeamThreads) associate(AssociateJob job, track::TrackStep step) {
  __shared__ uint32_t warp_sums[kWarpSize];
  wait_for_previous_kernel();
  const uint32_t max_components = job.tables.sizes.max_components;
  const uint32_t n_components = job.counts->n_components;
  const uint32_t n_pairs = *job.pairs.n_pairs;
  const bool has_records = n_components <= max_components;
  const uint32_t n_overlaps = step.resets == 0 ? n_pairs : 0;
  const bool is_matched = has_records && n_overlaps <= job.pairs.max_pairs;
  const uint32_t n_records = min(n_components, max_components);
  take_overlaps(job.pairs, n_pairs, job.overlaps);
  for (uint32_t i = threadIdx.x; !is_matched && i < n_records; i += blockDim.x) {
    job.records[i].id = 0;
  }
  __syncthreads();
  const track::TrackFrame frame{.width = job.width,
                                .height = job.height,
                                .n_components = n_records,
                                .is_matched = is_matched ? 1u : 0u,
                                .n_overlaps = is_matched ? n_overlaps : 0,
                                .overlaps = job.overlaps,
                                .records = job.records,
                                .tracks = job.tracks};
  track::associate(kernel_team(warp_sums), step, frame, job.tables);
  if (job.colors.colors != nullptr) {
    write_colors(job.colors, job.width * job.height, has_records ? n_records : 0, max_components,
                 job.records);
  }
  if (threadIdx.x == 0) {
    *job.pairs.n_pairs = 0;
    *job.newest ^= 1;
  }
}

__global__ void __launch_bounds__(kClearThreads) clear(CclComponent* records, uint32_t n_records) {
  const uint32_t i = blockIdx.x * kClearThreads + threadIdx.x;
  if (i < n_records) {
    records[i].id = 0;
  }
}

}  // namespace

Status associate_frame(const AssociateJob& job, const track::TrackStep& step, cudaStream_t stream) {
  return launch_overlapped("associate", associate, 1, kTeamThreads, stream, job, step);
}

const void* associate_kernel() {
  return reinterpret_cast<const void*>(associate);
}

Status clear_ids(CclComponent* records, uint32_t n_records, cudaStream_t stream) {
  return launch("clear_ids", clear, blocks_for(n_records, kClearThreads), kClearThreads, stream, records,
                n_records);
}

}  // namespace ccl::device
