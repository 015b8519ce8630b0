// SPDX-License-Identifier: LGPL-2.1-or-later
/// Block-based Komura equivalence (BKE): S. Allegretti, F. Bolelli, C. Grana, "Optimized Block-Based
/// Algorithms to Label Connected Components on GPUs", IEEE Transactions on Parallel and Distributed
/// Systems 31(2), 2020, after Y. Komura, "GPU-based cluster-labeling algorithm without the use of
/// conventional iteration", Computer Physics Communications 194, 2015.
///
/// All foreground pixels of a 2×2 block are 8-connected, so a block needs one label, which is stored at one
/// of its pixels in the label image. Initialization links each block to its smallest neighbour to the left
/// and above, which joins most of a component without atomics; compression replaces labels by their roots,
/// and reduction unites the roots that the remaining links join. After a second compression, final labeling
/// writes the labels of the blocks to their pixels.
///
/// Where we differ:
/// - A block's label is the label of its first foreground pixel, and its entry is stored there. Smaller
/// labels
///   are therefore earlier pixels, and a root is the label of the first pixel of its component.
/// - A ballot finds the runs of linked blocks in a row of a tile. Each run, instead of each block, is linked
/// to
///   a neighbour in initialization: to the first run above that touches it. Paths are therefore at most as
///   long as the tile has rows. Links that follow from other links are left out.
/// - Initialization, compression and the reduction inside a tile are one kernel in shared memory, so that
/// only
///   links across borders of tiles remain in the whole image. A thread keeps its block's remaining links in
///   registers; the paper stores them in unused pixels of the block, which a block at the edge of an image of
///   odd size may not have. In a tile, all threads repeat the reduction together, so that no thread has to
///   follow a root that many threads lower one after the other.
/// - If several links of a warp across borders join the same two trees, one of them is united.
/// - The last compression and final labeling are one kernel: each thread writes to its own block only, and it
///   replaces the block's entry by its root, which is a correct entry too. Reading the pixels again is
///   cheaper than storing which of them are foreground.
/// - In 4-connectivity, and with many values, a 2×2 block may contain several components. A block is a single
///   pixel then (blocks.cuh), and all else is the same: this is Komura's equivalence.
#include <memory>

#include "device/labelers/blocks.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler_of.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

// A tile is as many blocks wide as a warp has lanes; a thread block has one thread per block of the tile.
// Several thread blocks fill a multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileRows = 16;
constexpr uint32_t kTileThreads = kTileRows * kWarpSize;

constexpr uint32_t kBorderThreads = 128;

constexpr uint32_t kFinalRows = 8;
constexpr uint32_t kFinalThreads = kFinalRows * kWarpSize;

/// Labels and positions in a tile of `Block`s.
template <typename Block>
struct Tile {
  static constexpr uint32_t kWidth = kWarpSize * Block::kSize;
  static constexpr uint32_t kHeight = kTileRows * Block::kSize;

  /// The label in the tile of a block with these contents; `column` and `row` count blocks.
  __device__ static uint32_t label(uint32_t contents, uint32_t column, uint32_t row) {
    const uint32_t x = column * Block::kSize + Block::first_x(contents);
    const uint32_t y = row * Block::kSize + Block::first_y(contents);
    return y * kWidth + x + 1;
  }

  /// The label in the frame of a pixel of the tile at blockIdx.
  __device__ static uint32_t label_in_frame(uint32_t label, uint32_t frame_width) {
    const uint32_t x = blockIdx.x * kWidth + (label - 1) % kWidth;
    const uint32_t y = blockIdx.y * kHeight + (label - 1) / kWidth;
    return y * frame_width + x + 1;
  }
};

/// The contents around a block; `above` are those of the block above. All lanes must call this function for
/// the blocks of one row.
__device__ inline Neighbourhood neighbourhood_of(uint32_t own, uint32_t above) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const auto zero_if = [](bool outside, uint32_t contents) { return outside ? 0 : contents; };
  const bool first = lane == 0;
  const bool last = lane == kWarpSize - 1;
  return {.own = own,
          .left = zero_if(first, __shfl_up_sync(kAllLanes, own, 1)),
          .right = zero_if(last, __shfl_down_sync(kAllLanes, own, 1)),
          .up_left = zero_if(first, __shfl_up_sync(kAllLanes, above, 1)),
          .up = above,
          .up_right = zero_if(last, __shfl_down_sync(kAllLanes, above, 1))};
}

