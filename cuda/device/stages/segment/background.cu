// SPDX-License-Identifier: LGPL-2.1-or-later
/// Three kernels a frame: classify every pixel, and the last block decides how the frame is learnt; then
/// learn every pixel. Both are the rules of ccl/segment, for two pixels at a time (sigma-delta) or for one
/// (mixture).
#include "device/stages/segment/background.h"

#include <utility>

#include "device/launch.cuh"
#include "device/stages/segment/lanes.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

struct Background::State {
  ModelState model;
  uint32_t has_no_foreground;
  uint32_t n_ended;  ///< blocks of the running kernel; 0 between kernels
};

namespace {

constexpr uint32_t kThreads = 256;

/// Classes of chroma pixels.
constexpr uint32_t kDiffers = 1;
constexpr uint32_t kFitsShadow = 2;

/// What kernels need of the state besides planes.
struct Decision {
  ModelState* model;
  uint32_t* has_no_foreground;
  uint32_t* n_ended;
  FrameCounts* counts;
  uint64_t n_pixels;
};

/// Adds the pixels of a block that differ; the last block decides. All threads must call it.
__device__ void count_and_decide(uint32_t n_of_thread, const MotionStep& step, const Decision& decision) {
  __shared__ uint32_t warp_sums[kThreads / kWarpSize];
  const uint32_t of_warp = warp_sum(kAllLanes, n_of_thread);
  if (threadIdx.x % kWarpSize == 0) {
    warp_sums[threadIdx.x / kWarpSize] = of_warp;
  }
  __syncthreads();
  if (threadIdx.x != 0) {
    return;
  }
  uint32_t n = 0;
  for (const uint32_t sum : warp_sums) {
    n += sum;
  }
  if (n > 0) {
    atomicAdd(&decision.model->n_differ, n);
  }
  __threadfence();
  if (atomicInc(decision.n_ended, gridDim.x - 1) == gridDim.x - 1) {
    __threadfence();
    ModelState model = *decision.model;
    model.n_differ = __ldcg(&decision.model->n_differ);
    decide(step, decision.n_pixels, &model);
    *decision.model = model;
    *decision.has_no_foreground = model.has_foreground() ? 0 : 1;
    decision.counts->relearning = model.has_foreground() ? 0 : 1;
  }
}

/* Sigma-delta */

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
    classify_sigma_delta(Plane frame, bool is_aligned, SigmaDeltaPlanes planes,
                         SigmaDeltaChromaPlanes chroma_planes, Chroma chroma, MotionStep step,
                         uint32_t row_vectors, uint32_t* bits, Decision decision) {
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

/// The pixel (x, y) of U or V.
__device__ uint32_t load_chroma(const uint8_t* plane, const Chroma& chroma, uint32_t x, uint32_t y) {
  return __ldg(plane + y * chroma.stride + size_t{x} * chroma.step);
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
    classify_sigma_delta_chroma(Chroma chroma, uint32_t width, uint32_t height, SigmaDeltaChromaPlanes planes,
                                MotionStep step) {
  const uint32_t row_quads = (width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= height) {
    return;
  }
  const Quad u = load_chroma_quad(chroma.u, chroma, width, x, y);
  const Quad v = load_chroma_quad(chroma.v, chroma, width, x, y);
  const Quad mean_u = load_quad(planes.mean_u, planes.pitch, x, y);
  const Quad mean_v = load_quad(planes.mean_v, planes.pitch, x, y);
  const Quad variance = load_quad(planes.variance, planes.pitch, x, y);
  const auto classes_of = [&](uint32_t u_of, uint32_t v_of, uint32_t mean_u_of, uint32_t mean_v_of,
                              uint32_t variance_of) {
    const auto found =
        sigma_delta::classify_chroma<Lanes>(step.sigma_delta, u_of, v_of, mean_u_of, mean_v_of, variance_of);
    return (found.differs & Lanes::splat(kDiffers)) | (found.fits_shadow & Lanes::splat(kFitsShadow));
  };
  store_quad(planes.classes, planes.pitch, x, y,
             {classes_of(u.even, v.even, mean_u.even, mean_v.even, variance.even),
              classes_of(u.odd, v.odd, mean_u.odd, mean_v.odd, variance.odd)});
}

__device__ bool begins(const ModelState& model) {
  return model.learning == Learning::kInitialize || model.learning == Learning::kRelearn;
}

/// A thread for each vector of the planes.
__global__ void __launch_bounds__(kThreads)
    learn_sigma_delta(Plane frame, bool is_aligned, SigmaDeltaPlanes planes, MotionStep step,
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
                    : sigma_delta::update<Lanes>(step.sigma_delta, rates, {mean, variance, status}, value);
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
    learn_sigma_delta_chroma(Chroma chroma, uint32_t width, uint32_t height, SigmaDeltaChromaPlanes planes,
                             MotionStep step, const ModelState* model) {
  const uint32_t row_quads = (width + 3) / 4;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % row_quads * 4;
  const uint32_t y = index / row_quads;
  if (y >= height) {
    return;
  }
  const Quad u = load_chroma_quad(chroma.u, chroma, width, x, y);
  const Quad v = load_chroma_quad(chroma.v, chroma, width, x, y);
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
    return sigma_delta::update_chroma<Lanes>(step.sigma_delta, rates, old, u_of, v_of);
  };
  const auto even = learn(u.even, v.even, {mean_u.even, mean_v.even, variance.even, status.even});
  const auto odd = learn(u.odd, v.odd, {mean_u.odd, mean_v.odd, variance.odd, status.odd});
  store_quad(planes.mean_u, planes.pitch, x, y, {even.mean_u, odd.mean_u});
  store_quad(planes.mean_v, planes.pitch, x, y, {even.mean_v, odd.mean_v});
  store_quad(planes.variance, planes.pitch, x, y, {even.variance, odd.variance});
  store_quad(planes.status, planes.pitch, x, y, {even.status & Lanes::kBytes, odd.status & Lanes::kBytes});
}

/* Mixture */

using Word = WordLane;

__device__ mixture::Color<Word> load_color(const Plane& frame, const Chroma& chroma, uint32_t x, uint32_t y) {
  mixture::Color<Word> color{__ldg(frame.pixels + y * frame.pitch + x), mixture::kNeutral, mixture::kNeutral};
  if (chroma.u != nullptr) {
    color.u = load_chroma(chroma.u, chroma, x >> chroma.shift_x, y >> chroma.shift_y);
    color.v = load_chroma(chroma.v, chroma, x >> chroma.shift_x, y >> chroma.shift_y);
  }
  return color;
}

/// A mode without weight is not read: what else it holds has no effect.
__device__ mixture::Pixel<Word> load_pixel(const MixturePlanes& planes, size_t at) {
  mixture::Pixel<Word> pixel = {};
#pragma unroll
  for (uint32_t i = 0; i < mixture::kModes; ++i) {
    const MixturePlanes::Mode& mode = planes.modes[i];
    pixel.modes[i] = {mode.weight[at], mode.mean[at], mode.variance[at], mode.chroma[at]};
  }
  return pixel;
}

__device__ void store_pixel(const MixturePlanes& planes, size_t at, const mixture::Pixel<Word>& pixel) {
#pragma unroll
  for (uint32_t i = 0; i < mixture::kModes; ++i) {
    const MixturePlanes::Mode& mode = planes.modes[i];
    mode.weight[at] = static_cast<uint16_t>(pixel.modes[i].weight);
    mode.mean[at] = static_cast<uint16_t>(pixel.modes[i].mean);
    mode.variance[at] = static_cast<uint16_t>(pixel.modes[i].variance);
    mode.chroma[at] = static_cast<uint16_t>(pixel.modes[i].chroma);
  }
}

__device__ mixture::Around<Word> load_around(const uint16_t* means, uint32_t width, uint32_t height,
                                             uint32_t x, uint32_t y) {
  uint32_t low = ~0u;
  uint32_t high = 0;
#pragma unroll
  for (uint32_t row = 0; row < 3; ++row) {
    const uint32_t at_y = row == 0 ? (y > 0 ? y - 1 : 0) : row == 1 ? y : min(y + 1, height - 1);
#pragma unroll
    for (uint32_t column = 0; column < 3; ++column) {
      const uint32_t at_x = column == 0 ? (x > 0 ? x - 1 : 0) : column == 1 ? x : min(x + 1, width - 1);
      const uint32_t mean = means[size_t{at_y} * width + at_x];
      low = min(low, mean);
      high = max(high, mean);
    }
  }
  return {mixture::background_luma<Word>(low), mixture::background_luma<Word>(high)};
}

/// A warp for each word of the bit image.
__global__ void __launch_bounds__(kThreads)
    classify_mixture(Plane frame, Chroma chroma, MixturePlanes planes, MotionStep step, uint32_t row_words,
                     uint32_t* bits, Decision decision) {
  const uint32_t index = (blockIdx.x * kThreads + threadIdx.x) / kWarpSize;
  const uint32_t y = index / row_words;
  const uint32_t x = index % row_words * kWarpSize + threadIdx.x % kWarpSize;
  mixture::Class<Word> found{0, 0};
  if (y < frame.height && x < frame.width) {
    found = mixture::classify<Word>(
        step.mixture, load_pixel(planes, size_t{y} * frame.width + x), load_color(frame, chroma, x, y),
        load_around(planes.modes[0].mean, frame.width, frame.height, x, y), chroma.u != nullptr);
  }
  const uint32_t word = __ballot_sync(kAllLanes, found.foreground != 0);
  if (threadIdx.x % kWarpSize == 0 && y < frame.height) {
    bits[size_t{y} * row_words + x / kWarpSize] = word;
  }
  count_and_decide(found.differs != 0 ? 1 : 0, step, decision);
}

__global__ void __launch_bounds__(kThreads)
    learn_mixture(Plane frame, Chroma chroma, MixturePlanes planes, const ModelState* model) {
  const size_t index = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= size_t{frame.width} * frame.height) {
    return;
  }
  const mixture::Color<Word> color = load_color(frame, chroma, static_cast<uint32_t>(index % frame.width),
                                                static_cast<uint32_t>(index / frame.width));
  const mixture::Pixel<Word> old = load_pixel(planes, index);
  store_pixel(planes, index,
              begins(*model) ? mixture::initialize<Word>(color, old.modes[0].variance,
                                                         model->learning == Learning::kRelearn)
                             : mixture::update<Word>(model->mixture, old, color));
}

/* Background image */

__global__ void __launch_bounds__(kThreads)
    read_sigma_delta(SigmaDeltaPlanes planes, SigmaDeltaChromaPlanes chroma_planes, uint8_t shift_x,
                     uint8_t shift_y, uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u,
                     uint8_t* v) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t x = index % width;
  const uint32_t y = index / width;
  if (y >= height) {
    return;
  }
  luma[index] = planes.mean[y * planes.pitch + x];
  const size_t at = (y >> shift_y) * chroma_planes.pitch + (x >> shift_x);
  const bool has_chroma = chroma_planes.mean_u != nullptr;
  u[index] = has_chroma ? chroma_planes.mean_u[at] : sigma_delta::kNeutral;
  v[index] = has_chroma ? chroma_planes.mean_v[at] : sigma_delta::kNeutral;
}

__global__ void __launch_bounds__(kThreads)
    read_mixture(MixturePlanes planes, uint32_t n_pixels, uint8_t* luma, uint8_t* u, uint8_t* v) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= n_pixels) {
    return;
  }
  luma[index] = static_cast<uint8_t>(mixture::background_luma<Word>(planes.modes[0].mean[index]));
  u[index] = static_cast<uint8_t>(planes.modes[0].chroma[index] & 0xff);
  v[index] = static_cast<uint8_t>(planes.modes[0].chroma[index] >> 8);
}

