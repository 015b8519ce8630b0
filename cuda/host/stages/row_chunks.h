// SPDX-License-Identifier: LGPL-2.1-or-later
/// Row chunks: rows that one thread handles at a time, where each pixel takes the same work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/thread_pool.h"

namespace ccl::host {

inline constexpr uint32_t kRowsPerChunk = 64;

constexpr uint32_t count_row_chunks(uint32_t height) {
  return (height + kRowsPerChunk - 1) / kRowsPerChunk;
}

/// Calls work(y, chunk) for each row: for those of a chunk in order, on one thread.
template <typename Work>
void for_each_row(ThreadPool& pool, uint32_t height, Work work) {
  pool.parallel_for(count_row_chunks(height), [&](uint32_t chunk) {
    const uint32_t end = std::min(height, (chunk + 1) * kRowsPerChunk);
    for (uint32_t y = chunk * kRowsPerChunk; y < end; ++y) {
      work(y, chunk);
    }
  });
}

}  // namespace ccl::host
