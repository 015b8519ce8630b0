// SPDX-License-Identifier: LGPL-2.1-or-later
/// A planted sequence: actors, what hides them, and what disturbs the picture. All of it is known exactly.
///
/// Places and sizes are in pixels, times in seconds, so that one scene can be filmed at several frame rates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ccl::bench {

inline constexpr int kFrames = 1000;  ///< of each sequence

enum class Shape {
  kWalker,  ///< head, body, and legs that swing
  kCar,     ///< wider than high
  kDisc,
};

struct Waypoint {
  double time;
  double x, y;  ///< the middle of the actor's box
};

/// An object that moves evenly from one waypoint to the next, and is there from the first to the last.
struct Actor {
  Shape shape = Shape::kDisc;
  double width = 0;
  double height = 0;
  double phase = 0;  ///< of a walker's legs, in steps
  std::vector<Waypoint> path;

  bool is_present(double time) const { return time >= path.front().time && time < path.back().time; }
  Waypoint at(double time) const;
  /// Whether the actor covers the point, given relative to the middle of its box.
  bool covers(double dx, double dy, double time) const;
};

/// Pixels from (left, top) to before (right, bottom).
struct Rectangle {
  int left, top, right, bottom;

  bool contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
};

struct Scene {
  std::string name;
  bool has_merges = false;  ///< actors touch one another
  int width = 640;
  int height = 360;
  int frames_per_second = 30;
  uint32_t seed = 0;  ///< of the disturbances
  uint32_t min_area = 1;
  std::vector<Actor> actors = {};
  std::vector<Rectangle> bars =
      {};  ///< wide things in front of the actors: what they hide is not in the truth
  std::vector<Rectangle> posts =
      {};              ///< thin ones, which cut actors in pieces: the truth has the whole actor
  double flicker = 0;  ///< chance that a frame cuts an actor in pieces
  double dropout = 0;  ///< chance that a pixel of an actor is not found
  int speckles = 0;    ///< false spots a frame, up to 5 pixels wide
  double flashes = 0;  ///< chance of a false object a frame; it lasts one or two frames

  double duration() const { return static_cast<double>(kFrames) / frames_per_second; }
  double time(int frame) const { return static_cast<double>(frame) / frames_per_second; }
};

/// All sequences. The same seed gives the same ones on every machine.
std::vector<Scene> make_scenes(uint32_t seed);

}  // namespace ccl::bench
