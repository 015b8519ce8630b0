// SPDX-License-Identifier: LGPL-2.1-or-later
/// One block decides in its shared memory. What the threads of a cluster exchange in device memory takes them
/// ten times as long, so the cluster decides only about tables that do not fit: with 227 KB of shared memory,
/// more than about 2,200 tracks and as many components. Only the GPU knows the counts, so the kernel chooses.
#include "device/stages/track/associate.h"

#include <algorithm>

#include "device/launch.cuh"
#include "device/stages/track/frame_of.cuh"
#include "device/stages/track/shared_tables.cuh"
#include "device/stages/track/team.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

constexpr uint32_t kClearThreads = 256;

/// Makes the list of overlaps, and frees the cells. Their order differs from run to run, the rules' results
/// do not. `most`: how many overlaps there is room for; if there are more, they go to job.overlaps. Returns
/// where they are.
template <typename Team>
__device__ track::Overlap* take_overlaps(const Team& team, const AssociateJob& job, track::Overlap* fast,
                                         uint32_t most) {
  constexpr PairCell kFree{};
  const PairTable& table = job.pairs;
  const uint32_t n_pairs = *table.n_pairs;
  track::Overlap* overlaps = n_pairs <= most ? fast : job.overlaps;
  if (n_pairs > table.max_pairs) {
    for (uint32_t cell = team.rank(); cell < 1u << table.log2_capacity; cell += team.size()) {
      table.cells[cell] = kFree;
    }
    return overlaps;
  }
  for (uint32_t i = team.rank(); i < n_pairs; i += team.size()) {
    PairCell& cell = table.cells[table.used[i]];
    overlaps[i] = {.previous = static_cast<uint32_t>(cell.pair >> 32) - 1,
                   .current = static_cast<uint32_t>(cell.pair) - 1,
                   .pixels = cell.pixels};
    cell = kFree;
  }
  return overlaps;
}

/// Decides about a frame with its overlaps.
template <typename Team>
__device__ void decide(const Team& team, const AssociateJob& job, const track::TrackTables& tables,
                       const track::Overlap* overlaps, track::TrackFrame frame) {
  const track::TrackStep step = *job.step;
  const uint32_t n_pairs = *job.pairs.n_pairs;
  const uint32_t n_overlaps = step.resets == 0 ? n_pairs : 0;
  const bool is_matched = frame.is_matched != 0 && n_overlaps <= job.pairs.max_pairs;
  frame.is_matched = is_matched ? 1 : 0;
  frame.n_overlaps = is_matched ? n_overlaps : 0;
  frame.overlaps = overlaps;
  track::decide(team, track::next_matching(step, frame, tables));
  if (team.rank() == 0) {
    *job.pairs.n_pairs = 0;
    *job.newest ^= 1;
  }
}

/// Decides in shared memory. The pointers lie there, too: as local variables of 1,024 threads they would not
/// fit in the first-level cache, of which shared memory leaves little.
__device__ void decide_in_block(const BlockTeam& team, const AssociateJob& job, const SharedTables& shared,
                                const track::TrackFrame& frame) {
  auto* rest = reinterpret_cast<track::Overlap*>(shared.end());
  const auto most = static_cast<uint32_t>((job.shared_bytes - shared.used) / sizeof(track::Overlap));
  shared.begin_load(job.tables);
  const track::Overlap* overlaps = take_overlaps(team, job, rest, most);
  finish_copies();
  __syncthreads();
  decide(team, job, shared.tables, overlaps, frame);
  __syncthreads();
  shared.store(job.tables);
}

__global__ void __launch_bounds__(kTeamThreads) associate(AssociateJob job) {
  extern __shared__ uint4 memory[];
  __shared__ TeamMemory team_memory;
  __shared__ SharedTables shared;
  // Nothing that this reads is written by the kernel before. The step is not known yet: tables are placed as
  // if nothing were reset, and a reset only makes them shorter.
  const track::TrackFrame frame = frame_of(job);
  if (threadIdx.x == 0) {
    shared.place(track::next_matching({}, frame, job.tables), reinterpret_cast<std::byte*>(memory));
  }
  sync_cluster();  // before one block changes what all have read to choose a way
  wait_for_previous_kernel();
  if (shared.used > job.shared_bytes) {
    const ClusterTeam team(&team_memory);
    const track::Overlap* overlaps = take_overlaps(team, job, nullptr, 0);
    team.sync();
    decide(team, job, job.tables, overlaps, frame);
  } else if (blockIdx.x == 0) {
    decide_in_block(BlockTeam(&team_memory), job, shared, frame);
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

Status find_shared_bytes(const track::TrackSizes& sizes, uint32_t* bytes) {
  int device = 0;
  int most = 0;
  cudaFuncAttributes compiled{};
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                            "cudaDeviceGetAttribute"));
  CCL_RETURN_IF_ERROR(check(cudaFuncGetAttributes(&compiled, associate), "cudaFuncGetAttributes"));
  const size_t room = static_cast<size_t>(most) - compiled.sharedSizeBytes;
  const size_t needed = SharedTables::most_bytes(sizes) + sizeof(track::Overlap) * sizes.max_overlaps();
  *bytes = static_cast<uint32_t>(std::min(room, needed));
  return check(
      cudaFuncSetAttribute(associate, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room)),
      "cudaFuncSetAttribute");
}

Status associate_frame(const AssociateJob& job, cudaStream_t stream) {
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
  config.dynamicSmemBytes = job.shared_bytes;
  config.stream = stream;
  config.attrs = n_blocks > 1 ? attributes : attributes + 1;
  config.numAttrs = (n_blocks > 1 ? 1 : 0) + (is_overlapped ? 1 : 0);
  return check(cudaLaunchKernelEx(&config, associate, job), "associate");
}

Status clear_ids(CclComponent* records, uint32_t n_records, cudaStream_t stream) {
  return launch("clear_ids", clear, blocks_for(n_records, kClearThreads), kClearThreads, stream, records,
                n_records);
}

}  // namespace ccl::device
