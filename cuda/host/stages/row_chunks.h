// SPDX-License-Identifier: LGPL-2.1-or-later
/// Row chunks: rows that one thread handles at a time, where each pixel takes the same work.
#pragma once

#include <cstdint>

namespace ccl::host {

inline constexpr uint32_t kRowsPerChunk = 64;

constexpr uint32_t count_row_chunks(uint32_t height) {
  return (height + kRowsPerChunk - 1) / kRowsPerChunk;
}

}  // namespace ccl::host
