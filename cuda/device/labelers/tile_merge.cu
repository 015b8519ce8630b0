// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tile merging: O. Šťava, B. Beneš, "Connected Component Labeling in CUDA", GPU Computing Gems Emerald
/// Edition, 2011, chapter 35.
///
/// Small tiles are labelled in shared memory, in turns of taking the least label around and flattening
/// the equivalence trees. Then 4×4 tiles at a time are merged to larger ones along their common
/// borders, level by level, until one tile is the whole frame. Between two levels the trees are
/// flattened on the borders that are left, so that unions there find their roots near, and in the end
/// everywhere.
///
/// Where we differ:
/// - A pixel begins with the label of its run in its row of the tile, which a ballot finds, instead of
///   its own, and a thread has four pixels, as the authors propose (section 35.4.3). It looks at
///   neighbours in other rows only, and at one for each pair of runs.
/// - Their Union may lose a race, so that one block must merge all borders of 4×4 tiles and repeat that
///   until nothing changes. Ours repeats itself until both pixels are in one tree. Borders need no
///   common block then, and all of a level are merged at once by as many blocks as they fill. Of a warp's
///   links that join the same two trees one is united.
/// - Borders are not flattened before the last merging: what unites them shortens the paths it walks, and
///   nobody comes along them again.
/// - Any size of frame, not only powers of two; 4-connectivity besides 8; binary frames, too, besides
///   segments of 8-bit values.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of a tile, a thread four pixels one below the other. As many blocks as fill a
// multiprocessor are resident, so that some work while others wait at a barrier.
constexpr uint32_t kTileSize = kWarpSize;
constexpr uint32_t kTilePixels = kTileSize * kTileSize;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kTileThreads = kTilePixels / kRowsPerThread;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kTileThreads;

constexpr uint32_t kMergedTiles = 4;  ///< in either direction
constexpr uint32_t kBorderRows = 2;   ///< of pixels, or columns, on either side of a border

/// A tile's segments with a row of background above and one below.
using TileSegments = uint8_t[kTileSize + 2][kTileSize];

// Bits of the neighbours in the row above or below.
constexpr uint32_t kNeighboursInRow = 3;
constexpr uint32_t kFirst = 1, kStraight = 2, kLast = 4;

/// The label of the run that the pixel with index i in the tile is in. All lanes must call it.
__device__ inline uint32_t run_of(uint32_t segment, uint32_t i) {
  const uint32_t lane = i % kWarpSize;
  const uint32_t before = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != segment);
  const uint32_t first_lane = kWarpSize - 1 - __clz(static_cast<int>(starts & bits_up_to(lane)));
  return segment != 0 ? i - lane + first_lane + 1 : 0;
}

/// Three pixels of a row; background outside the tile.
struct Three {
  uint32_t left, middle, right;
};

/// The segments around this thread's column. All lanes, which have a row of the tile, must call it.
__device__ inline Three three_of(uint32_t segment) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t left = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t right = __shfl_down_sync(kAllLanes, segment, 1);
  return {lane > 0 ? left : 0, segment, lane < kWarpSize - 1 ? right : 0};
}

/// Of the neighbours in the row above or below, those that the middle pixel of `own` looks at, as bits.
/// Those in its own row have its label from the start. Of the links between two runs only the first is
/// kept, and a diagonal is left to the straight neighbour it could go through. What one pixel looks at
/// looks back.
template <Connectivity kConnectivity>
__device__ inline uint32_t linked_neighbours(const Three& own, const Three& row) {
  constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
  const uint32_t segment = own.middle;
  const bool has_left = own.left == segment;
  const bool has_right = own.right == segment;
  const bool is_straight = row.middle == segment;
  const bool is_first = row.left == segment;
  const bool is_last = row.right == segment;
  const uint32_t linked = (is_straight & !(has_left & is_first) ? kStraight : 0) |
                          (kDiagonals & is_first & !is_straight & !has_left ? kFirst : 0) |
                          (kDiagonals & is_last & !is_straight & !has_right ? kLast : 0);
  return segment != 0 ? linked : 0;
}

