// SPDX-License-Identifier: LGPL-2.1-or-later
/// The planes that the stages of the CPU read, of a frame whose luma is not a plane of bytes
/// (ccl/segment/luma.h).
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/stages/row_strips.h"
#include "host/stages/segment/background.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// One per engine. Takes the memory of a plane with the first frame that needs it.
class LumaPlanes {
 public:
  /// `pool` must outlive this.
  LumaPlanes(uint32_t width, uint32_t height, ThreadPool& pool)
      : width_(width), height_(height), strips_(height, pool) {}

  /// The frame with 8-bit luma in InputImage::pixels, valid until the next call; all else stays. With
  /// `needs_chroma` an RGB frame gets chroma.
  InputImage convert(const InputImage& image, bool needs_chroma);
  /// The background that the model expects, as an image like `image`, which was its last frame; valid until
  /// the next call.
  InputImage show(const Background& background, const InputImage& image);

 private:
  void take_luma();
  void take_chroma();
  void convert_row(const SourcePixels& source, uint32_t y, bool needs_chroma);
  size_t n_pixels() const { return size_t{width_} * height_; }

  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  std::unique_ptr<uint8_t[]> luma_;
  std::unique_ptr<uint8_t[]> u_;
  std::unique_ptr<uint8_t[]> v_;
};

}  // namespace ccl::host
