// SPDX-License-Identifier: LGPL-2.1-or-later
/// Backgrounds and textures: photographs and clips of Debian's package opencv-doc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

namespace ccl::bench {

/// Where the package opencv-doc installs them.
inline constexpr char kPictureFolder[] = "/usr/share/doc/opencv-doc/examples/data";

/// What is behind the objects. All images are BGR.
enum class Plate {
  kLawn,    ///< vtest.avi: the median of its frames, without the people
  kStreet,  ///< leuvenA.jpg: houses and cobblestones
  kHotel,   ///< building.jpg: a facade behind trees and grass
  kDesk,    ///< stuff.jpg: things on a table
  kTree,    ///< tree.avi: 48 frames of a tree in the wind
};

const char* plate_name(Plate plate);

class Pictures {
 public:
  /// Ends the program with the name of the package if a file is missing.
  explicit Pictures(const std::string& folder);

  /// The plate's frames, scaled to fill `size` and cut at the borders: one, or many if it moves.
  const std::vector<cv::Mat>& frames(Plate plate, cv::Size size);

  /// Photographs to cut the surfaces of objects from.
  const std::vector<cv::Mat>& textures() const { return textures_; }

 private:
  std::string folder_;
  std::map<Plate, std::vector<cv::Mat>> originals_;
  std::map<std::pair<Plate, int>, std::vector<cv::Mat>> scaled_;
  std::vector<cv::Mat> textures_;
};

}  // namespace ccl::bench
