// SPDX-License-Identifier: LGPL-2.1-or-later
/// Row-Col Unify: O. Kalentev, A. Rai, S. Kemnitz, R. Schneider, "Connected component labeling on a 2D
/// grid using CUDA", Journal of Parallel and Distributed Computing 71(4), 2011, section 2.1.
///
/// Every foreground pixel begins with its own address as label. The smallest label spreads along all
/// rows, then along all columns, in turn until nothing changes. A block unifies a line by reduction in
/// shared memory: groups of neighbouring elements are joined to groups twice as large, and each element
/// has a reference to the first element of its run in the group, so that a joint is told to one element
/// only and an update after each step lets the others see it.
///
/// Where we differ:
/// - All turns are one kernel, see iterate.cuh.
/// - Lines may have any length: a block goes through a long one in stretches that share an element,
///   which carries the smallest label on. What has to spread the other way does so in the next turn.
/// - A line whose linked neighbours have the same labels already is left alone. The paper's indicator
///   ContinueInd asks just that, of every other pair; here it is asked of all, before the cascade.
/// - 8-connectivity, which unifies diagonals and anti-diagonals after rows and columns, and any number
///   of segments, besides the paper's 4-connected binary images of 1024×1024.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A stretch takes 12 KiB of shared memory: a multiprocessor has as many blocks as it has threads for.
constexpr uint32_t kStretchSize = 2048;
constexpr uint32_t kThreads = 512;
constexpr uint32_t kElementsPerThread = kStretchSize / kThreads;

/// Pixels in a straight line.
struct Line {
  uint32_t x, y;  ///< of the first
  int32_t dx;     ///< from one to the next; rows go on to the right, all others go down
  int32_t dy;
  uint32_t length;
};

enum class Direction { kRow, kColumn, kDiagonal, kAntiDiagonal };

__device__ inline uint32_t line_count(Direction direction, uint32_t width, uint32_t height) {
  switch (direction) {
    case Direction::kRow:
      return height;
    case Direction::kColumn:
      return width;
    default:
      return width + height - 1;
  }
}

/// The i-th line of a direction. Diagonals begin in the first row, then in the column that it leaves
/// out.
__device__ inline Line line_at(Direction direction, uint32_t width, uint32_t height, uint32_t i) {
  const uint32_t y = i < width ? 0 : i - width + 1;
  switch (direction) {
    case Direction::kRow:
      return {0, i, 1, 0, width};
    case Direction::kColumn:
      return {i, 0, 0, 1, height};
    case Direction::kDiagonal: {
      const uint32_t x = i < width ? i : 0;
      return {x, y, 1, 1, min(width - x, height - y)};
    }
    default: {
      const uint32_t x = i < width ? i : width - 1;
      return {x, y, -1, 1, min(x + 1, height - y)};
    }
  }
}

/// A stretch of a line, in shared memory. Each function is a step of the whole block.
struct Stretch {
  uint32_t* labels;
  uint16_t* references;
  uint32_t* links;  ///< a bit for each element: whether it is linked to the one before it
  uint32_t size;

  __device__ bool is_linked(uint32_t i) const { return (links[i / kWarpSize] >> i % kWarpSize & 1) != 0; }

  /// The first step of reduction: groups of two, and the references (algorithm 3).
  __device__ void unify_pairs() const {
    for (uint32_t i = 2 * threadIdx.x; i < size; i += 2 * kThreads) {
      references[i] = static_cast<uint16_t>(i);
      const bool has_second = i + 1 < size;
      if (has_second) {
        const bool linked = is_linked(i + 1);
        references[i + 1] = static_cast<uint16_t>(linked ? i : i + 1);
        if (linked) {
          labels[i] = labels[i + 1] = min(labels[i], labels[i + 1]);
        }
      }
    }
  }

  /// A further step: joins groups of `group` elements to pairs, if their inner ends are linked
  /// (algorithm 4). The right group's end is the first element of its run, so its reference is free to
  /// lead to the left group.
  __device__ void unify_groups(uint32_t group) const {
    for (uint32_t right = (2 * threadIdx.x + 1) * group; right < size; right += 2 * kThreads * group) {
      if (is_linked(right)) {
        const uint16_t reference = references[right - 1];
        const uint32_t least = min(labels[right - 1], labels[right]);
        labels[reference] = labels[right] = least;
        references[right] = reference;
      }
    }
  }

  /// Each element takes the label and the reference of the one that it refers to (algorithm 5). Those
  /// that others refer to have nothing to change.
  __device__ void update() const {
    for (uint32_t i = threadIdx.x; i < size; i += kThreads) {
      const uint16_t reference = references[i];
      const uint16_t next = references[reference];
      const uint32_t label = labels[reference];
      if (next != reference) {
        references[i] = next;
      }
      if (label != labels[i]) {
        labels[i] = label;
      }
    }
  }

  /// The cascade of algorithm 2, between barriers of the caller's.
  __device__ void unify() const {
    unify_pairs();
    __syncthreads();
    for (uint32_t group = 2; group < size; group *= 2) {
      unify_groups(group);
      __syncthreads();
      update();
      __syncthreads();
    }
  }
};

