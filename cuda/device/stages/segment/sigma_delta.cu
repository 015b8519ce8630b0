// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel a frame, whose blocks are resident: each thread classifies a vector of 16 pixels and keeps it
/// in registers; after a barrier all blocks know how the frame is learnt, and the thread learns its vector.
/// In frames with more vectors than threads, a thread has several of them, and keeps the last one.
#include "device/stages/segment/sigma_delta.h"

#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/stages/segment/counting_barrier.cuh"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/sigma_delta_chroma.h"
#include "device/stages/segment/sigma_delta_classify.cuh"
#include "device/stages/segment/sigma_delta_light.cuh"
#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kLumaThreads = 512;
constexpr uint32_t kLumaBlocks = 2;  ///< on a multiprocessor
constexpr uint32_t kLumaWarps = kLumaThreads / kWarpSize;
constexpr uint32_t kNone = ~0u;

/// The model in both cases: if the light has not changed, and if it has.
struct Outcomes {
  ModelState models[2];
  uint32_t warp_sums[2][kLumaWarps];
  uint32_t n_differ;
  uint32_t chosen;
  sigma_delta::Relearning relearning;
};

__device__ bool is_leader() {
  return threadIdx.x == kLumaThreads - 1;
}

/// One block writes what later kernels read. All blocks have loaded the old model.
__device__ void store_model(const LumaJob& job, const ModelState& model) {
  WordCopy(&model).store(job.decision.model);
  if (is_leader()) {
    job.decision.counts->relearning = model.has_foreground() ? 0 : 1;
  }
}

/// The sum of the block, for its last warp. All threads must call it.
__device__ uint32_t block_sum(uint32_t n_of_thread, uint32_t* warp_sums) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const uint32_t of_warp = warp_sum(kAllLanes, n_of_thread);
  if (lane == 0) {
    warp_sums[warp] = of_warp;
  }
  __syncthreads();
  return warp == kLumaWarps - 1 ? warp_sum(kAllLanes, lane < kLumaWarps ? warp_sums[lane] : 0) : 0;
}

/// Adds the pixels of all blocks that differ, and decides how the frame is learnt. While the sum is not
/// known, both cases are prepared. All threads must call it.
__device__ const ModelState& decide_together(const LumaJob& job, const MotionStep& step, uint32_t n_of_thread,
                                             Outcomes* outcomes) {
  FrameTotals* totals = job.decision.totals;
  const CountingBarrier barrier(&totals->differing);
  const uint32_t n_of_block = block_sum(n_of_thread, outcomes->warp_sums[0]);
  if (is_leader()) {
    const bool phase = barrier.arrive(n_of_block, totals->n_differ);
    const uint32_t n_differ = barrier.wait(phase);
    outcomes->n_differ = n_differ;
    outcomes->chosen = light_changed(step, job.decision.n_pixels, n_differ) ? 1 : 0;
    if (blockIdx.x == 0) {
      totals->n_differ = n_differ;
    }
  } else if (threadIdx.x == 0 || threadIdx.x == kWarpSize) {
    decide(step, job.decision.n_pixels, threadIdx.x != 0, &outcomes->models[threadIdx.x != 0 ? 1 : 0]);
  }
  __syncthreads();
  ModelState& model = outcomes->models[outcomes->chosen];
  if (blockIdx.x == 0) {
    if (is_leader()) {
      note_differing(outcomes->n_differ, &model);
    }
    __syncthreads();
    store_model(job, model);
  }
  return model;
}

/// Finds the gain of the light, from the sums of all threads. All threads must call it.
__device__ void find_gain(const LumaJob& job, const uint2& sums_of_thread, Outcomes* outcomes) {
  FrameTotals* totals = job.decision.totals;
  const GridBarrier barrier(&totals->arrivals);
  const uint32_t now = block_sum(sums_of_thread.x, outcomes->warp_sums[0]);
  const uint32_t before = block_sum(sums_of_thread.y, outcomes->warp_sums[1]);
  light::Sums last{};
  if (is_leader()) {
    last = {totals->last_now, totals->last_before};
    atomicAdd(&totals->light_now, now);
    atomicAdd(&totals->light_before, before);
  }
  const uint32_t phase = barrier.arrive();
  if (is_leader()) {
    barrier.wait_alone(phase);
    const light::Sums sums{__ldcg(&totals->light_now), __ldcg(&totals->light_before)};
    outcomes->relearning = {.keeps_objects = true,
                            .keeps_misfits = false,
                            .gain = light::gain({sums.now - last.now, sums.before - last.before}),
                            .margin = job.thresholds.luma};
    if (blockIdx.x == 0) {
      totals->last_now = sums.now;
      totals->last_before = sums.before;
    }
  }
  __syncthreads();
}

