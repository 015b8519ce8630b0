// SPDX-License-Identifier: LGPL-2.1-or-later
/// The mixture in a frame in which the light changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "ccl/segment/mixture.h"
#include "motion_scene.h"

namespace ccl::test {

namespace {

using mixture::Color;
using mixture::Mode;
using mixture::Pixel;

class MixtureLight : public ChangingLight, public testing::Test {
 protected:
  MixtureLight() : ChangingLight(BackgroundModel::kMixture) {}

  /// The object stands for a while, so that a model that learns it has a ghost where it stood.
  void expect_no_ghost(double factor) {
    const Square stood = {30, 20, 12};
    for (int i = 0; i < 200; ++i) {
      const Square square = i < kSwitch ? stood : Square{std::min(30u + 4 * (i - kSwitch), 80u), 20, 12};
      show(i, square, factor);
      ASSERT_EQ(stream_.is_relearning(), i < 31 || (i >= kSwitch && i < kSwitch + 8)) << i;
      if (i >= kSettled) {
        ASSERT_EQ(stream_.count(stood), 0u) << i;
        ASSERT_EQ(stream_.count(), stream_.count(square)) << i;
      }
      if (i >= kSettled && i < kSettled + 10) {
        ASSERT_GE(stream_.count(square), 108u) << i;
      }
    }
  }
};

TEST_F(MixtureLight, AnObjectLeavesNoGhostInALighterFrame) {
  expect_no_ghost(1.6);
}

TEST_F(MixtureLight, AnObjectLeavesNoGhostInADarkerFrame) {
  expect_no_ghost(0.5);
}

/// From the definition, in floating point.
struct Expected {
  double y, u, v;

  double far_from(const Expected& other) const {
    const double dy = y - other.y, du = u - other.u, dv = v - other.v;
    return 256 * (dy * dy + 2 * du * du + 2 * dv * dv);
  }
};

Expected known_in(const light::Change& change, const Mode<WordLane>& mode) {
  const double y = mode.mean >> 8, gain = change.gain / 4096.0;
  if (y >= 230) {
    return {double(change.white.y), double(change.white.u), double(change.white.v)};
  }
  Expected known;
  known.y = y < 16 ? y : std::min(255.0, std::floor(16 + (y - 16) * gain + 0.5));
  const double above = std::max(0.0, known.y - 16);
  known.u =
      std::clamp(std::floor(128 + (mode.u() - 128.0) * gain + change.tint_u * above / 4096), 0.0, 255.0);
  known.v =
      std::clamp(std::floor(128 + (mode.v() - 128.0) * gain + change.tint_v * above / 4096), 0.0, 255.0);
  return known;
}

Expected mean_of(const Mode<WordLane>& mode) {
  return {mode.mean / 256.0, double(mode.u()), double(mode.v())};
}

TEST(MixtureRelearning, HasModesForTheFrameAndForWhatWasKnown) {
  std::mt19937 random(11);
  uint32_t n_of_modes[4] = {};
  uint32_t n_white = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto between = [&](int low, int high) {
      return static_cast<uint32_t>(low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1)));
    };
    const light::Change change = {.gain = between(1000, 16'000),
                                  .tint_u = static_cast<int32_t>(between(0, 1800)) - 900,
                                  .tint_v = static_cast<int32_t>(between(0, 1800)) - 900,
                                  .white = {between(100, 255), between(100, 150), between(100, 150)}};
    const auto mode = [&](uint32_t weight) {
      return Mode<WordLane>{weight, between(0, 255) << 8, between(4 << 8, 75 << 8),
                            between(90, 170) | between(90, 170) << 8};
    };
    const mixture::KnownModes old = {mode(60'000), mode(i % 3 * 20'000)};
    const Expected first = known_in(change, old.first);
    const Expected second = known_in(change, old.second);
    n_white += (old.first.mean >> 8) >= 230 ? 1 : 0;
    const Expected near = i % 5 == 0 ? second : first;
    const int off = static_cast<int>(between(0, 3) * between(0, 12)) - 18;
    const Color<WordLane> color = {static_cast<uint32_t>(std::clamp(near.y + off, 0.0, 255.0)),
                                   static_cast<uint32_t>(near.u),
                                   static_cast<uint32_t>(std::min(near.v + i % 3, 255.0))};
    const bool keeps_misfits = i % 2 == 0;
    const Pixel<WordLane> pixel = mixture::relearn(change, keeps_misfits, old, color);

    const Expected seen = {double(color.y), double(color.u), double(color.v)};
    const double growth = std::max(1.0, std::pow(change.gain / 4096.0, 2));
    const auto variance_of = [&](const Mode<WordLane>& of) {
      return std::min(75.0 * 256, std::floor(of.variance * growth));
    };
    const bool is_known = first.far_from(seen) <= 9 * (variance_of(old.first) - 6);
    const bool is_unknown = first.far_from(seen) > 9 * variance_of(old.first);
    const bool is_second = second.far_from(seen) <= 9 * variance_of(old.second);
    if (is_known == is_unknown) {
      continue;  // rounding decides
    }
    std::vector<Expected> want;
    if (is_known) {
      want = {seen};
    } else if (keeps_misfits) {
      want = {first, seen};
    } else {
      want = {seen, first};
    }
    if (old.second.weight >= 32'768 && !is_second && (is_known || keeps_misfits)) {
      want.insert(want.begin() + 1, second);
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k < mixture::kModes; ++k) {
      const Mode<WordLane>& got = pixel.modes[k];
      ASSERT_EQ(got.weight > 0, k < want.size()) << i << ": " << k;
      if (k < want.size()) {
        ASSERT_EQ(mean_of(got).far_from(want[k]), 0) << i << ": " << k;
        ASSERT_GE(got.weight, mixture::kBackgroundWeight);
        ASSERT_TRUE(k == 0 || got.weight <= pixel.modes[k - 1].weight) << i;
      }
      sum += got.weight;
    }
    ASSERT_EQ(sum, mixture::kFullWeight);
    ASSERT_NEAR(pixel.modes[0].variance, variance_of(old.first), 6) << i;
    n_of_modes[want.size()] += 1;
  }
  for (const uint32_t n : {1u, 2u, 3u}) {
    EXPECT_GE(n_of_modes[n], 200u) << n;
  }
  EXPECT_GE(n_white, 1000u);
}

