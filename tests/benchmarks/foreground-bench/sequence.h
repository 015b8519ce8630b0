// SPDX-License-Identifier: LGPL-2.1-or-later
/// Planted sequences: objects drawn over real backgrounds, so that the truth is known for every pixel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "actor.h"
#include "pictures.h"
#include "random.h"

namespace ccl::bench {

inline constexpr int kFramesPerSecond = 25;
inline constexpr int kFrames = 400;
inline constexpr int kWarmUp = 75;  ///< frames before the first one that is counted

/// What a sequence shows.
struct Sequence {
  std::string category;
  std::string name;  ///< of the category's sequences
  Plate plate = Plate::kLawn;
  std::vector<Actor> actors;
  double noise = 2;                           ///< standard deviation, in levels
  double jitter = 0;                          ///< the camera moves by at most this, pixels
  double sway = 0;                            ///< of what is swaying_share() of the plate, pixels
  std::function<cv::Vec3f(int frame)> light;  ///< factors of BGR; empty: 1
  std::vector<int> switches;                  ///< frames at which the light changes at once
  uint32_t seed = 0;
};

/// Memory of a frame is the Renderer's.
struct Frame {
  int number = 0;
  cv::Mat i420;     ///< CV_8UC1, height · 3 / 2 rows: BT.601, limited range, as a decoder gives it
  cv::Mat bgr;      ///< CV_8UC3, from `i420`: the same information for those that take no YUV
  cv::Mat truth;    ///< CV_8UC1: 255 where an object is
  cv::Mat counted;  ///< CV_8UC1: 255 where the truth is known: not within a pixel of an object's edge
};

class Renderer {
 public:
  Renderer(const Sequence& sequence, Pictures* pictures, cv::Size size);

  /// Frames in their order.
  const Frame& next();

 private:
  cv::Point2d shift();
  void draw_background(cv::Point2d shift);
  void draw_actors(cv::Point2d shift);
  void add_noise();

  const Sequence& sequence_;
  cv::Size size_;
  const std::vector<cv::Mat>& plates_;  ///< with margins
  std::vector<float> noise_;
  Random random_;
  cv::Point2d shift_;
  Frame frame_;
  cv::Mat plate_, image_, coverage_, unknown_;
};

}  // namespace ccl::bench
