// SPDX-License-Identifier: LGPL-2.1-or-later
/// Objects that move through a sequence, drawn with soft edges and an exact outline.
#pragma once

#include <vector>

#include <opencv2/core.hpp>

namespace ccl::bench {

enum class Shape {
  kWalker,  ///< head, body, and limbs that swing
  kCar,     ///< wider than high
  kBall,
};

struct Waypoint {
  double frame;
  cv::Point2d foot;  ///< pixels: the middle of the lowest line
};

struct Actor {
  Shape shape = Shape::kWalker;
  double height = 0;           ///< pixels
  std::vector<Waypoint> path;  ///< in between it moves evenly; it is in the frame from the first to the last
  cv::Vec3f colors[3];         ///< BGR, of the upper, middle and lower part
  cv::Mat texture;             ///< BGR, CV_32FC3, zero on average, added to the colour
  bool casts_shadow = false;
  /// Until this frame nobody can know that it is an object: it has been there from the start, and has not
  /// moved.
  double unknown_until = 0;

  bool is_present(double frame) const { return frame >= path.front().frame && frame < path.back().frame; }
  cv::Point2d foot(double frame) const;
  double width() const;
};

/// Draws into `image` (CV_32FC3), and 1 into `coverage` (CV_32FC1) where the actor covers the pixel, in
/// between at its edges. `shift` is added to its place.
void draw(const Actor& actor, double frame, cv::Point2d shift, cv::Mat* image, cv::Mat* coverage);

/// Darkens the ground where the light does not reach it.
void draw_shadow(const Actor& actor, double frame, cv::Point2d shift, cv::Mat* image);

}  // namespace ccl::bench
