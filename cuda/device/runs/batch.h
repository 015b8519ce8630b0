// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames that share a launch, as the kernel gets them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/config.h"

namespace ccl::device::runs {

/// A row of the grid is a *group*: it has a block for each tile of a frame, takes one frame after the other,
/// and waits for no other group. Its tiles' memory is two sets in turn, because a block may begin the next
/// frame while others end this one. No block is two frames ahead: each frame has barriers.
struct Batch {
  static constexpr uint32_t kSets = 2;  ///< of a group

  struct Frame {
    const uint8_t* input;
    uint8_t* output;
  };

  uint32_t n_frames;
  size_t set_bytes;  ///< from a set of the tiles' memory to the next one
  Frame frames[kMaxBatch];
};

}  // namespace ccl::device::runs
