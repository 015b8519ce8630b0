// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a background model believes, as an image for Output::kBackground.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/engine.h"
#include "host/stages/segment/background.h"

namespace ccl::host {

/// One per engine. Takes its memory with the first frame that needs it.
class BackgroundImage {
 public:
  BackgroundImage(uint32_t width, uint32_t height) : width_(width), height_(height) {}

  /// The image that the model expects in place of `frame`, which it has learned. Valid until the next call.
  InputImage read(const Background& model, const InputImage& frame);

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<uint8_t> luma_;
  std::vector<uint8_t> u_;
  std::vector<uint8_t> v_;
};

}  // namespace ccl::host