/// The frame's labels, which are those of the root map in the end.
template <Connectivity kConnectivity>
struct Labels {
  SegmentSource frame;
  uint32_t* labels;

  /// InitializeLabels.
  __device__ void init() const {
    for_each_pixel(frame.width, frame.height, [this](uint32_t x, uint32_t y) {
      const uint32_t i = y * frame.width + x;
      labels[i] = frame.segment(x, y) != 0 ? i + 1 : 0;
    });
  }

  __device__ uint32_t pixel_of(const Line& line, uint32_t i) const {
    return (line.y + i * line.dy) * frame.width + line.x + i * line.dx;
  }

  __device__ uint8_t segment_of(const Line& line, uint32_t i) const {
    return frame.segment(line.x + i * line.dx, line.y + i * line.dy);
  }

  /// Whether two foreground pixels of a line have the same segment.
  __device__ bool are_linked(const Line& line, uint32_t i, uint32_t j) const {
    return frame.rule.foreground == Foreground::kBinary || segment_of(line, i) == segment_of(line, j);
  }

  /// Unifies the elements of a line from `begin` on, as many as the stretch has; whether there was
  /// anything to unify.
  __device__ bool unify_stretch(const Line& line, uint32_t begin, const Stretch& stretch) const {
    uint32_t before[kElementsPerThread];
#pragma unroll
    for (uint32_t k = 0; k < kElementsPerThread; ++k) {
      const uint32_t i = k * kThreads + threadIdx.x;
      before[k] = i < stretch.size ? labels[pixel_of(line, begin + i)] : 0;
      if (i < stretch.size) {
        stretch.labels[i] = before[k];
      }
    }
    __syncthreads();
    bool differs = false;
#pragma unroll
    for (uint32_t k = 0; k < kElementsPerThread; ++k) {
      const uint32_t i = k * kThreads + threadIdx.x;
      const uint32_t previous = i > 0 && before[k] != 0 ? stretch.labels[i - 1] : 0;
      const bool linked = previous != 0 && are_linked(line, begin + i - 1, begin + i);
      const uint32_t word = __ballot_sync(kAllLanes, linked);
      if (i % kWarpSize == 0) {
        stretch.links[i / kWarpSize] = word;
      }
      differs = differs || (linked && previous != before[k]);
    }
    if (!__syncthreads_or(differs)) {
      return false;
    }
    stretch.unify();
#pragma unroll
    for (uint32_t k = 0; k < kElementsPerThread; ++k) {
      const uint32_t i = k * kThreads + threadIdx.x;
      if (i < stretch.size && stretch.labels[i] != before[k]) {
        labels[pixel_of(line, begin + i)] = stretch.labels[i];
      }
    }
    __syncthreads();
    return true;
  }

  /// UnifyRow, or UnifyCol, or its like along the diagonals; whether there was anything to unify.
  __device__ bool unify_lines(Direction direction, Stretch stretch) const {
    const uint32_t n_lines = line_count(direction, frame.width, frame.height);
    bool changed = false;
    for (uint32_t l = blockIdx.x; l < n_lines; l += gridDim.x) {
      const Line line = line_at(direction, frame.width, frame.height, l);
      for (uint32_t begin = 0; begin + 1 < line.length; begin += kStretchSize - 1) {
        stretch.size = min(kStretchSize, line.length - begin);
        changed = unify_stretch(line, begin, stretch) || changed;
      }
    }
    return changed;
  }

  /// What algorithm 1 repeats.
  __device__ bool unify(const Stretch& stretch) const {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    bool changed = unify_lines(Direction::kRow, stretch);
    grid.sync();
    changed = unify_lines(Direction::kColumn, stretch) || changed;
    if constexpr (kConnectivity == Connectivity::k8) {
      grid.sync();
      changed = unify_lines(Direction::kDiagonal, stretch) || changed;
      grid.sync();
      changed = unify_lines(Direction::kAntiDiagonal, stretch) || changed;
    }
    return changed;
  }
};

/// Algorithm 1. All blocks must be resident.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kThreads)
    unify_rows_and_columns(Labels<kConnectivity> image, Indicator* indicator, uint32_t* n_turns) {
  __shared__ uint32_t labels[kStretchSize];
  __shared__ uint16_t references[kStretchSize];
  __shared__ uint32_t links[kStretchSize / kWarpSize];
  const Stretch stretch{labels, references, links, 0};
  iterate(
      indicator, n_turns, [&] { image.init(); }, [&](uint32_t) { return image.unify(stretch); });
}

template <Connectivity kConnectivity>
struct RowColUnify {
  static size_t workspace_bytes(uint32_t, uint32_t) { return sizeof(Indicator); }

  static Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
                    cudaStream_t stream) {
    const uint32_t most_lines = frame.width + frame.height;
    return launch_resident("row-col-unify unify_rows_and_columns", unify_rows_and_columns<kConnectivity>,
                           most_lines, kThreads, stream, Labels<kConnectivity>{frame, root_map},
                           static_cast<Indicator*>(workspace), n_iterations);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_row_col_unify() {
  return std::make_unique<IteratingLabelerOf<RowColUnify>>();
}

}  // namespace ccl::device
