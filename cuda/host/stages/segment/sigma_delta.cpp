// SPDX-License-Identifier: LGPL-2.1-or-later
/// The sigma-delta model of a stream. See ccl/segment/sigma_delta.h.
#include <atomic>
#include <cstring>
#include <memory>

#include "host/stages/segment/model.h"

namespace ccl::host {

class Background::SigmaDelta final : public Model {
 public:
  SigmaDelta(uint32_t width, uint32_t height, const BackgroundKernels& kernels, const ChromaShape& chroma)
      : Model(BackgroundModel::kSigmaDelta, width, height, kernels, chroma),
        mean_(width, height),
        variance_(width, height),
        status_(width, height),
        candidate_(width, height),
        stay_(width, height) {
    if (chroma.is_present) {
      for (auto* plane : {&mean_u_, &mean_v_, &chroma_variance_, &candidate_u_, &candidate_v_, &classes_}) {
        *plane = PaddedPlane<uint8_t>(chroma.width, chroma.height);
      }
      // By row of the frame, so that rows can be classified in parallel.
      for (auto* plane : {&row_classes_, &scratch_u_, &scratch_v_, &scratch_status_, &scratch_stay_}) {
        *plane = PaddedPlane<uint8_t>(width, count_row_chunks(height));
      }
    }
  }

  void read_luma_row(uint32_t y, uint8_t* pixels) const override {
    std::memcpy(pixels, mean_.row(y), width_);
  }

  void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v) const override {
    std::memcpy(u, mean_u_.row(y), chroma_.width);
    std::memcpy(v, mean_v_.row(y), chroma_.width);
  }

 protected:
  void classify(const InputImage& frame, const MotionStep& step, uint32_t y, ClassRow* out) const override {
    if (begins_chroma_row(y)) {
      classify_chroma(frame, step, y >> chroma_.shift_y, y / kRowsPerChunk);
    }
    kernels_.classify_sigma_delta({.thresholds = step.sigma_delta,
                                   .width = width_,
                                   .pixels = luma(frame, y),
                                   .mean = {mean_.row(above(y)), mean_.row(y), mean_.row(below(y))},
                                   .variance = variance_.row(y),
                                   .chroma_classes = chroma_classes(y)},
                                  out);
  }

  void learn(const InputImage& frame, const MotionStep& step, uint32_t y) override {
    learn_luma(frame, step, y);
    if (begins_chroma_row(y)) {
      learn_chroma(frame, step, y >> chroma_.shift_y, y / kRowsPerChunk);
    }
  }

  Differing count_sides(const InputImage& frame, const MotionStep& step, ThreadPool& pool) const override {
    std::atomic<uint32_t> n_lighter = 0;
    std::atomic<uint32_t> n_darker = 0;
    pool.parallel_for(count_row_chunks(height_), [&](uint32_t chunk) {
      Differing n = {};
      for (uint32_t y = begin(chunk); y < begin(chunk + 1); ++y) {
        const uint8_t* value = luma(frame, y);
        const uint8_t* mean = mean_.row(y);
        const uint8_t* variance = variance_.row(y);
        for (uint32_t x = 0; x < width_; ++x) {
          const int margin = variance[x] + step.sigma_delta.luma;
          n.n_lighter += value[x] - mean[x] > margin ? 1 : 0;
          n.n_darker += mean[x] - value[x] > margin ? 1 : 0;
        }
      }
      n_lighter.fetch_add(n.n_lighter, std::memory_order_relaxed);
      n_darker.fetch_add(n.n_darker, std::memory_order_relaxed);
    });
    return {n_lighter.load(std::memory_order_relaxed), n_darker.load(std::memory_order_relaxed)};
  }

