// SPDX-License-Identifier: LGPL-2.1-or-later
/// Neighbor propagation: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling
/// algorithms using GPUs", SIBGRAPI 2010, section V.
///
/// Every foreground pixel starts with its raster index as label (phase 0) and takes the smallest label of its
/// linked neighbours (phase 1), until no label changes (phase 2). A label moves by one pixel per step. A
/// block executes the steps for its tile of the image in shared memory.
///
/// Where we differ:
/// - All iterations are one kernel, see iterate.cuh.
/// - A block repeats phase 1 until its tile is stable under the labels around it, so that an iteration over
///   the image moves labels across whole tiles.
/// - An iteration skips the tiles that no new label can have reached: those whose neighbouring tiles have not
///   changed at their borders in this iteration or the previous one.
/// - 8-connectivity and any number of segments, in addition to the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler_of.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of a tile; a thread has four pixels, one below the other. Several blocks fill a
// multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileSize = kWarpSize;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kThreads = kTileSize * kTileSize / kRowsPerThread;

// A block reads its tile with a halo: the pixels around it.
constexpr uint32_t kHaloSize = kTileSize + 2;
constexpr uint32_t kHaloPixels = kHaloSize * kHaloSize;

// The neighbours of a pixel, or of a tile, in raster order; with itself they are a square of 3×3 cells.
constexpr uint32_t kNeighbours = 8;

/// A block's shared memory. A step reads one image of labels and writes the other.
struct TileMemory {
  uint32_t labels[2][kHaloPixels];
  uint8_t segments[kHaloPixels];
};

/// The distance in the halo's memory from a pixel to its n-th neighbour.
__device__ constexpr int32_t neighbour_offset(uint32_t n) {
  const int32_t cell = static_cast<int32_t>(n < kNeighbours / 2 ? n : n + 1);
  return (cell / 3 - 1) * static_cast<int32_t>(kHaloSize) + cell % 3 - 1;
}

template <Connectivity kConnectivity>
__device__ constexpr bool is_neighbour(uint32_t n) {
  const bool is_straight = n == 1 || n == 3 || n == 4 || n == 6;
  return kConnectivity == Connectivity::k8 || is_straight;
}

template <Connectivity kConnectivity>
struct Image {
  SegmentSource frame;
  uint32_t* labels;
  uint32_t* last_changes;  ///< per tile: the last iteration that changed its border, from 1; 0: none
  uint32_t tiles_x;
  uint32_t tiles_y;

  /// Phase 0: start labels.
  __device__ void init() const {
    for_each_pixel(frame.width, frame.height, [this](uint32_t x, uint32_t y) {
      const uint32_t i = y * frame.width + x;
      labels[i] = frame.segment(x, y) != 0 ? i + 1 : 0;
    });
    for_each_pixel(tiles_x, tiles_y, [this](uint32_t x, uint32_t y) { last_changes[y * tiles_x + x] = 0; });
  }

  /// Whether the border of a neighbouring tile has changed since this tile was stable.
  __device__ bool may_change(uint32_t tile, uint32_t iteration) const {
    if (iteration == 1) {
      return true;
    }
    const uint32_t cell = threadIdx.x;
    const uint32_t x = tile % tiles_x + cell % 3 - 1;
    const uint32_t y = tile / tiles_x + cell / 3 - 1;
    const bool is_around = cell < kNeighbours + 1 && cell != kNeighbours / 2 && x < tiles_x && y < tiles_y;
    return __syncthreads_or(is_around && load(last_changes + y * tiles_x + x) + 1 >= iteration) != 0;
  }

  /// Reads a tile, whose first pixel is (x0, y0), and its halo.
  __device__ void read(uint32_t x0, uint32_t y0, TileMemory* memory) const {
    for (uint32_t i = threadIdx.x; i < kHaloPixels; i += kThreads) {
      const uint32_t x = x0 + i % kHaloSize - 1;
      const uint32_t y = y0 + i / kHaloSize - 1;
      const bool is_inside = x < frame.width && y < frame.height;
      const uint32_t label = is_inside ? load(labels + y * frame.width + x) : 0;
      memory->labels[0][i] = memory->labels[1][i] = label;
      memory->segments[i] = is_inside ? frame.segment(x, y) : 0;
    }
    __syncthreads();
  }

  /// The neighbours that a pixel is linked to, as bits.
  __device__ static uint32_t linked_neighbours(const uint8_t* segments, uint32_t pixel) {
    uint32_t linked = 0;
    if (segments[pixel] != 0) {
#pragma unroll
      for (uint32_t n = 0; n < kNeighbours; ++n) {
        if (is_neighbour<kConnectivity>(n)) {
          linked |= segments[pixel + neighbour_offset(n)] == segments[pixel] ? 1u << n : 0;
        }
      }
    }
    return linked;
  }

