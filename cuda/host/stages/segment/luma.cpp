// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/luma.h"

#include "ccl/segment/luma.h"

namespace ccl::host {

void LumaPlanes::take_luma() {
  if (!luma_) {
    luma_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
  }
}

void LumaPlanes::take_chroma() {
  if (!u_) {
    u_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
    v_ = std::make_unique_for_overwrite<uint8_t[]>(n_pixels());
  }
}

InputImage LumaPlanes::convert(const InputImage& image, bool needs_chroma) {
  const bool makes_chroma = needs_chroma && image.source.is_rgb;
  take_luma();
  if (makes_chroma) {
    take_chroma();
  }
  strips_.for_each_row([&](uint32_t y) { convert_row(image.source, y, makes_chroma); });
  InputImage converted = image;
  converted.pixels = luma_.get();
  converted.stride = width_;
  if (makes_chroma) {
    converted.chroma = {.u = u_.get(), .v = v_.get(), .stride = width_};
  }
  return converted;
}

InputImage LumaPlanes::show(const Background& background, const InputImage& image) {
  take_luma();
  InputImage shown{.pixels = luma_.get(), .stride = width_};
  if (!background.read_luma(luma_.get(), width_)) {
    return image;
  }
  if (image.chroma.u != nullptr) {
    take_chroma();
    if (background.read_chroma(u_.get(), v_.get(), width_)) {
      shown.chroma = {.u = u_.get(),
                      .v = v_.get(),
                      .stride = width_,
                      .shift_x = image.chroma.shift_x,
                      .shift_y = image.chroma.shift_y};
    }
  }
  return shown;
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
