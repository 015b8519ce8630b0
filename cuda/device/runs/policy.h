// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sizes of tiles and of the blocks that process them.
#pragma once

#include <cstdint>

namespace ccl::device::runs {

/// Tiles have one of two widths. Wide tiles are fewer; narrow ones keep more of the GPU busy with a small
/// frame.
inline constexpr uint32_t kNarrow = 128;
inline constexpr uint32_t kWide = 256;

inline constexpr uint32_t kMinRows = 32;  ///< so that the pixels of a warp lie on one border
inline constexpr uint32_t kMaxRows = 128;
/// Runs of binary foreground have gaps: at most every other pixel begins a run. Runs of values have no gaps,
/// and their tiles half the height.
inline constexpr uint32_t kMaxValueRows = kMaxRows / 2;

inline constexpr uint32_t kWordBits = 32;
inline constexpr uint32_t kChunk = 16;  ///< pixels that a thread packs, in one load

/// All blocks are resident at once, because they wait for one another.
inline constexpr uint32_t kBlocksPerMultiprocessor = 2;

/// The threads of a block. With twice as many per multiprocessor each would have too few registers.
constexpr uint32_t threads_for(uint32_t tile_width) {
  return tile_width == kWide ? 512 : 384;
}

}  // namespace ccl::device::runs