uint32_t blocks_for(size_t n_threads) {
  return static_cast<uint32_t>((n_threads + kThreads - 1) / kThreads);
}

size_t pitch_of(uint32_t width) {
  return (size_t{width} + kVectorPixels - 1) / kVectorPixels * kVectorPixels;
}

}  // namespace

Background::Shape Background::shape_of(const Chroma& chroma) {
  return chroma.u != nullptr ? Shape{true, chroma.shift_x, chroma.shift_y} : Shape{};
}

void Background::configure(uint32_t width, uint32_t height, cudaStream_t stream) {
  width_ = width;
  height_ = height;
  stream_ = stream;
}

bool Background::needs_memory(BackgroundModel model, const Chroma& chroma) const {
  return !is_ready_ || model_ != model || shape_ != shape_of(chroma);
}

Status Background::prepare(BackgroundModel model, const Chroma& chroma) {
  if (!needs_memory(model, chroma)) {
    return {};
  }
  is_ready_ = false;
  model_ = model;
  shape_ = shape_of(chroma);
  planes_ = {};
  luma_ = {};
  chroma_ = {};
  mixture_ = {};
  if (state_.data() == nullptr) {
    CCL_RETURN_IF_ERROR(state_.allocate(sizeof(State)));
  }
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(state_.data(), 0, sizeof(State), stream_),
                            "cudaMemsetAsync of the state of the background model"));
  CCL_RETURN_IF_ERROR(model == BackgroundModel::kMixture ? allocate_mixture() : allocate_sigma_delta());
  CCL_RETURN_IF_ERROR(check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"));
  is_ready_ = true;
  return {};
}

