// SPDX-License-Identifier: LGPL-2.1-or-later
#include "actor.h"

#include <algorithm>
#include <cmath>

namespace ccl::bench {

namespace {

using cv::Point2d;

// The shadow of a point at a height h lies at (kShadowX · h, kShadowY · h) from below it. Shadows are a
// little blue: the sky's light reaches them. Share of the light that is left, BGR:
constexpr double kShadowX = 0.8;
constexpr double kShadowY = 0.3;
const cv::Vec3f kShadowLight(0.62F, 0.58F, 0.55F);
constexpr double kShadowSoftness = 3;  ///< pixels from full light to full shadow

double to_capsule(Point2d p, Point2d a, Point2d b, double radius) {
  const Point2d along = b - a;
  const double t = std::clamp((p - a).dot(along) / along.dot(along), 0.0, 1.0);
  return cv::norm(p - a - along * t) - radius;
}

double to_box(Point2d p, Point2d middle, Point2d half, double radius) {
  const Point2d q(std::abs(p.x - middle.x) - half.x + radius, std::abs(p.y - middle.y) - half.y + radius);
  const Point2d outside(std::max(q.x, 0.0), std::max(q.y, 0.0));
  return cv::norm(outside) + std::min(std::max(q.x, q.y), 0.0) - radius;
}

/// Distances to outlines are negative inside; the unit is the object's height, y runs from 0 at the top to 1.
double to_walker(Point2d p, double phase) {
  const double swing = 0.15 * std::sin(phase);
  const double head = cv::norm(p - Point2d(0, 0.09)) - 0.085;
  const double body = to_capsule(p, {0, 0.27}, {0, 0.5}, 0.115);
  const double legs = std::min(to_capsule(p, {0.03, 0.52}, {swing + 0.03, 0.94}, 0.06),
                               to_capsule(p, {-0.03, 0.52}, {-swing - 0.03, 0.94}, 0.06));
  const double arms = std::min(to_capsule(p, {0.08, 0.24}, {0.1 - swing, 0.5}, 0.04),
                               to_capsule(p, {-0.08, 0.24}, {-0.1 + swing, 0.5}, 0.04));
  return std::min(std::min(head, body), std::min(legs, arms));
}

double to_car(Point2d p) {
  const double body = to_box(p, {0, 0.62}, {0.95, 0.26}, 0.1);
  const double cabin = to_box(p, {-0.05, 0.3}, {0.5, 0.3}, 0.15);
  const double wheels =
      std::min(cv::norm(p - Point2d(-0.55, 0.83)) - 0.17, cv::norm(p - Point2d(0.55, 0.83)) - 0.17);
  return std::min(std::min(body, cabin), wheels);
}

double to_outline(Shape shape, Point2d p, double phase) {
  switch (shape) {
    case Shape::kWalker:
      return to_walker(p, phase);
    case Shape::kCar:
      return to_car(p);
    case Shape::kBall:
      break;
  }
  return cv::norm(p - Point2d(0, 0.5)) - 0.5;
}

/// A step for every 0.55 of its height.
double phase(const Actor& actor, double frame) {
  double walked = 0;
  Point2d last = actor.path.front().foot;
  for (const Waypoint& point : actor.path) {
    const Point2d here = point.frame < frame ? point.foot : actor.foot(frame);
    walked += cv::norm(here - last);
    last = here;
  }
  return walked / (0.55 * actor.height) * CV_PI;
}

cv::Vec3f color(const Actor& actor, Point2d p) {
  const cv::Vec3f& part = actor.colors[p.y < 0.18 ? 0 : p.y < 0.53 ? 1 : 2];
  const cv::Size size = actor.texture.size();
  const int x = cvFloor((p.x + 1) * actor.height);
  const int y = cvFloor(p.y * actor.height);
  return part + actor.texture.at<cv::Vec3f>((y % size.height + size.height) % size.height,
                                            (x % size.width + size.width) % size.width);
}

cv::Rect clipped(double left, double top, double right, double bottom, const cv::Mat& image) {
  return cv::Rect(cv::Point(cvFloor(left) - 2, cvFloor(top) - 2),
                  cv::Point(cvCeil(right) + 3, cvCeil(bottom) + 3)) &
         cv::Rect(cv::Point(), image.size());
}

}  // namespace

Point2d Actor::foot(double frame) const {
  for (size_t i = 1; i < path.size(); ++i) {
    if (frame < path[i].frame) {
      const double t = std::max(0.0, (frame - path[i - 1].frame) / (path[i].frame - path[i - 1].frame));
      return path[i - 1].foot + (path[i].foot - path[i - 1].foot) * t;
    }
  }
  return path.back().foot;
}

double Actor::width() const {
  constexpr double kWidths[] = {0.44, 1.9, 1};  // in the order of Shape
  return kWidths[static_cast<int>(shape)] * height;
}

void draw(const Actor& actor, double frame, Point2d shift, cv::Mat* image, cv::Mat* coverage) {
  const Point2d foot = actor.foot(frame) + shift;
  const double step = actor.shape == Shape::kWalker ? phase(actor, frame) : 0;
  const double half = actor.width() / 2;
  const cv::Rect box = clipped(foot.x - half, foot.y - actor.height, foot.x + half, foot.y, *image);
  for (int y = box.y; y < box.br().y; ++y) {
    for (int x = box.x; x < box.br().x; ++x) {
      const Point2d p((x - foot.x) / actor.height, (y - foot.y) / actor.height + 1);
      const double alpha = std::clamp(0.5 - to_outline(actor.shape, p, step) * actor.height, 0.0, 1.0);
      if (alpha > 0) {
        const auto weight = static_cast<float>(alpha);
        auto& pixel = image->at<cv::Vec3f>(y, x);
        pixel = pixel * (1 - weight) + color(actor, p) * weight;
        coverage->at<float>(y, x) = std::max(coverage->at<float>(y, x), weight);
      }
    }
  }
}

void draw_shadow(const Actor& actor, double frame, Point2d shift, cv::Mat* image) {
  const Point2d foot = actor.foot(frame) + shift;
  const double step = actor.shape == Shape::kWalker ? phase(actor, frame) : 0;
  const double half = actor.width() / 2;
  const cv::Rect box = clipped(foot.x - half, foot.y - 1, foot.x + half + kShadowX * actor.height,
                               foot.y + kShadowY * actor.height, *image);
  for (int y = box.y; y < box.br().y; ++y) {
    for (int x = box.x; x < box.br().x; ++x) {
      const double height = (y - foot.y) / kShadowY;
      const Point2d p((x - foot.x - kShadowX * height) / actor.height, 1 - height / actor.height);
      const double outside = to_outline(actor.shape, p, step) * actor.height / kShadowSoftness;
      const auto shade = static_cast<float>(std::clamp(0.5 - outside, 0.0, 1.0));
      auto& pixel = image->at<cv::Vec3f>(y, x);
      for (int c = 0; c < 3; ++c) {
        pixel[c] *= 1 - shade * (1 - kShadowLight[c]);
      }
    }
  }
}

}  // namespace ccl::bench
