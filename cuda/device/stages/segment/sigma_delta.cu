// SPDX-License-Identifier: LGPL-2.1-or-later
/// Two kernels a frame: classify every pixel, and the last block decides how the frame is learnt; then learn
/// every pixel. Chroma and, in every few frames, the search for ghosts have kernels of their own. A thread
/// works on two pixels at a time.
#include "device/stages/segment/sigma_delta.h"

#include "device/launch.cuh"
#include "device/stages/segment/lanes.cuh"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/vectors.cuh"

namespace ccl::device::segment {

namespace {

/// Classes of chroma pixels.
constexpr uint32_t kDiffers = 1;
constexpr uint32_t kFitsShadow = 2;

using Lanes = HalfLanes;

__device__ uint4 load_state(const uint8_t* plane, size_t pitch, uint32_t x, uint32_t y) {
  return *reinterpret_cast<const uint4*>(plane + y * pitch + x);
}

__device__ void store_state(uint8_t* plane, size_t pitch, uint32_t x, uint32_t y, const uint4& vector) {
  *reinterpret_cast<uint4*>(plane + y * pitch + x) = vector;
}

__device__ uint32_t word_of(const uint4& vector, uint32_t i) {
  return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

__device__ void set_word(uint4& vector, uint32_t i, uint32_t word) {
  (i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w) = word;
}

/// The means in three rows, of a vector and of a pixel to each side; those outside the frame are copies of
/// the nearest ones. The planes' rows are padded with copies, so that only the first column is special.
struct MeansAround {
  uint4 vector[3];
  uint32_t before[3];
  uint32_t after[3];
};

__device__ MeansAround load_means(const SigmaDeltaPlanes& planes, uint32_t width, uint32_t height, uint32_t x,
                                  uint32_t y) {
  MeansAround means;
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, height - 1)};
#pragma unroll
  for (uint32_t i = 0; i < 3; ++i) {
    means.vector[i] = load_state(planes.mean, planes.pitch, x, rows[i]);
    const uint8_t* row = planes.mean + rows[i] * planes.pitch;
    means.before[i] = row[x > 0 ? x - 1 : 0];
    means.after[i] = row[min(x + kVectorPixels, width - 1)];
  }
  return means;
}

/// The smallest (kIsLow) or largest mean around each pixel.
template <bool kIsLow>
__device__ void find_extremes(const MeansAround& means, Quad* extremes) {
  const auto extreme = [](uint32_t a, uint32_t b, uint32_t c) {
    return kIsLow ? Lanes::min(Lanes::min(a, b), c) : Lanes::max(Lanes::max(a, b), c);
  };
  Quad columns[kVectorWords];
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad above = Quad::of(word_of(means.vector[0], i));
    const Quad here = Quad::of(word_of(means.vector[1], i));
    const Quad below = Quad::of(word_of(means.vector[2], i));
    columns[i] = {extreme(above.even, here.even, below.even), extreme(above.odd, here.odd, below.odd)};
  }
  const uint32_t before = extreme(means.before[0], means.before[1], means.before[2]) << 16;
  const uint32_t after = extreme(means.after[0], means.after[1], means.after[2]);
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t odd_before = __funnelshift_l(i > 0 ? columns[i - 1].odd : before, columns[i].odd, 16);
    const uint32_t even_after =
        __funnelshift_r(columns[i].even, i + 1 < kVectorWords ? columns[i + 1].even : after, 16);
    extremes[i] = {extreme(odd_before, columns[i].even, columns[i].odd),
                   extreme(columns[i].even, columns[i].odd, even_after)};
  }
}

/// Eight or sixteen class bytes as masks of sixteen pixels.
struct ChromaMasks {
  Quad differs[kVectorWords];
  Quad fits_shadow[kVectorWords];
};

