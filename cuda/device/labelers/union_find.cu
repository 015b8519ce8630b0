// SPDX-License-Identifier: LGPL-2.1-or-later
/// Union-find: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms
/// using GPUs", SIBGRAPI 2010, section IV.
///
/// A block merges the pixels of its piece of the image in shared memory (phase 1), the pieces are
/// merged along their borders in global memory (phase 2), and path compression makes every pixel point
/// to its root, the pixel of its component with the smallest raster index (phase 3).
///
/// Where we differ:
/// - Labels are 1 + the raster index, so that 0 can be background, which the paper labels too.
/// - A piece is as wide as a warp, so that a ballot finds the runs of equal segments in its rows. Their
///   pixels start with the label of their run's first pixel, and merging is left to links between rows,
///   one for each pair of runs that touch. A run's first link needs no union: it is where the run
///   points from the start.
/// - In a piece, the merge procedure (algorithm 2) is repeated by all threads together: find is a
///   flattening of all trees, which takes as many rounds as the digits of the longest path, and nobody
///   walks the history of a root that many lower. In the whole image, atomicMin's result says at once
///   whether the label was a root, and where to go on if not, and find shortens the paths it walks
///   (path splitting). Of a warp's links across borders that join the same two trees one is merged.
/// - 8-connectivity and any number of segments, besides the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of 32 pixels, a thread four pixels one below the other. As many blocks as fill a
// multiprocessor are resident, so that some work while others wait at a barrier.
constexpr uint32_t kTileWidth = kWarpSize;
constexpr uint32_t kTileHeight = 32;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kTileThreads = kTilePixels / kRowsPerThread;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kTileThreads;

/// Labels of the runs in the row above that touch this thread's run and are linked by this thread; 0:
/// none.
struct RowLinks {
  uint32_t first = 0;
  uint32_t second = 0;
};

/// The links of pixel i with the row above it. Where the pixels before both have their segments too,
/// the link is that of the pixel before; a diagonal is left to the straight neighbour it could go
/// through.
template <Connectivity kConnectivity>
__device__ RowLinks links_with_row_above(const uint8_t* segments, const uint32_t* labels, uint32_t i) {
  RowLinks links;
  const uint8_t segment = segments[i];
  if (segment == 0 || i < kTileWidth) {
    return links;
  }
  const uint32_t x = i % kTileWidth;
  const uint32_t up = i - kTileWidth;
  const bool left = x > 0 && segments[i - 1] == segment;
  const bool up_left = x > 0 && segments[up - 1] == segment;
  if (segments[up] == segment) {
    links.first = left && up_left ? 0 : labels[up];
  } else if constexpr (kConnectivity == Connectivity::k8) {
    const bool right = x + 1 < kTileWidth && segments[i + 1] == segment;
    const bool up_right = x + 1 < kTileWidth && segments[up + 1] == segment;
    links.first = up_left && !left ? labels[up - 1] : 0;
    links.second = up_right && !right ? labels[up + 1] : 0;
  }
  return links;
}

/// The label of the run that pixel i is in. All lanes, which have a row of the tile, must call it.
__device__ inline uint32_t run_of(uint32_t segment, uint32_t i) {
  const uint32_t lane = i % kWarpSize;
  const uint32_t before = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != segment);
  const uint32_t first_lane = kWarpSize - 1 - __clz(starts & (kAllLanes >> (kWarpSize - 1 - lane)));
  return segment != 0 ? i - lane + first_lane + 1 : 0;
}

/// Takes a run's first link off its pixel's links and makes it the run's entry, which the run's pixels
/// do not share with others. All lanes, which have a row of the tile, must call it.
__device__ inline void point_run_at_first_link(uint32_t run, RowLinks* links, uint32_t* labels) {
  if (links->first == 0) {
    links->first = links->second;
    links->second = 0;
  }
  const uint32_t linked = __ballot_sync(kAllLanes, links->first != 0);
  const uint32_t before = linked & ~(kAllLanes << threadIdx.x % kWarpSize);
  if (links->first != 0 && before >> (run - 1) % kWarpSize == 0) {
    labels[run - 1] = links->first;
    links->first = 0;
  }
}

