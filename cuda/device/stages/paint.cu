// SPDX-License-Identifier: LGPL-2.1-or-later
/// A table has the paint value of each component, so that painting is one look-up per pixel. blend() works on
/// each channel alone, so the table has colours in the output's layout already, and the order of blending and
/// packing does not change the bytes.
#include "ccl/colors.h"
#include "device/check.h"
#include "device/launch.cuh"
#include "device/stages/paint.h"
#include "device/stages/pixel_of.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kBoxBlocks = 256;

/// In the table of an overlay: the component is not kept. Palette colours are opaque, so none of them is 0.
constexpr uint32_t kNotPainted = 0;

/// The value of pixels that belong to no kept component.
template <Output kOutput>
__device__ uint32_t background_value(const Settings& settings, const PixelLayout& layout) {
  return kOutput == Output::kColorized ? pack(settings.background_color, layout) : 0;
}

template <Output kOutput>
__global__ void __launch_bounds__(kBlockThreads)
    fill_table(Settings settings, PixelLayout layout, uint32_t n_pixels, const uint32_t* palettes,
               const uint32_t* marks, const FrameCounts* counts, uint32_t* values) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= counts->n_labels) {
    return;
  }
  const uint32_t label = i + 1;
  uint32_t value = background_value<kOutput>(settings, layout);
  if (const uint32_t area = marks[i]; area != 0) {
    if constexpr (kOutput == Output::kLabels) {
      value = min(label, kMaxPaintedLabel);
    } else if constexpr (kOutput == Output::kMask) {
      value = 255;
    } else {
      value = pack(palettes[color_index(settings, label, area, n_pixels)], layout);
    }
  }
  values[i] = value;
}

template <Output kOutput>
__global__ void __launch_bounds__(kBlockThreads)
    paint_pixels(Settings settings, PixelLayout layout, SegmentSource frame, const uint32_t* labels,
                 const uint32_t* values, typename PixelOf<kOutput>::Type* output) {
  const uint32_t pixel = blockIdx.x * kBlockThreads + threadIdx.x;
  if (pixel >= frame.width * frame.height) {
    return;
  }
  const uint32_t label = labels[pixel];
  uint32_t value = label != 0 ? values[label - 1] : background_value<kOutput>(settings, layout);
  if constexpr (kOutput == Output::kOverlay) {
    const uint8_t luma = frame.pixels[pixel / frame.width * frame.pitch + pixel % frame.width];
    const uint32_t under = pack(grey(luma, settings.limited_range), layout);
    value = value != kNotPainted ? blend(value, under, settings.overlay_alpha) : under;
  }
  output[pixel] = static_cast<typename PixelOf<kOutput>::Type>(value);
}

/// One warp draws a box. All boxes have one colour, so their order does not matter.
__global__ void __launch_bounds__(kBlockThreads)
    outline(const CclComponent* records, const FrameCounts* counts, uint32_t max_components,
            bool skips_overflow, uint32_t width, uint32_t* output) {
  if (skips_overflow && counts->n_components > max_components) {
    return;
  }
  const uint32_t n_records = min(counts->n_components, max_components);
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t i = (blockIdx.x * kBlockThreads + threadIdx.x) / kWarpSize; i < n_records;
       i += kBoxBlocks * (kBlockThreads / kWarpSize)) {
    const CclComponent& box = records[i];
    uint32_t* top_left = output + box.y * width + box.x;
    uint32_t* bottom_left = top_left + (box.height - 1) * width;
    for (uint32_t x = lane; x < box.width; x += kWarpSize) {
      top_left[x] = kBoxColor;
      bottom_left[x] = kBoxColor;
    }
    for (uint32_t y = lane; y < box.height; y += kWarpSize) {
      top_left[y * width] = kBoxColor;
      top_left[y * width + box.width - 1] = kBoxColor;
    }
  }
}

}  // namespace

Status upload_palettes(const Stream& stream, DeviceArray<uint32_t>* palettes) {
  const auto& colors = palette_colors();
  CCL_RETURN_IF_ERROR(palettes->allocate(colors.size()));
  CCL_RETURN_IF_ERROR(check(
      cudaMemcpyAsync(palettes->data(), colors.data(), sizeof(colors), cudaMemcpyHostToDevice, stream.get()),
      "cudaMemcpyAsync of the palettes"));
  return stream.synchronize();
}

Status outline_boxes(const Config& config, const FrameBuffers& frame, bool skips_overflow,
                     cudaStream_t stream) {
  if (config.output != Output::kColorized && config.output != Output::kOverlay) {
    return {};
  }
  outline<<<kBoxBlocks, kBlockThreads, 0, stream>>>(frame.records, frame.counts, config.max_components,
                                                    skips_overflow, config.width,
                                                    reinterpret_cast<uint32_t*>(frame.output));
  return check_launch("outline");
}

Status Painting::configure(const Config& config) {
  config_ = config;
  if (painted_output(config, {}) == Output::kNone) {
    return {};
  }
  CCL_RETURN_IF_ERROR(values_.allocate(size_t{config.width} * config.height));
  Stream stream;
  CCL_RETURN_IF_ERROR(stream.create());
  return upload_palettes(stream, &palettes_);
}

template <Output kOutput>
Status Painting::paint(const Settings& settings, const PaintInput& input, void* output, cudaStream_t stream) {
  const uint32_t n_pixels = config_.width * config_.height;
  const uint32_t blocks = blocks_for(n_pixels, kBlockThreads);
  fill_table<kOutput><<<blocks, kBlockThreads, 0, stream>>>(
      settings, config_.layout, n_pixels, palettes_.data(), input.marks, input.counts, values_.data());
  CCL_RETURN_IF_ERROR(check_launch("fill_table"));
  paint_pixels<kOutput><<<blocks, kBlockThreads, 0, stream>>>(
      settings, config_.layout, input.frame, input.labels, values_.data(),
      static_cast<typename PixelOf<kOutput>::Type*>(output));
  return check_launch("paint_pixels");
}

Status Painting::run(const Settings& settings, const PaintInput& input, const FrameBuffers& frame,
                     cudaStream_t stream) {
  uint8_t* output = frame.output;
  switch (painted_output(config_, frame)) {
    case Output::kNone:
    case Output::kBackground:
    case Output::kForeground:
    case Output::kDistance:
    case Output::kDistance8:  // see painted_output()
      return {};
    case Output::kColorized:
      return paint<Output::kColorized>(settings, input, output, stream);
    case Output::kOverlay:
      return paint<Output::kOverlay>(settings, input, output, stream);
    case Output::kLabels:
      return paint<Output::kLabels>(settings, input, output, stream);
    case Output::kMask:
      return paint<Output::kMask>(settings, input, output, stream);
  }
  return {};
}

}  // namespace ccl::device
