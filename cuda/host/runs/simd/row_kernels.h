// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels without their vector code. Compiled once for each instruction set: a level's file enables
/// its instructions, then includes this file.
///
/// `Simd` has the functions for 64 whole pixels:
/// - at_least(pixels, threshold): a bit for each pixel, set where its value is at least `threshold`;
/// - differs(a, b): a bit for each pixel, set where a[i] ≠ b[i];
/// - end_stream(): see Kernels;
/// - stream_vector(in, out): copies kStreamAlignment bytes past the caches; both pointers are aligned;
/// - fill<Pixel, kStream>(value, out): all pixels become `value`;
/// - expand<Pixel, kStream>(foreground, starts, values, background, out): pixels of the run that is open
///   before the first pixel become values[-1], pixels of the i-th run that starts here values[i], all others
///   `background`. With kStream, a cache line begins at `out`.
///
/// Every level has another `Simd` type, so no two levels ever share a function.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "host/runs/shape.h"
#include "host/runs/simd/kernels.h"
#include "host/runs/simd/links.h"
#include "host/runs/simd/pair_kernels.h"
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
            .count_pixels = PairKernels<Simd>::count_pixels,
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
    if (const uint32_t n_last = job.width % kBitsPerWord; n_last != 0) {
      alignas(kBitsPerWord) uint8_t pixels[kBitsPerWord] = {};
      std::memcpy(pixels, job.pixels + size_t{n_whole} * kBitsPerWord, n_last);
      put(n_whole, (Simd::at_least(pixels, job.rule.threshold) ^ flip) & ((uint64_t{1} << n_last) - 1));
    }
  }

  /// Prefetches the pixels of about a row later, which arrive while this row's runs are linked. The
  /// processor's own prefetching would restart with every row. The address need not be valid.
  static void fetch_ahead(const uint8_t* pixels) {
    constexpr uintptr_t kDistance = 4096;
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(pixels) + kDistance));
  }

  /// A run starts at a value that is not 0 and differs from the value before it.
  static void pack_values(const PackJob& job) {
    // The pixels of a word and the pixel before them, which is background for the first word.
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
    if (carry != 0) {  // the last word is full and its run is still open
      *end = static_cast<uint16_t>(job.width);
    }
    return static_cast<uint32_t>(begin - job.begin);
  }

  /// Four at a time: the end of a loop over single bits would be mispredicted at every word. Entries after
  /// the last one are overwritten by the next word's or lie in the padding.
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

  /// Streaming is fast for whole cache lines only, so then the row is cut where the output's lines begin.
  template <typename Pixel, bool kStream>
  static void expand(const ExpandJob& job, void* out) {
    auto* pixels = static_cast<uint8_t*>(out);
    const uint32_t begin = kStream ? std::min(job.width, pixels_to_line<Pixel>(out)) : 0;
    const uint32_t end = begin + (job.width - begin) / kBitsPerWord * kBitsPerWord;
    const uint32_t* values = job.values;
    if (begin != 0) {
      values = expand_few<Pixel, kStream>(job, 0, begin, values, pixels);
    }
    for (uint32_t x = begin; x < end; x += kBitsPerWord) {
      values = expand_word<Pixel, kStream>(bits_from(job.bits.foreground, job.width, x),
                                           bits_from(job.bits.starts, job.width, x), values, job.background,
                                           pixels + size_t{x} * sizeof(Pixel));
    }
    if (end != job.width) {
      expand_few<Pixel, kStream>(job, end, job.width, values, pixels);
    }
  }

  /// Like Simd::expand. Returns the address of the values of later runs.
  template <typename Pixel, bool kStream>
  static const uint32_t* expand_word(uint64_t foreground, uint64_t starts, const uint32_t* values,
                                     uint32_t background, uint8_t* out) {
    if (foreground == 0) {  // starts may be set by the other row of a pair
      Simd::template fill<Pixel, kStream>(background, out);
    } else if (~foreground == 0 && starts <= 1) {
      Simd::template fill<Pixel, kStream>(*(values + starts - 1), out);
    } else {
      Simd::template expand<Pixel, kStream>(foreground, starts, values, background, out);
    }
    return values + popcount(starts);
  }

  /// Expands columns begin..end − 1, fewer than a word.
  template <typename Pixel, bool kStream>
  static const uint32_t* expand_few(const ExpandJob& job, uint32_t begin, uint32_t end,
                                    const uint32_t* values, uint8_t* out) {
    const uint64_t mask = (uint64_t{1} << (end - begin)) - 1;
    alignas(kCacheLine) uint8_t pixels[kBitsPerWord * sizeof(Pixel)];
    values = expand_word<Pixel, false>(bits_from(job.bits.foreground, job.width, begin) & mask,
                                       bits_from(job.bits.starts, job.width, begin) & mask, values,
                                       job.background, pixels);
    const uint8_t* in = pixels;
    size_t n_bytes = (end - begin) * sizeof(Pixel);
    out += size_t{begin} * sizeof(Pixel);
    for (; kStream && n_bytes >= kStreamAlignment; n_bytes -= kStreamAlignment) {
      Simd::stream_vector(in, out);
      in += kStreamAlignment;
      out += kStreamAlignment;
    }
    std::memcpy(out, in, n_bytes);
    return values;
  }

  /// The bits of 64 columns from x on, 0 after the row's end.
  static uint64_t bits_from(const uint64_t* words, uint32_t width, uint32_t x) {
    const uint32_t i = x / kBitsPerWord;
    const uint32_t shift = x % kBitsPerWord;
    const uint64_t next =
        shift != 0 && i + 1 < count_words(width) ? words[i + 1] << (kBitsPerWord - shift) : 0;
    return words[i] >> shift | next;
  }

  template <typename Pixel>
  static uint32_t pixels_to_line(const void* address) {
    return static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(address) % kCacheLine / sizeof(Pixel));
  }
};

}  // namespace ccl::host
