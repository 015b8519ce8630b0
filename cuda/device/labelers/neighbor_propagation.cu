// SPDX-License-Identifier: LGPL-2.1-or-later
/// Neighbor propagation: V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling
/// algorithms using GPUs", SIBGRAPI 2010, section V.
///
/// Every foreground pixel begins with its own address as label, and takes the smallest label of its
/// linked neighbours, again and again until nobody has anything to take: a label travels one pixel a
/// step. A block does so with its piece of the image in shared memory.
///
/// Where we differ:
/// - All turns are one kernel, see iterate.cuh.
/// - A block repeats the step until its piece is stable under the labels around it, so that a turn over
///   the image takes labels through whole pieces.
/// - A turn leaves out the pieces that nothing has come near: those around which no piece has changed
///   at its border in this turn or the one before.
/// - 8-connectivity and any number of segments, besides the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A warp has four rows of a piece, a thread four pixels one below the other. Several blocks fill a
// multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kPieceSize = kWarpSize;
constexpr uint32_t kRowsPerThread = 4;
constexpr uint32_t kThreads = kPieceSize * kPieceSize / kRowsPerThread;

// A piece is looked at with the pixels around it.
constexpr uint32_t kHaloSize = kPieceSize + 2;
constexpr uint32_t kHaloPixels = kHaloSize * kHaloSize;

// The neighbours of a pixel in raster order; with itself they fill a square.
constexpr uint32_t kNeighbours = 8;

/// The way in the halo from a pixel to its n-th neighbour.
__device__ constexpr int32_t way_to(uint32_t n) {
  const int32_t cell = static_cast<int32_t>(n < kNeighbours / 2 ? n : n + 1);
  return (cell / 3 - 1) * static_cast<int32_t>(kHaloSize) + cell % 3 - 1;
}

template <Connectivity kConnectivity>
__device__ constexpr bool is_neighbour(uint32_t n) {
  const bool is_straight = n == 1 || n == 3 || n == 4 || n == 6;
  return kConnectivity == Connectivity::k8 || is_straight;
}

/// A block's shared memory: the labels before a step and after it take turns.
struct PieceMemory {
  uint32_t labels[2][kHaloPixels];
  uint8_t segments[kHaloPixels];
};

template <Connectivity kConnectivity>
struct Image {
  SegmentSource frame;
  uint32_t* labels;
  uint32_t* turns;  ///< per piece: in which turn its border changed last, counted from 1; 0: never
  uint32_t pieces_x;
  uint32_t pieces_y;

  /// Start labels.
  __device__ void init() const {
    for_each_pixel(frame.width, frame.height, [this](uint32_t x, uint32_t y) {
      const uint32_t i = y * frame.width + x;
      labels[i] = frame.segment(x, y) != 0 ? i + 1 : 0;
    });
    for_each_pixel(pieces_x, pieces_y, [this](uint32_t x, uint32_t y) { turns[y * pieces_x + x] = 0; });
  }

  /// Whether a piece around has changed at its border since this one was stable.
  __device__ bool is_disturbed(uint32_t piece, uint32_t turn) const {
    if (turn == 1) {
      return true;
    }
    const uint32_t cell = threadIdx.x;
    const uint32_t x = piece % pieces_x + cell % 3 - 1;
    const uint32_t y = piece / pieces_x + cell / 3 - 1;
    const bool is_around = cell < kNeighbours + 1 && cell != kNeighbours / 2 && x < pieces_x && y < pieces_y;
    return __syncthreads_or(is_around && load(turns + y * pieces_x + x) + 1 >= turn) != 0;
  }