  void compare_light(const InputImage& frame, const MotionStep& step) override {
    light::Sums sums = {};
    for_each_that_did_not_differ(frame, [&](const sigma_delta::Pixel<ByteLane>& pixel, uint32_t value) {
      if (light::counts(value, pixel.mean)) {
        sums.now += value - light::kBlack;
        sums.before += pixel.mean - light::kBlack;
      }
    });
    relearning_ = {.keeps_objects = true, .gain = light::gain(sums), .margin = step.sigma_delta.luma};
    state_.gain = relearning_.gain;
    uint64_t n_misfits = 0;
    for_each_that_did_not_differ(frame, [&](const sigma_delta::Pixel<ByteLane>& pixel, uint32_t value) {
      n_misfits += sigma_delta::fits(relearning_.gain, relearning_.margin, pixel, value) ? 0 : 1;
    });
    relearning_.keeps_misfits = light::keeps_misfits(n_misfits, uint64_t{width_} * height_);
  }

 private:
  /// Calls see(pixel, value) for each pixel that did not differ in the frame before.
  template <typename See>
  void for_each_that_did_not_differ(const InputImage& frame, See see) const {
    for (uint32_t y = 0; y < height_; ++y) {
      for (uint32_t x = 0; x < width_; ++x) {
        if (status_.row(y)[x] < sigma_delta::kDiffered) {
          see({mean_.row(y)[x], variance_.row(y)[x], status_.row(y)[x]}, luma(frame, y)[x]);
        }
      }
    }
  }

  SigmaDeltaChromaRow chroma_state(uint32_t y) const {
    const auto row = [y](const PaddedPlane<uint8_t>& plane) {
      return const_cast<uint8_t*>(plane.row(y));  // one struct for readers and writers
    };
    return {row(mean_u_), row(mean_v_), row(chroma_variance_), row(candidate_u_), row(candidate_v_)};
  }

  static_assert(kRowsPerChunk % 2 == 0, "a row of chroma belongs to one chunk");
  bool begins_chroma_row(uint32_t y) const { return chroma_.is_present && y % (1u << chroma_.shift_y) == 0; }

  void classify_chroma(const InputImage& frame, const MotionStep& step, uint32_t y, uint32_t chunk) const {
    const ChromaRow row = chroma_row(frame, y, scratch_u_.row(chunk), scratch_v_.row(chunk));
    kernels_.classify_sigma_delta_chroma({.thresholds = step.sigma_delta,
                                          .width = chroma_.width,
                                          .u = row.u,
                                          .v = row.v,
                                          .state = chroma_state(y),
                                          .classes = classes_.row(y)});
  }

  /// The classes of the chroma of a row of the frame, which are found with its first row of chroma. Rows of a
  /// chunk must come in their order. Null: no chroma.
  const uint8_t* chroma_classes(uint32_t y) const {
    if (!chroma_.is_present) {
      return nullptr;
    }
    const uint8_t* const classes = classes_.row(y >> chroma_.shift_y);
    if (chroma_.shift_x == 0) {
      return classes;
    }
    uint8_t* const doubled = row_classes_.row(y / kRowsPerChunk);
    if (begins_chroma_row(y)) {
      kernels_.double_columns(classes, width_, doubled);
    }
    return doubled;
  }

  void learn_luma(const InputImage& frame, const MotionStep& step, uint32_t y) {
    uint8_t* const mean = mean_.row(y);
    const uint8_t* const pixels = luma(frame, y);
    if (state_.learning == Learning::kInitialize) {
      std::memcpy(mean, pixels, width_);
      std::memset(variance_.row(y), sigma_delta::kInitialVariance, width_);
      std::memset(status_.row(y), 0, width_);
      std::memset(stay_.row(y), 0, width_);
    } else if (state_.learning == Learning::kRelearn) {
      const sigma_delta::Relearning how = keeps_known() ? relearning_ : sigma_delta::Relearning();
      uint8_t* const status = status_.row(y);
      for (uint32_t x = 0; x < width_; ++x) {
        const auto pixel = sigma_delta::relearn(how, {mean[x], variance_.row(y)[x], status[x]}, pixels[x]);
        mean[x] = static_cast<uint8_t>(pixel.mean);
        variance_.row(y)[x] = static_cast<uint8_t>(pixel.variance);
        status[x] = static_cast<uint8_t>(pixel.status);
      }
    } else {
      kernels_.update_sigma_delta(
          {.thresholds = step.sigma_delta,
           .rates = state_.sigma_delta,
           .width = width_,
           .pixels = pixels,
           .state = {mean, variance_.row(y), status_.row(y), candidate_.row(y), stay_.row(y)},
           .chroma_classes = chroma_classes(y)});
    }
    pad_row(mean, width_);
  }

