// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tile merging: O. Šťava, B. Beneš, "Connected Component Labeling in CUDA", GPU Computing Gems Emerald
/// Edition, 2011, chapter 35.
///
/// Small tiles are labelled in shared memory, in turns of taking the least label around and flattening the
/// equivalence trees. Then 4×4 tiles at a time are merged to larger ones along their common borders, level
/// by level, until one tile is the whole frame. Between two levels the trees are flattened on the borders
/// that are left, so that unions there find their roots near, and in the end everywhere.
///
/// Where we differ:
/// - A pixel begins with the label of its run in its row of the tile, which a ballot finds, instead of its
///   own, and a thread has four pixels, as the authors propose (section 35.4.3).
/// - Their Union may lose a race, so that one block must merge all borders of 4×4 tiles and repeat that until
///   nothing changes. Ours repeats itself until both pixels are in one tree. Borders need no common block
///   then, and all of a level are merged at once by as many blocks as they fill.
/// - Any size of frame, not only powers of two; 4-connectivity besides 8; binary frames, too, besides
///   segments of 8-bit values.
#include "device/compress.cuh"
#include "device/equivalence.cuh"
#include "device/labeler.h"
#include "device/launch.cuh"
#include "device/links.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of a tile, a thread four pixels one below the other; eight blocks fill a
// multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileSize = kWarpSize;
constexpr uint32_t kTilePixels = kTileSize * kTileSize;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kTileThreads = kTilePixels / kRowsPerThread;

constexpr uint32_t kMergedTiles = 4;  ///< in either direction
constexpr uint32_t kBorderRows = 2;   ///< of pixels, or columns, on either side of a border

/// A tile's segments with a border of background, as setBordersAroundSubBlockToZero leaves them.
using TileSegments = uint8_t[kTileSize + 2][kTileSize + 2];

/// The label of the run that the pixel with index i in the tile is in. All lanes must call it.
__device__ inline uint32_t run_of(uint32_t segment, uint32_t i) {
  const uint32_t lane = i % kWarpSize;
  const uint32_t before = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != segment);
  const uint32_t first_lane = kWarpSize - 1 - __clz(static_cast<int>(starts & bits_up_to(lane)));
  return segment != 0 ? i - lane + first_lane + 1 : 0;
}

/// The neighbours in the rows above and below that a pixel is linked to, as bits: from the upper left to
/// the lower right. Those in its row have its label from the start.
template <Connectivity kConnectivity>
__device__ inline uint32_t linked_neighbours(const TileSegments& segments, uint32_t x, uint32_t y) {
  const uint32_t own = segments[y + 1][x + 1];
  uint32_t linked = 0;
  if (own != 0) {
#pragma unroll
    for (uint32_t column = 0; column < 3; ++column) {
      if (column == 1 || kConnectivity == Connectivity::k8) {
        linked |= segments[y][x + column] == own ? 1u << column : 0;
        linked |= segments[y + 2][x + column] == own ? 8u << column : 0;
      }
    }
  }
  return linked;
}

/// The least label among a pixel's linked neighbours and its own.
__device__ inline uint32_t least_around(const uint32_t* labels, uint32_t i, uint32_t linked, uint32_t own) {
#pragma unroll
  for (uint32_t column = 0; column < 3; ++column) {
    if ((linked >> column & 1) != 0) {
      own = min(own, labels[i - kTileSize + column - 1]);
    }
    if ((linked >> column & 8) != 0) {
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
  while (true) {
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      labels[pixels->first + k * kTileSize] = pixels->labels[k];
    }
    __syncthreads();
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
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      pixels->labels[k] = pixels->labels[k] != 0 ? find(labels, pixels->labels[k]) : 0;
    }
    __syncthreads();
  }
}

