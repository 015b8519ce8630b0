// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background model of a stream in the memory of the CPU. See ccl/segment/motion.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/counts.h"
#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "host/stages/segment/simd/background.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// Rows of numbers that kernels may read and write as simd/background.h says.
template <typename Number>
class PaddedPlane {
 public:
  PaddedPlane() = default;
  PaddedPlane(uint32_t width, uint32_t height)
      : stride_((size_t{width} + kBlock - 1) / kBlock * kBlock + kBlock),
        numbers_(stride_ * height + 2 * kBlock) {}

  Number* row(uint32_t y) { return numbers_.data() + kBlock + stride_ * y; }
  const Number* row(uint32_t y) const { return numbers_.data() + kBlock + stride_ * y; }

 private:
  size_t stride_ = 0;
  std::vector<Number> numbers_;
};

/// Where a frame's foreground is written: rows of whole 64-bit words. What is after the last pixel is 0 up to
/// the end of the last word that has pixels; words after that one are not written.
struct BitRows {
  uint64_t* words;
  size_t stride;  ///< words
};

struct ChromaShape;  // see model.h

class Background {
 public:
  Background(uint32_t width, uint32_t height, SimdLevel level)
      : Background(width, height, background_kernels(level)) {}
  Background(uint32_t width, uint32_t height, const BackgroundKernels& kernels);
  ~Background();

  /// Whether the frame needs another model than the last one: of this kind, with its kind of chroma.
  bool needs_model(const InputImage& frame, BackgroundModel kind) const;

  /// Finds the foreground of a frame and learns the frame. Fills FrameCounts::relearning. The first frame of
  /// a model, of a kind of chroma or of another model takes its memory.
  void update(const InputImage& frame, const MotionStep& step, ThreadPool& pool, const BitRows& bits,
              FrameCounts* counts);

  /// What the model believes: luma, width × height. False if there is no model yet.
  bool read_luma(uint8_t* pixels, size_t stride) const;
  /// U and V planes at the resolution of the chroma of the frames. False if the frames have had no chroma.
  bool read_chroma(uint8_t* u, uint8_t* v, size_t stride) const;

 private:
  class Model;
  class SigmaDelta;
  class Mixture;

  static std::unique_ptr<Model> make_sigma_delta(uint32_t width, uint32_t height,
                                                 const BackgroundKernels& kernels, const ChromaShape& chroma);
  static std::unique_ptr<Model> make_mixture(uint32_t width, uint32_t height,
                                             const BackgroundKernels& kernels, const ChromaShape& chroma);

  Model& model_for(const InputImage& frame, const MotionStep& step);

  uint32_t width_;
  uint32_t height_;
  const BackgroundKernels& kernels_;
  std::unique_ptr<Model> model_;
};

}  // namespace ccl::host
