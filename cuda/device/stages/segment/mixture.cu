// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel a frame reads the state of a pixel, classifies it, learns it and writes what has changed; its
/// last block decides. Another kernel, which mostly ends at once, begins the model again if it was decided
/// (mixture_begin.cu). In every few frames, a kernel before them searches for ghosts.
///
/// A warp works on a unit of 64 pixels of a row, each lane on two of them. A mode is read where the one
/// before it says that there is another: most pixels have one or two. What is learnt must not change what
/// other pixels compare with in the same frame, so the luma of the first modes is in two planes, and frames
/// alternate between them.
#include "device/stages/segment/mixture.h"

#include <algorithm>

#include "device/launch.cuh"
#include "device/stages/segment/mixture_begin.h"
#include "device/stages/segment/mixture_pixels.cuh"
#include "device/stages/segment/model.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kBlocksPerMultiprocessor = 4;

__device__ void store_mode(uint2* mode, const uint2& before, const uint2& now) {
  if (now.x != before.x || now.y != before.y) {
    *mode = now;
  }
}

/// Writes the modes that are not as before.
template <bool kHasChroma>
__device__ void store_pixel(const MixturePlanes& planes, uint32_t at, const Modes& before,
                            mixture::Pixel<Word> pixel) {
#pragma unroll
  for (uint32_t i = 0; i < mixture::kModes; ++i) {
    if (!kHasChroma) {
      pixel.modes[i].chroma = kNeutralChroma;
    }
    const bool has_next = i + 1 < mixture::kModes && pixel.modes[(i + 1) % mixture::kModes].weight > 0;
    store_mode(planes.modes[i] + at, before.modes[i], pack(pixel.modes[i], has_next));
    if (!has_next) {
      break;
    }
  }
}

/// The luma of the first modes around a pixel.
__device__ mixture::Around<Word> load_around(const uint8_t* luma, uint32_t pitch, uint32_t width,
                                             uint32_t height, uint32_t x, uint32_t y) {
  const uint32_t columns[3] = {x > 0 ? x - 1 : 0, x, min(x + 1, width - 1)};
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, height - 1)};
  mixture::Around<Word> around{~0u, 0};
#pragma unroll
  for (uint32_t i = 0; i < 9; ++i) {
    const uint32_t value = luma[rows[i / 3] * pitch + columns[i % 3]];
    around.low = min(around.low, value);
    around.high = max(around.high, value);
  }
  return around;
}

/// What a lane reads of a unit. Nothing outside the frame.
template <bool kHasChroma>
struct UnitPixels {
  mixture::Color<Word> colors[kLanePixels];
  Modes modes[kLanePixels];

  __device__ void load(const Plane& frame, const Chroma& chroma, const MixturePlanes& planes,
                       const Units& units) {
    const uint32_t at = units.y() * planes.pitch + units.x();
#pragma unroll
    for (uint32_t i = 0; i < kLanePixels; ++i) {
      const uint32_t x = units.x() + i * kWarpSize;
      modes[i] = {};
      colors[i] = {0, mixture::kNeutral, mixture::kNeutral};
      if (x < frame.width && units.has_unit()) {
        modes[i].modes[0] = planes.modes[0][at + i * kWarpSize];
        colors[i] = load_color<kHasChroma>(frame, chroma, x, units.y());
      }
    }
#pragma unroll
    for (uint32_t mode = 1; mode < mixture::kModes; ++mode) {
#pragma unroll
      for (uint32_t i = 0; i < kLanePixels; ++i) {
        if (has_next(modes[i].modes[mode - 1])) {
          modes[i].modes[mode] = planes.modes[mode][at + i * kWarpSize];
        }
      }
    }
  }
};

/// What all pixels of a frame have in common. References are to parameters of the kernel.
struct Common {
  const Plane& plane;
  const MixturePlanes& planes;
  const mixture::Thresholds& thresholds;
  const mixture::Rates rates;
  const uint8_t* old_luma;  ///< of the first modes, as the previous frame left them
  uint8_t* new_luma;
};

/// Classifies and learns a pixel.
template <bool kHasChroma>
__device__ mixture::Class<Word> process(const Common& frame, uint32_t x, uint32_t y, const Modes& before,
                                        const mixture::Color<Word>& color, bool is_ghost) {
  const uint32_t pitch = frame.planes.pitch;
  mixture::Pixel<Word> pixel = unpack<kHasChroma>(before);
  const mixture::Class<Word> found = mixture::classify<Word>(
      frame.thresholds, pixel, color,
      [&] { return load_around(frame.old_luma, pitch, frame.plane.width, frame.plane.height, x, y); },
      kHasChroma);
  pixel.modes[0].variance |= is_ghost ? mixture::kGhost : 0;
  pixel = mixture::update<Word>(frame.rates, pixel, color);
  const uint32_t at = y * pitch + x;
  store_pixel<kHasChroma>(frame.planes, at, before, pixel);
  frame.new_luma[at] = static_cast<uint8_t>(mixture::background_luma<Word>(pixel.modes[0].mean));
  return found;
}