__device__ ChromaMasks load_chroma_classes(const SigmaDeltaChromaPlanes& planes, const Chroma& chroma,
                                           uint32_t x, uint32_t y) {
  const uint8_t* row = planes.classes + (y >> chroma.shift_y) * planes.pitch + (x >> chroma.shift_x);
  ChromaMasks masks;
  uint4 classes;
  if (chroma.shift_x != 0) {
    const uint2 half = *reinterpret_cast<const uint2*>(row);
    classes = make_uint4(__byte_perm(half.x, 0, 0x1100), __byte_perm(half.x, 0, 0x3322),
                         __byte_perm(half.y, 0, 0x1100), __byte_perm(half.y, 0, 0x3322));
  } else {
    classes = *reinterpret_cast<const uint4*>(row);
  }
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad quad = Quad::of(word_of(classes, i));
    constexpr uint32_t kOnes = 0x00010001;
    masks.differs[i] = {(quad.even & kOnes) * 255, (quad.odd & kOnes) * 255};
    masks.fits_shadow[i] = {(quad.even >> 1 & kOnes) * 255, (quad.odd >> 1 & kOnes) * 255};
  }
  return masks;
}

/// A thread for each vector of a row of the bit image.
template <bool kHasChroma>
__global__ void __launch_bounds__(kThreads)
    classify_luma(Plane frame, bool is_aligned, SigmaDeltaPlanes planes, SigmaDeltaChromaPlanes chroma_planes,
                  Chroma chroma, MotionStep step, uint32_t row_vectors, uint32_t* bits, Decision decision) {
  using sigma_delta::Around;
  using sigma_delta::ChromaClass;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t y = index / row_vectors;
  const uint32_t vector = index % row_vectors;
  const uint32_t x = vector * kVectorPixels;
  uint32_t n_differ = 0;
  if (y < frame.height) {
    uint32_t foreground = 0;
    if (x < frame.width) {
      const uint4 pixels = load_vector(frame, is_aligned, x, y);
      const uint4 variances = load_state(planes.variance, planes.pitch, x, y);
      const MeansAround means = load_means(planes, frame.width, frame.height, x, y);
      Quad low[kVectorWords];
      Quad high[kVectorWords];
      find_extremes<true>(means, low);
      find_extremes<false>(means, high);
      ChromaMasks masks;
      if constexpr (kHasChroma) {
        masks = load_chroma_classes(chroma_planes, chroma, x, y);
      }
      uint4 differs_words;
      uint4 foreground_words;
#pragma unroll
      for (uint32_t i = 0; i < kVectorWords; ++i) {
        const Quad value = Quad::of(word_of(pixels, i));
        const Quad mean = Quad::of(word_of(means.vector[1], i));
        const Quad variance = Quad::of(word_of(variances, i));
        ChromaClass<Lanes> even = sigma_delta::no_chroma<Lanes>();
        ChromaClass<Lanes> odd = even;
        if constexpr (kHasChroma) {
          even = {masks.differs[i].even, masks.fits_shadow[i].even};
          odd = {masks.differs[i].odd, masks.fits_shadow[i].odd};
        }
        const auto of_even =
            sigma_delta::classify<Lanes>(step.sigma_delta, value.even, mean.even, variance.even,
                                         Around<Lanes>{low[i].even, high[i].even}, even);
        const auto of_odd = sigma_delta::classify<Lanes>(step.sigma_delta, value.odd, mean.odd, variance.odd,
                                                         Around<Lanes>{low[i].odd, high[i].odd}, odd);
        set_word(differs_words, i,
                 Quad{of_even.differs & Lanes::kBytes, of_odd.differs & Lanes::kBytes}.word());
        set_word(foreground_words, i,
                 Quad{of_even.foreground & Lanes::kBytes, of_odd.foreground & Lanes::kBytes}.word());
      }
      const uint32_t in_frame = bits_in_frame(x, frame.width);
      n_differ = __popc(gather_bits(differs_words) & in_frame);
      foreground = gather_bits(foreground_words) & in_frame;
    }
    *bits_of_vector(bits, frame.width, vector, y) = static_cast<uint16_t>(foreground);
  }
  count_and_decide(n_differ, step, decision);
}

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

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kThreads)
    classify_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, sigma_delta::Thresholds thresholds) {
  const uint32_t row_quads = (planes.width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= planes.height) {
    return;
  }
  const Quad u = load_chroma_quad(chroma.u, chroma, planes.width, x, y);
  const Quad v = load_chroma_quad(chroma.v, chroma, planes.width, x, y);
  const Quad mean_u = load_quad(planes.mean_u, planes.pitch, x, y);
  const Quad mean_v = load_quad(planes.mean_v, planes.pitch, x, y);
  const Quad variance = load_quad(planes.variance, planes.pitch, x, y);
  const auto classes_of = [&](uint32_t u_of, uint32_t v_of, uint32_t mean_u_of, uint32_t mean_v_of,
                              uint32_t variance_of) {
    const auto found =
        sigma_delta::classify_chroma<Lanes>(thresholds, u_of, v_of, mean_u_of, mean_v_of, variance_of);
    return (found.differs & Lanes::splat(kDiffers)) | (found.fits_shadow & Lanes::splat(kFitsShadow));
  };
  store_quad(planes.classes, planes.pitch, x, y,
             {classes_of(u.even, v.even, mean_u.even, mean_v.even, variance.even),
              classes_of(u.odd, v.odd, mean_u.odd, mean_v.odd, variance.odd)});
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

/// The distances of four values from the 8 means around each of them.
struct FarFromAround {
  uint32_t even[8];
  uint32_t odd[8];
};

__device__ FarFromAround distances_around(const uint8_t* means, size_t pitch, uint32_t width, uint32_t height,
                                          uint32_t x, uint32_t y, const Quad& value) {
  FarFromAround far;
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, height - 1)};
  uint32_t n = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    if (i != 4) {
      const Quad mean = load_beside(means + rows[i / 3] * pitch, width, x, i % 3 - 1);
      far.even[n] = distance<Lanes>(value.even, mean.even);
      far.odd[n++] = distance<Lanes>(value.odd, mean.odd);
    }
  }
  return far;
}

