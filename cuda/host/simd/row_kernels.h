// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels but for their vectors, to be compiled once for each instruction set: a level's file turns
/// on its instructions, then includes this.
///
/// `Simd` has what is done to 64 pixels, all of them present:
/// - at_least(pixels, threshold): a bit for each pixel, set where its value is at least `threshold`;
/// - differs(a, b): a bit for each pixel, set where a[i] ≠ b[i];
/// - end_stream(): what Kernels says of it;
/// - fill<Pixel, kStream>(ink, out): all pixels become `ink`;
/// - expand<Pixel, kStream>(foreground, starts, inks, background, out): the pixels of the run that was open
/// before
///   the first pixel become inks[-1], those of the i-th run that starts here inks[i], others `background`.
///
/// Every level's `Simd` is a type of its own, so no two of them ever share a function.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "host/run_shape.h"
#include "host/simd/kernels.h"
#include "host/simd/links.h"
#include "host/simd/pair_kernels.h"
#include "host/unite.h"

namespace ccl::host {

template <typename Simd>
class RowKernels {
 public:
  static constexpr Kernels table(SimdLevel level) {
    return {.level = level,
            .pack_row = pack_row,
            .list_runs = list_runs,
            .link_rows = link_rows,
            .join_rows = PairKernels<Simd>::join_rows,
            .weigh_runs = PairKernels<Simd>::weigh_runs,
            .sum_runs = PairKernels<Simd>::sum_runs,
            .link_pairs = PairKernels<Simd>::link_pairs,
            .list_labels = PairKernels<Simd>::list_labels,
            .shape_runs = PairKernels<Simd>::shape_runs,
            .expand_8 = expand<uint8_t, false>,
            .expand_16 = expand<uint16_t, false>,
            .expand_32 = expand<uint32_t, false>,
            .stream_32 = expand<uint32_t, true>,
            .end_stream = Simd::end_stream};
  }

 private:
  static uint32_t popcount(uint64_t word) { return static_cast<uint32_t>(std::popcount(word)); }

  static void pack_row(const PackJob& job) {
    if (job.rule.foreground != Foreground::kBinary) {
      pack_values(job);
    } else if (job.bits.starts != nullptr) {
      pack_binary<true>(job);
    } else {
      pack_binary<false>(job);
    }
  }

  template <bool kWithStarts>
  static void pack_binary(const PackJob& job) {
    const uint64_t flip = job.rule.invert ? ~uint64_t{0} : 0;
    const uint32_t n_whole = job.width / kBitsPerWord;
    uint64_t carry = 0;
    const auto put = [&](uint32_t i, uint64_t word) {
      job.bits.foreground[i] = word;
      if constexpr (kWithStarts) {
        job.bits.starts[i] = word & ~(word << 1 | carry);
        carry = word >> (kBitsPerWord - 1);
      }
    };
    for (uint32_t i = 0; i < n_whole; ++i) {
      const uint8_t* pixels = job.pixels + size_t{i} * kBitsPerWord;
      fetch_ahead(pixels);
      put(i, Simd::at_least(pixels, job.rule.threshold) ^ flip);
    }
    if (const uint32_t n_left = job.width % kBitsPerWord; n_left != 0) {
      alignas(kBitsPerWord) uint8_t pixels[kBitsPerWord] = {};
      std::memcpy(pixels, job.pixels + size_t{n_whole} * kBitsPerWord, n_left);
      put(n_whole, (Simd::at_least(pixels, job.rule.threshold) ^ flip) & ((uint64_t{1} << n_left) - 1));
    }
  }

