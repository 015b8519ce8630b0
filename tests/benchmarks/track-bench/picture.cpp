// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture.h"

#include <algorithm>
#include <cmath>

namespace ccl::bench {

namespace {

constexpr int kCutRows = 3;  // rows that a flicker takes away
constexpr int kNoCut = -1000;

bool is_hidden(const std::vector<Rectangle>& screens, int x, int y) {
  return std::any_of(screens.begin(), screens.end(),
                     [&](const Rectangle& screen) { return screen.contains(x, y); });
}

}  // namespace

Painter::Painter(const Scene& scene) : scene_(scene), random_(scene.seed ^ 0x5eed) {
  picture_.frame = -1;
  picture_.image =
      test::plain("scene", static_cast<uint32_t>(scene.width), static_cast<uint32_t>(scene.height));
}

const Picture& Painter::next() {
  ++picture_.frame;
  std::fill(picture_.image.memory.begin(), picture_.image.memory.end(), uint8_t{0});
  picture_.truth.clear();
  const double time = scene_.time(picture_.frame);
  for (size_t i = 0; i < scene_.actors.size(); ++i) {
    if (scene_.actors[i].is_present(time)) {
      draw(scene_.actors[i], static_cast<uint32_t>(i + 1), time);
    }
  }
  add_speckles();
  add_flashes();
  return picture_;
}

void Painter::draw(const Actor& actor, uint32_t id, double time) {
  const Waypoint middle = actor.at(time);
  const auto left = static_cast<int>(std::floor(middle.x - actor.width / 2));
  const auto top = static_cast<int>(std::floor(middle.y - actor.height / 2));
  const auto right = static_cast<int>(std::ceil(middle.x + actor.width / 2)) + 1;
  const auto bottom = static_cast<int>(std::ceil(middle.y + actor.height / 2)) + 1;
  const bool flickers = scene_.flicker > 0 && random_.between(0, 1) < scene_.flicker;
  const int cut_row = flickers ? static_cast<int>(random_.between(top + 4, bottom - 4)) : kNoCut;
  TruthBox truth{.id = id, .box = {scene_.width, scene_.height, 0, 0}, .visible = 0, .pixels = {}};
  int all = 0;
  int seen = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      if (!actor.covers(x - middle.x, y - middle.y, time)) {
        continue;
      }
      ++all;
      if (x < 0 || y < 0 || x >= scene_.width || y >= scene_.height || is_hidden(scene_.bars, x, y)) {
        continue;
      }
      ++seen;
      truth.box = {std::min(truth.box.left, x), std::min(truth.box.top, y), std::max(truth.box.right, x + 1),
                   std::max(truth.box.bottom, y + 1)};
      if (!is_cut(x, y, cut_row) && !(scene_.dropout > 0 && random_.between(0, 1) < scene_.dropout)) {
        picture_.image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = test::kForeground;
        truth.pixels.push_back(static_cast<uint32_t>(y * scene_.width + x));
      }
    }
  }
  if (seen > 0) {
    truth.visible = static_cast<double>(seen) / all;
    picture_.truth.push_back(std::move(truth));
  }
}

bool Painter::is_cut(int x, int y, int cut_row) const {
  return (y >= cut_row && y < cut_row + kCutRows) || is_hidden(scene_.posts, x, y);
}

void Painter::add_speckles() {
  for (int i = 0; i < scene_.speckles; ++i) {
    const int x = static_cast<int>(random_.between(0, scene_.width));
    const int y = static_cast<int>(random_.between(0, scene_.height));
    const int width = 1 + static_cast<int>(random_.below(5));
    const int height = 1 + static_cast<int>(random_.below(5));
    fill({x, y, x + width, y + height});
  }
}

void Painter::add_flashes() {
  if (flash_frames_ == 0 && scene_.flashes > 0 && random_.between(0, 1) < scene_.flashes) {
    const int x = static_cast<int>(random_.between(0, scene_.width));
    const int y = static_cast<int>(random_.between(0, scene_.height));
    const int width = static_cast<int>(random_.between(10, 40));
    const int height = static_cast<int>(random_.between(10, 40));
    flash_ = {x, y, x + width, y + height};
    flash_frames_ = 1 + static_cast<int>(random_.below(2));
  }
  if (flash_frames_ > 0) {
    fill(flash_);
    --flash_frames_;
  }
}

void Painter::fill(const Rectangle& rectangle) {
  for (int y = rectangle.top; y < std::min(rectangle.bottom, scene_.height); ++y) {
    for (int x = rectangle.left; x < std::min(rectangle.right, scene_.width); ++x) {
      picture_.image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = test::kForeground;
    }
  }
}

}  // namespace ccl::bench
