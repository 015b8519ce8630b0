// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the track stage is timed with: about 1,000 objects that move, none of which meets another one; and
/// pairs who walk together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "images.h"
#include "options.h"

namespace ccl::bench {

inline constexpr uint32_t kMaxTracks = 4096;
inline constexpr int64_t kFrameTime = 33'333'333;  ///< ns
inline constexpr uint32_t kFrames = 8;             ///< different ones that are repeated
inline constexpr uint32_t kPairs = 30;

enum class Scene {
  kDiscs,      ///< that fill a third of their cells, each with a direction of its own
  kDiscNoise,  ///< likewise, and single pixels that change from frame to frame
  kPairs,  ///< ellipses that come together, two by two, and then walk so near that shape does not cut them
};

inline constexpr Scene kScenes[] = {Scene::kDiscs, Scene::kDiscNoise, Scene::kPairs};

/// How a scene is followed.
enum class Following {
  kUntracked,
  kUnguided,  ///< tracks do not guide cuts
  kTracked,
};

const char* scene_name(Scene scene);
const char* following_name(Following following);

/// Each is compared with the first one. Only pairs are cut.
std::vector<Following> followings(Scene scene);

/// The frames before the last kFrames are shown once.
std::vector<test::Image> track_images(const Size& size, Scene scene);

/// The last kFrames images are repeated from their end to their start: 0, 1, … 7, 6, … 1, 0, …
constexpr uint32_t image_at(uint32_t i, size_t n_images) {
  const auto n_before = static_cast<uint32_t>(n_images) - kFrames;
  const uint32_t phase = i < n_before ? 0 : (i - n_before) % (2 * kFrames - 2);
  return i < n_before ? i : n_before + (phase < kFrames ? phase : 2 * kFrames - 2 - phase);
}

/// Lengths of tables for noise of single pixels. 0: without tracks, which the others are compared with.
inline constexpr uint32_t kNoiseTables[] = {0, 64, 1024, 4096, 8192, 16384};
/// Percent of the pixels that are foreground. With 1, 10 and 30 there are more components than can be
/// matched.
inline constexpr uint32_t kNoiseDensities[] = {1, 10, 30, 45, 50};
/// More than there are components of noise.
inline constexpr uint32_t kNoiseRecords = 1u << 18;

/// kFrames images of noise.
std::vector<test::Image> noise_images(const Size& size, uint32_t density);
std::string noise_table_name(uint32_t max_tracks);

/// With noise, a filter of the area keeps the objects. Pairs are cut as with the preset `people`.
Settings track_settings(Scene scene);

}  // namespace ccl::bench
