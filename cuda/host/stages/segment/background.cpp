// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/background.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "host/stages/row_chunks.h"
#include "host/stages/segment/mixture_light.h"

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

namespace {

ChromaShape shape_of(const Chroma& chroma, uint32_t width, uint32_t height) {
  if (chroma.u == nullptr) {
    return {};
  }
  return {.is_present = true,
          .shift_x = chroma.shift_x,
          .shift_y = chroma.shift_y,
          .width = (width + (1u << chroma.shift_x) - 1) >> chroma.shift_x,
          .height = (height + (1u << chroma.shift_y) - 1) >> chroma.shift_y};
}

/// Makes the entries before the first and after the last one equal to them: the pixels outside do not count.
template <typename Number>
void pad_row(Number* row, uint32_t width) {
  row[-1] = row[0];
  row[width] = row[width - 1];
}

}  // namespace

/// A model: state, and the two passes over the rows of a frame.
class Background::Model {
 public:
  Model(uint32_t width, uint32_t height, const BackgroundKernels& kernels, const ChromaShape& chroma)
      : width_(width), height_(height), kernels_(kernels), chroma_(chroma) {}
  virtual ~Model() = default;

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
    state_.n_differ = n_differ.load(std::memory_order_relaxed);
    decide(step, uint64_t{width_} * height_, &state_);
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
  virtual void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v, uint8_t step) const = 0;

 protected:
  virtual void classify(const InputImage& frame, const MotionStep& step, uint32_t y, ClassRow* out) const = 0;
  virtual void learn(const InputImage& frame, const MotionStep& step, uint32_t y) = 0;
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

  uint32_t begin(uint32_t chunk) const { return std::min(chunk * kRowsPerChunk, height_); }
  uint32_t above(uint32_t y) const { return y == 0 ? 0 : y - 1; }
  uint32_t below(uint32_t y) const { return std::min(y + 1, height_ - 1); }

  uint32_t width_;
  uint32_t height_;
  const BackgroundKernels& kernels_;
  ChromaShape chroma_;
  ModelState state_ = {};
  ModelState expected_ = {};  ///< of the frame, see expect()
};

class Background::SigmaDelta final : public Model {
 public:
  SigmaDelta(uint32_t width, uint32_t height, const BackgroundKernels& kernels, const ChromaShape& chroma)
      : Model(width, height, kernels, chroma),
        mean_(width, height),
        variance_(width, height),
        status_(width, height) {
    if (chroma.is_present) {
      for (auto* plane : {&mean_u_, &mean_v_, &chroma_variance_, &chroma_status_}) {
        *plane = PaddedPlane<uint8_t>(chroma.width, chroma.height);
      }
      // By row of the frame, so that rows can be classified in parallel.
      for (auto* plane : {&differs_, &fits_shadow_, &scratch_u_, &scratch_v_}) {
        *plane = PaddedPlane<uint8_t>(width, count_row_chunks(height));
      }
    }
  }

  void read_luma_row(uint32_t y, uint8_t* pixels) const override {
    std::memcpy(pixels, mean_.row(y), width_);
  }