/// Planes are cleared, because the first frame is classified, too, before the model begins with it.
Status Background::allocate_sigma_delta() {
  luma_.pitch = pitch_of(width_);
  const size_t luma_bytes = luma_.pitch * height_;
  chroma_.pitch = pitch_of(chroma_width());
  const size_t chroma_bytes = shape_.has_chroma ? chroma_.pitch * chroma_height() : 0;
  const size_t bytes = 3 * luma_bytes + 5 * chroma_bytes;
  CCL_RETURN_IF_ERROR(planes_.allocate(bytes));
  uint8_t* next = planes_.data();
  for (uint8_t** plane : {&luma_.mean, &luma_.variance, &luma_.status}) {
    *plane = std::exchange(next, next + luma_bytes);
  }
  if (shape_.has_chroma) {
    for (uint8_t** plane :
         {&chroma_.mean_u, &chroma_.mean_v, &chroma_.variance, &chroma_.status, &chroma_.classes}) {
      *plane = std::exchange(next, next + chroma_bytes);
    }
  }
  return check(cudaMemsetAsync(planes_.data(), 0, bytes, stream_), "cudaMemsetAsync of the background model");
}

Status Background::allocate_mixture() {
  const size_t plane_bytes = size_t{width_} * height_ * sizeof(uint16_t);
  const size_t bytes = plane_bytes * 4 * mixture::kModes;
  CCL_RETURN_IF_ERROR(planes_.allocate(bytes));
  uint8_t* next = planes_.data();
  for (MixturePlanes::Mode& mode : mixture_.modes) {
    for (uint16_t** plane : {&mode.weight, &mode.mean, &mode.variance, &mode.chroma}) {
      *plane = reinterpret_cast<uint16_t*>(std::exchange(next, next + plane_bytes));
    }
  }
  return check(cudaMemsetAsync(planes_.data(), 0, bytes, stream_), "cudaMemsetAsync of the background model");
}

