// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel a frame, whose blocks are resident: each thread classifies a vector of 16 pixels and keeps it
/// in registers. No mean may change before all blocks have classified, because they read the means of
/// neighbours, so the blocks wait for each other. Meanwhile each thread learns its vector as if the light had
/// not changed, see expect(); if that is so, it only has to store what it has. Frames in which the model
/// learns otherwise, or the light may fade, are rare: their vectors are loaded again.
///
/// In frames with more vectors than threads, a thread has several of them, and keeps the last one.
#include "device/stages/segment/sigma_delta.h"

#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/stages/segment/counting_barrier.cuh"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/sigma_delta_chroma.h"
#include "device/stages/segment/sigma_delta_classify.cuh"
#include "device/stages/segment/sigma_delta_learn.cuh"
#include "device/stages/segment/sigma_delta_light.cuh"
#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kLumaThreads = 512;
constexpr uint32_t kLumaBlocks = 2;  ///< on a multiprocessor
constexpr uint32_t kLumaWarps = kLumaThreads / kWarpSize;
constexpr uint32_t kNone = ~0u;

struct Shared {
  ModelState before;    ///< as the frame before has left it
  ModelState expected;  ///< after this frame, if the light does not change
  ModelState changed;   ///< if it does
  uint32_t warp_sums[2][kLumaWarps];
  uint32_t n_differ;
  bool has_changed;  ///< the light
  bool may_be_ramp;  ///< the decision needs compare_sides()
  sigma_delta::Relearning relearning;
};

__device__ bool is_leader() {
  return threadIdx.x == kLumaThreads - 1;
}