/// Decides whether pixels that do not fit the gain are objects. All threads must call it, after find_gain().
__device__ void judge_misfits(const LumaJob& job, uint32_t n_of_thread, Outcomes* outcomes) {
  FrameTotals* totals = job.decision.totals;
  const GridBarrier barrier(&totals->arrivals);
  const uint32_t n_of_block = block_sum(n_of_thread, outcomes->warp_sums[0]);
  unsigned long long last = 0;
  if (is_leader()) {
    last = totals->last_misfits;
    atomicAdd(&totals->misfits, n_of_block);
  }
  const uint32_t phase = barrier.arrive();
  if (is_leader()) {
    barrier.wait_alone(phase);
    const unsigned long long sum = __ldcg(&totals->misfits);
    outcomes->relearning.keeps_misfits = light::keeps_misfits(sum - last, job.decision.n_pixels);
    if (blockIdx.x == 0) {
      totals->last_misfits = sum;
    }
  }
  __syncthreads();
}

__device__ void store(const LumaJob& job, const Place& place, const PixelVector& v) {
  const SigmaDeltaPlanes& planes = job.planes;
  store_state(planes.mean, planes.pitch, place.x, place.y, v.mean);
  store_state(planes.variance, planes.pitch, place.x, place.y, v.variance);
  store_state(planes.status, planes.pitch, place.x, place.y, v.status);
}

/// Applies learn(old, value) to all pixels, two at a time.
template <typename Learn>
__device__ PixelVector learn_vector(const PixelVector& v, Learn learn) {
  PixelVector learnt = v;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = quad_of(v.pixels, i);
    const Quad mean = quad_of(v.mean, i);
    const Quad variance = quad_of(v.variance, i);
    const Quad status = quad_of(v.status, i);
    const sigma_delta::Pixel<Lanes> even = learn({mean.even, variance.even, status.even}, value.even);
    const sigma_delta::Pixel<Lanes> odd = learn({mean.odd, variance.odd, status.odd}, value.odd);
    set_word(learnt.mean, i, Quad{even.mean, odd.mean}.word());
    set_word(learnt.variance, i, Quad{even.variance, odd.variance}.word());
    set_word(learnt.status, i, Quad{even.status, odd.status}.word());
  }
  return learnt;
}

/// The state of a frame with which the model begins. A function of its own, because it is rare.
__device__ __noinline__ PixelVector begin_vector(PixelVector v) {
  return learn_vector(v, [](const sigma_delta::Pixel<Lanes>&, uint32_t value) {
    return sigma_delta::initialize<Lanes>(value);
  });
}

/// Whether any mean may move.
__device__ bool has_mean_step(const sigma_delta::Rates& rates, const uint4& variances) {
  uint32_t any = 0;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad variance = quad_of(variances, i);
    any |= Lanes::at_least(variance.even, Lanes::splat(rates.steps[0])) |
           Lanes::at_least(variance.odd, Lanes::splat(rates.steps[0]));
  }
  return any != 0;
}

