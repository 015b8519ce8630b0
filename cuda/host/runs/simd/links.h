// SPDX-License-Identifier: LGPL-2.1-or-later
/// Finds the runs of two rows that touch each other, by operations on words of bits. Compiled like
/// row_kernels.h; `Simd` is only there to make a different type for each level.
#pragma once

#include <bit>
#include <cstdint>

#include "host/runs/simd/kernels.h"

namespace ccl::host {

template <typename Simd>
class RunLinks {
 public:
  /// Words of the same columns in two rows, and copies shifted by one column, which have each pixel's left
  /// neighbour at the pixel's place.
  struct Words {
    uint64_t row, row_left, row_starts;
    uint64_t above, above_left, above_starts;
  };

  /// One bit per pair of touching runs. Two runs that touch first do so in the column where the later one
  /// starts.
  template <Connectivity kConnectivity>
  static uint64_t first_links(const Words& words) {
    constexpr bool kCorners = kConnectivity == Connectivity::k8;
    const uint64_t reach = kCorners ? words.row | words.row_left : words.row;
    const uint64_t reach_above = kCorners ? words.above | words.above_left : words.above;
    return (words.row_starts & reach_above) | (words.above_starts & reach);
  }

  /// The same for pairs of rows, whose runs may touch later than they start. From one start of a run, above
  /// or below, to the next start, the two runs stay the same. Each such range of columns gets a bit at the
  /// first column where they touch, if they do. An addition finds it: a carry starts with the range, passes
  /// the columns where the runs do not touch, and ends at the latest with the range. A range that continues
  /// from the word before gets no bit here if its runs touch at the end of that word, which `was_touching`
  /// says; it is updated for the next word.
  static uint64_t first_touches(const Words& words, uint64_t* was_touching) {
    const uint64_t touching = (words.row & (words.above | words.above_left)) | (words.above & words.row_left);
    const uint64_t starts = words.row_starts | words.above_starts;
    const uint64_t added = starts | (*was_touching ^ 1);
    *was_touching = touching >> (kBitsPerWord - 1);
    return touching & ((~touching & ~(starts >> 1)) + added);
  }

  /// Calls visit(run, above) for all bits of links_of(words), for all words. The two runs are the last ones
  /// that started at the bit's column or before.
  template <typename LinksOf, typename Visit>
  static void for_each_link(const LinkJob& job, LinksOf links_of, Visit visit) {
    uint32_t next_run = job.first_run;
    uint32_t next_above = job.first_above;
    uint64_t carry = 0;
    uint64_t carry_above = 0;
    for (uint32_t i = 0; i < job.n_words; ++i) {
      const uint64_t row = job.row.foreground[i];
      const uint64_t above = job.above.foreground[i];
      const uint64_t starts = job.row.starts[i];
      const uint64_t starts_above = job.above.starts[i];
      const Words words{row, row << 1 | carry, starts, above, above << 1 | carry_above, starts_above};
      carry = row >> (kBitsPerWord - 1);
      carry_above = above >> (kBitsPerWord - 1);
      for (uint64_t links = links_of(words); links != 0; links &= links - 1) {
        const uint64_t until = links ^ (links - 1);
        visit(next_run + popcount(starts & until) - 1, next_above + popcount(starts_above & until) - 1);
      }
      next_run += popcount(starts);
      next_above += popcount(starts_above);
    }
  }

 private:
  static uint32_t popcount(uint64_t word) { return static_cast<uint32_t>(std::popcount(word)); }
};

}  // namespace ccl::host
