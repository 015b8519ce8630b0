// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/background.h"

#include "host/stages/segment/model.h"

namespace ccl::host {

namespace {

ChromaShape shape_of(const Chroma& chroma, uint32_t width, uint32_t height) {
  if (chroma.u == nullptr) {
    return {};
  }
  return {.is_present = true,
          .shift_x = chroma.shift_x,
          .shift_y = chroma.shift_y,
          .width = (width + (1u << chroma.shift_x) - 1) >> chroma.shift_x,
          .height = (height + (1u << chroma.shift_y) - 1) >> chroma.shift_y};
}

}  // namespace

Background::Background(uint32_t width, uint32_t height, const BackgroundKernels& kernels)
    : width_(width), height_(height), kernels_(kernels) {}
Background::~Background() = default;

bool Background::needs_model(const InputImage& frame, BackgroundModel kind) const {
  return model_ == nullptr || model_->chroma() != shape_of(frame.chroma, width_, height_) ||
         model_->kind() != kind;
}

Background::Model& Background::model_for(const InputImage& frame, const MotionStep& step) {
  if (needs_model(frame, step.model)) {
    model_.reset();
    const auto make = step.model == BackgroundModel::kMixture ? make_mixture : make_sigma_delta;
    model_ = make(width_, height_, kernels_, shape_of(frame.chroma, width_, height_));
  }
  return *model_;
}

void Background::update(const InputImage& frame, const MotionStep& step, ThreadPool& pool,
                        const BitRows& bits, FrameCounts* counts) {
  model_for(frame, step).update(frame, step, pool, bits, counts);
}

bool Background::read_luma(uint8_t* pixels, size_t stride) const {
  for (uint32_t y = 0; model_ != nullptr && y < height_; ++y) {
    model_->read_luma_row(y, pixels + stride * y);
  }
  return model_ != nullptr;
}

bool Background::read_chroma(uint8_t* u, uint8_t* v, size_t stride) const {
  if (model_ == nullptr || !model_->chroma().is_present) {
    return false;
  }
  for (uint32_t y = 0; y < model_->chroma().height; ++y) {
    model_->read_chroma_row(y, u + stride * y, v + stride * y);
  }
  return true;
}

}  // namespace ccl::host
