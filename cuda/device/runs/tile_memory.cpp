// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/tile_memory.h"

#include <algorithm>

#include "device/check.h"
#include "device/runs/dispatch.h"

namespace ccl::device::runs {

namespace {

constexpr size_t kArrayAlignment = 256;

}  // namespace

/// Chooses the lowest tiles with which each tile of so many frames has a block of its own; if there are none,
/// the highest.
Status TileMemory::choose_size(uint32_t width, uint32_t height, uint32_t tile_width, uint32_t n_frames) {
  Tiles& t = tiles_;
  CCL_RETURN_IF_ERROR(find_resident_blocks(has_values_, tile_width, &n_blocks_));
  t.tile_width = tile_width;
  t.columns = blocks_for(width, tile_width);
  t.rows = kMinRows;
  while (t.rows < (has_values_ ? kMaxValueRows : kMaxRows) &&
         n_frames * t.columns * blocks_for(height, t.rows) > n_blocks_) {
    t.rows *= 2;
  }
  t.strips = blocks_for(height, t.rows);
  return {};
}

Status TileMemory::allocate(uint32_t width, uint32_t height, bool has_values, uint32_t n_frames,
                            uint32_t sets_of_group, cudaStream_t stream) {
  has_values_ = has_values;
  Tiles& t = tiles_;
  t.frame.width = width;
  t.frame.height = height;
  t.has_whole_chunks = width % kChunk == 0;
  CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow, n_frames));
  const uint32_t n_narrow = n_blocks_;
  if (n_frames * t.count() > n_narrow && !has_values) {
    CCL_RETURN_IF_ERROR(choose_size(width, height, kWide, n_frames));
    if (n_blocks_ * kWide <=
        n_narrow * kNarrow) {  // some GPUs have shared memory for few wide tiles, or none
      CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow, n_frames));
    }
  }
  if (n_blocks_ == 0) {
    return {StatusCode::kUnsupported, "runs needs more shared memory than this GPU has"};
  }
  t.max_runs = t.tile_width * t.rows / (has_values ? 1 : 2);
  t.max_nodes = 2 * (t.tile_width + t.rows) / (has_values ? 1 : 2);
  if (t.count() > n_blocks_) {
    t.parked_vectors =
        static_cast<uint32_t>(parked_bytes(has_values, t.tile_width, t.max_runs) / sizeof(uint4));
  }
  n_groups_ = std::min(n_frames, n_blocks_ / t.count());
  const uint32_t n_sets = sets_of_group * std::max(n_groups_, 1u);
  set_bytes_ = place(nullptr);
  CCL_RETURN_IF_ERROR(memory_.allocate(n_sets * set_bytes_));
  place(memory_.data());
  CCL_RETURN_IF_ERROR(check(cudaMemset2DAsync(t.arrivals, set_bytes_, 0, sizeof(*t.arrivals), n_sets, stream),
                            "cudaMemset2DAsync of the arrivals"));
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/// Makes the tiles point into a set at `memory`. Returns its bytes.
size_t TileMemory::place(uint8_t* memory) {
  Tiles& t = tiles_;
  const size_t n_tiles = t.count();
  const size_t n_nodes = n_tiles * t.max_nodes;
  const size_t n_row_pixels = size_t{t.strips} * t.columns * t.tile_width;
  const size_t n_column_pixels = size_t{t.columns} * t.strips * t.rows;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t end = begin;
  const auto take = [&end]<typename T>(size_t count, T*& array) {
    array = reinterpret_cast<T*>(end);
    end += (count * sizeof(T) + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
  };
  take(n_row_pixels, t.top);
  take(n_row_pixels, t.bottom);
  take(n_column_pixels, t.left);
  take(n_column_pixels, t.right);
  take(n_nodes, t.parent);
  take(n_nodes * kMaxSumWords, t.node_sums);
  take(n_nodes, t.node_label);
  take(n_tiles * t.rows, t.row_counts);
  take(n_tiles, t.tile_counts);
  take(1, t.arrivals);
  take(n_tiles * t.parked_vectors, t.parked);
  return end - begin;
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
