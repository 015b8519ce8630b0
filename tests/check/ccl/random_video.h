// SPDX-License-Identifier: LGPL-2.1-or-later
/// Random videos in which everything happens that a background model has a rule for: objects that move, stand
/// and leave, waving pixels, shadows, noise, night, changes and ramps of light, something that comes near, a
/// camera that shakes or is moved, resets, gaps and errors of the time, settings that change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "background_oracle.h"
#include "ccl/clock.h"
#include "random.h"

namespace ccl::test {

class RandomVideo : private Random {
 public:
  RandomVideo(const VideoShape& shape, int frames_per_second, uint32_t seed)
      : Random(seed), shape_(shape), frames_per_second_(frames_per_second) {
    for (int i = 0; i < kBlocks * kBlocks; ++i) {
      const int kind = below(10);
      const int luma = kind == 0 ? below(24) : kind == 1 ? 216 + below(40) : 40 + below(150);
      blocks_.push_back({luma, 112 + below(32), 112 + below(32)});
    }
    for (int i = 0; i < kPatches; ++i) {
      patches_.push_back({.kind = static_cast<Kind>(i % kKinds),
                          .color = {below(256), 90 + below(76), 90 + below(76)},
                          .speed = 1 + below(3)});
      place(&patches_.back());
    }
    change_settings();
  }

  VideoFrame next() {
    move_on();
    VideoFrame frame;
    frame.time = next_time();
    frame.resets = n_frames_ > 0 && is_once_in(50);
    frame.motion = motion_;
    ++n_frames_;
    for (int y = 0; y < shape_.height; ++y) {
      for (int x = 0; x < shape_.width; ++x) {
        frame.luma.push_back(shown(color_at(x, y).y * light_ / 100));
      }
    }
    for (int y = 0; shape_.has_chroma && y < shape_.chroma_height(); ++y) {
      for (int x = 0; x < shape_.chroma_width(); ++x) {
        const Color color = color_at(x << shape_.shift_x, y << shape_.shift_y);
        frame.u.push_back(shown(color.u + tint_));
        frame.v.push_back(shown(color.v - tint_));
      }
    }
    return frame;
  }

 private:
  enum class Kind { kObject, kWaving, kMoving, kShadow, kColour, kMovingColour };
  static constexpr int kKinds = 6;
  static constexpr int kPatches = 9;
  static constexpr int kBlocks = 16;  // in a row, and then again

  struct Color {
    int y;
    int u;
    int v;
  };
  struct Patch {
    Kind kind;
    Color color;
    int speed;
    bool is_there = false;
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;

    bool contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
  };

  int below(int end) { return signed_below(static_cast<uint32_t>(end)); }
  bool is_once_in(int n) { return below(n) == 0; }

  void place(Patch* patch) {
    patch->left = below(shape_.width);
    patch->top = below(shape_.height);
    patch->right = patch->left + 1 + below(std::max(shape_.width / 3, 2));
    patch->bottom = patch->top + 1 + below(std::max(shape_.height / 2, 2));
  }

  void change_settings() {
    constexpr uint32_t kLearning[] = {150, 600, 2000, 20'000};
    constexpr uint32_t kWarmUp[] = {0, 200, 1000};
    constexpr uint16_t kMaxChange[] = {205, 400, 640, 1024};
    motion_.sensitivity = static_cast<uint8_t>(is_once_in(2) ? 50 : below(101));
    motion_.shadows = !is_once_in(4);
    motion_.learning_ms = kLearning[below(4)];
    motion_.warm_up_ms = kWarmUp[below(3)];
    motion_.max_change = kMaxChange[below(4)];
  }

  void move_on() {
    for (Patch& patch : patches_) {
      const bool is_moving = patch.kind == Kind::kMoving || patch.kind == Kind::kMovingColour;
      const int frames = patch.kind == Kind::kWaving ? 2 : 12;
      patch.is_there = patch.is_there != is_once_in(frames);
      if (is_moving) {
        patch.left += patch.speed;
        patch.right += patch.speed;
      }
      if (patch.left >= shape_.width || (!patch.is_there && is_once_in(30))) {
        place(&patch);
        patch.left = is_moving ? 0 : patch.left;
      }
    }
    if (is_once_in(35)) {
      constexpr int kLights[] = {100, 60, 160, 45, 120, 25};
      next_light_ = kLights[below(6)];
      light_step_ = is_once_in(3) ? 1 + below(3) : 200;
      tint_ = below(13) - 6;
    }
    light_ += std::clamp(next_light_ - light_, -light_step_, light_step_);
    noise_ = is_once_in(20) ? below(is_once_in(4) ? 12 : 5) : noise_;
    move_camera();
    // What comes near covers more and more of the frame, then it is away.
    near_ = near_ > 0 ? (near_ + 5) % 125 : is_once_in(30) ? 5 : 0;
    if (is_once_in(30)) {
      change_settings();
    }
  }

  void move_camera() {
    is_shaking_ = is_shaking_ != is_once_in(40);
    shift_ += is_once_in(60) ? 20 : 0;
    column_ = shift_ + (is_shaking_ ? below(3) : 1);
    row_ = is_shaking_ ? below(3) : 1;
  }

  int64_t next_time() {
    constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
    const int64_t step = 1'000'000'000 / frames_per_second_;
    now_ += is_once_in(40) ? step * below(40) : step;
    now_ += is_once_in(80) ? (is_once_in(2) ? kHour : -kHour) : 0;
    return is_once_in(40) ? kNoTime : is_once_in(40) ? now_ - 3 * step : now_;
  }

  Color color_at(int x, int y) const {
    const int block = (y + row_) / 6 % kBlocks * kBlocks + (x + column_) / 9 % kBlocks;
    Color color = blocks_[static_cast<size_t>(block)];
    color.y += (x * 5 + y * 3) % 4;
    for (const Patch& patch : patches_) {
      if (!patch.is_there || !patch.contains(x, y)) {
        continue;
      }
      if (patch.kind == Kind::kShadow) {
        color = {16 + (color.y - 16) * 13 / 16, 128 + (color.u - 128) * 3 / 4, 128 + (color.v - 128) * 3 / 4};
      } else if (patch.kind == Kind::kColour || patch.kind == Kind::kMovingColour) {
        color = {color.y, patch.color.u, patch.color.v};
      } else {
        color = patch.color;
      }
    }
    const bool is_near = x * 100 < near_ * shape_.width;
    return is_near ? Color{30 + (x + y) % 3, 140, 120} : color;
  }

  uint8_t shown(int value) {
    return static_cast<uint8_t>(std::clamp(value + below(2 * noise_ + 1) - noise_, 0, 255));
  }

  VideoShape shape_;
  int frames_per_second_;
  std::vector<Color> blocks_;
  std::vector<Patch> patches_;
  Motion motion_;
  int n_frames_ = 0;
  int64_t now_ = 0;
  int light_ = 100;  ///< percent
  int next_light_ = 100;
  int light_step_ = 0;  ///< percent a frame
  int tint_ = 0;
  int noise_ = 2;
  int near_ = 0;  ///< percent of the frame, from the left
  bool is_shaking_ = false;
  int shift_ = 0;   ///< by which the camera was moved
  int column_ = 0;  ///< what the camera shows in the frame's first column and row
  int row_ = 0;
};

}  // namespace ccl::test
