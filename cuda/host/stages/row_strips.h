// SPDX-License-Identifier: LGPL-2.1-or-later
/// Strips of rows, which threads process in parallel. Each strip has scratch memory of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/thread_pool.h"

namespace ccl::host {

/// A few rows take less time than waking a second thread.
inline constexpr uint32_t kMinRowsPerStrip = 8;
/// More strips than threads, so that a thread that loses its processor delays the frame less.
inline constexpr uint32_t kStripsPerThread = 2;

constexpr uint32_t count_strips(uint32_t height, uint32_t n_threads) {
  return n_threads == 1 ? 1 : std::clamp(height / kMinRowsPerStrip, 1u, n_threads * kStripsPerThread);
}

/// Rows begin..end − 1.
struct RowSpan {
  uint32_t begin;
  uint32_t end;
};

class RowStrips {
 public:
  RowStrips(uint32_t height, ThreadPool& pool)
      : height_(height), count_(count_strips(height, pool.n_threads())), pool_(&pool) {}

  uint32_t count() const { return count_; }

  /// Calls work(strip, rows) for each strip.
  template <typename Work>
  void for_each(Work work) const {
    pool_->parallel_for(count_, [&](uint32_t strip) {
      work(strip, RowSpan{begin(strip), begin(strip + 1)});
    });
  }
  /// Calls work(y) for each row: for those of a strip in order, on one thread.
  template <typename Work>
  void for_each_row(Work work) const {
    for_each([&](uint32_t, RowSpan rows) {
      for (uint32_t y = rows.begin; y < rows.end; ++y) {
        work(y);
      }
    });
  }
  /// As for_each() on one thread, in the order of rows.
  template <typename Work>
  void for_each_in_turn(Work work) const {
    for (uint32_t strip = 0; strip < count_; ++strip) {
      work(strip, RowSpan{begin(strip), begin(strip + 1)});
    }
  }

 private:
  uint32_t begin(uint32_t strip) const { return static_cast<uint32_t>(uint64_t{height_} * strip / count_); }

  uint32_t height_;
  uint32_t count_;
  ThreadPool* pool_;
};

}  // namespace ccl::host
