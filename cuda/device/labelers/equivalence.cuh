// SPDX-License-Identifier: LGPL-2.1-or-later
/// The table of label equivalences that all labelers use: find, unite, flatten, compress.
///
/// A label is 1 + a raster index, in a tile or in the frame, so that the image of labels is also the
/// equivalence table: the entry of label e is table[e − 1]. An entry is never larger than its label and
/// belongs to the same component. A root is a label that equals its entry; when its entry becomes smaller, it
/// is never a root again.
///
/// These functions need no order among threads, only that words are read and written as a whole: a thread
/// that replaces the entry of a label which is not a root either unites the old entry with the new one, or
/// takes the new one from further along the path of the old one. Therefore every entry that was ever in the
/// table leads to the root in the end.
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace ccl::device {

/// Reads an entry that other threads may replace. The read is volatile, so that each pass of a loop repeats
/// it.
__device__ inline uint32_t load(const uint32_t* entry) {
  return *static_cast<const volatile uint32_t*>(entry);
}

/// Replaces an entry that other threads may read or replace.
__device__ inline void store(uint32_t* entry, uint32_t label) {
  *static_cast<volatile uint32_t*>(entry) = label;
}

/// Returns the root of a label in a table that no thread changes.
__device__ inline uint32_t find(const uint32_t* table, uint32_t label) {
  for (uint32_t next = load(table + label - 1); next != label; next = load(table + label - 1)) {
    label = next;
  }
  return label;
}

/// Two labels of the same component, to be united. Both are 0 if there is nothing to unite.
struct Equivalence {
  uint32_t a = 0;
  uint32_t b = 0;
};

/// Replaces two labels by their roots while other threads unite; a root that is found may have stopped being
/// one since. Both walks advance at the same time, so that their reads overlap. Every label on the two paths
/// is changed to point two steps further (path splitting): threads that walk together along a chain of tiles,
/// as in a spiral, halve its length with every walk.
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

/// Unites the trees of two labels of the frame while other threads unite too. The entry that atomicMin()
/// replaces is united next, so no equivalence is lost; the larger label shrinks with every pass, so the loop
/// ends. Atomics on the root of a large component are executed one after the other, so they are used only
/// after plain reads have found two roots.
__device__ inline void unite(uint32_t* table, Equivalence labels) {
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

/// Unites one equivalence for each lane of a warp. Neighbouring lanes often join the same two trees, and then
/// only one of them unites. All lanes must call this function.
__device__ inline void unite_once_per_warp(uint32_t* table, Equivalence labels) {
  if (labels.a != 0) {
    find_and_split(table, &labels);
  }
  const uint64_t trees =
      labels.a != labels.b ? uint64_t{max(labels.a, labels.b)} << 32 | min(labels.a, labels.b) : 0;
  const uint32_t peers = __match_any_sync(kAllLanes, trees);
  if (trees != 0 && threadIdx.x % kWarpSize == first_lane_of(peers)) {
    unite(table, labels);
  }
}

/// Changes the entries of a tile's pixels to their roots. The thread's own pixels are `first` and those at
/// distances of `stride` after it; `labels` receives their entries. Each round doubles the number of steps
/// that an entry covers, so the number of rounds is the number of binary digits of the longest path. The
/// whole block calls this function, after a barrier; it ends with a barrier.
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

/// Changes the entry of a foreground pixel to its root while other threads compress and none unites. `label`
/// is the entry that was read before. Returns the root.
/// - It writes every step, so that threads on the same path double each other's steps.
/// - It reads through the first-level cache whether a label is a root: a label that was a root when uniting
///   ended is still one, and the pixels of a large component all ask for the same word. Only the next step
///   from other labels, whose entries other threads are changing, is read from the second-level cache.
__device__ inline uint32_t compress(uint32_t* table, uint32_t pixel, uint32_t label) {
  while (__ldca(table + label - 1) != label) {
    label = load(table + label - 1);
    store(table + pixel, label);
  }
  return label;
}

}  // namespace ccl::device
