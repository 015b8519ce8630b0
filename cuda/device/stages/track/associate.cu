// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernel starts while the overlaps are counted, and prepares what does not depend on them: nothing of it
/// is written by the kernel that counts, or read by it. Then one block decides in its shared memory. What the
/// threads of a cluster exchange in device memory takes them ten times as long, so the cluster decides only
/// about tables that do not fit.
#include "device/stages/track/associate.h"

#include <algorithm>

#include "device/launch.cuh"
#include "device/stages/track/shared_tables.cuh"
#include "device/stages/track/team.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

constexpr uint32_t kClearThreads = 256;

/// Makes the list of overlaps, and frees the cells. Their order differs from run to run, the rules' results
/// do not.
template <typename Team>
__device__ void take_overlaps(const Team& team, const AssociateJob& job, uint32_t n_pairs,
                              track::Overlap* overlaps) {
  constexpr PairCell kFree{};
  const PairTable& table = job.pairs;
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

/// Without overlaps.
__device__ track::TrackFrame frame_of(const AssociateJob& job) {
  const uint32_t max_components = job.tables.sizes.max_components;
  const uint32_t n_components = job.counts->n_components;
  return {.width = job.width,
          .height = job.height,
          .n_components = min(n_components, max_components),
          .is_matched = n_components <= max_components ? 1u : 0u,
          .n_overlaps = 0,
          .overlaps = nullptr,
          .records = job.records,
          .tracks = job.tracks};
}

/// Memory for a list of overlaps.
struct OverlapRoom {
  track::Overlap* overlaps = nullptr;
  uint32_t size = 0;
};

/// Makes the list of overlaps, in `fast` if it fits, and decides.
template <typename Team>
__device__ void decide(const Team& team, const AssociateJob& job, const track::TrackStep& step,
                       const track::TrackTables& tables, const OverlapRoom& fast, track::TrackFrame frame) {
  const uint32_t n_pairs = *job.pairs.n_pairs;
  track::Overlap* overlaps = n_pairs <= fast.size ? fast.overlaps : job.overlaps;
  take_overlaps(team, job, n_pairs, overlaps);
  const uint32_t n_overlaps = step.resets == 0 ? n_pairs : 0;
  const bool is_matched = frame.is_matched != 0 && n_overlaps <= job.pairs.max_pairs;
  frame.is_matched = is_matched ? 1 : 0;
  frame.n_overlaps = is_matched ? n_overlaps : 0;
  frame.overlaps = overlaps;
  team.sync();
  track::decide(team, track::next_matching(step, frame, tables));
  if (team.rank() == 0) {
    *job.step = step;
    *job.pairs.n_pairs = 0;
    *job.newest ^= 1;
  }
}

/// Decides in shared memory. The pointers lie there, too: as local variables of 512 threads they would not
/// fit in the first-level cache, of which shared memory leaves little.
__device__ void decide_in_block(const BlockTeam& team, const AssociateJob& job, const track::TrackStep& step,
                                const SharedTables& shared, const track::TrackFrame& frame) {
  shared.load(job.tables);
  wait_for_previous_kernel();
  const OverlapRoom rest{reinterpret_cast<track::Overlap*>(shared.end()),
                         static_cast<uint32_t>((job.shared_bytes - shared.used) / sizeof(track::Overlap))};
  decide(team, job, step, shared.tables, rest, frame);
  __syncthreads();
  shared.store(job.tables);
}

__global__ void __launch_bounds__(kTeamThreads) associate(AssociateJob job, track::TrackStep step) {
  extern __shared__ uint4 memory[];
  __shared__ TeamMemory team_memory;
  __shared__ SharedTables shared;
  const track::TrackFrame frame = frame_of(job);
  const track::Matching m = track::next_matching(step, frame, job.tables);
  if (threadIdx.x == 0) {
    shared.place(m, reinterpret_cast<std::byte*>(memory));
  }
  track::prepare(WarpTeam(), m);
  sync_cluster();
  if (shared.used > job.shared_bytes) {
    wait_for_previous_kernel();
    decide(ClusterTeam(&team_memory), job, step, job.tables, {}, frame);
  } else if (blockIdx.x == 0) {
    decide_in_block(BlockTeam(&team_memory), job, step, shared, frame);
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

Status associate_frame(const AssociateJob& job, const track::TrackStep& step, cudaStream_t stream) {
  bool is_overlapped = false;
  uint32_t n_blocks = 0;
  CCL_RETURN_IF_ERROR(can_overlap(associate_kernel(), &is_overlapped));
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
