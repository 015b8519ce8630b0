// SPDX-License-Identifier: LGPL-2.1-or-later
/// Streams of drawn frames, and the tracks that an engine finds in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "ccl/engine.h"
#include "fixture.h"
#include "images.h"
#include "random.h"

namespace ccl::test {

struct Rectangle {
  int32_t x, y, width, height;
  uint8_t value = kForeground;
};

/// Draws the parts of the rectangles that are in the frame.
inline Image draw(uint32_t width, uint32_t height, const std::vector<Rectangle>& rectangles) {
  Image image = plain("rectangles", width, height);
  for (const Rectangle& r : rectangles) {
    for (int32_t y = std::max(r.y, 0); y < std::min(r.y + r.height, static_cast<int32_t>(height)); ++y) {
      for (int32_t x = std::max(r.x, 0); x < std::min(r.x + r.width, static_cast<int32_t>(width)); ++x) {
        image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = r.value;
      }
    }
  }
  return image;
}

/// Video of rectangles of three values that move, jump, meet, vanish and return, with holes and noise. Every
/// seed is another one.
class RectangleVideo : public Random {
 public:
  RectangleVideo(uint32_t width, uint32_t height, uint32_t seed, uint32_t n_actors)
      : Random(seed), width_(width), height_(height) {
    for (uint32_t i = 0; i < n_actors; ++i) {
      actors_.push_back(new_actor());
    }
  }

  Image next() {
    std::vector<Rectangle> visible;
    for (Actor& actor : actors_) {
      actor.place.x += actor.vx;
      actor.place.y += actor.vy;
      if (is_once_in(50)) {
        actor = new_actor();
      }
      if (!is_once_in(15)) {
        visible.push_back(actor.place);
      }
    }
    Image image = draw(width_, height_, visible);
    for (uint32_t i = below(20); i > 0; --i) {
      const uint8_t value = is_once_in(3) ? 0 : 128;
      const uint32_t y = below(height_);
      image.at(below(width_), y) = value;
    }
    return image;
  }

 private:
  struct Actor {
    Rectangle place;
    int32_t vx, vy;
  };

  Actor new_actor() {
    Actor actor{.place = {signed_below(width_) - 8, signed_below(height_) - 8, 2 + signed_below(20),
                          2 + signed_below(24)},
                .vx = signed_below(15) - 7,
                .vy = signed_below(15) - 7};
    actor.place.value = static_cast<uint8_t>(55 + below(3) * 100);
    return actor;
  }

  uint32_t width_;
  uint32_t height_;
  std::vector<Actor> actors_;
};

/// What an engine found in a frame of a stream.
struct TrackedFrame {
  std::vector<CclComponent> components;
  std::vector<CclTrack> tracks;
  std::vector<uint8_t> pixels;  ///< of the output

  /// The track with this id; null if there is none.
  const CclTrack* find(uint32_t id) const {
    for (const CclTrack& track : tracks) {
      if (track.id == id) {
        return &track;
      }
    }
    return nullptr;
  }

  /// The id of the component whose box has this pixel; 0 if there is none.
  uint32_t id_at(int32_t x, int32_t y) const {
    for (const CclComponent& c : components) {
      if (x >= static_cast<int32_t>(c.x) && x < static_cast<int32_t>(c.x + c.width) &&
          y >= static_cast<int32_t>(c.y) && y < static_cast<int32_t>(c.y + c.height)) {
        return c.id;
      }
    }
    return 0;
  }

  bool has_flags(uint32_t id, uint32_t flags) const {
    return find(id) != nullptr && (find(id)->flags & flags) == flags;
  }
};

/// Whether two frames are the same to the byte.
inline bool is_same(const TrackedFrame& a, const TrackedFrame& b) {
  const auto same = [](const auto& v, const auto& w) {
    return v.size() == w.size() &&
           (v.empty() || std::memcmp(v.data(), w.data(), v.size() * sizeof(v[0])) == 0);
  };
  return same(a.components, b.components) && same(a.tracks, b.tracks) && same(a.pixels, b.pixels);
}

/// Pushes frames into an engine of the backend under test.
class TrackedStream {
 public:
  static constexpr int64_t kStepNs = 40'000'000;

  /// `config` needs no size.
  explicit TrackedStream(const Config& config) : config_(config) { EXPECT_TRUE(make_engine(&engine_).ok()); }

  FrameJob job = {};  ///< of the next frames, except their pixels; `time` is kept up to date by push()
  bool has_times = true;

  /// One frame, a step after the one before it.
  TrackedFrame push(const Image& image) {
    start(image);
    return finish();
  }

  /// Starts a frame without waiting for it. The image must stay until finish().
  void start(const Image& image) {
    if (image.width != config_.width || image.height != config_.height) {
      config_.width = image.width;
      config_.height = image.height;
      configure();
    }
    now_ += kStepNs;
    job.time = has_times ? now_ : kNoTime;
    job.input.pixels = image.pixels();
    job.input.stride = image.stride;
    std::vector<uint8_t>& output = outputs_[n_started_++ % outputs_.size()];
    output.assign(size_t{image.width} * image.height * bytes_per_pixel(config_.output), 0);
    job.output.pixels = output.data();
    job.output.stride = size_t{image.width} * bytes_per_pixel(config_.output);
    const Status status = engine_->push(job);
    EXPECT_TRUE(status.ok()) << status.message();
    job.resets_tracks = false;
  }

  TrackedFrame finish() {
    FrameResult result;
    const Status status = engine_->pop(&result);
    EXPECT_TRUE(status.ok()) << status.message();
    const std::vector<uint8_t>& output = outputs_[n_finished_++ % outputs_.size()];
    for (const CclTrack& track : result.tracks) {
      const bool is_at_border = track.x == 0 || track.y == 0 || track.x + track.width == config_.width ||
                                track.y + track.height == config_.height;
      EXPECT_EQ((track.flags & CCL_TRACK_TOUCHES_BORDER) != 0, is_at_border) << track.id;
    }
    return {{result.components.begin(), result.components.end()},
            {result.tracks.begin(), result.tracks.end()},
            output};
  }

  /// Configures the engine again, with another configuration of the same frame size.
  void change(Config config) {
    config.width = config_.width;
    config.height = config_.height;
    config_ = config;
    configure();
  }

  void set_now(int64_t now) { now_ = now; }
  int64_t now() const { return now_; }

 private:
  void configure() {
    const Status status = engine_->configure(config_);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Config config_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::vector<uint8_t>> outputs_ = std::vector<std::vector<uint8_t>>(9);
  size_t n_started_ = 0;
  size_t n_finished_ = 0;
  int64_t now_ = 0;
};

/// Drawn frames of one size, pushed into a stream.
class DrawnStream : public testing::Test {
 public:
  static constexpr uint32_t kWidth = 320;
  static constexpr uint32_t kHeight = 200;

 protected:
  TrackedFrame push(const std::vector<Rectangle>& rectangles) {
    return stream.push(draw(kWidth, kHeight, rectangles));
  }

  /// With something in front, from column `left` to before column `right`.
  TrackedFrame push_behind(int32_t left, int32_t right, std::vector<Rectangle> rectangles) {
    rectangles.push_back({left, 0, right - left, static_cast<int32_t>(kHeight), 0});
    return push(rectangles);
  }

  TrackedStream stream{Config{.max_tracks = 64}};
};

}  // namespace ccl::test
