// SPDX-License-Identifier: LGPL-2.1-or-later
/// Block-based Komura equivalence (BKE): S. Allegretti, F. Bolelli, C. Grana, "Optimized Block-Based
/// Algorithms to Label Connected Components on GPUs", IEEE Transactions on Parallel and Distributed
/// Systems 31(2), 2020, after Y. Komura, "GPU-based cluster-labeling algorithm without the use of
/// conventional iteration", Computer Physics Communications 194, 2015.
///
/// All foreground pixels of a 2×2 block are 8-connected, so a block needs one label, kept at one of its
/// pixels in the label image. Initialization gives each block the smallest linked one among its
/// neighbours to the left and above, which already joins most of a component without an atomic;
/// compression points blocks at their roots, reduction unites the roots that the remaining links join,
/// and after another compression the final labelling spreads the labels over the blocks' pixels.
///
/// Where we differ:
/// - A block's label is that of its first foreground pixel, which is also where its entry lies. Smaller
///   labels are then earlier pixels, so that a root is the first pixel of its component and is its
///   label.
/// - Links that others imply are left out (see links_of()).
/// - Initialization, compression and the reduction of links inside a tile are one kernel, in shared
///   memory; in the whole image only links across borders of tiles are left to reduce. A thread keeps
///   its block's remaining links in registers, where the paper packs them into unused pixels of the
///   block, which a block at the edge of an image of odd size may not have.
/// - The last compression and the final labelling are one kernel: each thread overwrites its own block
///   alone, and a block's entry with its root, which is as good an entry as the one before. Reading the
///   pixels again is cheaper than to store which of them were foreground.
/// - In 4-connectivity, and where many values are segments, a 2×2 block may hold several components.
///   There a block is a single pixel, and all else the same: Komura's equivalence.
#include "device/equivalence.cuh"
#include "device/labeler.h"
#include "device/launch.cuh"
#include "device/links.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A tile is a warp of blocks wide and a thread block has a thread for each of its blocks: four fill a
// multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileRows = 16;
constexpr uint32_t kTileThreads = kTileRows * kWarpSize;

constexpr uint32_t kFinalRows = 8;
constexpr uint32_t kFinalThreads = kFinalRows * kWarpSize;

/// The contents of a block and its neighbours, as a block has them; 0: no foreground, or outside the
/// tile.
struct Neighbourhood {
  uint32_t own;
  uint32_t left;
  uint32_t right;
  uint32_t up_left;
  uint32_t up;
  uint32_t up_right;
};

/// To which of the neighbours scanned before a block is linked, without links that others imply: one to
/// the left is left out where it goes around through both blocks above, a diagonal one where the window
/// of pixels that it crosses has another foreground pixel. Links upwards stay, so those that are left
/// out follow from links nearer to the tile's first row, and no circle of them can be left out.
struct BlockLinks {
  bool left;
  bool up_left;
  bool up;
  bool up_right;
};

/// 2×2 pixels of binary foreground, 8-connected. Its contents have a bit for each pixel, in raster
/// order.
struct SquareBlock {
  static constexpr uint32_t kSize = 2;
  static constexpr Connectivity kConnectivity = Connectivity::k8;

  static constexpr uint32_t kA = 1, kB = 2, kC = 4, kD = 8;  // a b / c d
  static constexpr uint32_t kTop = kA | kB, kBottom = kC | kD, kLeft = kA | kC, kRight = kB | kD;

  /// A row of the block, in bits kA and kB.
  __device__ static uint32_t row(const SegmentSource& frame, uint32_t x, uint32_t y) {
    if (x >= frame.width || y >= frame.height) {
      return 0;
    }
    const uint8_t* first = frame.pixels + y * frame.pitch + x;
    const bool has_second = x + 1 < frame.width;
    uint32_t two = 0;
    if (has_second && reinterpret_cast<uintptr_t>(first) % sizeof(uint16_t) == 0) {
      two = *reinterpret_cast<const uint16_t*>(first);
    } else {
      two = first[0] | (has_second ? first[1] << 8 : 0);
    }
    const bool a = frame.rule.segment(two & 0xff) != 0;
    const bool b = has_second && frame.rule.segment(two >> 8) != 0;
    return (a ? kA : 0) | (b ? kB : 0);
  }

