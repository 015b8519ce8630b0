// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/separate/distance.h"

#include "ccl/parts.h"
#include "device/check.h"
#include "device/launch.cuh"
#include "device/stages/separate/mask_distance.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

/// A block measures so many columns, each by so many threads, which share its rows.
constexpr uint32_t kGroupColumns = 16;
constexpr uint32_t kColumnParts = 64;
constexpr uint32_t kColumnThreads = kGroupColumns * kColumnParts;

constexpr uint32_t kNoRow = 0xffffffff;

/// Part of a column. Rows are those of the frame.
struct ColumnPart {
  uint32_t first_root;
  uint32_t last_root;
  uint32_t first_change;  ///< the first row whose root is not first_root, or kNoRow
  uint32_t last_change;   ///< the last row whose root is not last_root, or kNoRow
};

struct ColumnParts {
  ColumnPart parts[kColumnParts][kGroupColumns];

  /// The last row before a part whose root is not `root`, or kNoRow.
  __device__ uint32_t row_before(uint32_t part, uint32_t column, uint32_t part_rows, uint32_t root) const {
    while (part-- > 0) {
      const ColumnPart& before = parts[part][column];
      if (before.last_root != root) {
        return (part + 1) * part_rows - 1;
      }
      if (before.last_change != kNoRow) {
        return before.last_change;
      }
    }
    return kNoRow;
  }

  /// The first row behind a part whose root is not `root`, or kNoRow.
  __device__ uint32_t row_behind(uint32_t part, uint32_t column, uint32_t part_rows, uint32_t n_rows,
                                 uint32_t root) const {
    while (++part * part_rows < n_rows) {
      const ColumnPart& behind = parts[part][column];
      if (behind.first_root != root) {
        return part * part_rows;
      }
      if (behind.first_change != kNoRow) {
        return behind.first_change;
      }
    }
    return kNoRow;
  }
};

/// The least height of a group of columns in a row; 0 if they do not belong to one component. All lanes of a
/// warp must call it.
__device__ uint32_t group_distance(uint32_t root, uint32_t height) {
  const uint32_t first_root = __shfl_sync(kAllLanes, root, 0, kGroupColumns);
  uint32_t least = root == first_root ? height : 0;
#pragma unroll
  for (uint32_t step = kGroupColumns / 2; step > 0; step /= 2) {
    least = min(least, __shfl_xor_sync(kAllLanes, least, step, kGroupColumns));
  }
  return least;
}

/// Distances to the nearest pixels of the columns that belong to other components. `part_rows`: rows of each
/// part but the last ones.
template <typename Roots>
__global__ void __launch_bounds__(kColumnThreads)
    measure_columns(Roots roots, uint32_t width, uint32_t height, uint32_t part_rows, uint16_t* distances,
                    uint16_t* group_distances) {
  __shared__ ColumnParts all;
  const uint32_t column = threadIdx.x % kGroupColumns;
  const uint32_t part = threadIdx.x / kGroupColumns;
  const uint32_t x = blockIdx.x * kGroupColumns + column;
  const bool is_inside = x < width;
  const uint32_t begin = min(part * part_rows, height);
  const uint32_t end = min(begin + part_rows, height);
  const auto root_at = [&](uint32_t y) { return is_inside ? roots(x, y) : 0; };
  ColumnPart own{0, 0, kNoRow, kNoRow};
  if (begin < end) {
    own.first_root = own.last_root = root_at(begin);
    for (uint32_t y = begin + 1; y < end; ++y) {
      const uint32_t root = root_at(y);
      if (root != own.last_root) {
        own.first_change = own.first_change == kNoRow ? y : own.first_change;
        own.last_change = y - 1;
        own.last_root = root;
      }
    }
  }
  all.parts[part][column] = own;
  __syncthreads();

  uint32_t root = own.last_root;
  uint32_t behind = begin < end ? all.row_behind(part, column, part_rows, height, root) : kNoRow;
  for (uint32_t y = end; y-- > begin;) {
    const uint32_t here = root_at(y);
    behind = here != root ? y + 1 : behind;
    root = here;
    if (is_inside) {
      distances[size_t{y} * width + x] = behind == kNoRow ? kNoColumnDistance : behind - y;
    }
  }
  root = own.first_root;
  uint32_t before = begin < end ? all.row_before(part, column, part_rows, root) : kNoRow;
  for (uint32_t i = 0; i < part_rows; ++i) {  // all lanes of a warp take as many steps
    const uint32_t y = begin + i;
    const bool is_row = y < end;
    const uint32_t here = is_row ? root_at(y) : 0;
    before = here != root ? y - 1 : before;
    root = here;
    uint32_t least = kNoColumnDistance;
    if (is_row && is_inside) {
      least =
          min(uint32_t{distances[size_t{y} * width + x]}, before == kNoRow ? kNoColumnDistance : y - before);
      least = root != 0 ? least : 0;
      distances[size_t{y} * width + x] = static_cast<uint16_t>(least);
    }
    const uint32_t of_group = group_distance(is_inside ? root : kNoRow, least);
    if (is_row && column == 0) {
      group_distances[size_t{y} * gridDim.x + blockIdx.x] = static_cast<uint16_t>(of_group);
    }
  }
}