  /// Reads a piece and what is around it.
  __device__ void read(uint32_t x0, uint32_t y0, PieceMemory* memory) const {
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

  /// A bit for each neighbour that the pixel is linked to.
  __device__ static uint32_t links_of(const uint8_t* segments, uint32_t pixel) {
    uint32_t linked = 0;
    if (segments[pixel] != 0) {
#pragma unroll
      for (uint32_t n = 0; n < kNeighbours; ++n) {
        if (is_neighbour<kConnectivity>(n)) {
          linked |= segments[pixel + way_to(n)] == segments[pixel] ? 1u << n : 0;
        }
      }
    }
    return linked;
  }

  __device__ static uint32_t least_around(const uint32_t* labels, uint32_t pixel, uint32_t links,
                                          uint32_t own) {
#pragma unroll
    for (uint32_t n = 0; n < kNeighbours; ++n) {
      if (is_neighbour<kConnectivity>(n) && (links >> n & 1) != 0) {
        own = min(own, labels[pixel + way_to(n)]);
      }
    }
    return own;
  }

  /// Phase 1 in a piece, until phase 2 finds it stable; whether its border has changed.
  __device__ bool propagate(uint32_t x0, uint32_t y0, PieceMemory* memory) const {
    const uint32_t column = threadIdx.x % kWarpSize;
    const uint32_t row = threadIdx.x / kWarpSize * kRowsPerThread;
    const uint32_t first = (row + 1) * kHaloSize + column + 1;
    uint32_t before[kRowsPerThread];
    uint32_t own[kRowsPerThread];
    uint32_t links[kRowsPerThread];
    read(x0, y0, memory);
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      const uint32_t pixel = first + k * kHaloSize;
      before[k] = own[k] = memory->labels[0][pixel];
      links[k] = links_of(memory->segments, pixel);
    }

    bool changed = true;
    for (uint32_t step = 0; __syncthreads_or(changed); ++step) {
      changed = false;
#pragma unroll
      for (uint32_t k = 0; k < kRowsPerThread; ++k) {
        const uint32_t pixel = first + k * kHaloSize;
        const uint32_t least = least_around(memory->labels[step % 2], pixel, links[k], own[k]);
        changed = changed || least != own[k];
        own[k] = least;
        memory->labels[(step + 1) % 2][pixel] = least;
      }
    }

    bool border_changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kRowsPerThread; ++k) {
      if (own[k] != before[k]) {
        store(labels + (y0 + row + k) * frame.width + x0 + column, own[k]);
        const bool at_border = column % (kPieceSize - 1) == 0 || (row + k) % (kPieceSize - 1) == 0;
        border_changed = border_changed || at_border;
      }
    }
    return __syncthreads_or(border_changed) != 0;
  }

  /// A turn over the image; whether labels are left that a piece has to take from another.
  __device__ bool propagate(uint32_t turn, PieceMemory* memory) const {
    bool changed = false;
    for (uint32_t piece = blockIdx.x; piece < pieces_x * pieces_y; piece += gridDim.x) {
      if (!is_disturbed(piece, turn)) {
        continue;
      }
      const uint32_t x0 = piece % pieces_x * kPieceSize;
      const uint32_t y0 = piece / pieces_x * kPieceSize;
      if (propagate(x0, y0, memory)) {
        changed = true;
        if (threadIdx.x == 0) {
          store(turns + piece, turn);
        }
      }
    }
    return changed;
  }
};

/// All blocks must be resident.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kThreads)
    propagate_labels(Image<kConnectivity> image, Indicator* indicator, uint32_t* n_turns) {
  __shared__ PieceMemory memory;
  iterate(
      indicator, n_turns, [&] { image.init(); },
      [&](uint32_t turn) { return image.propagate(turn + 1, &memory); });
}

template <Connectivity kConnectivity>
struct NeighborPropagation {
  static uint32_t piece_count(uint32_t width, uint32_t height) {
    return blocks_for(width, kPieceSize) * blocks_for(height, kPieceSize);
  }

  static size_t workspace_bytes(uint32_t width, uint32_t height) {
    return sizeof(Indicator) + piece_count(width, height) * sizeof(uint32_t);
  }

  static Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
                    cudaStream_t stream) {
    auto* indicator = static_cast<Indicator*>(workspace);
    const Image<kConnectivity> image{.frame = frame,
                                     .labels = root_map,
                                     .turns = reinterpret_cast<uint32_t*>(indicator + 1),
                                     .pieces_x = blocks_for(frame.width, kPieceSize),
                                     .pieces_y = blocks_for(frame.height, kPieceSize)};
    return launch_resident("neighbor-propagation propagate_labels", propagate_labels<kConnectivity>,
                           piece_count(frame.width, frame.height), kThreads, stream, image, indicator,
                           n_iterations);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_neighbor_propagation() {
  return std::make_unique<IteratingLabelerOf<NeighborPropagation>>();
}

}  // namespace ccl::device
