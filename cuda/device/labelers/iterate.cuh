// SPDX-License-Identifier: LGPL-2.1-or-later
/// Iteration on the device, for labelers that repeat their steps until nothing changes.
///
/// In the papers, the host launches one iteration, reads an indicator back and decides whether to launch
/// another one. Here all iterations are one kernel whose blocks are resident at the same time and wait for
/// each other, so that the host enqueues a frame without waiting and a CUDA graph can contain it.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "ccl/rule.h"
#include "device/labelers/equivalence.cuh"
#include "device/segment_source.h"

namespace ccl::device {

/// The papers' indicator, at the start of a labeler's workspace: whether an iteration changed anything. Three
/// words are used in rotation: while one is set, the next one is cleared, and other blocks may still read the
/// previous one.
struct alignas(128) Indicator {
  static constexpr uint32_t kWords = 3;
  uint32_t is_changed[kWords];
};

/// Calls init(), then iteration(n) for n = 0, 1, ... until it returns false in all threads of the grid.
/// Writes the number of iterations to `n_iterations`. The blocks wait for each other after every call. All
/// threads of the grid must call this function.
template <typename Init, typename Iteration>
__device__ inline void iterate(Indicator* indicator, uint32_t* n_iterations, Init init, Iteration iteration) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const bool is_first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  if (is_first_thread) {
    store(&indicator->is_changed[0], 0);
  }
  init();
  grid.sync();

  bool is_done = false;
  for (uint32_t n = 0; !is_done; ++n) {
    uint32_t* is_changed = &indicator->is_changed[n % Indicator::kWords];
    if (is_first_thread) {
      store(&indicator->is_changed[(n + 1) % Indicator::kWords], 0);
      *n_iterations = n + 1;
    }
    if (__syncthreads_or(iteration(n)) && threadIdx.x == 0) {
      store(is_changed, 1);
    }
    grid.sync();
    is_done = load(is_changed) == 0;
  }
}

/// Calls visit(x, y) for this thread's share of width × height pixels. Neighbouring threads have neighbouring
/// pixels of a row. It divides once per thread, not once per pixel.
template <typename Visit>
__device__ inline void for_each_pixel(uint32_t width, uint32_t height, Visit visit) {
  const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t n_threads = gridDim.x * blockDim.x;
  const uint32_t step_x = n_threads % width;
  const uint32_t step_y = n_threads / width;
  uint32_t x = first % width;
  uint32_t y = first / width;
  while (y < height) {
    visit(x, y);
    x += step_x;
    y += step_y;
    if (x >= width) {
      x -= width;
      ++y;
    }
  }
}

/// Calls visit(i, read(i)) for this thread's share of the indices below n. Neighbouring threads have
/// neighbouring indices. Several are read before the first of them is visited, so that the reads overlap;
/// read() must not write.
template <typename Read, typename Visit>
__device__ inline void for_each_index(uint32_t n, Read read, Visit visit) {
  constexpr uint32_t kAtOnce = 2;  // there are too few registers for more
  const uint32_t n_threads = gridDim.x * blockDim.x;
  for (uint32_t first = blockIdx.x * blockDim.x + threadIdx.x; first < n; first += kAtOnce * n_threads) {
    decltype(read(0)) values[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      if (const uint32_t i = first + k * n_threads; i < n) {
        values[k] = read(i);
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      if (const uint32_t i = first + k * n_threads; i < n) {
        visit(i, values[k]);
      }
    }
  }
}

/// The smallest of `own` and the labels of the neighbours that pixel (x0, y0) of the foreground is linked to.
/// label_at(x, y) returns a neighbour's label, 0 for background and outside the frame.
template <Connectivity kConnectivity, typename LabelAt>
__device__ inline uint32_t smallest_label_around(const SegmentSource& frame, uint32_t x0, uint32_t y0,
                                                 uint32_t own, LabelAt label_at) {
  const bool is_binary = frame.rule.foreground == Foreground::kBinary;
  const uint8_t segment = is_binary ? 0 : frame.segment(x0, y0);
  uint32_t smallest = own;
#pragma unroll
  for (int32_t dy = -1; dy <= 1; ++dy) {
#pragma unroll
    for (int32_t dx = -1; dx <= 1; ++dx) {
      if ((dx == 0 && dy == 0) || (kConnectivity == Connectivity::k4 && dx != 0 && dy != 0)) {
        continue;
      }
      const uint32_t x = x0 + dx;
      const uint32_t y = y0 + dy;
      const uint32_t label = label_at(x, y);
      if (label != 0 && label < smallest && (is_binary || frame.segment(x, y) == segment)) {
        smallest = label;
      }
    }
  }
  return smallest;
}

}  // namespace ccl::device