/// A thread for each four pixels of the planes: what is behind the last pixel of a row stays a copy of it.
__global__ void __launch_bounds__(kThreads)
    mark_ghosts_of_luma(Plane frame, SigmaDeltaPlanes planes, sigma_delta::Thresholds thresholds) {
  const uint32_t row_quads = planes.pitch / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= frame.height) {
    return;
  }
  const Quad value = load_beside(frame.pixels + y * frame.pitch, frame.width, x, 0);
  const Quad mean = load_quad(planes.mean, planes.pitch, x, y);
  const Quad variance = load_quad(planes.variance, planes.pitch, x, y);
  const Quad status = load_quad(planes.status, planes.pitch, x, y);
  const FarFromAround far =
      distances_around(planes.mean, planes.pitch, frame.width, frame.height, x, y, value);
  const auto differs = [&](uint32_t value_of, uint32_t mean_of, uint32_t variance_of) {
    return sigma_delta::differs<Lanes>(thresholds, distance<Lanes>(value_of, mean_of), variance_of);
  };
  store_quad(planes.status, planes.pitch, x, y,
             {sigma_delta::mark_ghost<Lanes>(thresholds.luma, differs(value.even, mean.even, variance.even),
                                             far.even, status.even),
              sigma_delta::mark_ghost<Lanes>(thresholds.luma, differs(value.odd, mean.odd, variance.odd),
                                             far.odd, status.odd)});
}

