// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels for pairs of rows (pair_labeler.h). They are loops over words of bits. Compiled like
/// row_kernels.h; `Simd` is only there to make a different type for each level.
#pragma once

#include <bit>
#include <cstdint>

#include "host/runs/shape.h"
#include "host/runs/simd/kernels.h"
#include "host/runs/simd/links.h"
#include "host/runs/simd/tables.h"
#include "host/unite.h"

namespace ccl::host {

template <typename Simd>
class PairKernels {
 public:
  static uint32_t join_rows(const JoinJob& job) {
    uint64_t carry = 0;
    uint32_t n_runs = 0;
    for (uint32_t i = 0; i < job.n_words; ++i) {
      const uint64_t word = job.upper[i] | job.lower[i];
      job.starts[i] = word & ~(word << 1 | carry);
      carry = word >> (kBitsPerWord - 1);
      n_runs += popcount(job.starts[i]);
    }
    return n_runs;
  }

  static void count_pixels(const CountJob& job) {
    for_each_word_span(
        job.n_words, [&](uint32_t i) { return job.starts[i]; },
        [&](uint32_t i, uint32_t run, uint64_t span, bool is_first) {
          const uint32_t n_upper = popcount(job.upper[i] & span);
          const uint32_t n = n_upper + popcount(job.lower[i] & span);
          job.n_upper[run] = n_upper + (is_first ? 0 : job.n_upper[run]);
          job.n_pixels[run] = n + (is_first ? 0 : job.n_pixels[run]);
        });
  }

  static void sum_runs(const SumJob& job) {
    for_each_word_span(
        job.n_words, [&](uint32_t i) { return job.starts[i]; },
        [upper = job.upper, lower = job.lower, n_pixels = job.n_pixels, n_uppers = job.n_upper,
         column_sum = job.column_sum](uint32_t i, uint32_t run, uint64_t span, bool is_first) {
          const uint32_t n_upper = popcount(upper[i] & span);
          const uint32_t n = n_upper + popcount(lower[i] & span);
          const uint32_t place = static_cast<uint32_t>(std::countr_zero(span));
          const uint32_t x = n * (i * kBitsPerWord + place) +
                             sum_of_places((upper[i] & span) >> place, (lower[i] & span) >> place);
          n_uppers[run] = n_upper + (is_first ? 0 : n_uppers[run]);
          n_pixels[run] = n + (is_first ? 0 : n_pixels[run]);
          column_sum[run] = x + (is_first ? 0 : column_sum[run]);
        });
  }

  static void link_pairs(const LinkJob& job) {
    using Links = RunLinks<Simd>;
    Links::for_each_link(
        job,
        [was_touching = uint64_t{0}](const typename Links::Words& words) mutable {
          return Links::first_touches(words, &was_touching);
        },
        [parent = job.parent](uint32_t run, uint32_t above) { unite(parent, run, above); });
  }

  static void shape_runs(const ShapeJob& job) {
    uint64_t carry = 0;
    uint64_t carry_above = 0;
    uint64_t links = 0;
    for_each_word_span(
        job.n_words,
        [&](uint32_t i) {
          const uint64_t word = job.row[i];
          const uint64_t above = job.above[i];
          const uint64_t starts = word & ~(word << 1 | carry);
          const uint64_t starts_above = above & ~(above << 1 | carry_above);
          links = (starts & (above | above << 1 | carry_above)) | (starts_above & (word | word << 1 | carry));
          carry = word >> (kBitsPerWord - 1);
          carry_above = above >> (kBitsPerWord - 1);
          return starts;
        },
        [&](uint32_t i, uint32_t run, uint64_t span, bool is_first) {
          const uint32_t overlap = popcount(job.row[i] & job.above[i] & span);
          const uint32_t shape = popcount(links & span) * shape_of_link(0) + overlap;
          job.shape[run] = shape + (is_first ? 0 : job.shape[run]);
        });
  }

  static void list_labels(const ListLabelsJob& job) {
    const uint32_t* label = job.label;
    uint32_t* out = job.out;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < job.n_words; ++i) {
      const uint64_t word = job.bits.foreground[i];
      const uint64_t starts = job.bits.starts[i];
      uint64_t begins = word & ~(word << 1 | carry);
      carry = word >> (kBitsPerWord - 1);
      for (; begins != 0; begins &= begins - 1) {
        *out++ =
            label[std::popcount(starts & (begins ^ (begins - 1))) - 1];  // int: −1 for the run that is open
      }
      label += popcount(starts);
    }
  }

 private:
  static uint32_t popcount(uint64_t word) { return static_cast<uint32_t>(std::popcount(word)); }

  /// The sum of the places of all bits of both words. Most runs are short, so eight bits are looked up.
  static uint32_t sum_of_places(uint64_t a, uint64_t b) {
    if ((a | b) < 256) {
      return kPlacesOfEight[a] + kPlacesOfEight[b];
    }
    constexpr uint64_t kDigits[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                    0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
    uint32_t sum = 0;
    uint32_t weight = 1;
    for (const uint64_t digit : kDigits) {
      sum += (popcount(a & digit) + popcount(b & digit)) * weight;
      weight *= 2;
    }
    return sum;
  }

  /// All bits below the lowest one.
  static uint64_t below(uint64_t word) { return ~word & (word - 1); }

  /// Calls visit(i, run, span, is_first) for the word spans of all runs: in each word, the bits from a run's
  /// start, or from the start of the word, up to the next run's start. Runs count from 0.
  template <typename Starts, typename Visit>
  static void for_each_word_span(uint32_t n_words, Starts starts_of, Visit visit) {
    uint32_t n_runs = 0;
    for (uint32_t i = 0; i < n_words; ++i) {
      uint64_t starts = starts_of(i);
      if (n_runs != 0 && (starts & 1) == 0) {
        visit(i, n_runs - 1, below(starts), false);
      }
      while (starts != 0) {
        const uint64_t later = starts & (starts - 1);
        visit(i, n_runs++, below(later) & ~below(starts), true);
        starts = later;
      }
    }
  }
};

}  // namespace ccl::host
