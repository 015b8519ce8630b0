// SPDX-License-Identifier: LGPL-2.1-or-later
/// A bit image as bytes, for labelers that read pixels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/segment.h"
#include "ccl/status.h"

namespace ccl::device {

/// Bytes from one row's start to the next one's in an unpacked bit image: so many that rows are aligned to 16
/// bytes.
constexpr size_t unpacked_pitch(uint32_t width) {
  return size_t{32} * bit_row_words(width);
}

/// Enqueues the writing of all bits as bytes that are 0 or 255: `height` rows of unpacked_pitch(width) bytes.
/// Both are device memory, aligned to 16 bytes.
Status unpack_bits(const uint32_t* bits, uint32_t width, uint32_t height, uint8_t* bytes,
                   cudaStream_t stream);

}  // namespace ccl::device
