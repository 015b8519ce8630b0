// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/track/associate.h"

#include "ccl/colors.h"
#include "device/launch.cuh"
#include "device/stages/track/cluster_team.cuh"
#include "device/warp.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

constexpr uint32_t kClearThreads = 256;

/// Makes the list of overlaps, and frees the cells. Their order differs from run to run, the rules' results
/// do not.
__device__ void take_overlaps(const KernelTeam& team, const PairTable& table, uint32_t n_pairs,
                              track::Overlap* overlaps) {
  constexpr PairCell kFree{};
  if (n_pairs > table.max_pairs) {
    for (uint32_t cell = team.rank(); cell < 1u << table.log2_capacity; cell += team.size()) {
      table.cells[cell] = kFree;
    }
    return;
  }
  for (uint32_t i = team.rank(); i < n_pairs; i += team.size()) {
    PairCell& cell = table.cells[table.used[i]];
    overlaps[i] = {.previous = static_cast<uint32_t>(cell.pair >> 32) - 1,
                   .current = static_cast<uint32_t>(cell.pair) - 1,
                   .pixels = cell.pixels};
    cell = kFree;
  }
}

__device__ void write_colors(const KernelTeam& team, const ColorTable& table, uint32_t n_pixels,
                             uint32_t n_records, uint32_t max_components, const CclComponent* records) {
  const uint32_t no_id = pack(kNoIdColor, table.layout);
  for (uint32_t i = team.rank(); i < n_records; i += team.size()) {
    const uint32_t id = records[i].id;
    table.colors[i + 1] =
        id != 0
            ? pack(table.palettes[color_index(table.settings, id, records[i].area, n_pixels)], table.layout)
            : no_id;
  }
  if (team.rank() == 0) {
    table.colors[0] = pack(table.settings.background_color, table.layout);
    table.colors[max_components + 1] = no_id;
  }
}

__global__ void __launch_bounds__(kTeamThreads) associate(AssociateJob job, track::TrackStep step) {
  __shared__ TeamMemory memory;
  const KernelTeam team = kernel_team(&memory);
  wait_for_previous_kernel();
  const uint32_t max_components = job.tables.sizes.max_components;
  const uint32_t n_components = job.counts->n_components;
  const uint32_t n_pairs = *job.pairs.n_pairs;
  const bool has_records = n_components <= max_components;
  const uint32_t n_overlaps = step.resets == 0 ? n_pairs : 0;
  const bool is_matched = has_records && n_overlaps <= job.pairs.max_pairs;
  const uint32_t n_records = min(n_components, max_components);
  take_overlaps(team, job.pairs, n_pairs, job.overlaps);
  for (uint32_t i = team.rank(); !is_matched && i < n_records; i += team.size()) {
    job.records[i].id = 0;
  }
  team.sync();
  const track::TrackFrame frame{.width = job.width,
                                .height = job.height,
                                .n_components = n_records,
                                .is_matched = is_matched ? 1u : 0u,
                                .n_overlaps = is_matched ? n_overlaps : 0,
                                .overlaps = job.overlaps,
                                .records = job.records,
                                .tracks = job.tracks};
  track::associate(team, step, frame, job.tables);
  if (job.colors.colors != nullptr) {
    write_colors(team, job.colors, job.width * job.height, has_records ? n_records : 0, max_components,
                 job.records);
  }
  if (team.rank() == 0) {
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

/// Writes how many blocks share the work: one where the GPU, or the code that it runs, has no clusters.
Status find_team_blocks(uint32_t* n_blocks) {
  cudaFuncAttributes compiled{};
  CCL_RETURN_IF_ERROR(check(cudaFuncGetAttributes(&compiled, associate), "cudaFuncGetAttributes"));
  *n_blocks = compiled.ptxVersion >= 90 ? kTeamBlocks : 1;
  return {};
}

}  // namespace

Status associate_frame(const AssociateJob& job, const track::TrackStep& step, cudaStream_t stream) {
  bool is_overlapped = false;
  uint32_t n_blocks = 0;
  CCL_RETURN_IF_ERROR(can_overlap(reinterpret_cast<const void*>(associate), &is_overlapped));
  CCL_RETURN_IF_ERROR(find_team_blocks(&n_blocks));
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {n_blocks, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(n_blocks);
  config.blockDim = dim3(kTeamThreads);
  config.stream = stream;
  config.attrs = n_blocks > 1 ? attributes : attributes + 1;
  config.numAttrs = (n_blocks > 1 ? 1 : 0) + (is_overlapped ? 1 : 0);
  return check(cudaLaunchKernelEx(&config, associate, job, step), "associate");
}

const void* associate_kernel() {
  return reinterpret_cast<const void*>(associate);
}

Status clear_ids(CclComponent* records, uint32_t n_records, cudaStream_t stream) {
  return launch("clear_ids", clear, blocks_for(n_records, kClearThreads), kClearThreads, stream, records,
                n_records);
}

}  // namespace ccl::device