  void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v, uint8_t step) const override {
    for (uint32_t x = 0; x < chroma_.width; ++x) {
      u[size_t{step} * x] = mean_u_.row(y)[x];
      v[size_t{step} * x] = mean_v_.row(y)[x];
    }
  }

 protected:
  void classify(const InputImage& frame, const MotionStep& step, uint32_t y, ClassRow* out) const override {
    SigmaDeltaClassJob job = {.thresholds = step.sigma_delta,
                              .width = width_,
                              .pixels = luma(frame, y),
                              .mean = {mean_.row(above(y)), mean_.row(y), mean_.row(below(y))},
                              .variance = variance_.row(y),
                              .status = const_cast<uint8_t*>(status_.row(y)),
                              .chroma_differs = nullptr,
                              .fits_shadow = nullptr};
    if (chroma_.is_present) {
      const uint32_t chunk = y / kRowsPerChunk;
      job.chroma_differs = differs_.row(chunk);
      job.fits_shadow = fits_shadow_.row(chunk);
      if (y % kRowsPerChunk == 0 || y % (1u << chroma_.shift_y) == 0) {
        classify_chroma(frame, step, y >> chroma_.shift_y, chunk);
      }
    }
    kernels_.classify_sigma_delta(job, out);
  }

  void learn(const InputImage& frame, const MotionStep& step, uint32_t y) override {
    learn_luma(frame, step, y);
    if (chroma_.is_present && y % (1u << chroma_.shift_y) == 0) {
      learn_chroma(frame, step, y >> chroma_.shift_y, y / kRowsPerChunk);
    }
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
    return {row(mean_u_), row(mean_v_), row(chroma_variance_), row(chroma_status_)};
  }

  /// Masks of a row of chroma, at the resolution of the luma, into the chunk's scratch.
  void classify_chroma(const InputImage& frame, const MotionStep& step, uint32_t y, uint32_t chunk) const {
    uint8_t* const u = scratch_u_.row(chunk);
    uint8_t* const v = scratch_v_.row(chunk);
    uint8_t* const differs = differs_.row(chunk);
    uint8_t* const fits_shadow = fits_shadow_.row(chunk);
    const ChromaRow row = chroma_row(frame, y, u, v);
    const bool is_half = chroma_.shift_x != 0;
    kernels_.classify_sigma_delta_chroma(
        {.thresholds = step.sigma_delta,
         .width = chroma_.width,
         .u = row.u,
         .v = row.v,
         .state = chroma_state(y),
         .around_u = {mean_u_.row(y == 0 ? 0 : y - 1), mean_u_.row(std::min(y + 1, chroma_.height - 1))},
         .around_v = {mean_v_.row(y == 0 ? 0 : y - 1), mean_v_.row(std::min(y + 1, chroma_.height - 1))},
         .differs = is_half ? u : differs,
         .fits_shadow = is_half ? v : fits_shadow});
    if (is_half) {
      kernels_.double_columns(u, width_, differs);
      kernels_.double_columns(v, width_, fits_shadow);
    }
  }

  void learn_luma(const InputImage& frame, const MotionStep& step, uint32_t y) {
    uint8_t* const mean = mean_.row(y);
    const uint8_t* const pixels = luma(frame, y);
    if (state_.learning == Learning::kInitialize) {
      std::memcpy(mean, pixels, width_);
      std::memset(status_.row(y), 0, width_);
      std::memset(variance_.row(y), sigma_delta::kInitialVariance, width_);
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
      kernels_.update_sigma_delta({.thresholds = step.sigma_delta,
                                   .rates = state_.sigma_delta,
                                   .width = width_,
                                   .pixels = pixels,
                                   .state = {mean, variance_.row(y), status_.row(y)}});
    }
    pad_row(mean, width_);
  }

  void learn_chroma(const InputImage& frame, const MotionStep& step, uint32_t y, uint32_t chunk) {
    const ChromaRow row = chroma_row(frame, y, scratch_u_.row(chunk), scratch_v_.row(chunk));
    const SigmaDeltaChromaRow state = chroma_state(y);
    if (state_.learning == Learning::kInitialize) {
      std::memcpy(state.mean_u, row.u, chroma_.width);
      std::memcpy(state.mean_v, row.v, chroma_.width);
      std::memset(state.status, 0, chroma_.width);
      std::memset(state.variance, sigma_delta::kInitialVariance, chroma_.width);
    } else if (state_.learning == Learning::kRelearn) {
      const sigma_delta::Relearning how = relearning_of_chroma(step.sigma_delta, state_);
      const uint8_t* const luma_status = status_.row(y << chroma_.shift_y);  // this frame's
      for (uint32_t x = 0; x < chroma_.width; ++x) {
        const auto pixel = sigma_delta::relearn_chroma(
            how, {state.mean_u[x], state.mean_v[x], state.variance[x], state.status[x]},
            sigma_delta::is_hidden(luma_status, x, chroma_.width, chroma_.shift_x), row.u[x], row.v[x]);
        state.mean_u[x] = static_cast<uint8_t>(pixel.mean_u);
        state.mean_v[x] = static_cast<uint8_t>(pixel.mean_v);
        state.variance[x] = static_cast<uint8_t>(pixel.variance);
        state.status[x] = static_cast<uint8_t>(pixel.status);
      }
    } else {
      kernels_.update_sigma_delta_chroma({.thresholds = step.sigma_delta,
                                          .rates = state_.sigma_delta,
                                          .width = chroma_.width,
                                          .u = row.u,
                                          .v = row.v,
                                          .state = state});
    }
    pad_row(state.mean_u, chroma_.width);
    pad_row(state.mean_v, chroma_.width);
  }

  sigma_delta::Relearning relearning_;  ///< of the last change of light whose objects were kept
  PaddedPlane<uint8_t> mean_, variance_, status_;
  PaddedPlane<uint8_t> mean_u_, mean_v_, chroma_variance_, chroma_status_;
  /// A row for each row chunk.
  mutable PaddedPlane<uint8_t> differs_, fits_shadow_, scratch_u_, scratch_v_;
};