/// The least label among a pixel's linked neighbours and its own.
__device__ inline uint32_t least_around(const uint32_t* labels, uint32_t i, uint32_t linked, uint32_t own) {
#pragma unroll
  for (uint32_t column = 0; column < kNeighboursInRow; ++column) {
    if ((linked >> column & 1) != 0) {
      own = min(own, labels[i - kTileSize + column - 1]);
    }
    if ((linked >> (kNeighboursInRow + column) & 1) != 0) {
      own = min(own, labels[i + kTileSize + column - 1]);
    }
  }
  return own;
}

/// What a thread knows of its pixels.
struct Pixels {
  uint32_t first;                   ///< index in the tile; the others lie below it
  uint32_t labels[kRowsPerThread];  ///< 0: background
  uint32_t linked[kRowsPerThread];  ///< see linked_neighbours()
};

/// The loop of kernel 1. Between reading labels and writing them there is always a barrier.
__device__ inline void solve_tile(uint32_t* labels, Pixels* pixels) {
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    labels[pixels->first + k * kTileSize] = pixels->labels[k];
  }
  __syncthreads();
  while (true) {
    uint32_t least[kRowsPerThread];
    bool changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      least[k] = least_around(labels, pixels->first + k * kTileSize, pixels->linked[k], pixels->labels[k]);
      changed = changed || least[k] != pixels->labels[k];
    }
    if (!__syncthreads_or(changed)) {
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      if (least[k] != pixels->labels[k]) {
        atomicMin(labels + pixels->labels[k] - 1, least[k]);
      }
    }
    __syncthreads();
    flatten(labels, pixels->first, kTileSize, pixels->labels);
  }
}

/// Reads this thread's pixels and finds out whom they look at.
template <Connectivity kConnectivity>
__device__ inline void read_pixels(const SegmentSource& frame, TileSegments& segments, Pixels* pixels) {
  const uint32_t x = threadIdx.x % kWarpSize;
  const uint32_t y = threadIdx.x / kWarpSize * kRowsPerThread;
  Three rows[kRowsPerThread + 2];
  pixels->first = y * kTileSize + x;
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    const uint32_t segment =
        frame.segment_or_background(blockIdx.x * kTileSize + x, blockIdx.y * kTileSize + y + k);
    pixels->labels[k] = run_of(segment, pixels->first + k * kTileSize);
    rows[k + 1] = three_of(segment);
    segments[y + k + 1][x] = static_cast<uint8_t>(segment);
  }
  if (y == 0) {
    segments[0][x] = segments[kTileSize + 1][x] = 0;
  }
  __syncthreads();
  rows[0] = three_of(segments[y][x]);
  rows[kRowsPerThread + 1] = three_of(segments[y + kRowsPerThread + 1][x]);
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    pixels->linked[k] = linked_neighbours<kConnectivity>(rows[k + 1], rows[k]) |
                        linked_neighbours<kConnectivity>(rows[k + 1], rows[k + 2]) << kNeighboursInRow;
  }
}

/// Kernel 1: labels the tiles, with labels of the frame.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTileThreads, kResidentBlocks)
    label_tiles(SegmentSource frame, uint32_t* root_map) {
  __shared__ TileSegments segments;
  __shared__ uint32_t labels[kTilePixels];
  Pixels pixels;
  let_next_come();
  read_pixels<kConnectivity>(frame, segments, &pixels);
  solve_tile(labels, &pixels);

  const uint32_t x0 = blockIdx.x * kTileSize;
  const uint32_t y0 = blockIdx.y * kTileSize;
  const uint32_t x = x0 + pixels.first % kTileSize;
  const uint32_t y = y0 + pixels.first / kTileSize;
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    if (x < frame.width && y + k < frame.height) {
      const uint32_t root = pixels.labels[k] - 1;
      const uint32_t label = (y0 + root / kTileSize) * frame.width + x0 + root % kTileSize + 1;
      root_map[(y + k) * frame.width + x] = pixels.labels[k] != 0 ? label : 0;
    }
  }
}

/// The number of borders between tiles of a size in a direction, those left out that larger tiles
/// share.
__host__ __device__ inline uint32_t merged_borders(uint32_t length, uint32_t tile_size) {
  const uint32_t n = (length - 1) / tile_size;
  return n - n / kMergedTiles;
}