/// Kernel 1: labels the tiles, with labels of the frame.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTileThreads) label_tiles(SegmentSource frame, uint32_t* root_map) {
  __shared__ TileSegments segments;
  __shared__ uint32_t labels[kTilePixels];
  const uint32_t x = threadIdx.x % kWarpSize;
  const uint32_t y = threadIdx.x / kWarpSize * kRowsPerThread;
  const uint32_t x0 = blockIdx.x * kTileSize;
  const uint32_t y0 = blockIdx.y * kTileSize;
  Pixels pixels;
  pixels.first = y * kTileSize + x;

  for (uint32_t i = threadIdx.x; i < sizeof(segments); i += kTileThreads) {
    const uint32_t row = i / (kTileSize + 2);
    const uint32_t column = i % (kTileSize + 2);
    if (row % (kTileSize + 1) == 0 || column % (kTileSize + 1) == 0) {
      segments[row][column] = 0;
    }
  }
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    const uint32_t segment = frame.segment_or_background(x0 + x, y0 + y + k);
    segments[y + k + 1][x + 1] = static_cast<uint8_t>(segment);
    pixels.labels[k] = run_of(segment, pixels.first + k * kTileSize);
  }
  __syncthreads();
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    pixels.linked[k] = linked_neighbours<kConnectivity>(segments, x, y + k);
  }
  solve_tile(labels, &pixels);

#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    if (x0 + x < frame.width && y0 + y + k < frame.height) {
      const uint32_t root = pixels.labels[k] - 1;
      const uint32_t label = (y0 + root / kTileSize) * frame.width + x0 + root % kTileSize + 1;
      root_map[(y0 + y + k) * frame.width + x0 + x] = pixels.labels[k] != 0 ? label : 0;
    }
  }
}

/// The number of borders between tiles of a size in a direction, those left out that larger tiles share.
__host__ __device__ inline uint32_t merged_borders(uint32_t length, uint32_t tile_size) {
  const uint32_t n = (length - 1) / tile_size;
  return n - n / kMergedTiles;
}

/// The last row, or column, before the i-th of those borders.
__device__ inline uint32_t merged_border(uint32_t i, uint32_t tile_size) {
  return (i + i / (kMergedTiles - 1) + 1) * tile_size - 1;
}

/// Kernel 2: merges tiles of a size to larger ones. blockIdx.y counts the borders between tiles one below
/// the other, then the others, and a thread stands at a pixel along one.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads)
    merge_tiles(SegmentSource frame, uint32_t tile_size, uint32_t n_horizontal, uint32_t* labels) {
  const auto merge = [labels](uint32_t p, uint32_t q) { unite_roots(labels, p + 1, q + 1); };
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  if (blockIdx.y < n_horizontal) {
    if (along < frame.width) {
      merge_south<kConnectivity>(frame, tile_size, along, merged_border(blockIdx.y, tile_size), merge);
    }
  } else if (along < frame.height) {
    merge_east<kConnectivity>(frame, tile_size, merged_border(blockIdx.y - n_horizontal, tile_size), along,
                              merge);
  }
}

/// Kernel 3: flattens the trees on the borders of tiles of a size, horizontal ones first.
static __global__ void __launch_bounds__(kBorderThreads)
    flatten_borders(uint32_t width, uint32_t height, uint32_t tile_size, uint32_t n_horizontal,
                    uint32_t* labels) {
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  const bool is_horizontal = blockIdx.y < n_horizontal;
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
      CCL_RETURN_IF_ERROR(flatten(frame, size * kMergedTiles, root_map, stream));
    }
    return launch_compress_all("tile-merge compress_all", frame, root_map, stream);  // kernel 4
  }

 private:
  static Status merge(const SegmentSource& frame, uint32_t tile_size, uint32_t* labels, cudaStream_t stream) {
    const uint32_t n_horizontal = merged_borders(frame.height, tile_size);
    const uint32_t n_vertical = merged_borders(frame.width, tile_size);
    return launch("tile-merge merge_tiles", merge_tiles<kConnectivity>,
                  blocks_along(frame, n_horizontal + n_vertical), kBorderThreads, stream, frame, tile_size,
                  n_horizontal, labels);
  }

  /// None where one tile is the whole frame.
  static Status flatten(const SegmentSource& frame, uint32_t tile_size, uint32_t* labels,
                        cudaStream_t stream) {
    const uint32_t n_horizontal = (frame.height - 1) / tile_size;
    const uint32_t n_vertical = (frame.width - 1) / tile_size;
    return launch("tile-merge flatten_borders", flatten_borders,
                  blocks_along(frame, n_horizontal + n_vertical), kBorderThreads, stream, frame.width,
                  frame.height, tile_size, n_horizontal, labels);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_tile_merge() {
  return std::make_unique<LabelerOf<TileMerge>>();
}

}  // namespace ccl::device