/// A light that doubles the luma and adds 1/8 of it to U, and takes 1/16 of it from V.
TEST(MixtureRelearning, FindsTheGainAndTheColourOfTheLight) {
  light::ColorSums sums = {};
  for (const uint32_t y : {32u, 48u, 80u, 96u}) {
    for (const uint32_t u : {120u, 130u}) {
      const uint32_t now = 16 + 2 * (y - 16);
      const Mode<WordLane> first = {60'000, y << 8, 1024, u | 128u << 8};
      mixture::add(first, {now, 128 + 2 * u - 256 + (now - 16) / 8, 128 - (now - 16) / 16}, &sums);
    }
  }
  const light::ColorSums before = sums;
  mixture::add({60'000, 15u << 8, 1024, 0}, {200, 0, 0}, &sums);     // black
  mixture::add({60'000, 100u << 8, 1024, 0}, {230, 255, 0}, &sums);  // cut off
  EXPECT_EQ(sums.luma.now, before.luma.now);
  EXPECT_EQ(sums.u_now, before.u_now);
  EXPECT_EQ(light::change(sums),
            (light::Change{.gain = 2 * light::kUnchanged, .tint_u = 4096 / 8, .tint_v = -4096 / 16}));
  mixture::add({60'000, 230u << 8, 1024, 0}, {180, 120, 131}, &sums);
  mixture::add({60'000, 255u << 8, 1024, 0}, {191, 120, 130}, &sums);
  const light::Change change = light::change(sums);
  EXPECT_EQ(change.white, (light::Color{185, 120, 130})) << "rounded down";
  EXPECT_EQ(change.gain, 2 * light::kUnchanged);
  EXPECT_EQ(light::change({}), light::Change());
  EXPECT_EQ(light::tint(1'000'000, 0, 1, light::kUnchanged), light::kMaxTint);
  EXPECT_EQ(light::tint(-1'000'000, 0, 1, light::kUnchanged), -light::kMaxTint);
  EXPECT_EQ(light::tint(1, 0, 4096 * 2, light::kUnchanged), 0) << "towards zero";
  EXPECT_EQ(light::tint(-1, 0, 4096 * 2, light::kUnchanged), 0);
}

}  // namespace

}  // namespace ccl::test