/// What a thread knows of its pixels.
struct Pixels {
  uint32_t first;                  ///< index in the tile; the others lie below it
  uint32_t runs[kRowsPerThread];   ///< labels of their runs; 0: background
  uint32_t roots[kRowsPerThread];  ///< those that find_roots() found last
  RowLinks links[kRowsPerThread];  ///< those still to be merged
};

/// Finds the roots of the pixels, and of what they are still to be merged with; whether anything is.
/// The whole block calls it, after a barrier; it ends with one.
__device__ inline bool find_roots(uint32_t* labels, Pixels* pixels) {
  flatten(labels, pixels->first, kTileWidth, pixels->roots);
  bool remains = false;
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    RowLinks& links = pixels->links[k];
    for (uint32_t* link : {&links.first, &links.second}) {
      *link = *link != 0 ? labels[*link - 1] : 0;
      *link = *link != pixels->roots[k] ? *link : 0;
      remains = remains || *link != 0;
    }
  }
  return __syncthreads_or(remains) != 0;
}

/// Points the larger of two roots at the smaller, unless another thread has a smaller one still.
__device__ inline void merge(uint32_t root, uint32_t other, uint32_t* labels) {
  if (other != 0) {
    atomicMin(labels + max(root, other) - 1, min(root, other));
  }
}

/// Writes the pixels' labels, which are their roots, as those of the frame.
__device__ inline void write_roots(const Pixels& pixels, uint32_t x, uint32_t y, const SegmentSource& frame,
                                   uint32_t* root_map) {
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    if (x < frame.width && y + k < frame.height) {
      const uint32_t root = pixels.roots[k] - 1;
      const uint32_t root_x = blockIdx.x * kTileWidth + root % kTileWidth;
      const uint32_t root_y = blockIdx.y * kTileHeight + root / kTileWidth;
      const uint32_t label = root_y * frame.width + root_x + 1;
      root_map[(y + k) * frame.width + x] = pixels.roots[k] != 0 ? label : 0;
    }
  }
}

/// Phase 1, algorithm 1. Between writing labels and reading them there is always a barrier.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTileThreads, kResidentBlocks)
    merge_locally(SegmentSource frame, uint32_t* root_map) {
  __shared__ uint8_t segments[kTilePixels];
  __shared__ uint32_t labels[kTilePixels];
  const uint32_t first = threadIdx.x / kWarpSize * kRowsPerThread * kTileWidth + threadIdx.x % kWarpSize;
  const uint32_t x = blockIdx.x * kTileWidth + first % kTileWidth;
  const uint32_t y = blockIdx.y * kTileHeight + first / kTileWidth;
  Pixels pixels;
  pixels.first = first;
  let_next_come();

#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    const uint32_t i = first + k * kTileWidth;
    const uint32_t segment = frame.segment_or_background(x, y + k);
    pixels.runs[k] = run_of(segment, i);
    segments[i] = static_cast<uint8_t>(segment);
    labels[i] = pixels.runs[k];
  }
  __syncthreads();

#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    pixels.links[k] = links_with_row_above<kConnectivity>(segments, labels, first + k * kTileWidth);
  }
  __syncthreads();

#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    point_run_at_first_link(pixels.runs[k], &pixels.links[k], labels);
  }
  __syncthreads();

  while (find_roots(labels, &pixels)) {
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      merge(pixels.roots[k], pixels.links[k].first, labels);
      merge(pixels.roots[k], pixels.links[k].second, labels);
    }
    __syncthreads();
  }
  write_roots(pixels, x, y, frame, root_map);
}

/// Phase 2.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_globally(SegmentSource frame, uint32_t* labels) {
  unite_borders<kConnectivity>(frame, kTileWidth, kTileHeight, labels);
}

/// The three phases.
template <Connectivity kConnectivity>
struct UnionFind {
  static Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
    const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
    const dim3 borders = border_blocks(frame, kTileWidth, kTileHeight);
    CCL_RETURN_IF_ERROR(launch("union-find merge_locally", merge_locally<kConnectivity>, tiles, kTileThreads,
                               stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_early("union-find merge_globally", merge_globally<kConnectivity>, borders,
                                     kBorderThreads, stream, frame, root_map));
    return launch_compress_all("union-find compress_all", frame, root_map, stream);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_union_find() {
  return std::make_unique<LabelerOf<UnionFind>>();
}

}  // namespace ccl::device
