// SPDX-License-Identifier: LGPL-2.1-or-later
/// The mixture model of a stream. See ccl/segment/mixture.h.
#include <cstring>
#include <memory>

#include "host/stages/segment/mixture_light.h"
#include "host/stages/segment/model.h"

namespace ccl::host {

class Background::Mixture final : public Model {
 public:
  Mixture(uint32_t width, uint32_t height, const BackgroundKernels& kernels, const ChromaShape& chroma)
      : Model(BackgroundModel::kMixture, width, height, kernels, chroma) {
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
  void read_chroma_row(uint32_t y, uint8_t* u, uint8_t* v) const override {
    const uint16_t* row = modes_[0].chroma.row(y << chroma_.shift_y);
    for (uint32_t x = 0; x < chroma_.width; ++x) {
      const uint16_t value = row[x << chroma_.shift_x];
      u[x] = static_cast<uint8_t>(value);
      v[x] = static_cast<uint8_t>(value >> 8);
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

std::unique_ptr<Background::Model> Background::make_mixture(uint32_t width, uint32_t height,
                                                            const BackgroundKernels& kernels,
                                                            const ChromaShape& chroma) {
  return std::make_unique<Mixture>(width, height, kernels, chroma);
}

}  // namespace ccl::host
