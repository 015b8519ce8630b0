// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>

#include <opencv2/imgproc.hpp>
#include <opencv2/video/background_segm.hpp>

#ifdef HAVE_OPENCV_BGSEGM
#include <opencv2/bgsegm.hpp>
#endif

#include "method.h"

namespace ccl::bench {

namespace {

constexpr double kRateFromHistory = -1;

cv::Mat square(int radius) {
  return cv::getStructuringElement(cv::MORPH_RECT, {2 * radius + 1, 2 * radius + 1});
}

class OpenCvMethod final : public Method {
 public:
  using Make = cv::Ptr<cv::BackgroundSubtractor> (*)(const std::string& parameter);

  OpenCvMethod(Make make, const std::string& argument, double rate)
      : make_(make), argument_(argument), rate_(rate) {}

  void begin(cv::Size) override { subtractor_ = make_(argument_); }

  void apply(const Frame& frame, cv::Mat* mask) override {
    subtractor_->apply(frame.bgr, *mask, rate_);
    // Shadows are less than 255.
    cv::threshold(*mask, *mask, 254, 255, cv::THRESH_BINARY);
    cv::morphologyEx(*mask, *mask, cv::MORPH_OPEN, open_);
    cv::morphologyEx(*mask, *mask, cv::MORPH_CLOSE, close_);
  }

 private:
  Make make_;
  std::string argument_;
  double rate_;
  cv::Mat open_ = square(kOpenRadius);
  cv::Mat close_ = square(kCloseRadius);
  cv::Ptr<cv::BackgroundSubtractor> subtractor_;
};

cv::Ptr<cv::BackgroundSubtractor> make_mog2(const std::string&) {
  return cv::createBackgroundSubtractorMOG2();
}

cv::Ptr<cv::BackgroundSubtractor> make_knn(const std::string&) {
  return cv::createBackgroundSubtractorKNN();
}

#ifdef HAVE_OPENCV_BGSEGM
cv::Ptr<cv::BackgroundSubtractor> make_cnt(const std::string& stable_after) {
  if (stable_after.empty()) {
    return cv::bgsegm::createBackgroundSubtractorCNT();
  }
  // OpenCV's documentation advises the frames of a second, and of a minute.
  const int frames = std::atoi(stable_after.c_str());
  return cv::bgsegm::createBackgroundSubtractorCNT(frames, true, frames * 60);
}
#endif

}  // namespace

std::unique_ptr<Method> make_opencv_method(const std::string& name, const std::string& parameter) {
  const double rate = parameter.empty() ? kRateFromHistory : std::atof(parameter.c_str());
  if (name == "mog2") {
    return std::make_unique<OpenCvMethod>(make_mog2, "", rate);
  }
  if (name == "knn") {
    return std::make_unique<OpenCvMethod>(make_knn, "", rate);
  }
#ifdef HAVE_OPENCV_BGSEGM
  if (name == "cnt") {
    return std::make_unique<OpenCvMethod>(make_cnt, parameter, kRateFromHistory);
  }
#endif
  return nullptr;
}

}  // namespace ccl::bench