/// The last row, or column, before the i-th of those borders.
__device__ inline uint32_t merged_border(uint32_t i, uint32_t tile_size) {
  return (i + i / (kMergedTiles - 1) + 1) * tile_size - 1;
}

/// Kernel 2: merges tiles of a size to larger ones. blockIdx.y counts the borders between tiles one
/// below the other, then the others, and a thread stands at a pixel along one.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads)
    merge_tiles(SegmentSource frame, uint32_t tile_size, uint32_t n_horizontal, uint32_t* labels) {
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  BorderLinks links{};
  if (blockIdx.y < n_horizontal) {
    if (along < frame.width) {
      links = links_south<kConnectivity>(frame, tile_size, along, merged_border(blockIdx.y, tile_size));
    }
  } else if (along < frame.height) {
    links = links_east<kConnectivity>(frame, tile_size, merged_border(blockIdx.y - n_horizontal, tile_size),
                                      along);
  }
  wait_for_previous();
  unite_links(labels, links);
}

/// Kernel 3: flattens the trees on the borders of tiles of a size, horizontal ones first.
static __global__ void __launch_bounds__(kBorderThreads)
    flatten_borders(uint32_t width, uint32_t height, uint32_t tile_size, uint32_t n_horizontal,
                    uint32_t* labels) {
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  const bool is_horizontal = blockIdx.y < n_horizontal;
  wait_for_previous();
  if (along >= (is_horizontal ? width : height)) {
    return;
  }
  const uint32_t border = blockIdx.y - (is_horizontal ? 0 : n_horizontal);
  const uint32_t last = (border + 1) * tile_size - 1;
#pragma unroll
  for (uint32_t k = 0; k < kBorderRows; ++k) {
    const uint32_t pixel = is_horizontal ? (last + k) * width + along : along * width + last + k;
    if (const uint32_t label = load(labels + pixel); label != 0) {
      compress(labels, pixel, label);
    }
  }
}

/// The blocks of kBorderThreads along so many borders.
dim3 blocks_along(const SegmentSource& frame, uint32_t n_borders) {
  return {blocks_for(frame.width > frame.height ? frame.width : frame.height, kBorderThreads), n_borders};
}

/// Figure 35.6.
template <Connectivity kConnectivity>
struct TileMerge {
  static Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
    const dim3 tiles(blocks_for(frame.width, kTileSize), blocks_for(frame.height, kTileSize));
    CCL_RETURN_IF_ERROR(launch("tile-merge label_tiles", label_tiles<kConnectivity>, tiles, kTileThreads,
                               stream, frame, root_map));
    const uint32_t longest = frame.width > frame.height ? frame.width : frame.height;
    for (uint32_t size = kTileSize; size < longest; size *= kMergedTiles) {
      CCL_RETURN_IF_ERROR(merge(frame, size, root_map, stream));
      const uint32_t next = size * kMergedTiles;
      if (next * kMergedTiles < longest) {
        CCL_RETURN_IF_ERROR(flatten(frame, next, root_map, stream));
      }
    }
    return launch_compress_all("tile-merge compress_all", frame, root_map, stream);  // kernel 4
  }

 private:
  static Status merge(const SegmentSource& frame, uint32_t tile_size, uint32_t* labels, cudaStream_t stream) {
    const uint32_t n_horizontal = merged_borders(frame.height, tile_size);
    const uint32_t n_vertical = merged_borders(frame.width, tile_size);
    return launch_early("tile-merge merge_tiles", merge_tiles<kConnectivity>,
                        blocks_along(frame, n_horizontal + n_vertical), kBorderThreads, stream, frame,
                        tile_size, n_horizontal, labels);
  }

  static Status flatten(const SegmentSource& frame, uint32_t tile_size, uint32_t* labels,
                        cudaStream_t stream) {
    const uint32_t n_horizontal = (frame.height - 1) / tile_size;
    const uint32_t n_vertical = (frame.width - 1) / tile_size;
    return launch_early("tile-merge flatten_borders", flatten_borders,
                        blocks_along(frame, n_horizontal + n_vertical), kBorderThreads, stream, frame.width,
                        frame.height, tile_size, n_horizontal, labels);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_tile_merge() {
  return std::make_unique<LabelerOf<TileMerge>>();
}

}  // namespace ccl::device