/// Columns whose distances a block of measure_rows() has in shared memory: those of its pixels, and as many
/// on each side as most searches reach.
constexpr uint32_t kRowPixels = 512;
constexpr uint32_t kReach = 128;
constexpr uint32_t kCached = kRowPixels + 2 * kReach;

/// A row of the frame, as its pixels search it.
template <typename Roots>
struct Row {
  Roots roots;
  const uint16_t* distances;        ///< of the row
  const uint16_t* group_distances;  ///< likewise
  const uint16_t* cached;           ///< of the columns from cached_begin on, in shared memory
  uint32_t cached_begin;
  uint32_t y;
  uint32_t width;
  uint32_t aspect;
  uint32_t most_way;  ///< pixels to the side; the square of more is no 32-bit number

  __device__ uint32_t distance(uint32_t x) const {
    return x - cached_begin < kCached ? cached[x - cached_begin] : distances[x];
  }

  /// The distance within column x to a pixel that is not of component `root`.
  __device__ uint32_t distance_from(uint32_t x, uint32_t root) const {
    return Roots::kCanTouch && roots(x, y) != root ? 0 : distance(x);
  }

  __device__ uint32_t square_aside(uint32_t way) const { return aspect * way * aspect * way; }

  __device__ bool can_be_nearer(uint32_t way, uint32_t best) const {
    return way <= most_way && square_aside(way) < best;
  }

  /// Whether a pixel at this distance in a column is too far.
  static __device__ bool is_far(uint32_t distance, uint32_t aside, uint32_t best) {
    return distance == kNoColumnDistance || distance * distance >= best - aside;
  }

  /// Whether all columns of the group of column x belong to component `root`, and their borders are too far.
  __device__ bool is_high(uint32_t x, uint32_t way, uint32_t root, uint32_t best) const {
    return (!Roots::kCanTouch || roots(x, y) == root) &&
           is_far(group_distances[x / kGroupColumns], square_aside(way), best);
  }

  /// The smallest square, `best` included, of the columns to one side. `kStep` is 1 or −1, and `end` the
  /// column behind the last one.
  template <int32_t kStep>
  __device__ uint32_t search(uint32_t x, uint32_t end, uint32_t root, uint32_t best) const {
    constexpr uint32_t kFirstOfGroup = kStep > 0 ? 0 : kGroupColumns - 1;
    constexpr auto kNext = static_cast<uint32_t>(kStep);
    uint32_t at = x + kNext;
    for (uint32_t way = 1; at != end && can_be_nearer(way, best);) {
      if (at % kGroupColumns == kFirstOfGroup && is_high(at, way, root, best)) {
        way += kGroupColumns;
        at += kNext * kGroupColumns;
        continue;
      }
      const uint32_t height = distance_from(at, root);
      if (!is_far(height, square_aside(way), best)) {
        best = square_aside(way) + height * height;
      }
      ++way;
      at += kNext;
    }
    return best;
  }
};