class Background::Mixture final : public Model {
 public:
  Mixture(uint32_t width, uint32_t height, const BackgroundKernels& kernels, const ChromaShape& chroma)
      : Model(width, height, kernels, chroma) {
    for (Planes& planes : modes_) {
      for (auto* plane : {&planes.weight, &planes.mean, &planes.variance, &planes.chroma}) {
        *plane = PaddedPlane<uint16_t>(width, height);
      }
    }
    for (auto* plane : {&u_, &v_, &scratch_u_, &scratch_v_}) {
      *plane = PaddedPlane<uint8_t>(width, count_row_chunks(height));
      for (uint32_t y = 0; y < count_row_chunks(height); ++y) {
        std::memset(plane->row(y), mixture::kNeutral, width);
      }
    }
  }

  void read_luma_row(uint32_t y, uint8_t* pixels) const override {
    for (uint32_t x = 0; x < width_; ++x) {
      pixels[x] = static_cast<uint8_t>(mixture::background_luma<WordLane>(modes_[0].mean.row(y)[x]));
    }
  }

  /// The first pixel of each chroma pixel.
  void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v, uint8_t step) const override {
    const uint16_t* row = modes_[0].chroma.row(y << chroma_.shift_y);
    for (uint32_t x = 0; x < chroma_.width; ++x) {
      const uint16_t value = row[x << chroma_.shift_x];
      u[size_t{step} * x] = static_cast<uint8_t>(value);
      v[size_t{step} * x] = static_cast<uint8_t>(value >> 8);
    }
  }

 protected:
  void classify(const InputImage& frame, const MotionStep& step, uint32_t y, ClassRow* out) const override {
    read_chroma(frame, y);
    const uint32_t chunk = y / kRowsPerChunk;
    kernels_.classify_mixture(
        {.thresholds = step.mixture,
         .width = width_,
         .pixels = luma(frame, y),
         .u = u_.row(chunk),
         .v = v_.row(chunk),
         .has_chroma = chroma_.is_present,
         .state = mode_row(y),
         .around = {modes_[0].mean.row(above(y)), modes_[0].mean.row(below(y))},
         .around_chroma = {modes_[0].chroma.row(above(y)), modes_[0].chroma.row(below(y))}},
        out);
  }

  void learn(const InputImage& frame, const MotionStep&, uint32_t y) override {
    const MixtureLightRow row = light_row(frame, y);
    if (expected_.learning != Learning::kInitialize) {
      kernels_.update_mixture({.rates = expected_.mixture,
                               .width = width_,
                               .pixels = row.pixels,
                               .u = row.u,
                               .v = row.v,
                               .state = row.state});
    }
    if (begins() && !keeps_known()) {
      begin_row(row, keeps_variance());
    }
    pad(row);
  }

  void relearn_all(const InputImage& frame) override {
    light::ColorSums sums = {};
    for (uint32_t y = 0; y < height_; ++y) {
      add_light(light_row(frame, y), &sums);
    }
    const light::Change change = light::change(sums);
    uint32_t n_misfits = 0;
    for (uint32_t y = 0; y < height_; ++y) {
      n_misfits += count_misfits(change, light_row(frame, y));
    }
    const bool keeps_misfits = light::keeps_objects(n_misfits, uint64_t{width_} * height_);
    for (uint32_t y = 0; y < height_; ++y) {
      const MixtureLightRow row = light_row(frame, y);
      relearn_light(change, keeps_misfits, row);
      pad(row);
    }
  }

 private:
  struct Planes {
    PaddedPlane<uint16_t> weight, mean, variance, chroma;
  };

  MixtureRow mode_row(uint32_t y) const {
    const auto row = [y](const PaddedPlane<uint16_t>& plane) {
      return const_cast<uint16_t*>(plane.row(y));  // one struct for readers and writers
    };
    MixtureRow state;
    for (uint32_t k = 0; k < mixture::kModes; ++k) {
      state.weight[k] = row(modes_[k].weight);
      state.mean[k] = row(modes_[k].mean);
      state.variance[k] = row(modes_[k].variance);
      state.chroma[k] = row(modes_[k].chroma);
    }
    return state;
  }

  /// U and V of each pixel of a row, into the chunk's scratch, where they stay for the rows of the same
  /// chroma.
  void read_chroma(const InputImage& frame, uint32_t y) const {
    if (!chroma_.is_present || (y % kRowsPerChunk != 0 && y % (1u << chroma_.shift_y) != 0)) {
      return;
    }
    const uint32_t chunk = y / kRowsPerChunk;
    const ChromaRow row =
        chroma_row(frame, y >> chroma_.shift_y, scratch_u_.row(chunk), scratch_v_.row(chunk));
    if (chroma_.shift_x != 0) {
      kernels_.double_columns(row.u, width_, u_.row(chunk));
      kernels_.double_columns(row.v, width_, v_.row(chunk));
    } else {
      std::memcpy(u_.row(chunk), row.u, width_);
      std::memcpy(v_.row(chunk), row.v, width_);
    }
  }

  /// Reads the chroma too.
  MixtureLightRow light_row(const InputImage& frame, uint32_t y) const {
    read_chroma(frame, y);
    const uint32_t chunk = y / kRowsPerChunk;
    return {width_, luma(frame, y), u_.row(chunk), v_.row(chunk), mode_row(y)};
  }

  void pad(const MixtureLightRow& row) const {
    pad_row(row.state.mean[0], width_);
    pad_row(row.state.chroma[0], width_);
  }

  Planes modes_[mixture::kModes];
  /// A row for each row chunk.
  mutable PaddedPlane<uint8_t> u_, v_, scratch_u_, scratch_v_;
};

