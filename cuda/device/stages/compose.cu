// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/compose.h"

#include "ccl/colors.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kWordPixels = 4;  ///< of a mask
constexpr uint32_t kEveryByte = 0x01010101;

/// The paint value of what belongs to no kept component. No packed colour is 0, since all have an opaque
/// alpha.
constexpr uint32_t kTransparent = 0;

/// What a kernel needs of a Composition.
struct Job {
  PixelLayout layout;
  SourceFrame source;
  ColorMatrix matrix;
  uint32_t background;  ///< packed
  uint8_t alpha;
  bool limited_range;
};

/// The packed colour of the source.
__device__ uint32_t source_color(const Job& job, uint32_t x, uint32_t y) {
  const SourcePixels& pixels = job.source.pixels;
  if (pixels.is_rgb) {
    const uint8_t* pixel = pixels.pixels + y * pixels.stride + size_t{x} * pixels.step;
    return pack(0xff000000 | uint32_t{pixel[pixels.red]} << 16 | uint32_t{pixel[pixels.green]} << 8 |
                    pixel[pixels.blue],
                job.layout);
  }
  const uint8_t luma = job.source.luma.pixels[y * job.source.luma.pitch + x];
  const Chroma& chroma = job.source.chroma;
  if (chroma.u == nullptr) {
    return pack(grey(luma, job.limited_range), job.layout);
  }
  const size_t place = (y >> chroma.shift_y) * chroma.stride + size_t{x >> chroma.shift_x} * chroma.step;
  return pack(color_of(luma, chroma.u[place], chroma.v[place], job.matrix), job.layout);
}

template <Output kOutput>
__global__ void __launch_bounds__(kBlockThreads) compose_pixels(Job job, uint32_t* pixels) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t x = index % job.source.luma.width;
  const uint32_t y = index / job.source.luma.width;
  if (y >= job.source.luma.height) {
    return;
  }
  if constexpr (kOutput == Output::kForeground) {
    pixels[index] = pixels[index] == kTransparent ? job.background : source_color(job, x, y);
  } else if constexpr (kOutput == Output::kOverlay) {
    const uint32_t over = pixels[index];
    const uint32_t under = source_color(job, x, y);
    pixels[index] = over == kTransparent ? under : blend(over, under, job.alpha);
  } else {
    pixels[index] = source_color(job, x, y);
  }
}

template <Output kOutput>
Status launch_compose(const Job& job, uint32_t* pixels, cudaStream_t stream) {
  const segment::Plane& luma = job.source.luma;
  return launch("compose_pixels", compose_pixels<kOutput>,
                blocks_for(luma.width * luma.height, kBlockThreads), kBlockThreads, stream, job, pixels);
}

/// A thread for each word of four pixels.
__global__ void __launch_bounds__(kBlockThreads)
    recolor_words(uint32_t on, uint32_t off, uint32_t n_pixels, uint8_t* pixels) {
  const uint32_t first = (blockIdx.x * kBlockThreads + threadIdx.x) * kWordPixels;
  if (first + kWordPixels <= n_pixels) {
    auto* word = reinterpret_cast<uint32_t*>(pixels + first);
    *word = (*word & on) | (~*word & off);
  } else {
    for (uint32_t i = first; i < n_pixels; ++i) {
      pixels[i] = static_cast<uint8_t>((pixels[i] & on) | (~pixels[i] & off));
    }
  }
}

}  // namespace

bool is_composed(Output output, const SourceFrame& source, const Settings& settings) {
  return output == Output::kForeground || output == Output::kBackground ||
         (output == Output::kOverlay &&
          (source.chroma.u != nullptr || source.pixels.is_rgb || settings.separation.is_active()));
}

Settings settings_of_values(Output output, const Settings& settings) {
  Settings of_values = settings;
  of_values.background_color = kTransparent;
  of_values.draw_boxes = false;  // they lie over the composed pixels
  if (output == Output::kForeground) {
    of_values.palette = Palette::kMono;  // any colour, without the cost of areas
  }
  return of_values;
}

Status compose(const Composition& composition, uint32_t* pixels, cudaStream_t stream) {
  const Settings& settings = composition.settings;
  const Job job{.layout = composition.layout,
                .source = composition.source,
                .matrix = settings.matrix,
                .background = pack(settings.background_color, composition.layout),
                .alpha = settings.overlay_alpha,
                .limited_range = settings.limited_range};
  switch (composition.output) {
    case Output::kForeground:
      return launch_compose<Output::kForeground>(job, pixels, stream);
    case Output::kOverlay:
      return launch_compose<Output::kOverlay>(job, pixels, stream);
    case Output::kBackground:
      return launch_compose<Output::kBackground>(job, pixels, stream);
    case Output::kNone:
    case Output::kColorized:
    case Output::kLabels:
    case Output::kMask:
    case Output::kDistance:
    case Output::kDistance8:
      break;
  }
  return {};
}

Status recolor_mask(const Settings& settings, size_t n_pixels, uint8_t* pixels, cudaStream_t stream) {
  const uint32_t n_words = static_cast<uint32_t>((n_pixels + kWordPixels - 1) / kWordPixels);
  return launch("recolor_words", recolor_words, blocks_for(n_words, kBlockThreads), kBlockThreads, stream,
                settings.mask_on * kEveryByte, settings.mask_off * kEveryByte,
                static_cast<uint32_t>(n_pixels), pixels);
}

}  // namespace ccl::device
