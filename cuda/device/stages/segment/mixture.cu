// SPDX-License-Identifier: LGPL-2.1-or-later
/// Two kernels a frame: classify every pixel, and the last block decides how the frame is learnt; then learn
/// every pixel. In every few frames, another one searches for ghosts. A thread works on a pixel.
#include "device/stages/segment/mixture.h"

#include "device/launch.cuh"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/vectors.cuh"

namespace ccl::device::segment {

namespace {

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
    classify(Plane frame, Chroma chroma, MixturePlanes planes, MotionStep step, uint32_t row_words,
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

/// A thread for each pixel.
__global__ void __launch_bounds__(kThreads)
    mark_ghosts(Plane frame, Chroma chroma, MixturePlanes planes, mixture::Thresholds thresholds) {
  const size_t index = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= size_t{frame.width} * frame.height) {
    return;
  }
  const auto x = static_cast<uint32_t>(index % frame.width);
  const auto y = static_cast<uint32_t>(index / frame.width);
  const mixture::Pixel<Word> pixel = load_pixel(planes, index);
  const mixture::Color<Word> color = load_color(frame, chroma, x, y);
  const MixturePlanes::Mode& first = planes.modes[0];
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, frame.height - 1)};
  const uint32_t columns[3] = {x > 0 ? x - 1 : 0, x, min(x + 1, frame.width - 1)};
  uint32_t far[8];
  uint32_t n = 0;
#pragma unroll
  for (uint32_t i = 0; i < 9; ++i) {
    if (i != 4) {
      const size_t at = size_t{rows[i / 3]} * frame.width + columns[i % 3];
      far[n++] = mixture::background_distance<Word>(color, first.mean[at], first.chroma[at]);
    }
  }
  first.variance[index] = static_cast<uint16_t>(mixture::mark_ghost<Word>(thresholds, pixel, color, far));
}

__global__ void __launch_bounds__(kThreads)
    learn(Plane frame, Chroma chroma, MixturePlanes planes, const ModelState* model) {
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

__global__ void __launch_bounds__(kThreads)
    read(MixturePlanes planes, uint32_t n_pixels, uint8_t* luma, uint8_t* u, uint8_t* v) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= n_pixels) {
    return;
  }
  luma[index] = static_cast<uint8_t>(mixture::background_luma<Word>(planes.modes[0].mean[index]));
  u[index] = static_cast<uint8_t>(planes.modes[0].chroma[index] & 0xff);
  v[index] = static_cast<uint8_t>(planes.modes[0].chroma[index] >> 8);
}

}  // namespace

Status enqueue_mixture(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                       const MixturePlanes& planes, const Decision& decision, uint32_t* bits,
                       cudaStream_t stream) {
  const uint32_t row_words = bit_row_words(frame.width);
  const uint32_t n_blocks = blocks_of_threads(size_t{frame.width} * frame.height);
  CCL_RETURN_IF_ERROR(launch("classify", classify,
                             blocks_of_threads(size_t{row_words} * kWarpSize * frame.height), kThreads,
                             stream, frame, chroma, planes, step, row_words, bits, decision));
  if (step.mixture.ghosts) {
    CCL_RETURN_IF_ERROR(
        launch("mark_ghosts", mark_ghosts, n_blocks, kThreads, stream, frame, chroma, planes, step.mixture));
  }
  return launch("learn", learn, n_blocks, kThreads, stream, frame, chroma, planes, decision.model);
}

Status read_mixture(const MixturePlanes& planes, uint32_t n_pixels, uint8_t* luma, uint8_t* u, uint8_t* v,
                    cudaStream_t stream) {
  return launch("read", read, blocks_of_threads(n_pixels), kThreads, stream, planes, n_pixels, luma, u, v);
}

}  // namespace ccl::device::segment
