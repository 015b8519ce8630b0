// SPDX-License-Identifier: LGPL-2.1-or-later
/// The chroma of the model: it is classified before the kernel of the luma, and learnt after it.
#include "device/stages/segment/sigma_delta_chroma.h"

#include "device/launch.cuh"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

namespace {

/// Four values of U or V from x on.
__device__ Quad load_chroma_quad(const uint8_t* plane, const Chroma& chroma, uint32_t width, uint32_t x,
                                 uint32_t y) {
  uint32_t word = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    word |= load_chroma(plane, chroma, min(x + i, width - 1), y) << i * 8;
  }
  return Quad::of(word);
}

__device__ Quad load_quad(const uint8_t* plane, size_t pitch, uint32_t x, uint32_t y) {
  return Quad::of(*reinterpret_cast<const uint32_t*>(plane + y * pitch + x));
}

__device__ void store_quad(uint8_t* plane, size_t pitch, uint32_t x, uint32_t y, const Quad& quad) {
  *reinterpret_cast<uint32_t*>(plane + y * pitch + x) = quad.word();
}

/// Four bytes of a luma plane: of the first pixels that chroma pixels belong to.
__device__ Quad load_leaders(const uint8_t* plane, size_t pitch, const SigmaDeltaChromaPlanes& planes,
                             uint32_t x, uint32_t y) {
  const uint8_t* row = plane + size_t{y << planes.shift_y} * pitch + (x << planes.shift_x);
  if (planes.shift_x == 0) {
    return Quad::of(*reinterpret_cast<const uint32_t*>(row));
  }
  const uint2 pairs = *reinterpret_cast<const uint2*>(row);
  return Quad::of(__byte_perm(pairs.x, pairs.y, 0x6420));
}

/// Four pixels of the frame's chroma, and their state.
struct ChromaQuad {
  uint32_t x;
  uint32_t y;
  Quad u;
  Quad v;
  Quad mean_u;
  Quad mean_v;
  Quad variance;
  Quad candidate_u;
  Quad candidate_v;

  __device__ sigma_delta::ChromaPixel<Lanes> even() const {
    return {mean_u.even, mean_v.even, variance.even, candidate_u.even, candidate_v.even};
  }
  __device__ sigma_delta::ChromaPixel<Lanes> odd() const {
    return {mean_u.odd, mean_v.odd, variance.odd, candidate_u.odd, candidate_v.odd};
  }
};

/// Those of the thread. False if there are none.
__device__ bool load_quad_of_thread(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                                    ChromaQuad* quad) {
  const uint32_t row_quads = (planes.width + 3) / 4;
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= planes.height) {
    return false;
  }
  const auto load = [&](const uint8_t* plane) { return load_quad(plane, planes.pitch, x, y); };
  *quad = {x,
           y,
           load_chroma_quad(chroma.u, chroma, planes.width, x, y),
           load_chroma_quad(chroma.v, chroma, planes.width, x, y),
           load(planes.mean_u),
           load(planes.mean_v),
           load(planes.variance),
           load(planes.candidate_u),
           load(planes.candidate_v)};
  return true;
}

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kBlockThreads)
    classify_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, sigma_delta::Thresholds thresholds) {
  ChromaQuad quad;
  if (!load_quad_of_thread(chroma, planes, &quad)) {
    return;
  }
  const auto even = sigma_delta::classify_chroma<Lanes>(thresholds, quad.u.even, quad.v.even, quad.even());
  const auto odd = sigma_delta::classify_chroma<Lanes>(thresholds, quad.u.odd, quad.v.odd, quad.odd());
  store_quad(planes.classes, planes.pitch, quad.x, quad.y,
             {sigma_delta::pack<Lanes>(even), sigma_delta::pack<Lanes>(odd)});
}

