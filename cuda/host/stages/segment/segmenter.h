// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first stage of the CPU engine, for frames that are labelled from a bit image (ccl/segment.h).
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/engine.h"
#include "ccl/segment/hysteresis.h"
#include "ccl/segment/motion.h"
#include "host/stages/row_strips.h"
#include "host/stages/segment/background.h"
#include "host/stages/segment/bit_image.h"
#include "host/stages/segment/holes.h"
#include "host/stages/segment/local.h"
#include "host/stages/segment/morphology.h"
#include "host/stages/segment/otsu.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// The background of an engine's stream. It lives as long as the frames' size stays the same.
struct StreamBackground {
  StreamBackground(uint32_t width_of_frames, uint32_t height_of_frames)
      : width(width_of_frames),
        height(height_of_frames),
        level(choose_simd_level()),
        model(width, height, level) {}

  bool is_for(uint32_t width_of_frames, uint32_t height_of_frames) const {
    return width == width_of_frames && height == height_of_frames && level == choose_simd_level();
  }

  uint32_t width;
  uint32_t height;
  SimdLevel level;
  MotionClock clock;
  Background model;
};

/// Made for one configuration.
class Segmenter {
 public:
  /// Takes all memory for frames of this size, except that of the background model. `pool` and `background`
  /// must outlive the segmenter.
  Segmenter(uint32_t width, uint32_t height, ThreadPool& pool, StreamBackground& background);

  /// Makes the bits of a frame for which makes_bits() is true. They are valid until the next call. Writes
  /// what `counts` reports of them. The first frame that needs the background model takes its memory; throws
  /// std::bad_alloc if there is none.
  FrameBits run(const FrameJob& job, FrameCounts* counts);

 private:
  void apply_rule(const FrameJob& job, FrameCounts* counts);
  void apply_threshold(const InputImage& image, const ThresholdRule& rule, BitImage* bits) const;
  void apply_wide_threshold(const SourcePixels& source, const ThresholdRule& rule, BitImage* bits) const;
  void apply_regions(const RegionMask& regions, BitImage* bits) const;

  ThreadPool& pool_;
  const Kernels& kernels_;
  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  BitImage bits_;
  BitImage other_;   ///< steps that cannot work in place swap both
  BitImage strong_;  ///< with hysteresis
  OtsuStage otsu_;
  LocalStage local_;
  StreamBackground& background_;
  MorphologyStage morphology_;
  HoleFiller holes_;
};

}  // namespace ccl::host
