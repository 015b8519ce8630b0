// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames with planes of 32-bit values in memory of the caller, and checks that nothing is written beside
/// them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

/// Rows of values, with padding between them.
template <typename T>
class PaddedRows {
 public:
  static constexpr size_t kPadding = 3;
  static constexpr T kUntouched = static_cast<T>(0xdeadbeef);

  PaddedRows(size_t row, size_t n_rows) : row_(row), values_((row + kPadding) * n_rows, T{kUntouched}) {}

  T* data() { return values_.data(); }
  size_t stride() const { return (row_ + kPadding) * sizeof(T); }

  /// The values without the padding, which must be untouched.
  std::vector<T> dense() const {
    std::vector<T> dense;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (i % (row_ + kPadding) < row_) {
        dense.push_back(values_[i]);
      } else if (values_[i] != kUntouched) {
        ADD_FAILURE() << "written beside row " << i / (row_ + kPadding);
        break;
      }
    }
    return dense;
  }

 private:
  size_t row_;
  std::vector<T> values_;
};

/// Runs frames with the planes that `config` names.
class PlaneRunner {
 public:
  explicit PlaneRunner(uint32_t planes) {
    EXPECT_TRUE(make_engine(&engine_).ok());
    config.planes = planes;
  }

  Config config;      ///< of the next frame, except its size
  FrameJob job = {};  ///< likewise, except its images
  FrameResult result;
  // Of the last frame, dense; of planes that were not wanted the padding's value.
  std::vector<uint32_t> labels, ids, squares;
  std::vector<uint8_t> pixels;

  void run(const Image& image) {
    config.width = image.width;
    config.height = image.height;
    if (!(config == configured_)) {
      const Status configured = engine_->configure(config);
      ASSERT_TRUE(configured.ok()) << configured.message();
      configured_ = config;
    }
    PaddedRows<uint32_t> of_labels(image.width, image.height);
    PaddedRows<uint32_t> of_ids(image.width, image.height);
    PaddedRows<uint32_t> of_squares(image.width, image.height);
    PaddedRows<uint8_t> output(image.width * size_t{bytes_per_pixel(config.output)}, image.height);
    job.input = {image.pixels(), image.stride};
    job.output = {output.data(), output.stride()};
    job.label_plane = {of_labels.data(), of_labels.stride()};
    job.id_plane = {of_ids.data(), of_ids.stride()};
    job.distance_plane = {of_squares.data(), of_squares.stride()};
    const Status pushed = engine_->push(job);
    ASSERT_TRUE(pushed.ok()) << pushed.message();
    ASSERT_TRUE(engine_->pop(&result).ok());
    labels = of_labels.dense();
    ids = of_ids.dense();
    squares = of_squares.dense();
    pixels = output.dense();
  }

 private:
  std::unique_ptr<Engine> engine_;
  Config configured_;
};

/// An engine with this plane refuses frames that have no room for it.
inline void expect_room_is_needed(uint32_t plane, PlaneImage FrameJob::*member) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  ASSERT_TRUE(engine->configure({.width = 20, .height = 10, .layout = {}, .planes = plane}).ok());
  const Image image = noise(20, 10, 1, 50, 1);
  std::vector<uint32_t> values(20 * 10);
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument) << "no plane";
  for (const size_t stride : {76, 79, 82}) {
    job.*member = {values.data(), stride};
    EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument) << stride;
  }
  (job.*member).stride = 80;
  EXPECT_TRUE(engine->push(job).ok());
  engine->flush();
  if (engine->backend() == Backend::kCpu) {
    (job.*member).memory = Memory::kDevice;
    EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace ccl::test