  __device__ static uint32_t contents(const SegmentSource& frame, uint32_t x, uint32_t y) {
    return row(frame, x, y) | row(frame, x, y + 1) * kC;
  }

  /// The column and the row of the first foreground pixel.
  __device__ static uint32_t first_x(uint32_t own) {
    const uint32_t first_row = (own & kTop) != 0 ? own : own / kC;
    return (first_row & kA) == 0 ? 1 : 0;
  }
  __device__ static uint32_t first_y(uint32_t own) { return (own & kTop) == 0 ? 1 : 0; }

  __device__ static BlockLinks links_of(const Neighbourhood& n) {
    const auto set = [](uint32_t block, uint32_t pixels) { return (block & pixels) != 0; };
    const bool up = set(n.own, kTop) && set(n.up, kBottom);
    const bool around =
        up && set(n.left, kTop) && set(n.up_left, kBottom) && set(n.up_left, kRight) && set(n.up, kLeft);
    return {
        .left = set(n.own, kLeft) && set(n.left, kRight) && !around,
        .up_left = set(n.own, kA) && set(n.up_left, kD) && !set(n.up, kC) && !set(n.left, kB),
        .up = up,
        .up_right = set(n.own, kB) && set(n.up_right, kC) && !set(n.up, kD) && !set(n.right, kA),
    };
  }
};

/// One pixel. Its contents are its segment.
template <Connectivity kPixelConnectivity>
struct PixelBlock {
  static constexpr uint32_t kSize = 1;
  static constexpr Connectivity kConnectivity = kPixelConnectivity;

  __device__ static uint32_t contents(const SegmentSource& frame, uint32_t x, uint32_t y) {
    return frame.segment_or_background(x, y);
  }

  __device__ static uint32_t first_x(uint32_t) { return 0; }
  __device__ static uint32_t first_y(uint32_t) { return 0; }

  __device__ static BlockLinks links_of(const Neighbourhood& n) {
    constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
    const bool foreground = n.own != 0;
    const bool left = foreground && n.own == n.left;
    const bool up = foreground && n.own == n.up;
    return {
        .left = left && !(up && n.own == n.up_left),
        .up_left = kDiagonals && foreground && n.own == n.up_left && !up && !left,
        .up = up,
        .up_right = kDiagonals && foreground && n.own == n.up_right && !up && n.own != n.right,
    };
  }
};

/// Labels and positions in a tile of `Block`s.
template <typename Block>
struct Tile {
  static constexpr uint32_t kWidth = kWarpSize * Block::kSize;
  static constexpr uint32_t kHeight = kTileRows * Block::kSize;

  /// The label of the block of these contents in a row and column of blocks.
  __device__ static uint32_t label(uint32_t contents, uint32_t column, uint32_t row) {
    const uint32_t x = column * Block::kSize + Block::first_x(contents);
    const uint32_t y = row * Block::kSize + Block::first_y(contents);
    return y * kWidth + x + 1;
  }

  /// The same pixel's label in the frame, for the tile that blockIdx is at.
  __device__ static uint32_t label_in_frame(uint32_t label, uint32_t frame_width) {
    const uint32_t x = blockIdx.x * kWidth + (label - 1) % kWidth;
    const uint32_t y = blockIdx.y * kHeight + (label - 1) / kWidth;
    return y * frame_width + x + 1;
  }
};

/// Looks at the blocks around; `above` is the block above. All lanes must call it.
__device__ inline Neighbourhood neighbourhood_of(uint32_t own, uint32_t above) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const auto unless = [](bool outside, uint32_t contents) { return outside ? 0 : contents; };
  const bool first = lane == 0;
  const bool last = lane == kWarpSize - 1;
  return {.own = own,
          .left = unless(first, __shfl_up_sync(kAllLanes, own, 1)),
          .right = unless(last, __shfl_down_sync(kAllLanes, own, 1)),
          .up_left = unless(first, __shfl_up_sync(kAllLanes, above, 1)),
          .up = above,
          .up_right = unless(last, __shfl_down_sync(kAllLanes, above, 1))};
}

