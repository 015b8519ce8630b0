// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

namespace ccl::bench {

namespace {

struct PlateFile {
  Plate plate;
  const char* name;
  const char* file;
  int step;    ///< of a clip: every such frame is read; 0 for a photograph
  int frames;  ///< of a clip: as many are used
};

constexpr PlateFile kPlateFiles[] = {
    {Plate::kLawn, "lawn", "vtest.avi", 20, 39},    {Plate::kStreet, "street", "leuvenA.jpg", 0, 1},
    {Plate::kHotel, "hotel", "building.jpg", 0, 1}, {Plate::kDesk, "desk", "stuff.jpg", 0, 1},
    {Plate::kTree, "tree", "tree.avi", 1, 48},  // then a hand comes into view
};
constexpr const char* kTextureFiles[] = {"fruits.jpg", "messi5.jpg", "butterfly.jpg", "graf1.png",
                                         "baboon.jpg"};

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "foreground-bench: %s\n", message.c_str());
  std::exit(EXIT_FAILURE);
}

std::string require_file(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  if (!std::filesystem::exists(path)) {
    stop(path +
         " is missing. Install the package opencv-doc; where documentation is not installed, unpack it "
         "(apt-get download opencv-doc, dpkg-deb -x) and name the folder with --pictures");
  }
  return path;
}

cv::Mat read_photograph(const std::string& path) {
  cv::Mat image = cv::imread(path, cv::IMREAD_COLOR);
  if (image.empty()) {
    stop(path + " cannot be decoded");
  }
  return image;
}

std::vector<cv::Mat> read_clip(const std::string& path, int step, size_t n_frames) {
  cv::VideoCapture clip(path);
  std::vector<cv::Mat> frames;
  for (int i = 0; frames.size() < n_frames && clip.grab(); ++i) {
    if (i % step == 0) {
      clip.retrieve(frames.emplace_back());
      frames.back() = frames.back().clone();
    }
  }
  if (frames.size() < n_frames) {
    stop(path + " cannot be decoded, or is too short");
  }
  return frames;
}

/// The median of each value over the frames.
cv::Mat median(const std::vector<cv::Mat>& frames) {
  cv::Mat result(frames[0].size(), frames[0].type());
  std::vector<uint8_t> values(frames.size());
  const int row_bytes = result.cols * static_cast<int>(result.elemSize());
  for (int y = 0; y < result.rows; ++y) {
    for (int x = 0; x < row_bytes; ++x) {
      std::transform(frames.begin(), frames.end(), values.begin(),
                     [&](const cv::Mat& frame) { return frame.ptr(y)[x]; });
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      result.ptr(y)[x] = *middle;
    }
  }
  return result;
}

std::vector<cv::Mat> read_plate(const std::string& folder, Plate plate) {
  const PlateFile& file = *std::find_if(std::begin(kPlateFiles), std::end(kPlateFiles),
                                        [&](const PlateFile& candidate) { return candidate.plate == plate; });
  const std::string path = require_file(folder, file.file);
  if (file.step == 0) {
    return {read_photograph(path)};
  }
  std::vector<cv::Mat> frames = read_clip(path, file.step, static_cast<size_t>(file.frames));
  return plate == Plate::kLawn ? std::vector<cv::Mat>{median(frames)} : frames;
}

/// Fills `size`, and cuts off what is outside.
cv::Mat fill(const cv::Mat& image, cv::Size size) {
  const double scale = std::max(double{1} * size.width / image.cols, double{1} * size.height / image.rows);
  const cv::Size scaled(std::max(size.width, cvRound(image.cols * scale)),
                        std::max(size.height, cvRound(image.rows * scale)));
  cv::Mat result;
  cv::resize(image, result, scaled, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  return result(
             cv::Rect((scaled.width - size.width) / 2, scaled.height - size.height, size.width, size.height))
      .clone();
}

}  // namespace

const char* plate_name(Plate plate) {
  for (const PlateFile& file : kPlateFiles) {
    if (file.plate == plate) {
      return file.name;
    }
  }
  return "?";
}

Pictures::Pictures(const std::string& folder) : folder_(folder) {
  for (const PlateFile& file : kPlateFiles) {
    require_file(folder, file.file);
  }
  for (const char* file : kTextureFiles) {
    textures_.push_back(read_photograph(require_file(folder, file)));
  }
}

const std::vector<cv::Mat>& Pictures::frames(Plate plate, cv::Size size) {
  std::vector<cv::Mat>& original = originals_[plate];
  if (original.empty()) {
    original = read_plate(folder_, plate);
  }
  std::vector<cv::Mat>& frames = scaled_[{plate, size.width}];
  if (frames.empty() || frames[0].size() != size) {
    frames.clear();
    std::transform(original.begin(), original.end(), std::back_inserter(frames),
                   [&](const cv::Mat& image) { return fill(image, size); });
  }
  return frames;
}

}  // namespace ccl::bench
