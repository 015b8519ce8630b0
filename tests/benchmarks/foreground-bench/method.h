// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is compared: anything that finds the foreground of a sequence's frames.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ccl/segment.h"
#include "sequence.h"

namespace ccl::bench {

/// The morphology after every method, with squares.
inline constexpr uint8_t kOpenRadius = 1;
inline constexpr uint8_t kCloseRadius = 2;

class Method {
 public:
  virtual ~Method() = default;

  /// Before the first frame of a sequence.
  virtual void begin(cv::Size size) = 0;
  /// Writes 255 where the frame is foreground, else 0, after morphology.
  virtual void apply(const Frame& frame, cv::Mat* mask) = 0;

  std::string name;
  std::string parameter;  ///< what differs from the method's defaults
};

struct MethodOptions {
  Motion motion;           ///< of this library's models
  bool has_chroma = true;  ///< this library's models read it
};

/// "mog2", "knn", "cnt" with OpenCV's default parameters; "mog2:0.002" and "knn:0.002" with another learning
/// rate, "cnt:25" with another number of frames after which a pixel is stable; "sigma-delta" and "mixture".
/// Null if the name is another one, or is not in this build.
std::unique_ptr<Method> make_method(const std::string& name, const MethodOptions& options);

std::unique_ptr<Method> make_engine_method(BackgroundModel model, const MethodOptions& options);

/// Null where OpenCV has no such method.
std::unique_ptr<Method> make_opencv_method(const std::string& name, const std::string& parameter);

/// Every method that the documentation shows.
std::vector<std::string> default_methods();

}  // namespace ccl::bench