/// The labels at the other ends of a block's links; 0: not linked.
struct LinkedLabels {
  static constexpr uint32_t kCount = 4;
  uint32_t labels[kCount];

  template <typename Block>
  __device__ static LinkedLabels of(const Neighbourhood& n, uint32_t column, uint32_t row) {
    const BlockLinks links = Block::links_of(n);
    using BlockTile = Tile<Block>;
    return {links.left ? BlockTile::label(n.left, column - 1, row) : 0,
            links.up_left ? BlockTile::label(n.up_left, column - 1, row - 1) : 0,
            links.up ? BlockTile::label(n.up, column, row - 1) : 0,
            links.up_right ? BlockTile::label(n.up_right, column + 1, row - 1) : 0};
  }

  __device__ uint32_t least(uint32_t own) const {
    for (const uint32_t label : labels) {
      own = label != 0 ? min(own, label) : own;
    }
    return own;
  }

  /// Leaves the links whose roots are still to be united with `root`; whether there are any.
  __device__ bool keep_remaining(const uint32_t* table, uint32_t parent, uint32_t root) {
    bool any = false;
    for (uint32_t& label : labels) {
      const uint32_t other = label != 0 && label != parent ? find(table, label) : root;
      label = other != root ? other : 0;
      any = any || label != 0;
    }
    return any;
  }
};

/// Initialization, compression and reduction inside a tile. Between writing entries and reading them
/// there is always a barrier.
template <typename Block>
__global__ void __launch_bounds__(kTileThreads) reduce_tiles(SegmentSource frame, uint32_t* frame_table) {
  using BlockTile = Tile<Block>;
  __shared__ uint32_t contents[kTileRows][kWarpSize];
  __shared__ uint32_t table[BlockTile::kWidth * BlockTile::kHeight];
  const uint32_t column = threadIdx.x % kWarpSize;
  const uint32_t row = threadIdx.x / kWarpSize;
  const uint32_t own = Block::contents(frame, (blockIdx.x * kWarpSize + column) * Block::kSize,
                                       (blockIdx.y * kTileRows + row) * Block::kSize);
  contents[row][column] = own;
  __syncthreads();

  const Neighbourhood n = neighbourhood_of(own, row > 0 ? contents[row - 1][column] : 0);
  const uint32_t label = BlockTile::label(own, column, row);
  LinkedLabels linked = LinkedLabels::of<Block>(n, column, row);
  const uint32_t parent = linked.least(label);
  if (own != 0) {
    table[label - 1] = parent;
  }
  __syncthreads();

  uint32_t root = own != 0 ? find(table, parent) : 0;
  const bool remains = linked.keep_remaining(table, parent, root);
  if (__syncthreads_or(remains)) {
    for (const uint32_t other : linked.labels) {
      if (other != 0) {
        unite(table, root, other);
      }
    }
    __syncthreads();
    root = own != 0 ? find(table, root) : 0;
  }
  if (own != 0) {
    const uint32_t entry = BlockTile::label_in_frame(label, frame.width) - 1;
    frame_table[entry] = BlockTile::label_in_frame(root, frame.width);
  }
}

/// The label of the block that a foreground pixel is in.
template <typename Block>
__device__ inline uint32_t label_of_block_at(const SegmentSource& frame, uint32_t pixel) {
  if constexpr (Block::kSize == 1) {
    return pixel + 1;
  }
  const uint32_t x = pixel % frame.width / Block::kSize * Block::kSize;
  const uint32_t y = pixel / frame.width / Block::kSize * Block::kSize;
  const uint32_t contents = Block::contents(frame, x, y);
  return (y + Block::first_y(contents)) * frame.width + x + Block::first_x(contents) + 1;
}