/// The decision of a frame, in shared memory. Blocks know it before they classify, except whether the light
/// changes.
struct Forecast {
  ModelState before;
  ModelState expected;

  /// All threads must call it, and then synchronize.
  __device__ void make(const MotionStep& step, const Decision& decision) {
    WordCopy(decision.model).store(&before);
    if (threadIdx.x < kWarpSize) {
      __syncwarp();
    }
    if (threadIdx.x == 0) {
      expected = expect(step, before);
    }
  }

  /// The last thread of the frame calls it.
  __device__ void fulfil(const MotionStep& step, const Decision& decision) const {
    const uint32_t n_differ = __ldcg(&decision.model->n_differ);
    ModelState model = expected;
    if (is_switch(step, before, decision.n_pixels, n_differ)) {
      model = before;
      decide(step, decision.n_pixels, /*has_light_changed=*/true, &model);
    }
    note_differing(step, n_differ, &model);
    model.n_differ = 0;
    *decision.model = model;
    *decision.has_no_foreground = model.has_foreground() ? 0 : 1;
    decision.counts->relearning = model.has_foreground() ? 0 : 1;
  }
};

/// Adds the pixels of a block that differ. All threads must call it. Returns true to one thread of the last
/// block.
__device__ bool count_differing(uint32_t n_of_thread, const Decision& decision) {
  __shared__ uint32_t n_of_block;
  if (threadIdx.x == 0) {
    n_of_block = 0;
  }
  __syncthreads();
  const uint32_t n_of_warp = warp_sum(kAllLanes, n_of_thread);
  if (threadIdx.x % kWarpSize == 0 && n_of_warp > 0) {
    atomicAdd(&n_of_block, n_of_warp);
  }
  __syncthreads();
  if (threadIdx.x != 0) {
    return false;
  }
  if (n_of_block > 0) {
    atomicAdd(&decision.model->n_differ, n_of_block);
  }
  __threadfence();
  const bool is_last = atomicInc(decision.n_ended, gridDim.x - 1) == gridDim.x - 1;
  __threadfence();
  return is_last;
}

/// If ghosts are searched for, `bits` has a bit for each of them, and then for the foreground.
template <bool kHasChroma>
__global__ void __launch_bounds__(kBlockThreads, kBlocksPerMultiprocessor)
    classify_and_learn(Plane plane, Chroma chroma, MixturePlanes planes, mixture::Thresholds thresholds,
                       uint32_t* bits, Decision decision, MotionStep step) {
  __shared__ Forecast forecast;
  wait_for_previous_kernel();
  const uint32_t current = *planes.current;
  Units units(plane);
  UnitPixels<kHasChroma> pixels;
  pixels.load(plane, chroma, planes, units);
  forecast.make(step, decision);
  __syncthreads();
  const Common frame{plane,
                     planes,
                     thresholds,
                     forecast.expected.mixture,
                     current == 0 ? planes.luma[0] : planes.luma[1],
                     current == 0 ? planes.luma[1] : planes.luma[0]};
  uint32_t n_differ = 0;
  while (units.has_unit() && forecast.expected.learning != Learning::kInitialize) {
    uint32_t* const words = bits + (units.y() * planes.pitch + units.x()) / kWarpSize;
#pragma unroll
    for (uint32_t i = 0; i < kLanePixels; ++i) {
      const uint32_t x = units.x() + i * kWarpSize;
      const bool is_ghost = thresholds.ghosts && ((words[i] >> threadIdx.x % kWarpSize) & 1) != 0;
      mixture::Class<Word> found{0, 0};
      if (x < plane.width) {
        found = process<kHasChroma>(frame, x, units.y(), pixels.modes[i], pixels.colors[i], is_ghost);
      }
      n_differ += found.differs & 1;
      const uint32_t word = __ballot_sync(kAllLanes, found.foreground != 0);
      if (threadIdx.x % kWarpSize == 0) {
        words[i] = word;
      }
    }
    units.next();
    pixels.load(plane, chroma, planes, units);
  }
  if (count_differing(n_differ, decision)) {
    forecast.fulfil(step, decision);
    *planes.current = current ^ 1;
  }
}