/// Learns a vector of pixels that do not differ and whose status is 0. Most vectors of most frames stay as
/// they are.
__device__ void learn_calm(const LumaJob& job, const sigma_delta::Rates& rates, const Place& place,
                           const PixelVector& v) {
  const SigmaDeltaPlanes& planes = job.planes;
  if (has_mean_step(rates, v.variance)) {
    uint4 means;
#pragma unroll
    for (uint32_t i = 0; i < kVectorWords; ++i) {
      const Quad value = quad_of(v.pixels, i);
      const Quad mean = quad_of(v.mean, i);
      const Quad variance = quad_of(v.variance, i);
      set_word(means, i,
               Quad{sigma_delta::update_calm_mean<Lanes>(rates, mean.even, variance.even, value.even),
                    sigma_delta::update_calm_mean<Lanes>(rates, mean.odd, variance.odd, value.odd)}
                   .word());
    }
    store_state(planes.mean, planes.pitch, place.x, place.y, means);
  }
  if (rates.up != 0 || rates.down != 0) {
    uint4 variances;
#pragma unroll
    for (uint32_t i = 0; i < kVectorWords; ++i) {
      const Quad value = quad_of(v.pixels, i);
      const Quad mean = quad_of(v.mean, i);
      const Quad variance = quad_of(v.variance, i);
      const auto move = [&](uint32_t value_of, uint32_t mean_of, uint32_t variance_of) {
        return sigma_delta::move_variance<Lanes>(rates, distance<Lanes>(value_of, mean_of), variance_of);
      };
      set_word(
          variances, i,
          Quad{move(value.even, mean.even, variance.even), move(value.odd, mean.odd, variance.odd)}.word());
    }
    store_state(planes.variance, planes.pitch, place.x, place.y, variances);
  }
}

/// The vectors of a thread: from `first` on, each `stride` after the one before it, up to `last`.
struct Share {
  uint32_t first;
  uint32_t stride;
  uint32_t last;
};

/// Calls see(n_pixels, v) for each vector of a thread that lies in the frame. `kept`: the last one.
template <typename See>
__device__ void for_each_vector(const LumaJob& job, const Share& share, const PixelVector& kept, See see) {
  for (uint32_t index = share.first; share.last != kNone && index <= share.last; index += share.stride) {
    const Place place = place_of(job, index);
    if (place.x < job.frame.width) {
      see(job.frame.width - place.x, index == share.last ? kept : load(job, place));
    }
  }
}

/// How a frame is learnt in which the light changed and whose objects are kept. All threads must call it.
__device__ __noinline__ void compare_light(const LumaJob& job, Share share, PixelVector kept,
                                           Outcomes* outcomes) {
  uint2 sums = make_uint2(0, 0);
  for_each_vector(job, share, kept, [&](uint32_t n_pixels, const PixelVector& v) {
    const uint2 more = compare_light(n_pixels, v);
    sums.x += more.x;
    sums.y += more.y;
  });
  find_gain(job, sums, outcomes);
  uint32_t n_misfits = 0;
  for_each_vector(job, share, kept, [&](uint32_t n_pixels, const PixelVector& v) {
    n_misfits += count_misfits(outcomes->relearning, n_pixels, v);
  });
  judge_misfits(job, n_misfits, outcomes);
}