/// A run: blocks in a row that are linked from each to the next.
struct Run {
  uint32_t members;  ///< one bit per lane
  uint32_t label;    ///< the smallest label of its blocks; 0: background
};

/// The run that contains a block with contents `own` and this label. All lanes must call this function for
/// the blocks of one row.
template <typename Block>
__device__ inline Run run_of(uint32_t own, bool linked_left, uint32_t label) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t starts = __ballot_sync(kAllLanes, !linked_left);
  const uint32_t first = last_lane_of(starts & bits_up_to(lane));
  const uint32_t later = starts & ~bits_up_to(lane);
  const uint32_t members = (later != 0 ? (later & (0 - later)) - 1 : kAllLanes) & ~bits_below(first);
  // The smallest label is that of the first block with foreground in its first row of pixels, if any.
  const uint32_t early = __ballot_sync(kAllLanes, own != 0 && Block::first_y(own) == 0) & members;
  const uint32_t holder = early != 0 ? first_lane_of(early) : first;
  const uint32_t smallest = __shfl_sync(kAllLanes, label, static_cast<int>(holder));
  return {members, own != 0 ? smallest : 0};
}

/// The labels of the runs in the row above that a block still has to be linked to; 0: none.
struct RowLinks {
  static constexpr uint32_t kCount = 3;
  uint32_t labels[kCount];

  /// All runs that `links` link the block to, except those that the block to the left in the run is linked
  /// to. `above` is the label of the run of the block above. All lanes must call this function for the blocks
  /// of one row.
  __device__ static RowLinks of(const BlockLinks& links, uint32_t above) {
    const uint32_t above_left = __shfl_up_sync(kAllLanes, above, 1);
    const uint32_t above_right = __shfl_down_sync(kAllLanes, above, 1);
    const uint32_t up = links.up ? above : 0;
    const uint32_t up_right = links.up_right && above_right != up ? above_right : 0;
    const uint32_t left_up = __shfl_up_sync(kAllLanes, up, 1);
    const uint32_t left_up_right = __shfl_up_sync(kAllLanes, up_right, 1);
    const auto is_known = [&](uint32_t label) {
      return links.left && (label == left_up || label == left_up_right);
    };
    const uint32_t up_left = links.up_left && above_left != up && !is_known(above_left) ? above_left : 0;
    return {up_left, is_known(up) ? 0 : up, up_right};
  }

  __device__ bool any() const { return (labels[0] | labels[1] | labels[2]) != 0; }

  /// Removes a link and returns it.
  __device__ uint32_t take_one() {
    uint32_t taken = 0;
    for (uint32_t& label : labels) {
      if (taken == 0) {
        taken = label;
        label = 0;
      }
    }
    return taken;
  }

  /// Compression: replaces the labels by their roots and removes those whose root is `root`. Returns whether
  /// any is left.
  __device__ bool keep_remaining(const uint32_t* table, uint32_t root) {
    for (uint32_t& label : labels) {
      const uint32_t other = label != 0 ? find(table, label) : root;
      label = other != root ? other : 0;
    }
    return any();
  }

  /// Reduction: lowers the entry of the larger of two roots to the smaller one. If another thread lowers it
  /// further, keep_remaining() keeps the link.
  __device__ void reduce(uint32_t* table, uint32_t root) const {
    for (const uint32_t other : labels) {
      if (other != 0) {
        atomicMin(table + max(root, other) - 1, min(root, other));
      }
    }
  }
};

