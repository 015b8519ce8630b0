// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the background models of the CPU have in common.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ccl/segment/motion.h"
#include "host/stages/row_chunks.h"
#include "host/stages/segment/background.h"

namespace ccl::host {

/// Where chroma is, and how large.
struct ChromaShape {
  bool is_present = false;
  uint8_t shift_x = 0;
  uint8_t shift_y = 0;
  uint32_t width = 0;
  uint32_t height = 0;

  bool operator==(const ChromaShape&) const = default;
};

/// Makes the entries before the first and after the last one equal to them: the pixels outside do not count.
template <typename Number>
void pad_row(Number* row, uint32_t width) {
  row[-1] = row[0];
  row[width] = row[width - 1];
}

/// A model: state, and the two passes over the rows of a frame.
class Background::Model {
 public:
  Model(BackgroundModel kind, uint32_t width, uint32_t height, const BackgroundKernels& kernels,
        const ChromaShape& chroma)
      : kind_(kind), width_(width), height_(height), kernels_(kernels), chroma_(chroma) {}
  virtual ~Model() = default;

  BackgroundModel kind() const { return kind_; }
  const ChromaShape& chroma() const { return chroma_; }

  void update(const InputImage& frame, const MotionStep& step, ThreadPool& pool, const BitRows& bits,
              FrameCounts* counts) {
    const uint32_t n_chunks = count_row_chunks(height_);
    std::atomic<uint32_t> n_differ = 0;
    pool.parallel_for(n_chunks, [&](uint32_t chunk) {
      uint32_t n = 0;
      for (uint32_t y = begin(chunk); y < begin(chunk + 1); ++y) {
        ClassRow out = {bits.words + bits.stride * y, 0};
        classify(frame, step, y, &out);
        n += out.n_differ;
      }
      n_differ.fetch_add(n, std::memory_order_relaxed);
    });
    expected_ = expect(step, state_);
    const uint32_t n_differing = n_differ.load(std::memory_order_relaxed);
    decide(step, uint64_t{width_} * height_, has_light_changed(frame, step, n_differing, pool), &state_);
    note_differing(step, n_differing, &state_);
    if (keeps_known()) {
      compare_light(frame, step);
    }
    pool.parallel_for(n_chunks, [&](uint32_t chunk) {
      for (uint32_t y = begin(chunk); y < begin(chunk + 1); ++y) {
        learn(frame, step, y);
        if (!state_.has_foreground()) {
          std::memset(bits.words + bits.stride * y, 0, (width_ + 63) / 64 * sizeof(uint64_t));
        }
      }
    });
    if (keeps_known()) {
      relearn_all(frame);
    }
    counts->relearning = state_.has_foreground() ? 0 : 1;
  }

  virtual void read_luma_row(uint32_t y, uint8_t* pixels) const = 0;
  virtual void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v) const = 0;

 protected:
  virtual void classify(const InputImage& frame, const MotionStep& step, uint32_t y, ClassRow* out) const = 0;
  virtual void learn(const InputImage& frame, const MotionStep& step, uint32_t y) = 0;
  /// Pixels whose luma differs, of a frame whose light may change slowly. A model that has none of them sees
  /// no such change.
  virtual Differing count_sides(const InputImage&, const MotionStep&, ThreadPool&) const { return {}; }
  /// Before a frame is learnt in which the light changed and whose objects are kept: finds the gain.
  virtual void compare_light(const InputImage&, const MotionStep&) {}
  /// After such a frame is learnt.
  virtual void relearn_all(const InputImage&) {}

  bool begins() const {
    return state_.learning == Learning::kInitialize || state_.learning == Learning::kRelearn;
  }
  /// The model begins again, but what it knew of the background stays.
  bool keeps_known() const { return state_.learning == Learning::kRelearn && state_.keeps_objects != 0; }
  bool keeps_variance() const { return state_.learning == Learning::kRelearn; }
  const uint8_t* luma(const InputImage& frame, uint32_t y) const { return frame.pixels + frame.stride * y; }

  /// A row of U and one of V, dense. Uses the scratch memory only if they are not dense in the frame.
  struct ChromaRow {
    const uint8_t* u;
    const uint8_t* v;
  };
  ChromaRow chroma_row(const InputImage& frame, uint32_t y, uint8_t* u, uint8_t* v) const {
    const Chroma& chroma = frame.chroma;
    const ChromaRow row = {chroma.u + chroma.stride * y, chroma.v + chroma.stride * y};
    if (chroma.step == 1) {
      return row;
    }
    if (chroma.step == 2) {
      kernels_.halve_columns(row.u, chroma_.width, u);
      kernels_.halve_columns(row.v, chroma_.width, v);
    } else {
      for (size_t x = 0; x < chroma_.width; ++x) {
        u[x] = row.u[x * chroma.step];
        v[x] = row.v[x * chroma.step];
      }
    }
    return {u, v};
  }

  bool has_light_changed(const InputImage& frame, const MotionStep& step, uint32_t n_differ,
                         ThreadPool& pool) const {
    const uint64_t n_pixels = uint64_t{width_} * height_;
    return is_switch(step, state_, n_pixels, n_differ) ||
           (may_be_ramp(step, state_, n_pixels, n_differ) &&
            is_ramp(step, n_pixels, count_sides(frame, step, pool)));
  }

  uint32_t begin(uint32_t chunk) const { return std::min(chunk * kRowsPerChunk, height_); }
  uint32_t above(uint32_t y) const { return y == 0 ? 0 : y - 1; }
  uint32_t below(uint32_t y) const { return std::min(y + 1, height_ - 1); }

  BackgroundModel kind_;
  uint32_t width_;
  uint32_t height_;
  const BackgroundKernels& kernels_;
  ChromaShape chroma_;
  ModelState state_ = {};
  ModelState expected_ = {};  ///< of the frame, see expect()
};

}  // namespace ccl::host