template <bool kHasChroma>
__global__ void __launch_bounds__(kLumaThreads, kLumaBlocks)
    process_luma(const __grid_constant__ LumaJob job, const __grid_constant__ MotionStep step) {
  __shared__ uint64_t memory[sizeof(Outcomes) / sizeof(uint64_t) + 1];
  Outcomes& outcomes = *reinterpret_cast<Outcomes*>(memory);  // shared memory is not initialized
  allow_next_kernel();
  const WordCopy before(job.decision.model);

  const uint32_t n_vectors = job.row_vectors * job.frame.height;
  Share share = {blockIdx.x * kLumaThreads + threadIdx.x, gridDim.x * kLumaThreads, kNone};
  PixelVector v{};
  uint32_t foreground = 0;
  uint32_t n_differ = 0;
  bool is_calm = false;  ///< nothing differs in the vector, and nothing is counted
  for (uint32_t index = share.first; index < n_vectors; index += share.stride) {
    const Place place = place_of(job, index);
    foreground = 0;
    if (place.x < job.frame.width) {
      v = load(job, place);
      const FoundBits found = classify<kHasChroma>(job, place, &v, &is_calm);
      foreground = found.foreground;
      n_differ += __popc(found.differs);
    }
    share.last = index;
    if (n_vectors - index > share.stride) {
      store_bits(job, place, foreground);
      if (job.thresholds.ghosts && place.x < job.frame.width) {
        store_state(job.planes.status, job.planes.pitch, place.x, place.y, v.status);
      }
    }
  }

  before.store(&outcomes.models[0]);
  before.store(&outcomes.models[1]);
  const ModelState& model = decide_together(job, step, n_differ, &outcomes);
  const bool keeps_objects = model.learning == Learning::kRelearn && model.keeps_objects != 0;
  if (keeps_objects) {
    compare_light(job, share, v, &outcomes);
  }
  if (share.last == kNone) {
    return;
  }
  const sigma_delta::Rates rates = model.sigma_delta;
  foreground = model.has_foreground() ? foreground : 0;
  for (uint32_t index = share.last;; index -= share.stride) {
    const Place place = place_of(job, index);
    if (index == share.last || !model.has_foreground()) {
      store_bits(job, place, foreground);
    }
    if (place.x < job.frame.width) {
      if (index != share.last) {
        v = load(job, place);
        is_calm = is_zero(v.status) && is_zero(find_differing(job.thresholds, v));
      }
      if (is_calm && model.learning == Learning::kSelective) {
        learn_calm(job, rates, place, v);
      } else if (model.learning == Learning::kInitialize) {
        store(job, place, begin_vector(v));
      } else if (model.learning == Learning::kRelearn) {
        const sigma_delta::Relearning how = keeps_objects ? outcomes.relearning : sigma_delta::Relearning();
        store(job, place, relearn_vector(how, v));
      } else {
        store(job, place, learn_vector(v, [&](const sigma_delta::Pixel<Lanes>& old, uint32_t value) {
                return sigma_delta::update<Lanes>(job.thresholds, rates, old, value);
              }));
      }
    }
    if (index == share.first) {
      return;
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    read_luma_and_chroma(SigmaDeltaPlanes planes, SigmaDeltaChromaPlanes chroma_planes, uint32_t width,
                         uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % width;
  const uint32_t y = index / width;
  if (y >= height) {
    return;
  }
  luma[index] = planes.mean[y * planes.pitch + x];
  const size_t at = (y >> chroma_planes.shift_y) * chroma_planes.pitch + (x >> chroma_planes.shift_x);
  const bool has_chroma = chroma_planes.mean_u != nullptr;
  u[index] = has_chroma ? chroma_planes.mean_u[at] : sigma_delta::kNeutral;
  v[index] = has_chroma ? chroma_planes.mean_v[at] : sigma_delta::kNeutral;
}

}  // namespace

Status enqueue_sigma_delta(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                           const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                           const Decision& decision, uint32_t* bits, cudaStream_t stream) {
  const bool has_chroma = chroma.u != nullptr;
  if (has_chroma) {
    CCL_RETURN_IF_ERROR(enqueue_chroma_classes(chroma, chroma_planes, step.sigma_delta, stream));
  }
  const LumaJob job = {.frame = frame,
                       .is_aligned = is_aligned(frame),
                       .planes = planes,
                       .chroma_planes = chroma_planes,
                       .chroma = chroma,
                       .thresholds = step.sigma_delta,
                       .row_vectors = vectors_of_bit_row(frame.width),
                       .bits = bits,
                       .decision = decision};
  const uint32_t n_blocks = (job.row_vectors * frame.height + kLumaThreads - 1) / kLumaThreads;
  CCL_RETURN_IF_ERROR(launch_resident("process_luma", has_chroma ? process_luma<true> : process_luma<false>,
                                      n_blocks, kLumaThreads, stream, job, step));
  return has_chroma ? enqueue_chroma_learning(chroma, chroma_planes, planes, step.sigma_delta, decision.model,
                                              stream)
                    : Status();
}

StepKernel sigma_delta_step_kernel(bool has_chroma) {
  return {reinterpret_cast<const void*>(has_chroma ? process_luma<true> : process_luma<false>), 2};
}

Status read_sigma_delta(const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                        uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v,
                        cudaStream_t stream) {
  return launch("read_luma_and_chroma", read_luma_and_chroma, blocks_of_threads(size_t{width} * height),
                kThreads, stream, planes, chroma_planes, width, height, luma, u, v);
}

}  // namespace ccl::device::segment
