// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernel of `runs` writes a map of the background's labels and the area of each label. A kernel flags
/// the labels at the border. Then a warp makes each word again from the labels of its pixels.
#include "device/stages/segment/components.h"

#include <algorithm>
#include <limits>

#include "ccl/segment.h"
#include "ccl/segment/morphology.h"
#include "device/check.h"
#include "device/launch.cuh"
#include "device/pipeline.h"
#include "device/runs/dispatch.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

/// In place of a label's area: its component was met. More than any area.
constexpr uint32_t kFlagged = std::numeric_limits<uint32_t>::max();

/// A label map and what is known of each label.
struct LabelMap {
  uint32_t width, height;
  const uint32_t* labels;  ///< per pixel
  uint32_t* areas;         ///< areas[label − 1], or kFlagged

  __device__ uint32_t row_words() const { return bit_row_words(width); }
  __device__ uint32_t label_at(uint32_t x, uint32_t y) const {
    return x < width && y < height ? labels[y * width + x] : 0;
  }
  /// What is known of the pixel's component; 0 if the pixel has none.
  __device__ uint32_t area_at(uint32_t x, uint32_t y) const {
    const uint32_t label = label_at(x, y);
    return label != 0 ? areas[label - 1] : 0;
  }
  /// All threads that flag a label store the same value.
  __device__ void flag(uint32_t x, uint32_t y) const {
    if (const uint32_t label = label_at(x, y); label != 0) {
      areas[label - 1] = kFlagged;
    }
  }
};

/// The word of a bit image that a warp works on, and the pixel of the lane.
struct WarpWord {
  uint32_t index;
  uint32_t x, y;  ///< may lie outside the frame

  __device__ explicit WarpWord(uint32_t row_words)
      : index((blockIdx.x * kBlockThreads + threadIdx.x) / kWarpSize),
        x(index % row_words * kWordBits + threadIdx.x % kWarpSize),
        y(index / row_words) {}

  __device__ bool is_first_lane() const { return threadIdx.x % kWarpSize == 0; }
};

__global__ void __launch_bounds__(kBlockThreads)
    complement(const uint32_t* bits, uint32_t width, uint32_t n_words, uint32_t* result) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= n_words) {
    return;
  }
  const uint32_t x = i % bit_row_words(width) * kWordBits;
  const uint32_t inside = x >= width ? 0 : width - x >= kWordBits ? kAllLanes : bits_below(width - x);
  result[i] = ~bits[i] & inside;
}

__global__ void __launch_bounds__(kBlockThreads) flag_border(LabelMap map) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i < map.width) {
    map.flag(i, 0);
    map.flag(i, map.height - 1);
  }
  if (i < map.height) {
    map.flag(0, i);
    map.flag(map.width - 1, i);
  }
}

/// `map` has the labels of the background.
__global__ void __launch_bounds__(kBlockThreads)
    fill_small(LabelMap map, uint32_t max_area, const uint32_t* regions, uint32_t* bits) {
  const WarpWord word(map.row_words());
  const uint32_t area = map.area_at(word.x, word.y);
  const uint32_t filled = __ballot_sync(kAllLanes, area != 0 && area <= max_area);
  if (word.y < map.height && word.is_first_lane()) {
    bits[word.index] = (bits[word.index] | filled) & (regions != nullptr ? regions[word.index] : kAllLanes);
  }
}

/// The most components of a binary frame.
constexpr uint32_t max_labels(uint32_t n_pixels) {
  return n_pixels / 2 + n_pixels % 2;
}

/// The blocks in which each word has a warp.
uint32_t blocks_of_words(uint32_t n_words) {
  return blocks_for(n_words, kBlockThreads / kWarpSize);
}

}  // namespace

Status BitComponents::configure(uint32_t width, uint32_t height, cudaStream_t stream) {
  width_ = width;
  height_ = height;
  CCL_RETURN_IF_ERROR(tiles_.allocate(width, height, /*has_values=*/false, stream));
  CCL_RETURN_IF_ERROR(background_.allocate(size_t{bit_row_words(width)} * height));
  CCL_RETURN_IF_ERROR(labels_.allocate(size_t{width} * height));
  CCL_RETURN_IF_ERROR(areas_.allocate(max_labels(width * height)));
  return counts_.allocate(1);
}

/// Enqueues the writing of labels and areas.
Status BitComponents::label(const uint32_t* bits, Connectivity connectivity, cudaStream_t stream) {
  const Settings settings{
      .connectivity = connectivity, .rule = kBitRule, .filter = Filter::neutral(), .features = 0};
  const runs::Emitter emitter{.emission = runs::Emission::kMarks,
                              .settings = runs::kernel_settings(settings),
                              .max_components = 0,
                              .records = nullptr,
                              .counts = counts_.data(),
                              .max_labels = max_labels(width_ * height_),
                              .is_kept = nullptr,
                              .index_or_mark = areas_.data()};
  const runs::PaintRule rule{.mode = runs::PaintMode::kLabelMap,
                             .settings = runs::kernel_settings(settings),
                             .layout = {},
                             .n_pixels = width_ * height_,
                             .palettes = nullptr,
                             .background = 0,
                             .needs_areas = false};
  return runs::process_tiles(tiles_.of(settings, FrameBuffers{}), bits, tiles_.n_blocks(), emitter, rule,
                             nullptr, reinterpret_cast<uint8_t*>(labels_.data()), stream);
}

Status BitComponents::fill_holes(uint32_t* bits, uint32_t max_area, Connectivity connectivity,
                                 const uint32_t* regions, cudaStream_t stream) {
  const uint32_t n_words = bit_row_words(width_) * height_;
  const LabelMap map{width_, height_, labels_.data(), areas_.data()};
  CCL_RETURN_IF_ERROR(launch("complement", complement, blocks_for(n_words, kBlockThreads), kBlockThreads,
                             stream, bits, width_, n_words, background_.data()));
  CCL_RETURN_IF_ERROR(label(background_.data(), hole_connectivity(connectivity), stream));
  CCL_RETURN_IF_ERROR(launch("flag_border", flag_border, blocks_for(std::max(width_, height_), kBlockThreads),
                             kBlockThreads, stream, map));
  return launch("fill_small", fill_small, blocks_of_words(n_words), kBlockThreads, stream, map,
                std::min(max_area, kFlagged - 1), regions, bits);
}

}  // namespace ccl::device