/// Reduction of the links across borders of tiles.
template <typename Block>
__global__ void __launch_bounds__(kBorderThreads) reduce_borders(SegmentSource frame, uint32_t* table) {
  using BlockTile = Tile<Block>;
  merge_borders<Block::kConnectivity>(
      frame, BlockTile::kWidth, BlockTile::kHeight, [&](uint32_t p, uint32_t q) {
        unite_roots(table, label_of_block_at<Block>(frame, p), label_of_block_at<Block>(frame, q));
      });
}

/// Writes a root to the foreground pixels of a 2×2 block and 0 to the others, two at a time where all
/// rows begin at an even address.
__device__ inline void write_block(SquareBlock, const SegmentSource& frame, uint32_t x, uint32_t y,
                                   uint32_t own, uint32_t root, uint32_t* root_map) {
  const bool in_pairs =
      (reinterpret_cast<uintptr_t>(root_map) | frame.width * sizeof(uint32_t)) % sizeof(uint2) == 0;
#pragma unroll
  for (uint32_t row = 0; row < SquareBlock::kSize && y + row < frame.height; ++row) {
    uint32_t* first = root_map + (y + row) * frame.width + x;
    const uint32_t bits = row == 0 ? own : own / SquareBlock::kC;
    const uint2 two = {bits & SquareBlock::kA ? root : 0, bits & SquareBlock::kB ? root : 0};
    if (in_pairs) {
      *reinterpret_cast<uint2*>(first) = two;
      continue;
    }
    first[0] = two.x;
    if (x + 1 < frame.width) {
      first[1] = two.y;
    }
  }
}

template <Connectivity kConnectivity>
__device__ inline void write_block(PixelBlock<kConnectivity>, const SegmentSource& frame, uint32_t x,
                                   uint32_t y, uint32_t, uint32_t root, uint32_t* root_map) {
  root_map[y * frame.width + x] = root;
}

/// Compression and final labelling.
template <typename Block>
__global__ void __launch_bounds__(kFinalThreads) label_blocks(SegmentSource frame, uint32_t* root_map) {
  const uint32_t x = (blockIdx.x * kWarpSize + threadIdx.x % kWarpSize) * Block::kSize;
  const uint32_t y = (blockIdx.y * kFinalRows + threadIdx.x / kWarpSize) * Block::kSize;
  if (x >= frame.width || y >= frame.height) {
    return;
  }
  const uint32_t own = Block::contents(frame, x, y);
  const uint32_t entry = (y + Block::first_y(own)) * frame.width + x + Block::first_x(own);
  const uint32_t root = own != 0 ? compress(root_map, entry, load(root_map + entry)) : 0;
  write_block(Block{}, frame, x, y, own, root, root_map);
}

template <typename Block>
Status run_with(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
  using BlockTile = Tile<Block>;
  const dim3 tiles(blocks_for(frame.width, BlockTile::kWidth), blocks_for(frame.height, BlockTile::kHeight));
  const dim3 borders = border_blocks(frame, BlockTile::kWidth, BlockTile::kHeight);
  const dim3 blocks(tiles.x, blocks_for(frame.height, kFinalRows * Block::kSize));
  CCL_RETURN_IF_ERROR(launch("block-equivalence reduce_tiles", reduce_tiles<Block>, tiles, kTileThreads,
                             stream, frame, root_map));
  CCL_RETURN_IF_ERROR(launch("block-equivalence reduce_borders", reduce_borders<Block>, borders,
                             kBorderThreads, stream, frame, root_map));
  return launch("block-equivalence label_blocks", label_blocks<Block>, blocks, kFinalThreads, stream, frame,
                root_map);
}

template <Connectivity kConnectivity>
struct BlockEquivalence {
  static Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
    if constexpr (kConnectivity == Connectivity::k8) {
      if (frame.rule.foreground == Foreground::kBinary) {
        return run_with<SquareBlock>(frame, root_map, stream);
      }
    }
    return run_with<PixelBlock<kConnectivity>>(frame, root_map, stream);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_block_equivalence() {
  return std::make_unique<LabelerOf<BlockEquivalence>>();
}

}  // namespace ccl::device
