// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/tile_memory.h"

#include "device/check.h"
#include "device/runs/dispatch.h"

namespace ccl::device::runs {

/// Chooses the lowest tiles with which each tile has a block of its own; if there are none, the highest.
Status TileMemory::choose_size(uint32_t width, uint32_t height, uint32_t tile_width) {
  Tiles& t = tiles_;
  CCL_RETURN_IF_ERROR(find_resident_blocks(has_values_, tile_width, &n_blocks_));
  t.tile_width = tile_width;
  t.columns = blocks_for(width, tile_width);
  t.rows = kMinRows;
  while (t.rows < (has_values_ ? kMaxValueRows : kMaxRows) &&
         t.columns * blocks_for(height, t.rows) > n_blocks_) {
    t.rows *= 2;
  }
  t.strips = blocks_for(height, t.rows);
  return {};
}

Status TileMemory::allocate(uint32_t width, uint32_t height, bool has_values, cudaStream_t stream) {
  has_values_ = has_values;
  Tiles& t = tiles_;
  t.frame.width = width;
  t.frame.height = height;
  t.has_whole_chunks = width % kChunk == 0;
  CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow));
  const uint32_t n_narrow = n_blocks_;
  if (t.count() > n_narrow && !has_values) {
    CCL_RETURN_IF_ERROR(choose_size(width, height, kWide));
    if (n_blocks_ * kWide <=
        n_narrow * kNarrow) {  // some GPUs have shared memory for few wide tiles, or none
      CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow));
    }
  }
  if (n_blocks_ == 0) {
    return {StatusCode::kUnsupported, "runs needs more shared memory than this GPU has"};
  }
  t.max_runs = t.tile_width * t.rows / (has_values ? 1 : 2);
  t.max_nodes = 2 * (t.tile_width + t.rows) / (has_values ? 1 : 2);

  const size_t n_tiles = t.count();
  const size_t n_nodes = n_tiles * t.max_nodes;
  const size_t n_row_pixels = size_t{t.strips} * t.columns * t.tile_width;
  const size_t n_column_pixels = size_t{t.columns} * t.strips * t.rows;
  const auto take = [](auto& array, size_t count, auto*& pointer) {
    CCL_RETURN_IF_ERROR(array.allocate(count));
    pointer = array.data();
    return Status();
  };
  CCL_RETURN_IF_ERROR(take(top_, n_row_pixels, t.top));
  CCL_RETURN_IF_ERROR(take(bottom_, n_row_pixels, t.bottom));
  CCL_RETURN_IF_ERROR(take(left_, n_column_pixels, t.left));
  CCL_RETURN_IF_ERROR(take(right_, n_column_pixels, t.right));
  CCL_RETURN_IF_ERROR(take(parent_, n_nodes, t.parent));
  CCL_RETURN_IF_ERROR(take(node_sums_, n_nodes * kMaxSumWords, t.node_sums));
  CCL_RETURN_IF_ERROR(take(node_label_, n_nodes, t.node_label));
  CCL_RETURN_IF_ERROR(take(row_counts_, n_tiles * t.rows, t.row_counts));
  CCL_RETURN_IF_ERROR(take(tile_counts_, n_tiles, t.tile_counts));
  CCL_RETURN_IF_ERROR(take(arrivals_, 1, t.arrivals));
  if (n_tiles > n_blocks_) {
    t.parked_vectors =
        static_cast<uint32_t>(parked_bytes(has_values, t.tile_width, t.max_runs) / sizeof(uint4));
    CCL_RETURN_IF_ERROR(take(parked_, n_tiles * t.parked_vectors, t.parked));
  }
  CCL_RETURN_IF_ERROR(
      check(cudaMemsetAsync(t.arrivals, 0, sizeof(uint32_t), stream), "cudaMemsetAsync of the arrivals"));
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Tiles TileMemory::of(const Settings& settings, const FrameBuffers& frame) const {
  Tiles tiles = tiles_;
  tiles.frame.pixels = frame.input;
  tiles.frame.pitch = frame.input_pitch;
  tiles.frame.rule = settings.rule;
  tiles.is_aligned = (reinterpret_cast<uintptr_t>(frame.input) | frame.input_pitch) % kChunk == 0;
  return tiles;
}

}  // namespace ccl::device::runs
