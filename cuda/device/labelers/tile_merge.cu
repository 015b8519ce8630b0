// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tile merging: O. Šťava, B. Beneš, "Connected Component Labeling in CUDA", GPU Computing Gems Emerald
/// Edition, 2011, chapter 35.
///
/// Kernel 1 labels small tiles in shared memory: it takes the smallest label around each pixel and flattens
/// the equivalence trees until nothing changes. Kernel 2 merges 4×4 tiles to a larger one along their common
/// borders, level by level, until one tile is the whole frame; between two levels, kernel 3 flattens the
/// trees on the remaining borders, so that paths to roots stay short. Kernel 4 flattens the trees of all
/// pixels.
///
/// Where we differ:
/// - A pixel starts with the label of its run in its row of the tile, which a ballot finds, instead of its
///   own label. It compares its label with neighbours in other rows only, one for each pair of runs. A thread
///   has four pixels; the authors propose several pixels per thread (section 35.4.3).
/// - Their Union may lose a race, so one block must merge all borders of 4×4 tiles and repeat this until
///   nothing changes. Our unite() repeats until both pixels are in one tree. Therefore the borders need no
///   common block, and all borders of a level are merged at once by many blocks. If several links of a warp
///   join the same two trees, one of them is united.
/// - Borders are not flattened before the last merge: unite() shortens the paths that it walks, and no later
///   level uses them.
/// - Any frame size, not only powers of two; 4-connectivity in addition to 8; binary frames in addition to
///   segments of 8-bit values.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler_of.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of a tile; a thread has four pixels, one below the other. The resident blocks fill a
// multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileSize = kWarpSize;
constexpr uint32_t kTilePixels = kTileSize * kTileSize;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kTileThreads = kTilePixels / kRowsPerThread;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kTileThreads;

constexpr uint32_t kMergedTiles = 4;  ///< in each direction
constexpr uint32_t kBorderRows = 2;   ///< rows, or columns, of pixels that a border separates

/// A tile's segments, with a row of background above and one below.
using TileSegments = uint8_t[kTileSize + 2][kTileSize];

// The neighbours in the row above or below, as bits.
constexpr uint32_t kNeighboursInRow = 3;
constexpr uint32_t kFirst = 1, kStraight = 2, kLast = 4;

/// The segments of three pixels of a row; 0 outside the tile.
struct Triple {
  uint32_t left, middle, right;
};

/// A thread's pixels.
struct Pixels {
  uint32_t first;                   ///< index in the tile; the others are below it
  uint32_t labels[kRowsPerThread];  ///< 0: background
  uint32_t linked[kRowsPerThread];  ///< linked_neighbours() above, and shifted by kNeighboursInRow, below
};

/// The segments of a pixel and of its neighbours in the row. All lanes must call this function for the pixels
/// of one row.
__device__ inline Triple triple_around(uint32_t segment) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t left = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t right = __shfl_down_sync(kAllLanes, segment, 1);
  return {lane > 0 ? left : 0, segment, lane < kWarpSize - 1 ? right : 0};
}

/// The neighbours in `row`, the row above or below, that the middle pixel of `own` is linked to, as bits.
/// Only the first straight link between two runs counts, and a diagonal does not count if straight links join
/// its ends. Links are symmetric. Neighbours in the pixel's own row have its label from the start.
template <Connectivity kConnectivity>
__device__ inline uint32_t linked_neighbours(const Triple& own, const Triple& row) {
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

/// The smallest of `own` and the labels of the neighbours that pixel i is linked to.
__device__ inline uint32_t smallest_label_around(const uint32_t* labels, uint32_t i, uint32_t linked,
                                                 uint32_t own) {
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

/// The loop of kernel 1 (figure 35.8). There is a barrier between all reads and writes of labels.
__device__ inline void solve_tile(uint32_t* labels, Pixels* pixels) {
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    labels[pixels->first + k * kTileSize] = pixels->labels[k];
  }
  __syncthreads();
  while (true) {
    uint32_t smallest[kRowsPerThread];  // pass 1
    bool changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      smallest[k] =
          smallest_label_around(labels, pixels->first + k * kTileSize, pixels->linked[k], pixels->labels[k]);
      changed = changed || smallest[k] != pixels->labels[k];
    }
    if (!__syncthreads_or(changed)) {
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      if (smallest[k] != pixels->labels[k]) {
        atomicMin(labels + pixels->labels[k] - 1, smallest[k]);
      }
    }
    __syncthreads();
    flatten(labels, pixels->first, kTileSize, pixels->labels);  // pass 2
  }
}

