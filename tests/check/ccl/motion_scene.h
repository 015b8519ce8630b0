// SPDX-License-Identifier: LGPL-2.1-or-later
/// Small scenes for background models, and a model with its stream.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "host/stages/segment/background.h"

namespace ccl::test {

inline constexpr int64_t kMs = 1'000'000;

/// Luma, and chroma of half the size.
struct Picture {
  Picture(uint32_t width, uint32_t height)
      : width(width),
        height(height),
        luma(size_t{width} * height, 100),
        u(chroma_size(), 120),
        v(chroma_size(), 140) {}

  uint32_t chroma_width() const { return (width + 1) / 2; }
  size_t chroma_size() const { return size_t{chroma_width()} * ((height + 1) / 2); }

  void add_noise(std::mt19937* random, int range) {
    for (uint8_t& value : luma) {
      const int noise = static_cast<int>((*random)() % static_cast<uint32_t>(2 * range + 1)) - range;
      value = static_cast<uint8_t>(std::clamp(value + noise, 0, 255));
    }
  }

  template <typename Change>
  void change_luma(Change change) {
    std::transform(luma.begin(), luma.end(), luma.begin(),
                   [&](uint8_t value) { return static_cast<uint8_t>(change(value)); });
  }

  InputImage input(bool has_chroma) const {
    InputImage image = {.pixels = luma.data(), .stride = width};
    if (has_chroma) {
      image.chroma = {.u = u.data(), .v = v.data(), .stride = chroma_width(), .shift_x = 1, .shift_y = 1};
    }
    return image;
  }

  uint32_t width;
  uint32_t height;
  std::vector<uint8_t> luma, u, v;
};

struct Square {
  uint32_t x;
  uint32_t y;
  uint32_t side;

  bool contains(uint32_t px, uint32_t py) const { return px - x < side && py - y < side; }

  /// How many of its pixels have what is(x, y) asks for.
  template <typename Predicate>
  size_t count(Predicate is) const {
    size_t n = 0;
    for (uint32_t i = 0; i < side * side; ++i) {
      n += is(x + i % side, y + i / side) ? 1 : 0;
    }
    return n;
  }
};

/// A textured background.
inline Picture scene(uint32_t width = 96, uint32_t height = 64) {
  Picture picture(width, height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      picture.luma[y * width + x] = static_cast<uint8_t>(90 + x / 4 + ((x / 16 + y / 16) % 2) * 20);
    }
  }
  return picture;
}

inline void draw(const Square& square, uint8_t luma, Picture* picture) {
  for (uint32_t y = square.y; y < square.y + square.side; ++y) {
    std::fill_n(picture->luma.begin() + y * picture->width + square.x, square.side, luma);
  }
}

/// A model and its stream.
class MotionStream {
 public:
  MotionStream(uint32_t width, uint32_t height, const host::BackgroundKernels& kernels,
               uint32_t n_threads = 1)
      : width_(width),
        height_(height),
        pool_(n_threads),
        background_(width, height, kernels),
        stride_(bit_row_words(width) / 2),
        bits_(stride_ * height) {}
  MotionStream(uint32_t width, uint32_t height)
      : MotionStream(width, height, host::background_kernels(host::choose_simd_level())) {}

  void push(const Picture& picture, int64_t time, bool has_chroma = true, bool resets = false) {
    push(picture.input(has_chroma), time, resets);
  }

  void push(const InputImage& frame, int64_t time, bool resets = false) {
    background_.update(frame, clock_.next(motion, time, resets), pool_, {bits_.data(), stride_}, &counts_);
  }

  bool is_foreground(uint32_t x, uint32_t y) const {
    return (bits_[stride_ * y + x / 64] >> (x % 64) & 1) != 0;
  }
  size_t count() const {
    size_t n = 0;
    for (const uint64_t word : bits_) {
      n += static_cast<size_t>(std::popcount(word));
    }
    return n;
  }
  size_t count(const Square& square) const {
    return square.count([this](uint32_t x, uint32_t y) { return is_foreground(x, y); });
  }

  bool is_relearning() const { return counts_.relearning != 0; }
  const std::vector<uint64_t>& bits() const { return bits_; }
  const host::Background& background() const { return background_; }

  Motion motion;

 private:
  uint32_t width_;
  uint32_t height_;
  host::ThreadPool pool_;
  host::Background background_;
  MotionClock clock_;
  FrameCounts counts_;
  size_t stride_;
  std::vector<uint64_t> bits_;
};

/// A stream of small pictures with noise, 30 a second.
class Scene {
 protected:
  explicit Scene(BackgroundModel model = BackgroundModel::kSigmaDelta) { stream_.motion.model = model; }

  void show(const Picture& picture, int64_t ms, int noise = 2) {
    for (const int64_t end = time_ + ms * kMs; time_ < end; time_ += kFrame) {
      Picture noisy = picture;
      noisy.add_noise(&random_, noise);
      stream_.push(noisy, time_);
    }
  }

  static constexpr int64_t kFrame = 33 * kMs;
  std::mt19937 random_{7};
  MotionStream stream_{96, 64};
  int64_t time_ = 5'000 * kMs;
};

/// The light changes in frame 130, with an object in view from frame 100 on.
class ChangingLight : public Scene {
 protected:
  static constexpr int kSwitch = 130;
  static constexpr int kSettled = kSwitch + 10;

  using Scene::Scene;

  void show(int frame, const Square& square, double factor = 1.6) {
    Picture picture = scene();
    if (frame >= 100) {
      draw(square, 25, &picture);  // too dark for a shadow
    }
    if (frame >= kSwitch) {
      picture.change_luma([&](int value) { return 16 + (value - 16) * factor; });
      std::fill(picture.u.begin(), picture.u.end(), static_cast<uint8_t>(picture.u[0] - 12));
    }
    Scene::show(picture, 1);
  }
};

}  // namespace ccl::test
