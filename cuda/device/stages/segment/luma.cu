// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/luma.h"

#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kPixelsPerWord = 4;
constexpr size_t kPitchAlignment = 128;  ///< rows start where a memory transaction does

/// Rows of words of four pixels. Those behind the last pixel of a row are 0.
struct WordPlanes {
  uint32_t* luma;
  uint32_t* u;  ///< null: no chroma is written
  uint32_t* v;
  uint32_t row_words;
};

/// A thread for each word.
__global__ void __launch_bounds__(kBlockThreads)
    write_planes(SourcePixels source, uint32_t width, uint32_t height, WordPlanes planes) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t y = index / planes.row_words;
  const uint32_t x = index % planes.row_words * kPixelsPerWord;
  if (y >= height || x >= width) {
    return;
  }
  const uint8_t* pixel = source.pixels + y * source.stride + size_t{x} * source.step;
  uint32_t luma_word = 0;
  uint32_t u_word = 0;
  uint32_t v_word = 0;
  for (uint32_t i = 0; i < min(kPixelsPerWord, width - x); ++i, pixel += source.step) {
    const uint32_t value = ccl::luma(source, pixel);
    luma_word |= value << 8 * i;
    if (planes.u != nullptr) {
      u_word |= uint32_t{ccl::chroma(pixel[source.blue], value, source.u_scale)} << 8 * i;
      v_word |= uint32_t{ccl::chroma(pixel[source.red], value, source.v_scale)} << 8 * i;
    }
  }
  planes.luma[index] = luma_word;
  if (planes.u != nullptr) {
    planes.u[index] = u_word;
    planes.v[index] = v_word;
  }
}

Status allocate_once(size_t bytes, DeviceArray<uint8_t>* array) {
  return array->data() != nullptr ? Status() : array->allocate(bytes);
}

}  // namespace

Status LumaPlanes::place(uint32_t width, uint32_t height, bool needs_chroma, SourceFrame* frame) {
  const size_t pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  const size_t bytes = pitch * height;
  CCL_RETURN_IF_ERROR(allocate_once(bytes, &luma_));
  frame->luma = {luma_.data(), pitch, width, height};
  if (needs_chroma && frame->pixels.is_rgb) {
    CCL_RETURN_IF_ERROR(allocate_once(2 * bytes, &chroma_));
    frame->chroma = {.u = chroma_.data(), .v = chroma_.data() + bytes, .stride = pitch};
  }
  return {};
}

Status LumaPlanes::enqueue(const SourceFrame& frame, cudaStream_t stream) const {
  const segment::Plane& luma = frame.luma;
  const bool makes_chroma = frame.pixels.is_rgb && frame.chroma.u != nullptr;
  const auto words = [](uint8_t* plane) { return reinterpret_cast<uint32_t*>(plane); };
  const WordPlanes planes{.luma = words(luma_.data()),
                          .u = makes_chroma ? words(chroma_.data()) : nullptr,
                          .v = makes_chroma ? words(chroma_.data() + luma.pitch * luma.height) : nullptr,
                          .row_words = static_cast<uint32_t>(luma.pitch / kPixelsPerWord)};
  return launch("write_planes", write_planes, blocks_for(planes.row_words * luma.height, kBlockThreads),
                kBlockThreads, stream, frame.pixels, luma.width, luma.height, planes);
}

}  // namespace ccl::device::segment