Background::Background(uint32_t width, uint32_t height, const BackgroundKernels& kernels)
    : width_(width), height_(height), kernels_(kernels) {}
Background::~Background() = default;

Background::Model& Background::model_for(const InputImage& frame, const MotionStep& step) {
  const ChromaShape chroma = shape_of(frame.chroma, width_, height_);
  const bool is_mixture = dynamic_cast<Mixture*>(model_.get()) != nullptr;
  if (model_ == nullptr || model_->chroma() != chroma ||
      is_mixture != (step.model == BackgroundModel::kMixture)) {
    model_.reset();
    if (step.model == BackgroundModel::kMixture) {
      model_ = std::make_unique<Mixture>(width_, height_, kernels_, chroma);
    } else {
      model_ = std::make_unique<SigmaDelta>(width_, height_, kernels_, chroma);
    }
  }
  return *model_;
}

void Background::update(const InputImage& frame, const MotionStep& step, ThreadPool& pool,
                        const BitRows& bits, FrameCounts* counts) {
  model_for(frame, step).update(frame, step, pool, bits, counts);
}

bool Background::read_luma(uint8_t* pixels, size_t stride) const {
  for (uint32_t y = 0; model_ != nullptr && y < height_; ++y) {
    model_->read_luma_row(y, pixels + stride * y);
  }
  return model_ != nullptr;
}

bool Background::read_chroma(uint8_t* u, uint8_t* v, size_t stride, uint8_t step) const {
  if (model_ == nullptr || !model_->chroma().is_present) {
    return false;
  }
  for (uint32_t y = 0; y < model_->chroma().height; ++y) {
    model_->read_chroma_row(y, u + stride * y, v + stride * y, step);
  }
  return true;
}

}  // namespace ccl::host
