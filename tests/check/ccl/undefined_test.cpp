// SPDX-License-Identifier: LGPL-2.1-or-later
/// Code that reads beside pixels and behind rows, compiled with -fsanitize=undefined, which ends the program
/// where C++ does not define what happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ccl/config.h"
#include "ccl/segment/local.h"
#include "host/stages/measure.h"
#include "host/stages/segment/simd/kernels.h"
#include "track/candidates.h"

namespace ccl::host {

namespace {

/// A component that fills the frame: its pixels of the first column have a neighbour at column -1.
TEST(Undefined, ShapesAtTheBorder) {
  constexpr uint32_t kWidth = 5;
  constexpr uint32_t kHeight = 3;
  constexpr size_t kStride = kWidth + 2;
  std::array<uint8_t, kStride*(kHeight + 2)> memory{};
  uint8_t* pixels = memory.data() + kStride + 1;
  for (uint32_t y = 0; y < kHeight; ++y) {
    std::fill_n(pixels + y * kStride, kWidth, 255);
  }
  const SegmentSource segments{pixels, kStride, kWidth, kHeight};
  const std::vector<uint32_t> labels(kWidth * kHeight, 1);
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    const std::array<uint32_t, 2> index{kNoRecord, 0};
    Sums sums;
    uint8_t value = 0;
    measure_sums({segments, labels.data(), 1}, connectivity, kFeaturePerimeter | kFeatureEuler,
                 {index.data(), 1, &sums, &value});
    EXPECT_EQ(sums.perimeter, 2 * (kWidth + kHeight));
    EXPECT_EQ(value, 255);
  }
}

/// Windows of one pixel, in a row that does not end where its last word does.
TEST(Undefined, DeviationsBehindTheRow) {
  constexpr uint32_t kWidth = 70;
  constexpr uint32_t kWords = (kWidth + kBitsPerWord - 1) / kBitsPerWord;
  constexpr size_t kLength = size_t{kWords} * kBitsPerWord + 2 * kWindowPadding;
  const LocalThreshold local{.radius = 1, .offset = 3, .deviation = 300};
  std::vector<uint8_t> pixels(size_t{kWords} * kBitsPerWord, 200);
  std::vector<uint16_t> sums(kLength);
  std::vector<uint32_t> squares(kLength);
  std::vector<uint32_t> n(kLength);
  for (uint32_t x = 0; x < kWidth; ++x) {
    pixels[x] = static_cast<uint8_t>(x * 37);
    sums[kWindowPadding + x] = pixels[x];
    squares[kWindowPadding + x] = uint32_t{pixels[x]} * pixels[x];
    n[kWindowPadding + x] = window_span(x, local.radius, kWidth).size();
  }
  std::array<uint64_t, kWords> bits{};
  kPortableSegmentKernels.compare_with_windows({.pixels = pixels.data(),
                                                .width = kWidth,
                                                .local = local,
                                                .invert = false,
                                                .sums = sums.data() + kWindowPadding,
                                                .squares = squares.data() + kWindowPadding,
                                                .n = n.data() + kWindowPadding,
                                                .bits = bits.data()});
  for (uint32_t x = 0; x < kWidth; ++x) {
    uint32_t sum = 0;
    uint32_t sum_of_squares = 0;
    const WindowSpan window = window_span(x, local.radius, kWidth);
    for (uint32_t i = window.begin; i < window.end; ++i) {
      sum += sums[kWindowPadding + i];
      sum_of_squares += squares[kWindowPadding + i];
    }
    EXPECT_EQ((bits[x / kBitsPerWord] >> x % kBitsPerWord & 1) != 0,
              LocalRule(local, false).is_foreground(pixels[x], window.size(), sum, sum_of_squares))
        << x;
  }
}

/// Timestamps that are wrong make velocities that are wrong. The square of a distance stays a number.
TEST(Undefined, GateOfATrackFasterThanLight) {
  track::TrackState fast{};
  fast.velocity = {INT32_MAX, -INT32_MAX};
  fast.n_seen = track::kEstablishedFrames;
  fast.n_missed = 1;
  const track::TrackFrame frame{};
  const track::TrackTables tables{};
  const track::TrackStep step{.duration_us = 4 * track::kUsPerSecond};
  const track::Matching m{.step = step,
                          .frame = frame,
                          .tables = tables,
                          .tracks = &fast,
                          .n_tracks = 1,
                          .previous = {},
                          .n_previous = 0,
                          .n_parts = 0,
                          .now_us = 0,
                          .elapsed_ns = 10 * uint64_t{1'000'000'000}};
  const int64_t radius = track::gate_of(m, 0).radius(int64_t{kMaxDimension} * track::kUnit);
  EXPECT_LT(radius * radius, INT64_MAX / 64);
}

}  // namespace

}  // namespace ccl::host