/// Initialization, compression and reduction inside a tile. There is a barrier between all writes and reads
/// of entries.
template <typename Block>
__global__ void __launch_bounds__(kTileThreads) reduce_tiles(SegmentSource frame, uint32_t* frame_table) {
  using BlockTile = Tile<Block>;
  __shared__ uint32_t contents[kTileRows][kWarpSize];
  __shared__ uint32_t runs[kTileRows][kWarpSize];
  __shared__ uint32_t table[BlockTile::kWidth * BlockTile::kHeight];
  const uint32_t column = threadIdx.x % kWarpSize;
  const uint32_t row = threadIdx.x / kWarpSize;
  allow_next_kernel();
  const uint32_t own = Block::contents(frame, (blockIdx.x * kWarpSize + column) * Block::kSize,
                                       (blockIdx.y * kTileRows + row) * Block::kSize);
  contents[row][column] = own;
  __syncthreads();

  const BlockLinks block_links =
      Block::links_of(neighbourhood_of(own, row > 0 ? contents[row - 1][column] : 0));
  const uint32_t label = BlockTile::label(own, column, row);
  const Run run = run_of<Block>(own, block_links.left, label);
  runs[row][column] = run.label;
  __syncthreads();

  RowLinks links = RowLinks::of(block_links, row > 0 ? runs[row - 1][column] : 0);
  const uint32_t linked = __ballot_sync(kAllLanes, links.any()) & run.members;
  if (linked != 0 ? column == first_lane_of(linked) : label == run.label) {
    table[run.label - 1] = linked != 0 ? links.take_one() : run.label;
  }
  __syncthreads();

  uint32_t root = own != 0 ? find(table, run.label) : 0;
  while (__syncthreads_or(links.keep_remaining(table, root))) {
    links.reduce(table, root);
    __syncthreads();
    root = own != 0 ? find(table, root) : 0;
  }
  if (own != 0) {
    const uint32_t entry = BlockTile::label_in_frame(label, frame.width) - 1;
    frame_table[entry] = BlockTile::label_in_frame(root, frame.width);
  }
}

/// A block at a border of tiles and its neighbours in the frame.
template <typename Block>
struct BorderBlock {
  uint32_t x, y;  ///< of the block's first pixel, foreground or background
  Neighbourhood n;

  __device__ static BorderBlock at(const SegmentSource& frame, uint32_t x, uint32_t y) {
    const auto contents = [&](uint32_t column, uint32_t row) {
      return Block::contents(frame, column, row);  // coordinates that wrap around are background
    };
    constexpr uint32_t kSize = Block::kSize;
    return {x,
            y,
            {.own = contents(x, y),
             .left = contents(x - kSize, y),
             .right = contents(x + kSize, y),
             .up_left = contents(x - kSize, y - kSize),
             .up = contents(x, y - kSize),
             .up_right = contents(x + kSize, y - kSize)}};
  }

  /// The label in the frame of the block with these contents that is dx blocks to the right and dy below.
  __device__ uint32_t label(uint32_t contents, int32_t dx, int32_t dy, uint32_t frame_width) const {
    const uint32_t first_x = x + dx * static_cast<int32_t>(Block::kSize) + Block::first_x(contents);
    const uint32_t first_y = y + dy * static_cast<int32_t>(Block::kSize) + Block::first_y(contents);
    return first_y * frame_width + first_x + 1;
  }
};

constexpr uint32_t kBorderLinks = 3;

/// The links of a block below a border of tiles to the blocks above it. The straight link is left out if it
/// follows from that of the block to the left in the same tile.
template <typename Block>
__device__ inline void links_upwards(const BorderBlock<Block>& block, uint32_t width,
                                     Equivalence (&links)[kBorderLinks]) {
  const Neighbourhood& n = block.n;
  const BlockLinks linked = Block::links_of(n);
  const bool is_known = block.x % Tile<Block>::kWidth != 0 && linked.left &&
                        Block::is_above(n.up_left, n.left) && Block::is_beside(n.up_left, n.up);
  const uint32_t own = block.label(n.own, 0, 0, width);
  if (linked.up_left) {
    links[0] = {own, block.label(n.up_left, -1, -1, width)};
  }
  if (linked.up && !is_known) {
    links[1] = {own, block.label(n.up, 0, -1, width)};
  }
  if (linked.up_right) {
    links[2] = {own, block.label(n.up_right, 1, -1, width)};
  }
}

/// The same for a block right of a border and the blocks left of it. The third link crosses the border from
/// the lower left to the upper right.
template <typename Block>
__device__ inline void links_to_left(const BorderBlock<Block>& block, uint32_t width,
                                     Equivalence (&links)[kBorderLinks]) {
  const Neighbourhood& n = block.n;
  const BlockLinks linked = Block::links_of(n);
  const BlockLinks linked_of_left = Block::links_of(
      {.own = n.left, .left = 0, .right = n.own, .up_left = 0, .up = n.up_left, .up_right = n.up});
  const bool is_known = block.y % Tile<Block>::kHeight != 0 && linked.up &&
                        Block::is_above(n.up_left, n.left) && Block::is_beside(n.up_left, n.up);
  const uint32_t own = block.label(n.own, 0, 0, width);
  const uint32_t left = block.label(n.left, -1, 0, width);
  if (linked.up_left) {
    links[0] = {own, block.label(n.up_left, -1, -1, width)};
  }
  if (linked.left && !is_known) {
    links[1] = {own, left};
  }
  if (linked_of_left.up_right) {
    links[2] = {left, block.label(n.up, 0, -1, width)};
  }
}