/// Writes a bit for each ghost.
template <bool kHasChroma>
__global__ void __launch_bounds__(kBlockThreads) mark_ghosts(Plane frame, Chroma chroma, MixturePlanes planes,
                                                             mixture::Thresholds thresholds, uint32_t* bits) {
  allow_next_kernel();
  const Units units(frame);
  if (!units.has_unit()) {
    return;
  }
  UnitPixels<kHasChroma> pixels;
  pixels.load(frame, chroma, planes, units);
  const uint32_t y = units.y();
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, frame.height - 1)};
  uint32_t* const words = bits + (y * planes.pitch + units.x()) / kWarpSize;
#pragma unroll
  for (uint32_t i = 0; i < kLanePixels; ++i) {
    const uint32_t x = units.x() + i * kWarpSize;
    const uint32_t columns[3] = {x > 0 ? x - 1 : 0, x, min(x + 1, frame.width - 1)};
    const mixture::Color<Word>& color = pixels.colors[i];
    const auto around = [&](uint32_t n) {
      const uint32_t at = n < 4 ? n : n + 1;
      const mixture::Mode<Word> first =
          unpack(planes.modes[0][rows[at / 3] * planes.pitch + columns[at % 3]]);
      return mixture::Background<Word>{first.mean, first.chroma};
    };
    uint32_t found = 0;
    if (x < frame.width) {
      found = mixture::is_ghost<Word>(thresholds, unpack<kHasChroma>(pixels.modes[i]), color, around);
    }
    const uint32_t word = __ballot_sync(kAllLanes, found != 0);
    if (threadIdx.x % kWarpSize == 0) {
      words[i] = word;
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    read(MixturePlanes planes, uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
  if (index >= width * height) {
    return;
  }
  const uint32_t y = index / width;
  const mixture::Mode<Word> first = unpack(planes.modes[0][y * planes.pitch + (index - y * width)]);
  luma[index] = static_cast<uint8_t>(mixture::background_luma<Word>(first.mean));
  u[index] = static_cast<uint8_t>(first.u());
  v[index] = static_cast<uint8_t>(first.v());
}

template <bool kHasChroma>
Status enqueue(const Plane& frame, const Chroma& chroma, const MotionStep& step, const MixturePlanes& planes,
               const Decision& decision, uint32_t* bits, cudaStream_t stream) {
  int device = 0;
  int n_multiprocessors = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(
      check(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute"));
  const uint32_t n_blocks = blocks_of_units(frame);
  const uint32_t n_resident =
      std::min(n_blocks, static_cast<uint32_t>(n_multiprocessors) * kBlocksPerMultiprocessor);
  if (step.mixture.ghosts) {
    CCL_RETURN_IF_ERROR(launch("mark_ghosts", mark_ghosts<kHasChroma>, n_blocks, kBlockThreads, stream, frame,
                               chroma, planes, step.mixture, bits));
    CCL_RETURN_IF_ERROR(launch_overlapped("classify_and_learn", classify_and_learn<kHasChroma>, n_resident,
                                          kBlockThreads, stream, frame, chroma, planes, step.mixture, bits,
                                          decision, step));
  } else {
    CCL_RETURN_IF_ERROR(launch("classify_and_learn", classify_and_learn<kHasChroma>, n_resident,
                               kBlockThreads, stream, frame, chroma, planes, step.mixture, bits, decision,
                               step));
  }
  return enqueue_mixture_beginning(frame, chroma, planes, decision, stream);
}

}  // namespace

uint32_t mixture_pitch(uint32_t width) {
  return bit_row_words(width) * kWarpSize;
}

Status enqueue_mixture(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                       const MixturePlanes& planes, const Decision& decision, uint32_t* bits,
                       cudaStream_t stream) {
  return chroma.u != nullptr ? enqueue<true>(frame, chroma, step, planes, decision, bits, stream)
                             : enqueue<false>(frame, chroma, step, planes, decision, bits, stream);
}

StepKernel mixture_step_kernel(bool has_chroma) {
  return {reinterpret_cast<const void*>(has_chroma ? classify_and_learn<true> : classify_and_learn<false>),
          7};
}

Status read_mixture(const MixturePlanes& planes, uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u,
                    uint8_t* v, cudaStream_t stream) {
  return launch("read", read, blocks_of_threads(size_t{width} * height), kBlockThreads, stream, planes, width,
                height, luma, u, v);
}

}  // namespace ccl::device::segment
