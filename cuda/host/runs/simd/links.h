// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which runs of two rows touch each other, told by bits; compiled like row_kernels.h. `Simd` only
/// makes it a type of its own for each level.
#pragma once

#include <bit>
#include <cstdint>

#include "host/runs/simd/kernels.h"

namespace ccl::host {

template <typename Simd>
class RunLinks {
 public:
  /// Words at the same place of two rows, and copies moved by a column so that a pixel's left neighbour is at
  /// its place.
  struct Words {
    uint64_t row, row_left, row_starts;
    uint64_t above, above_left, above_starts;
  };

  /// Two runs that touch do so first in the column where the later one of them starts, so each bit is one
  /// pair of runs.
  template <Connectivity kConnectivity>
  static uint64_t first_links(const Words& words) {
    constexpr bool kCorners = kConnectivity == Connectivity::k8;
    const uint64_t reach = kCorners ? words.row | words.row_left : words.row;
    const uint64_t reach_above = kCorners ? words.above | words.above_left : words.above;
    return (words.row_starts & reach_above) | (words.above_starts & reach);
  }

  /// Of pairs of rows, whose runs may begin before they touch: from one start of a run, on either side, to
  /// the next, the runs stay the same. Each such stretch has a bit where they touch first, if they do. The
  /// sum finds it: what is added at the start is carried through the places where they do not touch, and at
  /// the latest to the end of the stretch. A stretch that goes on from the word before has no bit if they
  /// touch at that word's end, which `was_touching` tells and is told.
  static uint64_t first_touches(const Words& words, uint64_t* was_touching) {
    const uint64_t touching = (words.row & (words.above | words.above_left)) | (words.above & words.row_left);
    const uint64_t starts = words.row_starts | words.above_starts;
    const uint64_t added = starts | (*was_touching ^ 1);
    *was_touching = touching >> (kBitsPerWord - 1);
    return touching & ((~touching & ~(starts >> 1)) + added);
  }

  /// Calls visit(run, above) for all bits of links_of(words), of all words. The two runs are the last ones
  /// that started until there.
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
