// SPDX-License-Identifier: LGPL-2.1-or-later
/// Union-find: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms
/// using GPUs", SIBGRAPI 2010, section IV.
///
/// Every pixel starts with its raster index as label, and a block merges the pixels of its tile in shared
/// memory (phase 1, local merge). The tiles are merged along their borders in global memory (phase 2, global
/// merge). Path compression then changes every label to its root, the pixel of the component with the
/// smallest raster index (phase 3).
///
/// Where we differ:
/// - Labels are 1 + the raster index, so that 0 is background; the paper also labels the background.
/// - A tile is as wide as a warp, so that a ballot finds the runs of equal segments in its rows. A pixel
///   starts with the label of its run's first pixel, and only links between rows are merged, one for each
///   pair of runs that touch. The first link of a run needs no merging: it is the run's first entry.
/// - In a tile, all threads repeat the merge procedure (algorithm 2) together. Its find is flatten(), which
///   takes as many rounds as the longest path has binary digits, and no thread has to follow a root that many
///   threads lower one after the other.
/// - In the frame, the merge procedure is unite(): the result of atomicMin() shows at once whether the label
///   was a root, and where to continue if not, and find shortens the paths that it walks. If several links
///   of a warp join the same two trees, one of them is merged.
/// - 8-connectivity and any number of segments, in addition to the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler_of.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of 32 pixels; a thread has four pixels, one below the other. The resident blocks fill
// a multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileWidth = kWarpSize;
constexpr uint32_t kTileHeight = 32;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kTileThreads = kTilePixels / kRowsPerThread;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kTileThreads;

/// The labels of the runs in the row above that a pixel links its own run to; 0: none.
struct RowLinks {
  uint32_t first = 0;
  uint32_t second = 0;
};

/// A thread's pixels.
struct Pixels {
  uint32_t first;                  ///< index in the tile; the others are below it
  uint32_t runs[kRowsPerThread];   ///< labels of their runs; 0: background
  uint32_t roots[kRowsPerThread];  ///< the roots that find_roots() found last
  RowLinks links[kRowsPerThread];  ///< the links that are not merged yet
};

/// The links of pixel i with the row above it. A straight link is left out if the pixels to the left have the
/// same link. A diagonal is left out if straight links join its ends.
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

/// If a pixel has the first link of its run, removes the link from the pixel and makes it the run's entry.
/// All lanes must call this function for the pixels of one row.
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

/// The find of the merge procedure: finds the roots of the pixels and of their links, and removes the links
/// that are merged already. Returns whether any link of the tile is left. The whole block calls this
/// function, after a barrier; it ends with a barrier.
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

/// The atomicMin of the merge procedure: lowers the entry of the larger of two roots to the smaller one. If
/// another thread lowers it further, find_roots() finds the link again.
__device__ inline void merge(uint32_t root, uint32_t other, uint32_t* labels) {
  if (other != 0) {
    atomicMin(labels + max(root, other) - 1, min(root, other));
  }
}

/// Writes the roots of the pixels as labels of the frame. The first pixel is at (x, y).
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

/// Phase 1, local merge (algorithm 1). There is a barrier between all writes and reads of labels.
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
  allow_next_kernel();

#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    const uint32_t i = first + k * kTileWidth;
    const uint32_t segment = frame.segment_or_background(x, y + k);
    pixels.runs[k] = run_label(segment, i);
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

/// Phase 2, global merge: a thread merges the two pixels on either side of a border, with their diagonals.
/// blockIdx.y counts the south borders of tiles, then the east borders. The links follow from the frame
/// alone, so they are found before phase 1 has ended.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_globally(SegmentSource frame, uint32_t* labels) {
  const uint32_t n_south = (frame.height - 1) / kTileHeight;
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  BorderLinks links{};
  if (blockIdx.y < n_south) {
    if (along < frame.width) {
      links = links_south<kConnectivity>(frame, kTileWidth, along, (blockIdx.y + 1) * kTileHeight - 1);
    }
  } else if (along < frame.height) {
    const uint32_t border = blockIdx.y - n_south;
    links = links_east<kConnectivity>(frame, kTileHeight, (border + 1) * kTileWidth - 1, along);
  }
  wait_for_previous_kernel();
  unite_links(labels, links);
}

/// Launches the three phases.
template <Connectivity kConnectivity>
struct UnionFind {
  Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) const {
    const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
    const dim3 borders = border_blocks(frame, tiles.x - 1 + tiles.y - 1);
    CCL_RETURN_IF_ERROR(launch("union-find merge_locally", merge_locally<kConnectivity>, tiles, kTileThreads,
                               stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_overlapped("union-find merge_globally", merge_globally<kConnectivity>, borders,
                                          kBorderThreads, stream, frame, root_map));
    return launch_compress_all("union-find compress_all", frame, root_map, stream);  // phase 3
  }
};

}  // namespace

std::unique_ptr<Labeler> make_union_find() {
  return std::make_unique<LabelerOf<UnionFind>>();
}

}  // namespace ccl::device
