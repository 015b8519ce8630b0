// SPDX-License-Identifier: LGPL-2.1-or-later
#include "track_scene.h"

namespace ccl::bench {

namespace {

// Each object stays in a cell of its own.
constexpr uint32_t kColumns = 40;
constexpr uint32_t kRows = 25;

}  // namespace

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

}  // namespace ccl::bench
