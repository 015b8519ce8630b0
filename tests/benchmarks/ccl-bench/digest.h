// SPDX-License-Identifier: LGPL-2.1-or-later
/// Digests of a frame's results, the same on the host and on the device, so that all of them can be compared
/// after every run and nothing large crosses the bus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ccl/counts.h"

namespace ccl::bench {

/// One word's part of a digest; the digest is the sum over all words, so their order is free.
constexpr uint64_t digest_part(uint64_t index, uint32_t word) {
  // The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of index and word moves every bit.
  uint64_t bits = (index << 32 | word) + 0x9e3779b97f4a7c15u * (index + 1);
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

/// Of `n_bytes` as 32-bit words; a last word that is not whole is filled up with zeros.
inline uint64_t digest_of(const void* data, size_t n_bytes) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const size_t n_words = n_bytes / sizeof(uint32_t);
  uint64_t sum = 0;
  for (size_t i = 0; i < n_words; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
    sum += digest_part(i, word);
  }
  if (const size_t n_rest = n_bytes % sizeof(uint32_t); n_rest > 0) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + n_words * sizeof(word), n_rest);
    sum += digest_part(n_words, word);
  }
  return sum;
}

/// What a frame came to. Digests that were not asked for are 0.
struct Digests {
  FrameCounts counts;
  uint64_t records = 0;
  uint64_t pixels = 0;
  uint64_t root_map = 0;
  uint64_t labels = 0;

  bool operator==(const Digests&) const = default;
};

}  // namespace ccl::bench