/// Reduction of the links across borders of tiles: blockIdx.y counts the horizontal borders, then the
/// vertical ones; each thread handles one block along a border.
template <typename Block>
__global__ void __launch_bounds__(kBorderThreads)
    reduce_borders(SegmentSource frame, uint32_t n_horizontal, uint32_t* table) {
  using BlockTile = Tile<Block>;
  const uint32_t along = (blockIdx.x * kBorderThreads + threadIdx.x) * Block::kSize;
  const uint32_t border = blockIdx.y;
  Equivalence links[kBorderLinks];
  if (border < n_horizontal) {
    if (along < frame.width) {
      links_upwards(BorderBlock<Block>::at(frame, along, (border + 1) * BlockTile::kHeight), frame.width,
                    links);
    }
  } else if (along < frame.height) {
    const uint32_t x = (border - n_horizontal + 1) * BlockTile::kWidth;
    links_to_left(BorderBlock<Block>::at(frame, x, along), frame.width, links);
  }
  wait_for_previous_kernel();
  for (const Equivalence& link : links) {
    unite_once_per_warp(table, link);
  }
}

/// Writes a root to the foreground pixels of a 2×2 block, and 0 to the others; two pixels at a time if all
/// rows are aligned.
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

/// Compression and final labeling.
template <typename Block>
__global__ void __launch_bounds__(kFinalThreads) label_blocks(SegmentSource frame, uint32_t* root_map) {
  const uint32_t x = (blockIdx.x * kWarpSize + threadIdx.x % kWarpSize) * Block::kSize;
  const uint32_t y = (blockIdx.y * kFinalRows + threadIdx.x / kWarpSize) * Block::kSize;
  if (x >= frame.width || y >= frame.height) {
    return;
  }
  const uint32_t own = Block::contents(frame, x, y);
  wait_for_previous_kernel();
  const uint32_t entry = (y + Block::first_y(own)) * frame.width + x + Block::first_x(own);
  const uint32_t root = own != 0 ? compress(root_map, entry, load(root_map + entry)) : 0;
  write_block(Block{}, frame, x, y, own, root, root_map);
}

/// Launches the three kernels for this kind of blocks.
template <typename Block>
Status run_blocks(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
  using BlockTile = Tile<Block>;
  const dim3 tiles(blocks_for(frame.width, BlockTile::kWidth), blocks_for(frame.height, BlockTile::kHeight));
  const uint32_t longest = frame.width > frame.height ? frame.width : frame.height;
  const dim3 borders(blocks_for(longest, kBorderThreads * Block::kSize), tiles.x + tiles.y - 2);
  const dim3 blocks(tiles.x, blocks_for(frame.height, kFinalRows * Block::kSize));
  CCL_RETURN_IF_ERROR(launch("block-equivalence reduce_tiles", reduce_tiles<Block>, tiles, kTileThreads,
                             stream, frame, root_map));
  CCL_RETURN_IF_ERROR(launch_overlapped("block-equivalence reduce_borders", reduce_borders<Block>, borders,
                                        kBorderThreads, stream, frame, tiles.y - 1, root_map));
  return launch_overlapped("block-equivalence label_blocks", label_blocks<Block>, blocks, kFinalThreads,
                           stream, frame, root_map);
}

/// Launches the kernels for the largest blocks that have one component each.
template <Connectivity kConnectivity>
struct BlockEquivalence {
  Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) const {
    if constexpr (kConnectivity == Connectivity::k8) {
      if (frame.rule.foreground == Foreground::kBinary) {
        return run_blocks<SquareBlock>(frame, root_map, stream);
      }
    }
    return run_blocks<PixelBlock<kConnectivity>>(frame, root_map, stream);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_block_equivalence() {
  return std::make_unique<LabelerOf<BlockEquivalence>>();
}

}  // namespace ccl::device
