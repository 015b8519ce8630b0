// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencv_peer.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace ccl::bench {

namespace {

int algorithm_type(PeerAlgorithm algorithm) {
  switch (algorithm) {
    case PeerAlgorithm::kSauf:
      return cv::CCL_SAUF;
    case PeerAlgorithm::kBbdt:
      return cv::CCL_BBDT;
    case PeerAlgorithm::kSpaghetti:
      return cv::CCL_SPAGHETTI;
    case PeerAlgorithm::kDefault:
      break;
  }
  return cv::CCL_DEFAULT;
}

cv::Mat as_mat(const uint8_t* pixels, uint32_t width, uint32_t height, size_t stride) {
  return {static_cast<int>(height), static_cast<int>(width), CV_8UC1, const_cast<uint8_t*>(pixels), stride};
}

}  // namespace

struct OpenCvPeer::Private {
  cv::Mat labels, stats, centroids;
};

OpenCvPeer::OpenCvPeer() : priv_(std::make_unique<Private>()) {}
OpenCvPeer::~OpenCvPeer() = default;

bool OpenCvPeer::exists() {
  return true;
}

std::string OpenCvPeer::version() {
  return cv::getVersionString();
}

void OpenCvPeer::set_threads(uint32_t n_threads) {
  // The process has one such number, and setting it takes threads away from calls that are running.
  if (cv::getNumThreads() != static_cast<int>(n_threads)) {
    cv::setNumThreads(static_cast<int>(n_threads));
  }
}

uint32_t OpenCvPeer::label(const uint8_t* pixels, uint32_t width, uint32_t height, size_t stride,
                           PeerAlgorithm algorithm) {
  const cv::Mat image = as_mat(pixels, width, height, stride);
  const int n = cv::connectedComponents(image, priv_->labels, 8, CV_32S, algorithm_type(algorithm));
  return static_cast<uint32_t>(n) - 1;
}

uint32_t OpenCvPeer::label_with_stats(const uint8_t* pixels, uint32_t width, uint32_t height, size_t stride,
                                      PeerAlgorithm algorithm) {
  const cv::Mat image = as_mat(pixels, width, height, stride);
  const int n = cv::connectedComponentsWithStats(image, priv_->labels, priv_->stats, priv_->centroids, 8,
                                                 CV_32S, algorithm_type(algorithm));
  return static_cast<uint32_t>(n) - 1;
}

void OpenCvPeer::colorize(const Palette& palette, uint8_t* out, size_t stride) const {
  const auto rows = cv::Range(0, priv_->labels.rows);
  cv::parallel_for_(rows, [&](const cv::Range& range) {
    for (int y = range.start; y < range.end; ++y) {
      const int* labels = priv_->labels.ptr<int>(y);
      auto* pixels = reinterpret_cast<uint32_t*>(out + static_cast<size_t>(y) * stride);
      for (int x = 0; x < priv_->labels.cols; ++x) {
        pixels[x] = palette[static_cast<uint8_t>(labels[x])];
      }
    }
  });
}

}  // namespace ccl::bench
