// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/luma.h"

#include "ccl/segment/luma.h"

namespace ccl::host {

InputImage LumaPlanes::convert(const InputImage& image, bool needs_chroma) {
  const bool makes_chroma = needs_chroma && image.source.is_rgb;
  if (!luma_) {
    luma_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
  }
  if (makes_chroma && !u_) {
    u_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
    v_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
  }
  strips_.for_each([&](uint32_t, RowSpan rows) {
    for (uint32_t y = rows.begin; y < rows.end; ++y) {
      convert_row(image.source, y, makes_chroma);
    }
  });
  InputImage converted = image;
  converted.pixels = luma_.get();
  converted.stride = width_;
  if (makes_chroma) {
    converted.chroma = {.u = u_.get(), .v = v_.get(), .stride = width_};
  }
  return converted;
}

void LumaPlanes::convert_row(const SourcePixels& source, uint32_t y, bool needs_chroma) {
  const SourcePixels layout = source;  // a copy that no store can change
  const uint8_t* in = layout.pixels + y * layout.stride;
  const size_t row = size_t{y} * width_;
  for (uint32_t x = 0; x < width_; ++x) {
    luma_[row + x] = luma(layout, in + size_t{x} * layout.step);
  }
  for (uint32_t x = 0; needs_chroma && x < width_; ++x) {
    const uint8_t* pixel = in + size_t{x} * layout.step;
    u_[row + x] = chroma(pixel[layout.blue], luma_[row + x], layout.u_scale);
    v_[row + x] = chroma(pixel[layout.red], luma_[row + x], layout.v_scale);
  }
}

}  // namespace ccl::host
