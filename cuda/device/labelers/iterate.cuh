// SPDX-License-Identifier: LGPL-2.1-or-later
/// Iteration on the device, for labelers that repeat their steps until nothing changes.
///
/// The papers' hosts launch a turn, read an indicator back and decide. Here all turns are one kernel
/// whose blocks are resident together and wait for each other, so that a frame is enqueued at once and
/// a CUDA graph can hold it.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler.h"
#include "device/launch.cuh"

namespace ccl::device {

/// The indicator, at the start of a labeler's workspace: whether a turn changed anything. Turns use its
/// words by rotation: one is cleared while another is set, and a third may still be looked at.
struct alignas(128) Indicator {
  static constexpr uint32_t kWords = 3;
  uint32_t is_changed[kWords];
};

/// Calls init(), then turn(n) for n = 0, 1, ... until it returns false in all threads of the grid,
/// which all must call this. The blocks wait for each other after every call. Writes to `n_turns` how
/// often.
template <typename Init, typename Turn>
__device__ inline void iterate(Indicator* indicator, uint32_t* n_turns, Init init, Turn turn) {
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
      *n_turns = n + 1;
    }
    if (__syncthreads_or(turn(n)) && threadIdx.x == 0) {
      store(is_changed, 1);
    }
    grid.sync();
    is_done = load(is_changed) == 0;
  }
}

/// Calls visit(x, y) for this thread's share of a grid of width × height pixels: neighbouring threads
/// have neighbouring pixels of a row. There is a division for each thread only, none for each pixel.
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

/// Calls visit(i, look(i)) for this thread's share of the indices below n: neighbouring threads have
/// neighbouring ones. Some are looked at, which must only read, before any of them is visited, so that what
/// is read of them is on the way together.
template <typename Look, typename Visit>
__device__ inline void for_each_index(uint32_t n, Look look, Visit visit) {
  constexpr uint32_t kAtOnce = 2;  // for more there are too few registers
  const uint32_t n_threads = gridDim.x * blockDim.x;
  for (uint32_t first = blockIdx.x * blockDim.x + threadIdx.x; first < n; first += kAtOnce * n_threads) {
    decltype(look(0)) seen[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      if (const uint32_t i = first + k * n_threads; i < n) {
        seen[k] = look(i);
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      if (const uint32_t i = first + k * n_threads; i < n) {
        visit(i, seen[k]);
      }
    }
  }
}

/// The labeler whose two forms are Steps<Connectivity::k4> and Steps<Connectivity::k8>. Each has static
/// members workspace_bytes(width, height) and run(), with the contracts of Labeler's.
template <template <Connectivity> typename Steps>
class IteratingLabelerOf final : public Labeler {
 public:
  size_t workspace_bytes(uint32_t width, uint32_t height) const override {
    return Steps<Connectivity::k8>::workspace_bytes(width, height);
  }

  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map, void* workspace,
               uint32_t* n_iterations, cudaStream_t stream) override {
    return connectivity == Connectivity::k8
               ? Steps<Connectivity::k8>::run(frame, root_map, workspace, n_iterations, stream)
               : Steps<Connectivity::k4>::run(frame, root_map, workspace, n_iterations, stream);
  }
};

}  // namespace ccl::device
