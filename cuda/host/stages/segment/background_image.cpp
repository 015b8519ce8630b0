// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/background_image.h"

namespace ccl::host {

InputImage BackgroundImage::read(const Background& model, const InputImage& frame) {
  luma_.resize(size_t{width_} * height_);
  if (!model.read_luma(luma_.data(), width_)) {
    return frame;
  }
  InputImage image{.pixels = luma_.data(), .stride = width_};
  if (frame.chroma.u != nullptr) {
    u_.resize(luma_.size());  // enough for chroma of any shape, because it may change from frame to frame
    v_.resize(luma_.size());
    if (model.read_chroma(u_.data(), v_.data(), width_, 1)) {
      image.chroma = {.u = u_.data(),
                      .v = v_.data(),
                      .stride = width_,
                      .shift_x = frame.chroma.shift_x,
                      .shift_y = frame.chroma.shift_y};
    }
  }
  return image;
}

}  // namespace ccl::host
