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

/// Of four pixels from column x on, the values at a distance of dx columns. Outside the plane both are copies
/// of the nearest ones, so that what is behind the last pixel of a row stays a copy of it.
__device__ Quad load_beside(const uint8_t* row, uint32_t width, uint32_t x, int dx) {
  const int last = static_cast<int>(width) - 1;
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = min(static_cast<int>(x) + i, last);
    word |= uint32_t{row[min(max(at + dx, 0), last)]} << i * 8;
  }
  return Quad::of(word);
}

__device__ FarFromAround distances_around(const uint8_t* means, const SigmaDeltaChromaPlanes& planes,
                                          uint32_t x, uint32_t y, const Quad& value) {
  FarFromAround far;
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, planes.height - 1)};
  uint32_t n = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    if (i != 4) {
      const Quad mean = load_beside(means + rows[i / 3] * planes.pitch, planes.width, x, i % 3 - 1);
      far.even[n] = distance<Lanes>(value.even, mean.even);
      far.odd[n++] = distance<Lanes>(value.odd, mean.odd);
    }
  }
  return far;
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
  Quad status;

  __device__ sigma_delta::ChromaPixel<Lanes> even() const {
    return {mean_u.even, mean_v.even, variance.even, status.even};
  }
  __device__ sigma_delta::ChromaPixel<Lanes> odd() const {
    return {mean_u.odd, mean_v.odd, variance.odd, status.odd};
  }
};

/// Those of the thread. False if there are none.
__device__ bool load_quad_of_thread(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                                    ChromaQuad* quad) {
  const uint32_t row_quads = (planes.width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
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
           load(planes.status)};
  return true;
}

/// The larger distance of U and V.
__device__ FarFromAround distances_around(const SigmaDeltaChromaPlanes& planes, uint32_t x, uint32_t y,
                                          const Quad& u, const Quad& v) {
  FarFromAround far = distances_around(planes.mean_u, planes, x, y, u);
  const FarFromAround far_v = distances_around(planes.mean_v, planes, x, y, v);
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    far.even[i] = Lanes::max(far.even[i], far_v.even[i]);
    far.odd[i] = Lanes::max(far.odd[i], far_v.odd[i]);
  }
  return far;
}

/// Only in few frames: not inlined, so that the others need no registers for it.
__device__ __noinline__ void mark_ghosts(ChromaQuad quad, Quad differs, SigmaDeltaChromaPlanes planes,
                                         uint32_t threshold) {
  const FarFromAround far = distances_around(planes, quad.x, quad.y, quad.u, quad.v);
  const FarFromAround edge = distances_around(planes, quad.x, quad.y, quad.mean_u, quad.mean_v);
  store_quad(planes.status, planes.pitch, quad.x, quad.y,
             {sigma_delta::mark_ghost<Lanes>(threshold, differs.even, far.even, edge.even, quad.status.even),
              sigma_delta::mark_ghost<Lanes>(threshold, differs.odd, far.odd, edge.odd, quad.status.odd)});
}

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kThreads)
    classify_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, sigma_delta::Thresholds thresholds) {
  ChromaQuad quad;
  if (!load_quad_of_thread(chroma, planes, &quad)) {
    return;
  }
  const auto even = sigma_delta::classify_chroma<Lanes>(
      thresholds, quad.u.even, quad.v.even, quad.mean_u.even, quad.mean_v.even, quad.variance.even);
  const auto odd = sigma_delta::classify_chroma<Lanes>(thresholds, quad.u.odd, quad.v.odd, quad.mean_u.odd,
                                                       quad.mean_v.odd, quad.variance.odd);
  const auto classes = [](const sigma_delta::ChromaClass<Lanes>& found) {
    return (found.differs & Lanes::splat(kDiffers)) | (found.fits_shadow & Lanes::splat(kFitsShadow));
  };
  store_quad(planes.classes, planes.pitch, quad.x, quad.y, {classes(even), classes(odd)});
  if (thresholds.ghosts && (even.differs | odd.differs) != 0) {
    mark_ghosts(quad, {even.differs, odd.differs}, planes, thresholds.chroma);
  }
}

__device__ sigma_delta::ChromaPixel<Lanes> learn(const ModelState& model,
                                                 const sigma_delta::Thresholds& thresholds,
                                                 const sigma_delta::ChromaPixel<Lanes>& old, uint32_t u,
                                                 uint32_t v) {
  if (model.learning == Learning::kInitialize) {
    return {u, v, Lanes::splat(sigma_delta::kInitialVariance), Lanes::splat(0)};
  }
  return sigma_delta::update_chroma<Lanes>(thresholds, model.sigma_delta, old, u, v);
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
        how, {byte(quad.mean_u), byte(quad.mean_v), byte(quad.variance), byte(quad.status)},
        sigma_delta::is_hidden(luma_status, x, planes.width, planes.shift_x), byte(quad.u), byte(quad.v));
    mean_u |= pixel.mean_u << i * 8;
    mean_v |= pixel.mean_v << i * 8;
    variance |= pixel.variance << i * 8;
  }
  store_quad(planes.mean_u, planes.pitch, quad.x, quad.y, Quad::of(mean_u));
  store_quad(planes.mean_v, planes.pitch, quad.x, quad.y, Quad::of(mean_v));
  store_quad(planes.variance, planes.pitch, quad.x, quad.y, Quad::of(variance));
  store_quad(planes.status, planes.pitch, quad.x, quad.y, Quad::of(0));
}

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kThreads)
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
  const auto even = learn(*model, thresholds, quad.even(), quad.u.even, quad.v.even);
  const auto odd = learn(*model, thresholds, quad.odd(), quad.u.odd, quad.v.odd);
  const auto store = [&](uint8_t* plane, uint32_t of_even, uint32_t of_odd) {
    store_quad(plane, planes.pitch, quad.x, quad.y, {of_even, of_odd});
  };
  store(planes.mean_u, even.mean_u, odd.mean_u);
  store(planes.mean_v, even.mean_v, odd.mean_v);
  store(planes.variance, even.variance, odd.variance);
  store(planes.status, even.status, odd.status);
}

uint32_t blocks_of(const SigmaDeltaChromaPlanes& planes) {
  return blocks_of_threads(size_t{(planes.width + 3) / 4} * planes.height);
}

}  // namespace

Status enqueue_chroma_classes(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                              const sigma_delta::Thresholds& thresholds, cudaStream_t stream) {
  return launch("classify_chroma", classify_chroma, blocks_of(planes), kThreads, stream, chroma, planes,
                thresholds);
}

Status enqueue_chroma_learning(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                               const SigmaDeltaPlanes& luma, const sigma_delta::Thresholds& thresholds,
                               const ModelState* model, cudaStream_t stream) {
  return launch("learn_chroma", learn_chroma, blocks_of(planes), kThreads, stream, chroma, planes, luma,
                thresholds, model);
}

}  // namespace ccl::device::segment
