// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel. If the model keeps what it knew (ccl/segment/light.h), the blocks first add up the light of
/// all pixels and wait for each other. Then each of them computes the change of light. They count the pixels
/// that do not fit it, and wait again. Then each thread begins the pixels again that it has added.
#include "device/stages/segment/mixture_begin.h"

#include <algorithm>

#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/stages/segment/mixture_pixels.cuh"
#include "device/stages/segment/model.cuh"

namespace ccl::device::segment {

namespace {

/// Most frames only start and end them.
constexpr uint32_t kMostBlocks = 256;

struct BlockMemory {
  LightWords words;
  light::Change change;
  unsigned long long n_misfits;
};

__device__ LightWords words_of(const light::ColorSums& sums) {
  const auto word = [](int64_t sum) { return static_cast<unsigned long long>(sum); };
  return {{sums.luma.now, sums.luma.before, word(sums.u_now), word(sums.v_now), word(sums.u_before),
           word(sums.v_before), sums.n_white, sums.y_white, sums.u_white, sums.v_white}};
}

__device__ light::ColorSums sums_of(const LightWords& words) {
  const auto sum = [&](uint32_t i) { return static_cast<int64_t>(words.sums[i]); };
  return {{words.sums[0], words.sums[1]},
          sum(2),
          sum(3),
          sum(4),
          sum(5),
          words.sums[6],
          words.sums[7],
          words.sums[8],
          words.sums[9]};
}

__device__ unsigned long long warp_sum_of_words(unsigned long long value) {
#pragma unroll
  for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

/// Calls visit(x, y, at) for each pixel of the thread. `at`: where it is in the planes.
template <typename Visit>
__device__ void for_each_pixel(const Plane& frame, const MixturePlanes& planes, Visit visit) {
  for (Units units(frame); units.has_unit(); units.next()) {
    for (uint32_t i = 0; i < kLanePixels; ++i) {
      const uint32_t x = units.x() + i * kWarpSize;
      if (x < frame.width) {
        visit(x, units.y(), units.y() * planes.pitch + x);
      }
    }
  }
}

/// The first mode of a pixel. Without chroma it is neutral.
template <bool kHasChroma>
__device__ mixture::Mode<Word> load_first(const MixturePlanes& planes, uint32_t at) {
  mixture::Mode<Word> first = unpack(planes.modes[0][at]);
  if (!kHasChroma) {
    first.chroma = kNeutralChroma;
  }
  return first;
}

/// The first two modes of a pixel.
template <bool kHasChroma>
__device__ mixture::KnownModes load_known(const MixturePlanes& planes, uint32_t at) {
  mixture::KnownModes known{load_first<kHasChroma>(planes, at), {}};
  if (has_next(planes.modes[0][at])) {
    known.second = unpack(planes.modes[1][at]);
    if (!kHasChroma) {
      known.second.chroma = kNeutralChroma;
    }
  }
  return known;
}

/// Writes the modes of a pixel.
__device__ void store_begun(const MixturePlanes& planes, uint8_t* luma, uint32_t at,
                            const mixture::Pixel<Word>& pixel) {
  for (uint32_t i = 0; i < mixture::kModes; ++i) {
    const bool has_next = i + 1 < mixture::kModes && pixel.modes[i + 1].weight > 0;
    planes.modes[i][at] = pack(pixel.modes[i], has_next);
    if (!has_next) {
      break;
    }
  }
  luma[at] = static_cast<uint8_t>(mixture::background_luma<Word>(pixel.modes[0].mean));
}

/// Adds the sums of all threads of the grid. All threads must call it. The result is in the shared memory of
/// each block after it.
__device__ void add_over_grid(const light::ColorSums& of_thread, FrameTotals* totals, LightWords* words) {
  const LightWords mine = words_of(of_thread);
  if (threadIdx.x < kLightWords) {
    words->sums[threadIdx.x] = 0;
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kLightWords; ++i) {
    const unsigned long long of_warp = warp_sum_of_words(mine.sums[i]);
    if (threadIdx.x % kWarpSize == 0) {
      atomicAdd(&words->sums[i], of_warp);
    }
  }
  __syncthreads();
  unsigned long long last = 0;
  if (threadIdx.x < kLightWords) {
    last = __ldcg(&totals->last_light.sums[threadIdx.x]);
    atomicAdd(&totals->light.sums[threadIdx.x], words->sums[threadIdx.x]);
  }
  const GridBarrier barrier(&totals->arrivals);
  barrier.wait(barrier.arrive());
  if (threadIdx.x < kLightWords) {
    const unsigned long long now = __ldcg(&totals->light.sums[threadIdx.x]);
    words->sums[threadIdx.x] = now - last;
    if (blockIdx.x == 0) {
      totals->last_light.sums[threadIdx.x] = now;
    }
  }
  __syncthreads();
}

/// Adds the misfits of all threads of the grid, as add_over_grid() adds the light.
__device__ void add_misfits_over_grid(uint32_t of_thread, FrameTotals* totals, BlockMemory* shared) {
  if (threadIdx.x == 0) {
    shared->n_misfits = 0;
  }
  __syncthreads();
  const unsigned long long of_warp = warp_sum_of_words(of_thread);
  if (threadIdx.x % kWarpSize == 0) {
    atomicAdd(&shared->n_misfits, of_warp);
  }
  __syncthreads();
  unsigned long long last = 0;
  if (threadIdx.x == 0) {
    last = __ldcg(&totals->last_misfits);
    atomicAdd(&totals->misfits, shared->n_misfits);
  }
  const GridBarrier barrier(&totals->arrivals);
  barrier.wait(barrier.arrive());
  if (threadIdx.x == 0) {
    const unsigned long long now = __ldcg(&totals->misfits);
    shared->n_misfits = now - last;
    if (blockIdx.x == 0) {
      totals->last_misfits = now;
    }
  }
  __syncthreads();
}

/// Begins again with what the model knew of the background. All threads must call it.
template <bool kHasChroma>
__device__ void relearn(const Plane& frame, const Chroma& chroma, const MixturePlanes& planes, uint8_t* luma,
                        FrameTotals* totals, BlockMemory* shared) {
  light::ColorSums sums{};
  for_each_pixel(frame, planes, [&](uint32_t x, uint32_t y, uint32_t at) {
    mixture::add(load_first<kHasChroma>(planes, at), load_color<kHasChroma>(frame, chroma, x, y), &sums);
  });
  add_over_grid(sums, totals, &shared->words);
  if (threadIdx.x == 0) {
    shared->change = light::change(sums_of(shared->words));
  }
  __syncthreads();
  const light::Change change = shared->change;
  uint32_t n_misfits = 0;
  for_each_pixel(frame, planes, [&](uint32_t x, uint32_t y, uint32_t at) {
    const uint32_t value = load_color<kHasChroma>(frame, chroma, x, y).y;
    n_misfits += mixture::fits(change, load_first<kHasChroma>(planes, at), value) ? 0 : 1;
  });
  add_misfits_over_grid(n_misfits, totals, shared);
  const uint64_t n_pixels = uint64_t{frame.width} * frame.height;
  const bool keeps_misfits = light::keeps_objects(static_cast<uint32_t>(shared->n_misfits), n_pixels);
  for_each_pixel(frame, planes, [&](uint32_t x, uint32_t y, uint32_t at) {
    store_begun(planes, luma, at,
                mixture::relearn(change, keeps_misfits, load_known<kHasChroma>(planes, at),
                                 load_color<kHasChroma>(frame, chroma, x, y)));
  });
}

template <bool kHasChroma>
__device__ void initialize(const Plane& frame, const Chroma& chroma, const MixturePlanes& planes,
                           uint8_t* luma, bool keeps_variance) {
  for_each_pixel(frame, planes, [&](uint32_t x, uint32_t y, uint32_t at) {
    const mixture::Mode<Word> first = unpack(planes.modes[0][at]);
    store_begun(planes, luma, at,
                mixture::initialize<Word>(load_color<kHasChroma>(frame, chroma, x, y), first.variance,
                                          keeps_variance));
  });
}

template <bool kHasChroma>
__global__ void __launch_bounds__(kBlockThreads) begin_again(Plane frame, Chroma chroma, MixturePlanes planes,
                                                             const ModelState* model, FrameTotals* totals) {
  __shared__ uint64_t memory[(sizeof(BlockMemory) + sizeof(uint64_t) - 1) / sizeof(uint64_t)];
  wait_for_previous_kernel();
  if (!begins(*model)) {
    return;
  }
  uint8_t* const luma = *planes.current == 0 ? planes.luma[0] : planes.luma[1];
  const bool is_relearnt = model->learning == Learning::kRelearn;
  if (is_relearnt && model->keeps_objects != 0) {
    auto* shared = reinterpret_cast<BlockMemory*>(memory);  // shared memory is not initialized
    relearn<kHasChroma>(frame, chroma, planes, luma, totals, shared);
  } else {
    initialize<kHasChroma>(frame, chroma, planes, luma, is_relearnt);
  }
}

}  // namespace

Status enqueue_mixture_beginning(const Plane& frame, const Chroma& chroma, const MixturePlanes& planes,
                                 const Decision& decision, cudaStream_t stream) {
  return launch_resident_overlapped("begin_again",
                                    chroma.u != nullptr ? begin_again<true> : begin_again<false>,
                                    std::min(blocks_of_units(frame), kMostBlocks), kBlockThreads, stream,
                                    frame, chroma, planes, decision.model, decision.totals);
}

}  // namespace ccl::device::segment