/// Loads the model and makes what is expected of it. The first warp of each block does this while it waits
/// for its pixels. The block sees it after its next barrier.
__device__ void prepare_model(const WordCopy<ModelState>& model, const MotionStep& step, Shared* shared) {
  if (threadIdx.x < kWarpSize) {
    model.store(&shared->before);
    __syncwarp();
    if (threadIdx.x == 0) {
      shared->expected = expect(step, shared->before);
    }
  }
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

/// What the leader needs to arrive at the barrier, loaded long before.
struct Arrival {
  bool phase;
  uint32_t last_sum;

  explicit __device__ Arrival(FrameTotals* totals)
      : phase(is_leader() && CountingBarrier(&totals->differing).phase()),
        last_sum(is_leader() && blockIdx.x == 0 ? totals->n_differ : 0) {}
};

/// Adds the pixels of all blocks that differ, and calls meanwhile() before it waits for the sum. Decides
/// whether the light has changed. All threads must call it.
template <typename Meanwhile>
__device__ void judge_light(const LumaJob& job, const MotionStep& step, const Arrival& arrival,
                            uint32_t n_of_thread, Shared* shared, Meanwhile meanwhile) {
  FrameTotals* totals = job.decision.totals;
  const CountingBarrier barrier(&totals->differing);
  const uint32_t n_of_block = block_sum(n_of_thread, shared->warp_sums[0]);
  if (is_leader()) {
    barrier.arrive(n_of_block, arrival.last_sum);
  }
  meanwhile();
  if (is_leader()) {
    const uint32_t n_differ = barrier.wait(arrival.phase);
    shared->n_differ = n_differ;
    const uint64_t n_pixels = job.decision.n_pixels;
    shared->has_changed = is_switch(step, shared->before, n_pixels, n_differ);
    shared->may_be_ramp = !shared->has_changed && may_be_ramp(step, shared->before, n_pixels, n_differ);
    if (blockIdx.x == 0) {
      totals->n_differ = n_differ;
    }
  }
  __syncthreads();
}

/// Completes and stores the model. All threads must call it.
__device__ void finish(const LumaJob& job, const MotionStep& step, ModelState* model, const Shared& shared) {
  if (blockIdx.x == 0) {
    if (is_leader()) {
      note_differing(step, shared.n_differ, model);
    }
    __syncthreads();
    store_model(job, *model);
  }
}

struct TwoSums {
  uint64_t x;
  uint64_t y;
};

/// Adds two numbers of all threads, for the leader of each block. All threads must call it.
__device__ TwoSums sum_of_all(const LumaJob& job, const uint2& of_thread, TotalSums* totals, Shared* shared) {
  const GridBarrier barrier(&job.decision.totals->arrivals);
  const uint32_t x = block_sum(of_thread.x, shared->warp_sums[0]);
  const uint32_t y = block_sum(of_thread.y, shared->warp_sums[1]);
  TwoSums last{};
  if (is_leader()) {
    last = {totals->last_x, totals->last_y};
    atomicAdd(&totals->x, x);
    atomicAdd(&totals->y, y);
  }
  const uint32_t phase = barrier.arrive();
  if (!is_leader()) {
    return {};
  }
  barrier.wait_alone(phase);
  const TwoSums sums{__ldcg(&totals->x), __ldcg(&totals->y)};
  if (blockIdx.x == 0) {
    totals->last_x = sums.x;
    totals->last_y = sums.y;
  }
  return {sums.x - last.x, sums.y - last.y};
}

/// Finds the gain of the light. All threads must call it.
__device__ void find_gain(const LumaJob& job, const uint2& sums_of_thread, Shared* shared) {
  const TwoSums sums = sum_of_all(job, sums_of_thread, &job.decision.totals->light_sums, shared);
  if (is_leader()) {
    shared->relearning = {.keeps_objects = true,
                          .keeps_misfits = false,
                          .gain = light::gain({.now = sums.x, .before = sums.y}),
                          .margin = job.thresholds.luma};
  }
  __syncthreads();
}

/// Decides whether pixels that do not fit the gain are objects. All threads must call it, after find_gain().
__device__ void judge_misfits(const LumaJob& job, uint32_t n_of_thread, Shared* shared) {
  FrameTotals* totals = job.decision.totals;
  const GridBarrier barrier(&totals->arrivals);
  const uint32_t n_of_block = block_sum(n_of_thread, shared->warp_sums[0]);
  unsigned long long last = 0;
  if (is_leader()) {
    last = totals->last_misfits;
    atomicAdd(&totals->misfits, n_of_block);
  }
  const uint32_t phase = barrier.arrive();
  if (is_leader()) {
    barrier.wait_alone(phase);
    const unsigned long long sum = __ldcg(&totals->misfits);
    shared->relearning.keeps_misfits = light::keeps_misfits(sum - last, job.decision.n_pixels);
    if (blockIdx.x == 0) {
      totals->last_misfits = sum;
    }
  }
  __syncthreads();
}

__device__ void store(const LumaJob& job, const Place& place, const Learned& learned) {
  const SigmaDeltaPlanes& planes = job.planes;
  if (learned.has_mean) {
    store_state(planes.mean, planes.pitch, place.x, place.y, learned.mean);
  }
  if (learned.has_variance) {
    store_state(planes.variance, planes.pitch, place.x, place.y, learned.variance);
  }
  if (learned.has_status) {
    store_state(planes.status, planes.pitch, place.x, place.y, learned.status);
  }
}

/// The vectors of a thread: from `first` on, each `stride` after the one before it, up to `last`.
struct Share {
  uint32_t first;
  uint32_t stride;
  uint32_t last;
};

/// Calls visit(index, place, in_frame) for each vector of a thread, the last one first. `in_frame`: pixels of
/// the vector that lie in the frame.
template <typename Visit>
__device__ void for_each_vector(const LumaJob& job, const Share& share, Visit visit) {
  if (share.last == kNone) {
    return;
  }
  for (uint32_t index = share.last;; index -= share.stride) {
    const Place place = place_of(job, index);
    visit(index, place, place.x < job.frame.width ? min(job.frame.width - place.x, kVectorPixels) : 0);
    if (index == share.first) {
      return;
    }
  }
}

/// How a frame is learnt in which the light changed and whose objects are kept. All threads must call it.
__device__ void compare_light(const LumaJob& job, const Share& share, Shared* shared) {
  uint2 sums = make_uint2(0, 0);
  for_each_vector(job, share, [&](uint32_t, const Place& place, uint32_t in_frame) {
    if (in_frame > 0) {
      const uint2 more = compare_light(in_frame, load(job, place));
      sums.x += more.x;
      sums.y += more.y;
    }
  });
  find_gain(job, sums, shared);
  uint32_t n_misfits = 0;
  for_each_vector(job, share, [&](uint32_t, const Place& place, uint32_t in_frame) {
    n_misfits += in_frame > 0 ? count_misfits(shared->relearning, in_frame, load(job, place)) : 0;
  });
  judge_misfits(job, n_misfits, shared);
}

/// Decides whether the light fades. All threads must call it.
__device__ __noinline__ void compare_sides(const LumaJob& job, const MotionStep& step, Share share,
                                           Shared* shared) {
  uint2 n = make_uint2(0, 0);
  for_each_vector(job, share, [&](uint32_t, const Place& place, uint32_t in_frame) {
    if (in_frame > 0) {
      const uint2 more = count_sides(job.thresholds.luma, in_frame, load(job, place));
      n.x += more.x;
      n.y += more.y;
    }
  });
  const TwoSums sums = sum_of_all(job, n, &job.decision.totals->sides, shared);
  const Differing differing{static_cast<uint32_t>(sums.x), static_cast<uint32_t>(sums.y)};
  if (is_leader()) {
    shared->has_changed = is_ramp(step, job.decision.n_pixels, differing);
  }
  __syncthreads();
}

/// Stores a vector with which the model begins, or begins again.
__device__ void begin(const LumaJob& job, const Place& place, const ModelState& model,
                      const sigma_delta::Relearning& relearning) {
  const PixelVector v = load(job, place);
  if (model.learning == Learning::kRelearn) {
    const PixelVector relearned = relearn_vector(relearning, v);
    store(job, place, {relearned.mean, relearned.variance, relearned.status, true, true, true, false});
    return;
  }
  constexpr uint32_t kVariance = sigma_delta::kInitialVariance * kOneInEachByte;
  const uint4 zero{};
  store(job, place,
        {v.pixels, make_uint4(kVariance, kVariance, kVariance, kVariance), zero, true, true, true, false});
  store_state(job.planes.stay, job.planes.pitch, place.x, place.y, zero);
}

/// Learns a frame with which the model begins, or begins again: it has no foreground. A function of its own,
/// because it is rare. All threads must call it.
__device__ __noinline__ void begin(const LumaJob& job, const MotionStep& step, Share share, Shared* shared) {
  if (shared->has_changed && threadIdx.x == 0) {
    shared->changed = shared->before;
    shared->changed.n_differ = 0;
    decide(step, job.decision.n_pixels, /*has_light_changed=*/true, &shared->changed);
  }
  __syncthreads();
  ModelState& model = shared->has_changed ? shared->changed : shared->expected;
  const bool keeps_objects = model.learning == Learning::kRelearn && model.keeps_objects != 0;
  if (keeps_objects) {
    compare_light(job, share, shared);
    if (is_leader()) {
      model.gain = shared->relearning.gain;  // for the chroma
    }
  }
  const sigma_delta::Relearning relearning = keeps_objects ? shared->relearning : sigma_delta::Relearning();
  for_each_vector(job, share, [&](uint32_t, const Place& place, uint32_t in_frame) {
    store_bits(job, place, 0);
    if (in_frame > 0) {
      begin(job, place, model, relearning);
    }
  });
  finish(job, step, &model, *shared);
}

template <bool kHasChroma>
__global__ void __launch_bounds__(kLumaThreads, kLumaBlocks)
    process_luma(const __grid_constant__ LumaJob job, const __grid_constant__ MotionStep step) {
  __shared__ uint64_t memory[sizeof(Shared) / sizeof(uint64_t) + 1];
  Shared& shared = *reinterpret_cast<Shared*>(memory);  // shared memory is not initialized
  allow_next_kernel();
  const WordCopy model(job.decision.model);
  const Arrival arrival(job.decision.totals);

  const uint32_t n_vectors = job.row_vectors * job.frame.height;
  Share share = {blockIdx.x * kLumaThreads + threadIdx.x, gridDim.x * kLumaThreads, kNone};
  PixelVector v{};
  if (const Place place = place_of(job, share.first); share.first < n_vectors && place.x < job.frame.width) {
    v = load(job, place);
  }
  prepare_model(model, step, &shared);
  uint32_t foreground = 0;
  uint32_t n_differ = 0;
  uint4 differing{};
  for (uint32_t index = share.first; index < n_vectors; index += share.stride) {
    const Place place = place_of(job, index);
    foreground = 0;
    differing = uint4{};  // nothing is to be learned behind the frame's columns, where there is no state
    if (place.x < job.frame.width) {
      if (index != share.first) {
        v = load(job, place);
      }
      differing = find_differing(job.thresholds, v);
      const FoundBits found = classify<kHasChroma>(job, place, v, &differing);
      foreground = found.foreground;
      n_differ += __popc(found.differs);
    }
    share.last = index;
    if (n_vectors - index > share.stride) {
      store_bits(job, place, foreground);
    }
  }

  Learned learned;
  const sigma_delta::Rates& rates = shared.expected.sigma_delta;
  judge_light(job, step, arrival, n_differ, &shared, [&] { learned = learn(rates, differing, v); });
  uint32_t in_registers = share.last;
  if (shared.may_be_ramp) {
    compare_sides(job, step, share, &shared);
    // The call is rare, and must not cost registers.
    v = PixelVector{};
    differing = uint4{};
    learned = Learned{};
    in_registers = kNone;
  }
  if (shared.has_changed || shared.expected.learning == Learning::kInitialize) {
    begin(job, step, share, &shared);
    return;
  }
  const bool is_warming_up = !shared.expected.has_foreground();
  for_each_vector(job, share, [&](uint32_t index, const Place& place, uint32_t in_frame) {
    if (is_warming_up) {
      store_bits(job, place, 0);
    } else if (index == share.last) {
      store_bits(job, place, foreground);
    }
    if (in_frame == 0) {
      return;
    }
    if (index != in_registers) {
      v = load(job, place);
      differing = find_differing(job.thresholds, v);
      if constexpr (kHasChroma) {
        add_chroma(load_chroma_classes(job.chroma_planes, job.chroma, place.x, place.y), &differing);
      }
      learned = learn(rates, differing, v);
    }
    store(job, place, learned);
    if (learned.differs) {
      judge<kHasChroma>(job, place, rates.credit);
    }
  });
  finish(job, step, &shared.expected, shared);
}

__global__ void __launch_bounds__(kBlockThreads)
    read_luma_and_chroma(SigmaDeltaPlanes planes, SigmaDeltaChromaPlanes chroma_planes, uint32_t width,
                         uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
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
  const LumaJob job = {
      .frame = frame,
      .is_aligned = is_aligned(frame),
      .planes = planes,
      .chroma_planes = chroma_planes,
      .chroma = chroma,
      .thresholds = step.sigma_delta,
      .row_vectors = vectors_of_bit_row(frame.width),
      .inverse = static_cast<uint32_t>((uint64_t{1} << 32) / vectors_of_bit_row(frame.width)),
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
                kBlockThreads, stream, planes, chroma_planes, width, height, luma, u, v);
}

}  // namespace ccl::device::segment
