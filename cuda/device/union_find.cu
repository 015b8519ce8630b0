// SPDX-License-Identifier: LGPL-2.1-or-later
/// Union-find: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms using
/// GPUs", SIBGRAPI 2010, section IV.
///
/// A block merges the pixels of its piece of the image in shared memory (phase 1), the pieces are merged
/// along their borders in global memory (phase 2), and path compression makes every pixel point to its root,
/// the pixel of its component with the smallest raster index (phase 3).
///
/// Where we differ:
/// - Labels are 1 + the raster index, so that 0 can be background, which the paper labels too.
/// - A piece is as wide as a warp, so that a ballot finds the runs of equal segments in its rows. Their
///   pixels start with the label of their run's first pixel, and merging is left to links between rows, one
///   for each pair of runs that touch.
/// - In the merge procedure (algorithm 2), atomicMin's result replaces the next turn's find: it says at once
///   whether the label was a root, and where to go on if not.
/// - 8-connectivity and any number of segments, besides the paper's 4-connected binary images.
#include "device/check.h"
#include "device/equivalence.cuh"
#include "device/labeler.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// One warp to a row, one thread to a pixel; four blocks fill a multiprocessor, so that some work while others
// wait at a barrier.
constexpr uint32_t kTileWidth = kWarpSize;
constexpr uint32_t kTileHeight = 16;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;

constexpr uint32_t kBorderThreads = 128;
constexpr uint32_t kCompressThreads = 256;

/// Labels of the runs in the row above that touch this thread's run and are linked by this thread; 0: none.
struct RowLinks {
  uint32_t first = 0;
  uint32_t second = 0;
};

/// The links of pixel i with the row above it. Where the pixels before both have their segments too, the link
/// is that of the pixel before; a diagonal is left to the straight neighbour it could go through.
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

/// Phase 1, algorithm 1. Between reading labels and lowering them there is always a barrier.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTilePixels) merge_locally(SegmentSource frame, uint32_t* root_map) {
  __shared__ uint8_t segments[kTilePixels];
  __shared__ uint32_t labels[kTilePixels];
  const uint32_t i = threadIdx.x;
  const uint32_t lane = i % kWarpSize;
  const uint32_t x0 = blockIdx.x * kTileWidth;
  const uint32_t y0 = blockIdx.y * kTileHeight;
  const uint32_t x = x0 + lane;
  const uint32_t y = y0 + i / kTileWidth;

  const uint32_t segment = frame.segment_or_background(x, y);
  const uint32_t before = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != segment);
  const uint32_t first_lane = kWarpSize - 1 - __clz(starts & (kAllLanes >> (kWarpSize - 1 - lane)));
  const uint32_t run = segment != 0 ? i - lane + first_lane + 1 : 0;
  segments[i] = static_cast<uint8_t>(segment);
  labels[i] = run;
  __syncthreads();

  const RowLinks links = links_with_row_above<kConnectivity>(segments, labels, i);
  __syncthreads();

  if (links.first != 0) {
    unite(labels, run, links.first);
  }
  if (links.second != 0) {
    unite(labels, run, links.second);
  }
  __syncthreads();

  if (x < frame.width && y < frame.height) {
    const uint32_t root = segment != 0 ? find(labels, run) - 1 : 0;
    const uint32_t global = (y0 + root / kTileWidth) * frame.width + x0 + root % kTileWidth + 1;
    root_map[y * frame.width + x] = segment != 0 ? global : 0;
  }
}

/// Phase 2 on the south borders, which blockIdx.y counts first, and the east borders.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads)
    merge_globally(SegmentSource frame, uint32_t n_south_borders, uint32_t* labels) {
  const auto merge = [labels](uint32_t p, uint32_t q) {
    unite(labels, find(labels, p + 1), find(labels, q + 1));
  };
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  if (blockIdx.y < n_south_borders) {
    if (along < frame.width) {
      merge_south<kConnectivity>(frame, kTileWidth, along, (blockIdx.y + 1) * kTileHeight - 1, merge);
    }
  } else if (along < frame.height) {
    const uint32_t border = blockIdx.y - n_south_borders;
    merge_east<kConnectivity>(frame, kTileHeight, (border + 1) * kTileWidth - 1, along, merge);
  }
}

/// Phase 3.
__global__ void __launch_bounds__(kCompressThreads) compress_paths(uint32_t n_pixels, uint32_t* labels) {
  const uint32_t pixel = blockIdx.x * kCompressThreads + threadIdx.x;
  if (pixel < n_pixels) {
    compress(labels, pixel);
  }
}

template <Connectivity kConnectivity>
Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
  const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
  merge_locally<kConnectivity><<<tiles, kTilePixels, 0, stream>>>(frame, root_map);
  CCL_RETURN_IF_ERROR(check_launch("union-find merge_locally"));
  const uint32_t n_south_borders = tiles.y - 1;
  const uint32_t n_borders = n_south_borders + tiles.x - 1;
  if (n_borders > 0) {
    const dim3 blocks(blocks_for(max(frame.width, frame.height), kBorderThreads), n_borders);
    merge_globally<kConnectivity><<<blocks, kBorderThreads, 0, stream>>>(frame, n_south_borders, root_map);
    CCL_RETURN_IF_ERROR(check_launch("union-find merge_globally"));
  }
  const uint32_t n_pixels = frame.width * frame.height;
  compress_paths<<<blocks_for(n_pixels, kCompressThreads), kCompressThreads, 0, stream>>>(n_pixels, root_map);
  return check_launch("union-find compress_paths");
}

class UnionFind final : public Labeler {
 public:
  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
               cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? run<Connectivity::k8>(frame, root_map, stream)
                                            : run<Connectivity::k4>(frame, root_map, stream);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_union_find() {
  return std::make_unique<UnionFind>();
}

}  // namespace ccl::device
