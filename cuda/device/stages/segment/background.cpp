// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/background.h"

#include <utility>

#include "device/check.h"

namespace ccl::device::segment {

struct Background::State {
  ModelState model;
  uint32_t has_no_foreground;
  uint32_t n_ended;       ///< blocks of the running kernel; 0 between kernels
  uint32_t mixture_luma;  ///< see MixturePlanes::current
  FrameTotals totals;
};

namespace {

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
  chroma_.width = (width_ + (1u << shape_.shift_x) - 1) >> shape_.shift_x;
  chroma_.height = (height_ + (1u << shape_.shift_y) - 1) >> shape_.shift_y;
  chroma_.shift_x = shape_.shift_x;
  chroma_.shift_y = shape_.shift_y;
  chroma_.pitch = pitch_of(chroma_.width);
  const size_t chroma_bytes = shape_.has_chroma ? chroma_.pitch * chroma_.height : 0;
  const size_t bytes = 5 * luma_bytes + 6 * chroma_bytes;
  CCL_RETURN_IF_ERROR(planes_.allocate(bytes));
  uint8_t* next = planes_.data();
  for (uint8_t** plane : {&luma_.mean, &luma_.variance, &luma_.status, &luma_.candidate, &luma_.stay}) {
    *plane = std::exchange(next, next + luma_bytes);
  }
  if (shape_.has_chroma) {
    for (uint8_t** plane : {&chroma_.mean_u, &chroma_.mean_v, &chroma_.variance, &chroma_.candidate_u,
                            &chroma_.candidate_v, &chroma_.classes}) {
      *plane = std::exchange(next, next + chroma_bytes);
    }
  }
  return check(cudaMemsetAsync(planes_.data(), 0, bytes, stream_), "cudaMemsetAsync of the background model");
}

Status Background::allocate_mixture() {
  mixture_.pitch = mixture_pitch(width_);
  const size_t n_pixels = size_t{mixture_.pitch} * height_;
  const size_t bytes = n_pixels * kMixtureBytes;
  CCL_RETURN_IF_ERROR(planes_.allocate(bytes));
  uint8_t* next = planes_.data();
  for (uint2*& plane : mixture_.modes) {
    plane = reinterpret_cast<uint2*>(std::exchange(next, next + n_pixels * sizeof(uint2)));
  }
  for (uint8_t*& plane : mixture_.luma) {
    plane = std::exchange(next, next + n_pixels);
  }
  mixture_.current = &reinterpret_cast<State*>(state_.data())->mixture_luma;
  return check(cudaMemsetAsync(planes_.data(), 0, bytes, stream_), "cudaMemsetAsync of the background model");
}

const uint32_t* Background::has_no_foreground() const {
  return model_ == BackgroundModel::kMixture ? &reinterpret_cast<State*>(state_.data())->has_no_foreground
                                             : nullptr;
}

Decision Background::decision(FrameCounts* counts) const {
  auto* state = reinterpret_cast<State*>(state_.data());
  return {.model = &state->model,
          .has_no_foreground = &state->has_no_foreground,
          .n_ended = &state->n_ended,
          .totals = &state->totals,
          .counts = counts,
          .n_pixels = uint64_t{width_} * height_};
}

Status Background::enqueue(const Plane& frame, const Chroma& chroma, const MotionStep& step, uint32_t* bits,
                           FrameCounts* counts, cudaStream_t stream) {
  return model_ == BackgroundModel::kMixture
             ? enqueue_mixture(frame, chroma, step, mixture_, decision(counts), bits, stream)
             : enqueue_sigma_delta(frame, chroma, step, luma_, chroma_, decision(counts), bits, stream);
}

StepKernel Background::step_kernel() const {
  return model_ == BackgroundModel::kMixture ? mixture_step_kernel(shape_.has_chroma)
                                             : sigma_delta_step_kernel(shape_.has_chroma);
}

Status Background::read(uint8_t* luma, uint8_t* u, uint8_t* v, cudaStream_t stream) const {
  return model_ == BackgroundModel::kMixture
             ? read_mixture(mixture_, width_, height_, luma, u, v, stream)
             : read_sigma_delta(luma_, chroma_, width_, height_, luma, u, v, stream);
}

}  // namespace ccl::device::segment