const uint32_t* Background::has_no_foreground() const {
  return &reinterpret_cast<State*>(state_.data())->has_no_foreground;
}

Status Background::enqueue(const Plane& frame, const Chroma& chroma, const MotionStep& step, uint32_t* bits,
                           FrameCounts* counts, cudaStream_t stream) {
  return model_ == BackgroundModel::kMixture ? enqueue_mixture(frame, chroma, step, bits, counts, stream)
                                             : enqueue_sigma_delta(frame, chroma, step, bits, counts, stream);
}

Status Background::enqueue_sigma_delta(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                                       uint32_t* bits, FrameCounts* counts, cudaStream_t stream) {
  auto* state = reinterpret_cast<State*>(state_.data());
  const Decision decision{.model = &state->model,
                          .has_no_foreground = &state->has_no_foreground,
                          .n_ended = &state->n_ended,
                          .counts = counts,
                          .n_pixels = uint64_t{width_} * height_};
  const bool aligned = is_aligned(frame);
  const size_t n_chroma_quads = size_t{(chroma_width() + 3) / 4} * chroma_height();
  if (shape_.has_chroma) {
    CCL_RETURN_IF_ERROR(launch("classify_sigma_delta_chroma", classify_sigma_delta_chroma,
                               blocks_for(n_chroma_quads), kThreads, stream, chroma, chroma_width(),
                               chroma_height(), chroma_, step));
  }
  const uint32_t row_vectors = vectors_of_bit_row(width_);
  CCL_RETURN_IF_ERROR(launch("classify_sigma_delta",
                             shape_.has_chroma ? classify_sigma_delta<true> : classify_sigma_delta<false>,
                             blocks_for(size_t{row_vectors} * height_), kThreads, stream, frame, aligned,
                             luma_, chroma_, chroma, step, row_vectors, bits, decision));
  CCL_RETURN_IF_ERROR(launch("learn_sigma_delta", learn_sigma_delta,
                             blocks_for(luma_.pitch / kVectorPixels * height_), kThreads, stream, frame,
                             aligned, luma_, step, &state->model));
  return shape_.has_chroma
             ? launch("learn_sigma_delta_chroma", learn_sigma_delta_chroma, blocks_for(n_chroma_quads),
                      kThreads, stream, chroma, chroma_width(), chroma_height(), chroma_, step, &state->model)
             : Status();
}