/// A thread for each four chroma pixels, which are classified.
__global__ void __launch_bounds__(kThreads)
    mark_ghosts_of_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, uint32_t threshold) {
  const uint32_t row_quads = (planes.width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= planes.height) {
    return;
  }
  const Quad status = load_quad(planes.status, planes.pitch, x, y);
  const Quad classes = load_quad(planes.classes, planes.pitch, x, y);
  const auto distances = [&](const uint8_t* means, const uint8_t* values) {
    return distances_around(means, planes.pitch, planes.width, planes.height, x, y,
                            load_chroma_quad(values, chroma, planes.width, x, y));
  };
  const FarFromAround far_u = distances(planes.mean_u, chroma.u);
  const FarFromAround far_v = distances(planes.mean_v, chroma.v);
  const auto mark = [&](const uint32_t(&u)[8], const uint32_t(&v)[8], uint32_t classes_of,
                        uint32_t status_of) {
    uint32_t far[8];
    for (uint32_t i = 0; i < 8; ++i) {
      far[i] = Lanes::max(u[i], v[i]);
    }
    const uint32_t differs = (classes_of & Lanes::splat(kDiffers)) * 255;
    return sigma_delta::mark_ghost<Lanes>(threshold, differs, far, status_of);
  };
  store_quad(planes.status, planes.pitch, x, y,
             {mark(far_u.even, far_v.even, classes.even, status.even),
              mark(far_u.odd, far_v.odd, classes.odd, status.odd)});
}

/// A thread for each vector of the planes.
__global__ void __launch_bounds__(kThreads)
    learn_luma(Plane frame, bool is_aligned, SigmaDeltaPlanes planes, sigma_delta::Thresholds thresholds,
               const ModelState* model) {
  const uint32_t row_vectors = planes.pitch / kVectorPixels;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_vectors * kVectorPixels;
  const uint32_t y = index / row_vectors;
  if (y >= frame.height) {
    return;
  }
  const uint4 pixels = load_vector(frame, is_aligned, x, y);
  const uint4 means = load_state(planes.mean, planes.pitch, x, y);
  const uint4 variances = load_state(planes.variance, planes.pitch, x, y);
  const uint4 statuses = load_state(planes.status, planes.pitch, x, y);
  const bool is_begin = begins(*model);
  const bool keeps_variance = model->learning == Learning::kRelearn;
  const sigma_delta::Rates rates = model->sigma_delta;
  const auto learn = [&](uint32_t value, uint32_t mean, uint32_t variance, uint32_t status) {
    return is_begin ? sigma_delta::initialize<Lanes>(value, variance, keeps_variance)
                    : sigma_delta::update<Lanes>(thresholds, rates, {mean, variance, status}, value);
  };
  uint4 new_means;
  uint4 new_variances;
  uint4 new_statuses;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = Quad::of(word_of(pixels, i));
    const Quad mean = Quad::of(word_of(means, i));
    const Quad variance = Quad::of(word_of(variances, i));
    const Quad status = Quad::of(word_of(statuses, i));
    const auto even = learn(value.even, mean.even, variance.even, status.even);
    const auto odd = learn(value.odd, mean.odd, variance.odd, status.odd);
    set_word(new_means, i, Quad{even.mean, odd.mean}.word());
    set_word(new_variances, i, Quad{even.variance, odd.variance}.word());
    set_word(new_statuses, i, Quad{even.status & Lanes::kBytes, odd.status & Lanes::kBytes}.word());
  }
  store_state(planes.mean, planes.pitch, x, y, new_means);
  store_state(planes.variance, planes.pitch, x, y, new_variances);
  store_state(planes.status, planes.pitch, x, y, new_statuses);
}

