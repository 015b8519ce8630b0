// SPDX-License-Identifier: LGPL-2.1-or-later
/// Row-Col Unify: O. Kalentev, A. Rai, S. Kemnitz, R. Schneider, "Connected component labeling on a 2D
/// grid using CUDA", Journal of Parallel and Distributed Computing 71(4), 2011, section 2.1.
///
/// Every foreground pixel starts with its own address as label, and the smallest labels spread along all
/// rows, then along all columns, until nothing changes. A block unifies a line by reduction in shared memory,
/// which joins groups of neighbouring elements to groups twice as large. Each element has a reference to the
/// first element of its run in the group: where two groups join, only that element receives the new label,
/// and an update after each step copies it to the others.
///
/// Where we differ:
/// - All iterations are one kernel, see iterate.cuh.
/// - Lines may have any length: a block unifies a long line in stretches that overlap by one element, which
///   carries the smallest label to the next stretch. Labels that must spread to the stretch before do so in
///   the next iteration.
/// - A stretch whose linked neighbours already have equal labels is skipped. The paper's indicator
/// ContinueInd
///   tests this for every second pair of neighbours; here all pairs are tested, before the cascade.
/// - 8-connectivity, which also unifies diagonals and anti-diagonals, and any number of segments, in addition
///   to the paper's 4-connected binary images of 1024×1024.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler_of.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A stretch uses 12 KiB of shared memory, so that threads, not memory, limit the blocks of a multiprocessor.
constexpr uint32_t kStretchSize = 2048;
constexpr uint32_t kThreads = 512;
constexpr uint32_t kElementsPerThread = kStretchSize / kThreads;

/// Pixels in a straight line.
struct Line {
  uint32_t x, y;  ///< of the first pixel
  int32_t dx;     ///< from each pixel to the next; rows lead to the right, all other lines down
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

/// The i-th line of a direction. Diagonals start at the pixels of the first row, then at the other pixels of
/// the first column; anti-diagonals at those of the last column.
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

/// A stretch of a line, in shared memory. Each function is a step that the whole block executes.
struct Stretch {
  uint32_t* labels;
  uint16_t* references;
  uint32_t* links;  ///< a bit for each element: whether it is linked to the one before it
  uint32_t size;

  __device__ bool is_linked(uint32_t i) const { return (links[i / kWarpSize] >> i % kWarpSize & 1) != 0; }

  /// UnifyRowI (algorithm 3): initialises the references, and joins elements to groups of two.
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

  /// UnifyRowL (algorithm 4): joins pairs of groups of `group` elements if their inner ends are linked. The
  /// inner end of the right group is the first element of its run and refers to itself, so its reference can
  /// be changed to the left group.
  __device__ void unify_groups(uint32_t group) const {
    for (uint32_t right = (2 * threadIdx.x + 1) * group; right < size; right += 2 * kThreads * group) {
      if (is_linked(right)) {
        const uint16_t reference = references[right - 1];
        const uint32_t smallest = min(labels[right - 1], labels[right]);
        labels[reference] = labels[right] = smallest;
        references[right] = reference;
      }
    }
  }

  /// Update (algorithm 5): each element takes the label and the reference of the element that it refers to.
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

  /// The cascade of algorithm 2. The caller adds the barriers before and after it.
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

/// The frame and its labels, which are the root map in the end.
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

  /// Whether two neighbouring foreground pixels of a line have the same segment.
  __device__ bool are_linked(const Line& line, uint32_t i, uint32_t j) const {
    return frame.rule.foreground == Foreground::kBinary || segment_of(line, i) == segment_of(line, j);
  }

  /// The main routine (algorithm 2) for one stretch: unifies stretch.size elements of a line from `begin`.
  /// Returns whether there was anything to unify.
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

  /// UnifyRow, UnifyCol, or the same along diagonals. Returns whether there was anything to unify.
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

  /// The loop's body in algorithm 1. Returns whether there was anything to unify.
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
    unify_rows_and_columns(Labels<kConnectivity> image, Indicator* indicator, uint32_t* n_iterations) {
  __shared__ uint32_t labels[kStretchSize];
  __shared__ uint16_t references[kStretchSize];
  __shared__ uint32_t links[kStretchSize / kWarpSize];
  const Stretch stretch{labels, references, links, 0};
  iterate(
      indicator, n_iterations, [&] { image.init(); }, [&](uint32_t) { return image.unify(stretch); });
}

/// Launches the kernel.
template <Connectivity kConnectivity>
struct RowColUnify {
  size_t workspace_bytes(uint32_t, uint32_t) const { return sizeof(Indicator); }

  Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
             cudaStream_t stream) const {
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