Status Background::enqueue_mixture(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                                   uint32_t* bits, FrameCounts* counts, cudaStream_t stream) {
  auto* state = reinterpret_cast<State*>(state_.data());
  const Decision decision{.model = &state->model,
                          .has_no_foreground = &state->has_no_foreground,
                          .n_ended = &state->n_ended,
                          .counts = counts,
                          .n_pixels = uint64_t{width_} * height_};
  const uint32_t row_words = bit_row_words(width_);
  CCL_RETURN_IF_ERROR(launch("classify_mixture", classify_mixture,
                             blocks_for(size_t{row_words} * kWarpSize * height_), kThreads, stream, frame,
                             chroma, mixture_, step, row_words, bits, decision));
  return launch("learn_mixture", learn_mixture, blocks_for(size_t{width_} * height_), kThreads, stream, frame,
                chroma, mixture_, &state->model);
}

Status Background::read(uint8_t* luma, uint8_t* u, uint8_t* v, cudaStream_t stream) const {
  const uint32_t n_blocks = blocks_for(size_t{width_} * height_);
  return model_ == BackgroundModel::kMixture
             ? launch("read_mixture", read_mixture, n_blocks, kThreads, stream, mixture_, width_ * height_,
                      luma, u, v)
             : launch("read_sigma_delta", read_sigma_delta, n_blocks, kThreads, stream, luma_, chroma_,
                      shape_.shift_x, shape_.shift_y, width_, height_, luma, u, v);
}

}  // namespace ccl::device::segment