/// A frame in which the light changed.
__device__ __noinline__ void relearn_chroma(sigma_delta::Relearning how, ChromaQuad quad,
                                            SigmaDeltaChromaPlanes planes, SigmaDeltaPlanes luma) {
  const uint8_t* const luma_status = luma.status + size_t{quad.y << planes.shift_y} * luma.pitch;
  uint32_t mean_u = 0;
  uint32_t mean_v = 0;
  uint32_t variance = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    const auto byte = [i](const Quad& of) { return of.word() >> i * 8 & 0xff; };
    const uint32_t x = min(quad.x + i, planes.width - 1);
    const auto pixel = sigma_delta::relearn_chroma(
        how,
        {byte(quad.mean_u), byte(quad.mean_v), byte(quad.variance), byte(quad.candidate_u),
         byte(quad.candidate_v)},
        sigma_delta::is_hidden(luma_status, x, planes.width, planes.shift_x), byte(quad.u), byte(quad.v));
    mean_u |= pixel.mean_u << i * 8;
    mean_v |= pixel.mean_v << i * 8;
    variance |= pixel.variance << i * 8;
  }
  store_quad(planes.mean_u, planes.pitch, quad.x, quad.y, Quad::of(mean_u));
  store_quad(planes.mean_v, planes.pitch, quad.x, quad.y, Quad::of(mean_v));
  store_quad(planes.variance, planes.pitch, quad.x, quad.y, Quad::of(variance));
  store_quad(planes.candidate_u, planes.pitch, quad.x, quad.y, quad.u);
  store_quad(planes.candidate_v, planes.pitch, quad.x, quad.y, quad.v);
}

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kBlockThreads)
    learn_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, SigmaDeltaPlanes luma,
                 sigma_delta::Thresholds thresholds, const ModelState* model) {
  ChromaQuad quad;
  if (!load_quad_of_thread(chroma, planes, &quad)) {
    return;
  }
  if (model->learning == Learning::kRelearn) {
    relearn_chroma(relearning_of_chroma(thresholds, *model), quad, planes, luma);
    return;
  }
  sigma_delta::ChromaPixel<Lanes> even;
  sigma_delta::ChromaPixel<Lanes> odd;
  if (model->learning == Learning::kInitialize) {
    const uint32_t variance = Lanes::splat(sigma_delta::kInitialVariance);
    even = {quad.u.even, quad.v.even, variance, quad.u.even, quad.v.even};
    odd = {quad.u.odd, quad.v.odd, variance, quad.u.odd, quad.v.odd};
  } else {
    const Quad status = load_leaders(luma.status, luma.pitch, planes, quad.x, quad.y);
    const Quad stay = load_leaders(luma.stay, luma.pitch, planes, quad.x, quad.y);
    const auto learn = [&](uint32_t status_of, uint32_t stay_of, const sigma_delta::ChromaPixel<Lanes>& old,
                           uint32_t u, uint32_t v) {
      return sigma_delta::update_chroma<Lanes>(thresholds, model->sigma_delta,
                                               sigma_delta::leader<Lanes>(status_of, stay_of), old, u, v);
    };
    even = learn(status.even, stay.even, quad.even(), quad.u.even, quad.v.even);
    odd = learn(status.odd, stay.odd, quad.odd(), quad.u.odd, quad.v.odd);
  }
  const auto store = [&](uint8_t* plane, uint32_t of_even, uint32_t of_odd) {
    store_quad(plane, planes.pitch, quad.x, quad.y, {of_even, of_odd});
  };
  store(planes.mean_u, even.mean_u, odd.mean_u);
  store(planes.mean_v, even.mean_v, odd.mean_v);
  store(planes.variance, even.variance, odd.variance);
  store(planes.candidate_u, even.candidate_u, odd.candidate_u);
  store(planes.candidate_v, even.candidate_v, odd.candidate_v);
}

uint32_t blocks_of(const SigmaDeltaChromaPlanes& planes) {
  return blocks_of_threads(size_t{(planes.width + 3) / 4} * planes.height);
}

}  // namespace

Status enqueue_chroma_classes(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                              const sigma_delta::Thresholds& thresholds, cudaStream_t stream) {
  return launch("classify_chroma", classify_chroma, blocks_of(planes), kBlockThreads, stream, chroma, planes,
                thresholds);
}

Status enqueue_chroma_learning(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                               const SigmaDeltaPlanes& luma, const sigma_delta::Thresholds& thresholds,
                               const ModelState* model, cudaStream_t stream) {
  return launch("learn_chroma", learn_chroma, blocks_of(planes), kBlockThreads, stream, chroma, planes, luma,
                thresholds, model);
}

}  // namespace ccl::device::segment
