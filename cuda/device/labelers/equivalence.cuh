// SPDX-License-Identifier: LGPL-2.1-or-later
/// Device code that the labelers share: the table of label equivalences.
///
/// Labels are 1 + a raster index, in a tile or in the frame, so that the image of labels is its own
/// equivalence table: label e's entry is table[e − 1]. An entry is never larger than its label and
/// belongs to the same component; a root is a label that equals its entry, and once it has a smaller
/// one it is no root again. Whoever replaces an entry that is not a root's either unites the old one
/// with the new one or takes the new one from further along the old one's path. Any entry that was ever
/// there therefore leads to the root in the end, which is why these functions need no order among
/// threads, only that a word is read and written whole.
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace ccl::device {

/// An entry that other threads may be lowering: volatile, so that each turn of a loop reads it anew.
__device__ inline uint32_t load(const uint32_t* entry) {
  return *static_cast<const volatile uint32_t*>(entry);
}

/// Replaces an entry that other threads may be reading or replacing.
__device__ inline void store(uint32_t* entry, uint32_t label) {
  *static_cast<volatile uint32_t*>(entry) = label;
}

/// The root of a label in a table that nobody changes.
__device__ inline uint32_t find(const uint32_t* table, uint32_t label) {
  for (uint32_t next = load(table + label - 1); next != label; next = load(table + label - 1)) {
    label = next;
  }
  return label;
}

/// Unites the trees of labels a and b while other threads do so too. Whatever label another thread put
/// into the larger one's entry is either kept there or united next, so no equivalence is lost; the
/// larger of both shrinks with every turn, so it ends. It reads by atomicMin alone: nothing else may
/// see an entry half way. This is for shared memory, where paths are short.
__device__ inline void unite(uint32_t* table, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t larger = max(a, b);
    const uint32_t smaller = min(a, b);
    const uint32_t old = atomicMin(table + larger - 1, smaller);
    if (old == larger) {
      return;  // it was a root
    }
    a = old;
    b = smaller;
  }
}

/// Two labels to be united; 0: none.
struct Equivalence {
  uint32_t a = 0;
  uint32_t b = 0;
};

/// The roots of two labels, or labels they had in the past, while other threads are uniting. Both climb at
/// once, so that one does not wait for the other. It splits the paths it walks: every label on them comes to
/// point two further, so that threads which walk together along a chain of tiles, as a spiral makes, halve it
/// with every passage.
__device__ inline void find_and_split(uint32_t* table, Equivalence* labels) {
  uint32_t next_a = load(table + labels->a - 1);
  uint32_t next_b = load(table + labels->b - 1);
  while (next_a != labels->a || next_b != labels->b) {
    const uint32_t after_a = load(table + next_a - 1);
    const uint32_t after_b = load(table + next_b - 1);
    if (after_a != next_a) {
      store(table + labels->a - 1, after_a);
    }
    if (after_b != next_b) {
      store(table + labels->b - 1, after_b);
    }
    *labels = {next_a, next_b};
    next_a = after_a;
    next_b = after_b;
  }
}

/// unite() for the whole frame, where paths are long, and atomics on the root of a large component
/// stand in line: it takes to them only where reading shows two roots.
__device__ inline void unite_roots(uint32_t* table, Equivalence labels) {
  uint32_t larger = 0;
  uint32_t old = 0;
  do {
    find_and_split(table, &labels);
    if (labels.a == labels.b) {
      return;
    }
    larger = max(labels.a, labels.b);
    labels.b = min(labels.a, labels.b);
    old = atomicMin(table + larger - 1, labels.b);
    labels.a = old;
  } while (old != larger);
}

/// Unites what a link of each of a warp's threads makes equivalent, in the whole frame. Many of them join the
/// same two trees; one of those does it. All lanes must call it.
__device__ inline void unite_link(uint32_t* table, Equivalence link) {
  if (link.a != 0) {
    find_and_split(table, &link);
  }
  const uint64_t trees = link.a != link.b ? uint64_t{max(link.a, link.b)} << 32 | min(link.a, link.b) : 0;
  const uint32_t peers = __match_any_sync(kAllLanes, trees);
  if (trees != 0 && threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(peers)) - 1)) {
    unite_roots(table, link);
  }
}

/// Points the entries of a tile's pixels at their roots: this thread's are `first` and those `stride`
/// apart from there on, and `labels` gets them. Each round doubles the distance that an entry leads, so
/// that all are done in as many rounds as a walk along the longest path has binary digits. The whole
/// block calls it, after a barrier; it ends with one.
template <uint32_t kCount>
__device__ inline void flatten(uint32_t* table, uint32_t first, uint32_t stride, uint32_t (&labels)[kCount]) {
#pragma unroll
  for (uint32_t k = 0; k < kCount; ++k) {
    labels[k] = table[first + k * stride];
  }
  while (true) {
    uint32_t next[kCount];
    bool changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k) {
      next[k] = labels[k] != 0 ? table[labels[k] - 1] : 0;
      changed = changed || next[k] != labels[k];
    }
    if (!__syncthreads_or(changed)) {
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k) {
      if (next[k] != labels[k]) {
        table[first + k * stride] = labels[k] = next[k];
      }
    }
    __syncthreads();
  }
}

/// Points the entry of a foreground pixel, which was `label` just now, at its root, which it returns,
/// while other threads do so too and none unites.
/// - It writes every step forward, so that threads on one path double each other's steps.
/// - It asks the first-level cache whether a label is a root: what was one when uniting ended stays
///   one, and all pixels of a large component would stand in line for that one word of the second
///   level. Only the way on from other labels, which their threads are shortening, is read anew.
__device__ inline uint32_t compress(uint32_t* table, uint32_t pixel, uint32_t label) {
  while (__ldca(table + label - 1) != label) {
    label = load(table + label - 1);
    store(table + pixel, label);
  }
  return label;
}

}  // namespace ccl::device
