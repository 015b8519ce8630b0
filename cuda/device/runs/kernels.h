// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels that dispatch.cu chooses from. Four files compile them: pixel_kernels.cu those of frames of
/// pixels, bit_kernels.cu those of bit images, filtered_pixel_kernels.cu and filtered_bit_kernels.cu the same
/// with a full filter (specialization.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "device/runs/emission.h"
#include "device/runs/paint_rule.h"
#include "device/runs/specialization.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// A kernel, and the shared memory that its blocks use.
struct Kernel {
  void (*process)(Tiles, Emitter, PaintRule, uint8_t*, const uint32_t*, Filter);
  size_t tile_bytes;
};

/// What a kernel is compiled for, apart from the width of tiles.
struct Purpose {
  bool has_values;
  Connectivity connectivity;
  bool has_features;
  Specialization specialization;
  bool has_bits;  ///< the frame is read from its bit image; not with has_values
};

Kernel kernel_of_pixels(const Purpose& purpose, uint32_t tile_width);
Kernel kernel_of_bits(const Purpose& purpose, uint32_t tile_width);
Kernel filtered_kernel_of_pixels(const Purpose& purpose, uint32_t tile_width);
Kernel filtered_kernel_of_bits(const Purpose& purpose, uint32_t tile_width);

}  // namespace ccl::device::runs
