// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sequence.h"

#include <algorithm>
#include <cmath>

#include <opencv2/imgproc.hpp>

namespace ccl::bench {

namespace {

constexpr int kMargin = 8;  ///< of plates, for jitter and sway
constexpr size_t kNoiseValues = 1 << 18;

cv::Size with_margins(cv::Size size) {
  return {size.width + 2 * kMargin, size.height + 2 * kMargin};
}

/// A clip runs forwards and backwards, so that nothing jumps.
size_t there_and_back(int frame, size_t n_frames) {
  if (n_frames == 1) {
    return 0;
  }
  const size_t i = static_cast<size_t>(frame) % (2 * n_frames - 2);
  return i < n_frames ? i : 2 * n_frames - 2 - i;
}

/// How much of the sway a pixel has: the upper left (trees) and the bottom (grass) of the frame move.
double swaying_share(double x, double y) {
  const double tree = std::clamp((0.38 - x) * 12, 0.0, 1.0);
  const double grass = std::clamp((y - 0.8) * 12, 0.0, 1.0);
  return std::max(tree, grass);
}

/// Waves of some periods that do not fit together; neighbours move alike.
cv::Point2f displacement(double x, double y, double seconds) {
  const double gust = 0.6 + 0.4 * std::sin(seconds * 0.9);
  return {static_cast<float>(gust * (0.7 * std::sin(7.1 * seconds + 0.11 * x + 0.05 * y) +
                                     0.3 * std::sin(11.3 * seconds + 0.23 * y))),
          static_cast<float>(gust * 0.5 * std::sin(5.7 * seconds + 0.09 * x + 0.17 * y))};
}

cv::Mat swayed(const cv::Mat& plate, int frame, double amplitude) {
  const double seconds = static_cast<double>(frame) / kFramesPerSecond;
  const double scale = 240.0 / plate.rows;
  cv::Mat map(plate.size(), CV_32FC2);
  for (int y = 0; y < map.rows; ++y) {
    for (int x = 0; x < map.cols; ++x) {
      const double share =
          amplitude * swaying_share(static_cast<double>(x) / map.cols, static_cast<double>(y) / map.rows);
      const cv::Point2f move = share > 0 ? displacement(x * scale, y * scale, seconds) : cv::Point2f();
      map.at<cv::Point2f>(y, x) =
          cv::Point2f(static_cast<float>(x), static_cast<float>(y)) + move * static_cast<float>(share);
    }
  }
  cv::Mat result;
  cv::remap(plate, result, map, {}, cv::INTER_LINEAR, cv::BORDER_REPLICATE);
  return result;
}

}  // namespace

Renderer::Renderer(const Sequence& sequence, Pictures* pictures, cv::Size size)
    : sequence_(sequence),
      size_(size),
      plates_(pictures->frames(sequence.plate, with_margins(size))),
      noise_(kNoiseValues),
      random_(sequence.seed) {
  frame_.number = -1;
  std::generate(noise_.begin(), noise_.end(),
                [&] { return static_cast<float>(random_.gaussian() * sequence.noise); });
}

const Frame& Renderer::next() {
  ++frame_.number;
  const cv::Point2d moved = shift();
  draw_background(moved);
  draw_actors(moved);
  if (sequence_.light) {
    const cv::Vec3f light = sequence_.light(frame_.number);
    cv::multiply(image_, cv::Scalar(light[0], light[1], light[2]), image_);
  }
  add_noise();
  cv::Mat bgr;
  image_.convertTo(bgr, CV_8U);
  cv::cvtColor(bgr, frame_.i420, cv::COLOR_BGR2YUV_I420);
  cv::cvtColor(frame_.i420, frame_.bgr, cv::COLOR_YUV2BGR_I420);
  return frame_;
}

cv::Point2d Renderer::shift() {
  if (sequence_.jitter > 0) {
    // Half of the last one: a pole swings back, it does not jump about.
    shift_ =
        0.5 * (shift_ + cv::Point2d(random_.between(-1, 1), random_.between(-1, 1)) * 2 * sequence_.jitter);
    shift_.x = std::clamp(shift_.x, -sequence_.jitter, sequence_.jitter);
    shift_.y = std::clamp(shift_.y, -sequence_.jitter, sequence_.jitter);
  }
  return shift_;
}

void Renderer::draw_background(cv::Point2d shift) {
  const cv::Mat& still = plates_[there_and_back(frame_.number, plates_.size())];
  plate_ = sequence_.sway > 0 ? swayed(still, frame_.number, sequence_.sway) : still;
  const cv::Matx23d to_plate(1, 0, kMargin - shift.x, 0, 1, kMargin - shift.y);
  cv::Mat cut;
  cv::warpAffine(plate_, cut, to_plate, size_, cv::INTER_LINEAR | cv::WARP_INVERSE_MAP, cv::BORDER_REPLICATE);
  cut.convertTo(image_, CV_32F);
}

void Renderer::draw_actors(cv::Point2d shift) {
  coverage_ = cv::Mat::zeros(size_, CV_32FC1);
  unknown_ = cv::Mat::zeros(size_, CV_32FC1);
  for (const Actor& actor : sequence_.actors) {
    if (actor.casts_shadow && actor.is_present(frame_.number)) {
      draw_shadow(actor, frame_.number, shift, &image_);
    }
  }
  for (const Actor& actor : sequence_.actors) {
    if (actor.is_present(frame_.number)) {
      draw(actor, frame_.number, shift, &image_,
           frame_.number < actor.unknown_until ? &unknown_ : &coverage_);
    }
  }
  frame_.truth = coverage_ >= 0.5;
  const cv::Mat square = cv::Mat::ones(3, 3, CV_8U);
  cv::Mat inner, outer, unknown;
  cv::erode(frame_.truth, inner, square);
  cv::dilate(frame_.truth, outer, square);
  cv::dilate(unknown_ > 0, unknown, square);
  frame_.counted = (inner == outer) & ~unknown;
}

void Renderer::add_noise() {
  const size_t row_values = static_cast<size_t>(size_.width) * 3;
  for (int y = 0; y < size_.height; ++y) {
    const float* noise = noise_.data() + random_.below(static_cast<uint32_t>(noise_.size() - row_values));
    auto* row = image_.ptr<float>(y);
    std::transform(row, row + row_values, noise, row, std::plus<>());
  }
}

}  // namespace ccl::bench