/// A thread for each four chroma pixels.
__global__ void __launch_bounds__(kThreads)
    learn_chroma(Chroma chroma, SigmaDeltaChromaPlanes planes, sigma_delta::Thresholds thresholds,
                 const ModelState* model) {
  const uint32_t row_quads = (planes.width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= planes.height) {
    return;
  }
  const Quad u = load_chroma_quad(chroma.u, chroma, planes.width, x, y);
  const Quad v = load_chroma_quad(chroma.v, chroma, planes.width, x, y);
  const Quad mean_u = load_quad(planes.mean_u, planes.pitch, x, y);
  const Quad mean_v = load_quad(planes.mean_v, planes.pitch, x, y);
  const Quad variance = load_quad(planes.variance, planes.pitch, x, y);
  const Quad status = load_quad(planes.status, planes.pitch, x, y);
  const bool is_begin = begins(*model);
  const bool keeps_variance = model->learning == Learning::kRelearn;
  const sigma_delta::Rates rates = model->sigma_delta;
  const auto learn = [&](uint32_t u_of, uint32_t v_of,
                         const sigma_delta::ChromaPixel<Lanes>& old) -> sigma_delta::ChromaPixel<Lanes> {
    if (is_begin) {
      return {u_of, v_of, keeps_variance ? old.variance : Lanes::splat(sigma_delta::kInitialVariance),
              Lanes::splat(0)};
    }
    return sigma_delta::update_chroma<Lanes>(thresholds, rates, old, u_of, v_of);
  };
  const auto even = learn(u.even, v.even, {mean_u.even, mean_v.even, variance.even, status.even});
  const auto odd = learn(u.odd, v.odd, {mean_u.odd, mean_v.odd, variance.odd, status.odd});
  store_quad(planes.mean_u, planes.pitch, x, y, {even.mean_u, odd.mean_u});
  store_quad(planes.mean_v, planes.pitch, x, y, {even.mean_v, odd.mean_v});
  store_quad(planes.variance, planes.pitch, x, y, {even.variance, odd.variance});
  store_quad(planes.status, planes.pitch, x, y, {even.status & Lanes::kBytes, odd.status & Lanes::kBytes});
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

size_t chroma_quads(const SigmaDeltaChromaPlanes& planes) {
  return size_t{(planes.width + 3) / 4} * planes.height;
}

Status enqueue_ghosts(const Plane& frame, const Chroma& chroma, const sigma_delta::Thresholds& thresholds,
                      const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                      cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(launch("mark_ghosts_of_luma", mark_ghosts_of_luma,
                             blocks_of_threads(planes.pitch / 4 * frame.height), kThreads, stream, frame,
                             planes, thresholds));
  return chroma.u != nullptr ? launch("mark_ghosts_of_chroma", mark_ghosts_of_chroma,
                                      blocks_of_threads(chroma_quads(chroma_planes)), kThreads, stream,
                                      chroma, chroma_planes, uint32_t{thresholds.chroma})
                             : Status();
}

}  // namespace

Status enqueue_sigma_delta(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                           const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                           const Decision& decision, uint32_t* bits, cudaStream_t stream) {
  const bool aligned = is_aligned(frame);
  const bool has_chroma = chroma.u != nullptr;
  if (has_chroma) {
    CCL_RETURN_IF_ERROR(launch("classify_chroma", classify_chroma,
                               blocks_of_threads(chroma_quads(chroma_planes)), kThreads, stream, chroma,
                               chroma_planes, step.sigma_delta));
  }
  const uint32_t row_vectors = vectors_of_bit_row(frame.width);
  CCL_RETURN_IF_ERROR(launch("classify_luma", has_chroma ? classify_luma<true> : classify_luma<false>,
                             blocks_of_threads(size_t{row_vectors} * frame.height), kThreads, stream, frame,
                             aligned, planes, chroma_planes, chroma, step, row_vectors, bits, decision));
  if (step.sigma_delta.ghosts) {
    CCL_RETURN_IF_ERROR(enqueue_ghosts(frame, chroma, step.sigma_delta, planes, chroma_planes, stream));
  }
  CCL_RETURN_IF_ERROR(launch("learn_luma", learn_luma,
                             blocks_of_threads(planes.pitch / kVectorPixels * frame.height), kThreads, stream,
                             frame, aligned, planes, step.sigma_delta, decision.model));
  return has_chroma ? launch("learn_chroma", learn_chroma, blocks_of_threads(chroma_quads(chroma_planes)),
                             kThreads, stream, chroma, chroma_planes, step.sigma_delta, decision.model)
                    : Status();
}

Status read_sigma_delta(const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                        uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v,
                        cudaStream_t stream) {
  return launch("read_luma_and_chroma", read_luma_and_chroma, blocks_of_threads(size_t{width} * height),
                kThreads, stream, planes, chroma_planes, width, height, luma, u, v);
}

}  // namespace ccl::device::segment