__device__ void write_distance(uint32_t square, uint32_t* out) {
  *out = square;
}

__device__ void write_distance(uint32_t square, uint16_t* out) {
  *out = height_of(square);
}

template <typename Roots, typename Distance>
__global__ void __launch_bounds__(kBlockThreads)
    measure_rows(Roots roots, const uint16_t* distances, const uint16_t* group_distances, uint32_t width,
                 uint32_t aspect, Distance* out) {
  __shared__ uint16_t cached[kCached];
  const uint32_t y = blockIdx.y;
  const uint32_t begin = blockIdx.x * kRowPixels;
  const Row<Roots> row{.roots = roots,
                       .distances = distances + size_t{y} * width,
                       .group_distances = group_distances + size_t{y} * blocks_for(width, kGroupColumns),
                       .cached = cached,
                       .cached_begin = begin - kReach,  // may wrap around
                       .y = y,
                       .width = width,
                       .aspect = aspect,
                       .most_way = 0xffff / aspect};
  for (uint32_t i = threadIdx.x; i < kCached; i += kBlockThreads) {
    const uint32_t x = row.cached_begin + i;
    cached[i] = x < width ? row.distances[x] : 0;
  }
  __syncthreads();
  for (uint32_t x = begin + threadIdx.x; x < min(begin + kRowPixels, width); x += kBlockThreads) {
    const uint32_t height = row.distance(x);
    uint32_t best = 0;
    if (height != 0) {
      const uint32_t root = Roots::kCanTouch ? roots(x, y) : 0;
      best = height == kNoColumnDistance ? kNoSquare : height * height;
      best = row.template search<-1>(x, 0xffffffff, root, best);
      best = row.template search<1>(x, width, root, best);
    }
    write_distance(best, out + size_t{y} * width + x);
  }
}

}  // namespace

Status DistanceTransform::configure(uint32_t width, uint32_t height) {
  width_ = width;
  height_ = height;
  CCL_RETURN_IF_ERROR(distances_.allocate(size_t{width} * height));
  return group_distances_.allocate(size_t{blocks_for(width, kGroupColumns)} * height);
}

Status DistanceTransform::measure(const RootMap& roots, uint32_t aspect, uint32_t* squares,
                                  cudaStream_t stream) {
  return run(roots, aspect, squares, stream);
}

Status DistanceTransform::measure_heights(const RootMap& roots, uint32_t aspect, uint16_t* heights,
                                          cudaStream_t stream) {
  return run(roots, aspect, heights, stream);
}

Status DistanceTransform::measure_heights(const Mask& mask, uint32_t aspect, uint16_t* heights,
                                          cudaStream_t stream) {
  if (width_ > kMostMaskColumns || height_ > kMostMaskRows || width_ * aspect > kMostAside) {
    return run(mask, aspect, heights, stream);
  }
  CCL_RETURN_IF_ERROR(launch("measure_mask_columns", measure_mask_columns, blocks_for(width_, kMaskColumns),
                             kMaskColumns * kMaskParts, stream, mask, width_, height_,
                             blocks_for(height_, kMaskParts), distances_.data()));
  measure_mask_rows<<<height_, kMaskRowThreads, mask_row_bytes(width_), stream>>>(distances_.data(), width_,
                                                                                  aspect, heights);
  return check_launch("measure_mask_rows");
}

template <typename Roots, typename Distance>
Status DistanceTransform::run(const Roots& roots, uint32_t aspect, Distance* out, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(launch("measure_columns", measure_columns<Roots>, blocks_for(width_, kGroupColumns),
                             kColumnThreads, stream, roots, width_, height_,
                             blocks_for(height_, kColumnParts), distances_.data(), group_distances_.data()));
  return launch("measure_rows", measure_rows<Roots, Distance>, dim3(blocks_for(width_, kRowPixels), height_),
                kBlockThreads, stream, roots, distances_.data(), group_distances_.data(), width_, aspect,
                out);
}

}  // namespace ccl::device