  /// The smallest of `own` and the labels of the neighbours that a pixel is linked to.
  __device__ static uint32_t smallest_label_around(const uint32_t* labels, uint32_t pixel, uint32_t linked,
                                                   uint32_t own) {
#pragma unroll
    for (uint32_t n = 0; n < kNeighbours; ++n) {
      if (is_neighbour<kConnectivity>(n) && (linked >> n & 1) != 0) {
        own = min(own, labels[pixel + neighbour_offset(n)]);
      }
    }
    return own;
  }

  /// Repeats phases 1 and 2 in a tile until it is stable. Returns whether its border has changed.
  __device__ bool propagate_in_tile(uint32_t x0, uint32_t y0, TileMemory* memory) const {
    const uint32_t column = threadIdx.x % kWarpSize;
    const uint32_t row = threadIdx.x / kWarpSize * kRowsPerThread;
    const uint32_t first = (row + 1) * kHaloSize + column + 1;
    uint32_t before[kRowsPerThread];
    uint32_t own[kRowsPerThread];
    uint32_t linked[kRowsPerThread];
    read(x0, y0, memory);
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      const uint32_t pixel = first + k * kHaloSize;
      before[k] = own[k] = memory->labels[0][pixel];
      linked[k] = linked_neighbours(memory->segments, pixel);
    }

    bool changed = true;
    for (uint32_t step = 0; __syncthreads_or(changed); ++step) {
      changed = false;
#pragma unroll
      for (uint32_t k = 0; k < kRowsPerThread; ++k) {
        const uint32_t pixel = first + k * kHaloSize;
        const uint32_t smallest = smallest_label_around(memory->labels[step % 2], pixel, linked[k], own[k]);
        changed = changed || smallest != own[k];
        own[k] = smallest;
        memory->labels[(step + 1) % 2][pixel] = smallest;
      }
    }

    bool border_changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      if (own[k] != before[k]) {
        store(labels + (y0 + row + k) * frame.width + x0 + column, own[k]);
        const bool at_border = column % (kTileSize - 1) == 0 || (row + k) % (kTileSize - 1) == 0;
        border_changed = border_changed || at_border;
      }
    }
    return __syncthreads_or(border_changed) != 0;
  }

  /// An iteration over the image. Returns whether the border of any of the block's tiles has changed, so that
  /// another iteration is needed.
  __device__ bool propagate(uint32_t iteration, TileMemory* memory) const {
    bool changed = false;
    for (uint32_t tile = blockIdx.x; tile < tiles_x * tiles_y; tile += gridDim.x) {
      if (!may_change(tile, iteration)) {
        continue;
      }
      const uint32_t x0 = tile % tiles_x * kTileSize;
      const uint32_t y0 = tile / tiles_x * kTileSize;
      if (propagate_in_tile(x0, y0, memory)) {
        changed = true;
        if (threadIdx.x == 0) {
          store(last_changes + tile, iteration);
        }
      }
    }
    return changed;
  }
};

/// All blocks must be resident.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kThreads)
    propagate_labels(Image<kConnectivity> image, Indicator* indicator, uint32_t* n_iterations) {
  __shared__ TileMemory memory;
  iterate(
      indicator, n_iterations, [&] { image.init(); },
      [&](uint32_t n) { return image.propagate(n + 1, &memory); });
}

/// Launches the kernel.
template <Connectivity kConnectivity>
struct NeighborPropagation {
  static uint32_t tile_count(uint32_t width, uint32_t height) {
    return blocks_for(width, kTileSize) * blocks_for(height, kTileSize);
  }

  size_t workspace_bytes(uint32_t width, uint32_t height) const {
    return sizeof(Indicator) + tile_count(width, height) * sizeof(uint32_t);
  }

  Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
             cudaStream_t stream) const {
    auto* indicator = static_cast<Indicator*>(workspace);
    const Image<kConnectivity> image{.frame = frame,
                                     .labels = root_map,
                                     .last_changes = reinterpret_cast<uint32_t*>(indicator + 1),
                                     .tiles_x = blocks_for(frame.width, kTileSize),
                                     .tiles_y = blocks_for(frame.height, kTileSize)};
    return launch_resident("neighbor-propagation propagate_labels", propagate_labels<kConnectivity>,
                           tile_count(frame.width, frame.height), kThreads, stream, image, indicator,
                           n_iterations);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_neighbor_propagation() {
  return std::make_unique<IteratingLabelerOf<NeighborPropagation>>();
}

}  // namespace ccl::device
