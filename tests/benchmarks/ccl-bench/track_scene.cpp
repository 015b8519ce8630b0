// SPDX-License-Identifier: LGPL-2.1-or-later
#include "track_scene.h"

#include <algorithm>

namespace ccl::bench {

namespace {

// Each object stays in a cell of its own.
constexpr uint32_t kColumns = 40;
constexpr uint32_t kRows = 25;

// So does each pair, which meets after so many frames: until then all are seen alone for long enough to
// guide.
constexpr uint32_t kPairColumns = 10;
constexpr uint32_t kMeeting = 8;

test::Image objects(const Size& size, uint32_t frame, bool has_noise) {
  const uint32_t cell_width = size.width / kColumns;
  const uint32_t cell_height = size.height / kRows;
  const auto radius = static_cast<int32_t>(cell_height * 3 / 10);
  const auto way = static_cast<int32_t>(frame * cell_height / 48);
  return test::drawn(
      has_noise ? "discs-noise" : "discs", size.width, size.height, [&](uint32_t x, uint32_t y) {
        const uint32_t column = x / cell_width;
        const uint32_t row = y / cell_height;
        const uint32_t direction = (column * 7 + row * 13) % 9;
        const int32_t dx = static_cast<int32_t>(direction % 3) - 1;
        const int32_t dy = static_cast<int32_t>(direction / 3) - 1;
        const auto from_centre = [&](uint32_t place, uint32_t cell, int32_t d) {
          return static_cast<int32_t>(place % cell) - static_cast<int32_t>(cell / 2) - d * (way - radius / 4);
        };
        const int32_t from_x = from_centre(x, cell_width, dx);
        const int32_t from_y = from_centre(y, cell_height, dy);
        const bool is_object =
            column < kColumns && row < kRows && from_x * from_x + from_y * from_y <= radius * radius;
        const uint32_t hash = (x * 0x9e3779b1u ^ y * 0x85ebca6bu ^ frame * 0xc2b2ae35u) * 0x27d4eb2fu;
        return is_object || (has_noise && hash >> 22 == 0);
      });
}

/// Ellipses, four times as high as wide.
test::Image pairs(const Size& size, uint32_t frame) {
  const uint32_t cell_width = size.width / kPairColumns;
  const uint32_t cell_height = size.height / (kPairs / kPairColumns);
  const auto half_height = static_cast<int32_t>(cell_height / 5);
  const int32_t half_width = half_height / 4;
  const auto before = static_cast<int32_t>(kMeeting - std::min(frame, kMeeting));
  const int32_t apart = half_width * (9 + 3 * before) / 16;  // each from the middle between both
  const int32_t way = (static_cast<int32_t>(frame) - 4) * half_width / 8;
  return test::drawn("pairs", size.width, size.height, [&](uint32_t x, uint32_t y) {
    const int32_t from_x = static_cast<int32_t>(x % cell_width) - static_cast<int32_t>(cell_width / 2) - way;
    const int32_t from_y = static_cast<int32_t>(y % cell_height) - static_cast<int32_t>(cell_height / 2);
    const auto shows = [&](int32_t side) {
      const int32_t dx = 4 * (from_x - side * apart);
      const int32_t dy = from_y - side * half_height / 12;
      return dx * dx + dy * dy <= half_height * half_height;
    };
    return x / cell_width < kPairColumns && y / cell_height < kPairs / kPairColumns &&
           (shows(-1) || shows(1));
  });
}

}  // namespace

const char* scene_name(Scene scene) {
  return scene == Scene::kPairs ? "pairs" : scene == Scene::kDiscNoise ? "discs-noise" : "discs";
}

const char* following_name(Following following) {
  return following == Following::kTracked    ? "tracked"
         : following == Following::kUnguided ? "unguided"
                                             : "untracked";
}

std::vector<Following> followings(Scene scene) {
  return scene == Scene::kPairs
             ? std::vector{Following::kUntracked, Following::kUnguided, Following::kTracked}
             : std::vector{Following::kUntracked, Following::kTracked};
}

std::vector<test::Image> track_images(const Size& size, Scene scene) {
  std::vector<test::Image> images;
  for (uint32_t i = 0; i < kFrames + (scene == Scene::kPairs ? kMeeting : 0); ++i) {
    images.push_back(scene == Scene::kPairs ? pairs(size, i) : objects(size, i, scene == Scene::kDiscNoise));
  }
  return images;
}

Settings track_settings(Scene scene) {
  Settings settings;
  settings.filter.min_area = scene == Scene::kDiscNoise ? 20 : 1;
  if (scene == Scene::kPairs) {
    settings.separation = {.neck = fixed_point(0.8, 1024), .aspect = 4};
  }
  return settings;
}

std::vector<test::Image> noise_images(const Size& size, uint32_t density) {
  std::vector<test::Image> images;
  for (uint32_t i = 0; i < kFrames; ++i) {
    images.push_back(test::noise(size.width, size.height, 1, density, i));
  }
  return images;
}

std::string noise_table_name(uint32_t max_tracks) {
  return max_tracks > 0 ? "tracked-" + std::to_string(max_tracks) : "untracked";
}

}  // namespace ccl::bench