  /// Asks memory for what comes a row or so later, which arrives while this row's runs are linked: the
  /// processor's own prefetching would begin anew with every row. The address need not exist.
  static void fetch_ahead(const uint8_t* pixels) {
    constexpr uintptr_t kDistance = 4096;
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(pixels) + kDistance));
  }

  /// A run starts at a value that is not 0 and not the one before it.
  static void pack_values(const PackJob& job) {
    // Each word's pixels with the one before them; before the row there is background.
    uint8_t pixels[1 + kBitsPerWord] = {};
    for (uint32_t x = 0; x < job.width; x += kBitsPerWord) {
      const uint32_t n = std::min(kBitsPerWord, job.width - x);
      pixels[0] = x == 0 ? 0 : job.pixels[x - 1];
      std::memset(pixels + 1, 0, kBitsPerWord);
      std::memcpy(pixels + 1, job.pixels + x, n);
      const uint64_t word = Simd::at_least(pixels + 1, 1);
      job.bits.foreground[x / kBitsPerWord] = word;
      job.bits.starts[x / kBitsPerWord] = word & Simd::differs(pixels, pixels + 1);
    }
  }

  static uint32_t list_runs(const ListJob& job) {
    uint16_t* begin = job.begin;
    uint16_t* end = job.end;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < count_words(job.width); ++i) {
      const uint64_t word = job.bits.foreground[i];
      const uint64_t starts = job.bits.starts[i];
      const uint64_t ends = (word << 1 | carry) & (~word | starts);
      carry = word >> (kBitsPerWord - 1);
      if ((starts | ends) != 0) {
        begin = list_bits(starts, i * kBitsPerWord, begin);
        end = list_bits(ends, i * kBitsPerWord, end);
      }
    }
    if (carry != 0) {  // the last word is full, or the run would have ended in it
      *end = static_cast<uint16_t>(job.width);
    }
    return static_cast<uint32_t>(begin - job.begin);
  }

  /// Four at a time, since a loop that ends at every number of bits would be mispredicted at every word.
  /// What is written behind the last one is overwritten by the next word's or lies in the padding.
  static uint16_t* list_bits(uint64_t bits, uint32_t x, uint16_t* out) {
    uint16_t* const end = out + popcount(bits);
    for (; out < end; out += 4) {
      for (uint32_t k = 0; k < 4; ++k, bits &= bits - 1) {
        out[k] = static_cast<uint16_t>(x + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
    return end;
  }

  static void link_rows(const LinkJob& job, Connectivity connectivity, bool with_shapes) {
    if (connectivity == Connectivity::k8) {
      with_shapes ? link<Connectivity::k8, true>(job) : link<Connectivity::k8, false>(job);
    } else {
      with_shapes ? link<Connectivity::k4, true>(job) : link<Connectivity::k4, false>(job);
    }
  }

  template <Connectivity kConnectivity, bool kWithShapes>
  static void link(const LinkJob& job) {
    using Links = RunLinks<Simd>;
    Links::for_each_link(
        job,
        [](const typename Links::Words& words) { return Links::template first_links<kConnectivity>(words); },
        [&job](uint32_t run, uint32_t above) {
          unite(job.parent, run, above);
          if constexpr (kWithShapes) {
            const int overlap =
                std::min(job.end[run], job.end[above]) - std::max(job.begin[run], job.begin[above]);
            job.shape[run] += shape_of_link(static_cast<uint32_t>(overlap));
          }
        });
  }

  template <typename Pixel, bool kStream>
  static void expand(const ExpandJob& job, void* out) {
    const uint32_t* inks = job.inks;
    const uint32_t n_whole = job.width / kBitsPerWord;
    for (uint32_t i = 0; i < n_whole; ++i) {
      const uint64_t foreground = job.bits.foreground[i];
      const uint64_t starts = job.bits.starts[i];
      uint8_t* pixels = static_cast<uint8_t*>(out) + size_t{i} * kBitsPerWord * sizeof(Pixel);
      if (foreground == 0) {
        inks += popcount(starts);  // of the other row of its pair
        Simd::template fill<Pixel, kStream>(job.background, pixels);
      } else if (~foreground == 0 && starts <= 1) {
        inks += starts;
        Simd::template fill<Pixel, kStream>(inks[-1], pixels);
      } else {
        Simd::template expand<Pixel, kStream>(foreground, starts, inks, job.background, pixels);
        inks += popcount(starts);
      }
    }
    if (const uint32_t n_left = job.width % kBitsPerWord; n_left != 0) {
      uint8_t pixels[kBitsPerWord * sizeof(Pixel)];
      Simd::template expand<Pixel, false>(job.bits.foreground[n_whole], job.bits.starts[n_whole], inks,
                                          job.background, pixels);
      std::memcpy(static_cast<uint8_t*>(out) + size_t{n_whole} * sizeof(pixels), pixels,
                  n_left * sizeof(Pixel));
    }
  }
};

}  // namespace ccl::host