/// Reads the segments of this thread's pixels, and finds their first labels and linked neighbours.
template <Connectivity kConnectivity>
__device__ inline void read_pixels(const SegmentSource& frame, TileSegments& segments, Pixels* pixels) {
  const uint32_t x = threadIdx.x % kWarpSize;
  const uint32_t y = threadIdx.x / kWarpSize * kRowsPerThread;
  Triple rows[kRowsPerThread + 2];
  pixels->first = y * kTileSize + x;
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    const uint32_t segment =
        frame.segment_or_background(blockIdx.x * kTileSize + x, blockIdx.y * kTileSize + y + k);
    pixels->labels[k] = run_label(segment, pixels->first + k * kTileSize);
    rows[k + 1] = triple_around(segment);
    segments[y + k + 1][x] = static_cast<uint8_t>(segment);
  }
  if (y == 0) {
    segments[0][x] = segments[kTileSize + 1][x] = 0;
  }
  __syncthreads();
  rows[0] = triple_around(segments[y][x]);
  rows[kRowsPerThread + 1] = triple_around(segments[y + kRowsPerThread + 1][x]);
#pragma unroll
  for (uint32_t k = 0; k < kRowsPerThread; ++k) {
    pixels->linked[k] = linked_neighbours<kConnectivity>(rows[k + 1], rows[k]) |
                        linked_neighbours<kConnectivity>(rows[k + 1], rows[k + 2]) << kNeighboursInRow;
  }
}

/// Kernel 1: labels the tiles and writes the labels as labels of the frame.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTileThreads, kResidentBlocks)
    label_tiles(SegmentSource frame, uint32_t* root_map) {
  __shared__ TileSegments segments;
  __shared__ uint32_t labels[kTilePixels];
  Pixels pixels;
  allow_next_kernel();
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

/// The number of borders in one direction that merging tiles of this size removes: all but the borders of the
/// larger tiles.
__host__ __device__ inline uint32_t merged_borders(uint32_t length, uint32_t tile_size) {
  const uint32_t n = (length - 1) / tile_size;
  return n - n / kMergedTiles;
}

/// The last row, or column, before the i-th of these borders.
__device__ inline uint32_t merged_border(uint32_t i, uint32_t tile_size) {
  return (i + i / (kMergedTiles - 1) + 1) * tile_size - 1;
}

/// Kernel 2: merges tiles of this size to larger ones. blockIdx.y counts the horizontal borders, then the
/// vertical ones; each thread handles one pixel along a border.
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
  wait_for_previous_kernel();
  unite_links(labels, links);
}

/// Kernel 3: flattens the trees on both sides of all borders of tiles of this size; blockIdx.y is as above.
static __global__ void __launch_bounds__(kBorderThreads)
    flatten_borders(uint32_t width, uint32_t height, uint32_t tile_size, uint32_t n_horizontal,
                    uint32_t* labels) {
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  const bool is_horizontal = blockIdx.y < n_horizontal;
  wait_for_previous_kernel();
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

/// Launches the four kernels (figure 35.6).
template <Connectivity kConnectivity>
struct TileMerge {
  Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) const {
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
    return launch_overlapped("tile-merge merge_tiles", merge_tiles<kConnectivity>,
                             border_blocks(frame, n_horizontal + n_vertical), kBorderThreads, stream, frame,
                             tile_size, n_horizontal, labels);
  }

  static Status flatten(const SegmentSource& frame, uint32_t tile_size, uint32_t* labels,
                        cudaStream_t stream) {
    const uint32_t n_horizontal = (frame.height - 1) / tile_size;
    const uint32_t n_vertical = (frame.width - 1) / tile_size;
    return launch_overlapped("tile-merge flatten_borders", flatten_borders,
                             border_blocks(frame, n_horizontal + n_vertical), kBorderThreads, stream,
                             frame.width, frame.height, tile_size, n_horizontal, labels);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_tile_merge() {
  return std::make_unique<LabelerOf<TileMerge>>();
}

}  // namespace ccl::device