  void learn_chroma(const InputImage& frame, const MotionStep& step, uint32_t y, uint32_t chunk) {
    const ChromaRow row = chroma_row(frame, y, scratch_u_.row(chunk), scratch_v_.row(chunk));
    const SigmaDeltaChromaRow state = chroma_state(y);
    if (state_.learning == Learning::kInitialize) {
      std::memcpy(state.mean_u, row.u, chroma_.width);
      std::memcpy(state.mean_v, row.v, chroma_.width);
      std::memset(state.variance, sigma_delta::kInitialVariance, chroma_.width);
      std::memcpy(state.candidate_u, row.u, chroma_.width);
      std::memcpy(state.candidate_v, row.v, chroma_.width);
    } else if (state_.learning == Learning::kRelearn) {
      const sigma_delta::Relearning how = relearning_of_chroma(step.sigma_delta, state_);
      const uint8_t* const luma_status = status_.row(y << chroma_.shift_y);  // this frame's
      for (uint32_t x = 0; x < chroma_.width; ++x) {
        const auto pixel = sigma_delta::relearn_chroma(
            how,
            {state.mean_u[x], state.mean_v[x], state.variance[x], state.candidate_u[x], state.candidate_v[x]},
            sigma_delta::is_hidden(luma_status, x, chroma_.width, chroma_.shift_x), row.u[x], row.v[x]);
        state.mean_u[x] = static_cast<uint8_t>(pixel.mean_u);
        state.mean_v[x] = static_cast<uint8_t>(pixel.mean_v);
        state.variance[x] = static_cast<uint8_t>(pixel.variance);
        state.candidate_u[x] = static_cast<uint8_t>(pixel.candidate_u);
        state.candidate_v[x] = static_cast<uint8_t>(pixel.candidate_v);
      }
    } else {
      const uint32_t first = y << chroma_.shift_y;  // luma row
      kernels_.update_sigma_delta_chroma(
          {.thresholds = step.sigma_delta,
           .rates = state_.sigma_delta,
           .width = chroma_.width,
           .u = row.u,
           .v = row.v,
           .luma_status = leaders(status_.row(first), scratch_status_.row(chunk)),
           .luma_stay = leaders(stay_.row(first), scratch_stay_.row(chunk)),
           .state = state});
    }
    pad_row(state.mean_u, chroma_.width);
    pad_row(state.mean_v, chroma_.width);
  }

  /// Every pixel of a luma row to which a chroma pixel belongs first. Uses the scratch memory if not all do.
  const uint8_t* leaders(const uint8_t* luma_row, uint8_t* scratch) const {
    if (chroma_.shift_x == 0) {
      return luma_row;
    }
    kernels_.halve_columns(luma_row, chroma_.width, scratch);
    return scratch;
  }

  sigma_delta::Relearning relearning_;  ///< of the last change of light whose objects were kept
  PaddedPlane<uint8_t> mean_, variance_, status_, candidate_, stay_;
  PaddedPlane<uint8_t> mean_u_, mean_v_, chroma_variance_, candidate_u_, candidate_v_;
  mutable PaddedPlane<uint8_t> classes_;  ///< of the chroma in the frame, from its classification on
  /// A row for each row chunk.
  mutable PaddedPlane<uint8_t> row_classes_, scratch_u_, scratch_v_, scratch_status_, scratch_stay_;
};

std::unique_ptr<Background::Model> Background::make_sigma_delta(uint32_t width, uint32_t height,
                                                                const BackgroundKernels& kernels,
                                                                const ChromaShape& chroma) {
  return std::make_unique<SigmaDelta>(width, height, kernels, chroma);
}

}  // namespace ccl::host
