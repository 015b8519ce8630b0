// SPDX-License-Identifier: LGPL-2.1-or-later
/// Draws a scene frame by frame, and writes down the truth.
#pragma once

#include <cstdint>
#include <vector>

#include "images.h"
#include "random.h"
#include "scene.h"

namespace ccl::bench {

/// An actor in a frame.
struct TruthBox {
  uint32_t id;  ///< 1 + index in Scene::actors
  /// Box of its pixels that are in the frame and that no bar hides. Other actors hide nothing: the video has
  /// one colour, so an actor is seen through another.
  Rectangle box;
  double visible;                ///< part of its pixels that are in the box
  std::vector<uint32_t> pixels;  ///< raster indices of those that are foreground in the picture
};

struct Picture {
  int frame = 0;
  test::Image image;  ///< 255 is foreground
  std::vector<TruthBox> truth;
};

class Painter {
 public:
  explicit Painter(const Scene& scene);

  /// The next frame; valid until the next call.
  const Picture& next();

 private:
  void draw(const Actor& actor, uint32_t id, double time);
  bool is_cut(int x, int y, int cut_row) const;
  void add_speckles();
  void add_flashes();
  void fill(const Rectangle& rectangle);

  const Scene& scene_;
  Random random_;
  Picture picture_;
  Rectangle flash_ = {};
  int flash_frames_ = 0;
};

}  // namespace ccl::bench
