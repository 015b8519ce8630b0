// SPDX-License-Identifier: LGPL-2.1-or-later
/// What happens in each sequence.
#include <algorithm>
#include <cmath>
#include <functional>

#include "random.h"
#include "scene.h"

namespace ccl::bench {

namespace {

/// Pixels between actors that must not merge: components that are 8-connected touch at a distance of 1.
constexpr double kGap = 3;

bool are_apart(const Waypoint& a, const Actor& first, const Waypoint& b, const Actor& second, double gap) {
  return std::abs(a.x - b.x) >= (first.width + second.width) / 2 + gap ||
         std::abs(a.y - b.y) >= (first.height + second.height) / 2 + gap;
}

class Director {
 public:
  Director(uint32_t seed, Scene scene) : random_(seed), scene_(std::move(scene)) { scene_.seed = seed; }

  Scene finish() {
    std::stable_sort(scene_.actors.begin(), scene_.actors.end(), [](const Actor& a, const Actor& b) {
      return a.path.front().time < b.path.front().time;
    });
    return scene_;
  }

  Random& random() { return random_; }
  Scene& scene() { return scene_; }

  Actor make_actor(double low, double high) {
    constexpr Shape kShapes[] = {Shape::kWalker, Shape::kWalker, Shape::kCar, Shape::kDisc};
    return make_actor(kShapes[random_.below(4)], random_.between(low, high));
  }

  Actor make_actor(Shape shape, double size) {
    Actor actor{.shape = shape, .width = size, .height = size, .phase = random_.between(0, 1), .path = {}};
    if (shape == Shape::kWalker) {
      actor.width = 0.45 * size;
    } else if (shape == Shape::kCar) {
      actor.height = 0.5 * size;
    }
    return actor;
  }

  /// From one side of the frame to the other. `speed` in pixels a second.
  void send_across(Actor* actor, double start, double speed, double drift) {
    const double margin = actor->width / 2 + 1;
    const double y = row(*actor);
    const double from = -margin;
    const double to = scene_.width + margin;
    actor->path = {{start, from, y}, {start + (to - from) / speed, to, y + drift}};
    if (random_.coin()) {
      std::swap(actor->path[0].x, actor->path[1].x);
    }
  }

  double row(const Actor& actor) {
    return random_.between(actor.height / 2 + 2, scene_.height - actor.height / 2 - 2);
  }

  void add(const Actor& actor) { scene_.actors.push_back(actor); }

  /// Adds up to `count` actors that stay apart from all others, of many candidates.
  void add_apart(int count, double gap, const std::function<Actor()>& candidate) {
    const int tries = 40 * count;
    for (int i = 0; i < tries && count > 0; ++i) {
      const Actor actor = candidate();
      if (stays_apart(actor, gap)) {
        add(actor);
        --count;
      }
    }
  }

  bool stays_apart(const Actor& actor, double gap) const {
    for (const Actor& other : scene_.actors) {
      for (int frame = 0; frame < kFrames; ++frame) {
        const double time = scene_.time(frame);
        if (actor.is_present(time) && other.is_present(time) &&
            !are_apart(actor.at(time), actor, other.at(time), other, gap)) {
          return false;
        }
      }
    }
    return true;
  }

  /// A time at which something may begin, with a little before the first frame.
  double any_start() { return random_.between(-3, scene_.duration()); }

 private:
  Random random_;
  Scene scene_;
};

/// Actors that pass one another: they share a component for a moment.
Scene crossing(uint32_t seed, const std::string& name, int frames_per_second) {
  Director director(seed, {.name = name, .has_merges = true, .frames_per_second = frames_per_second});
  const int count = static_cast<int>(director.scene().duration() * 1.6);
  for (int i = 0; i < count; ++i) {
    Actor actor = director.make_actor(28, 64);
    const double drift = director.random().between(-80, 80);
    director.send_across(&actor, director.any_start(), director.random().between(45, 130), drift);
    director.add(actor);
  }
  return director.finish();
}

/// Pairs that meet, stand together, and part: one half pass on, the others return. Each row has its pairs
/// one after the other. Their sizes differ, or nobody could know them apart.
Scene meeting(uint32_t seed) {
  Director director(seed, {.name = "meeting and parting", .has_merges = true});
  Random& random = director.random();
  const Scene& scene = director.scene();
  constexpr int kRows = 4;
  for (int row = 0; row < kRows; ++row) {
    double start = random.between(-1, 1);
    while (start < scene.duration()) {
      const double speed = random.between(60, 110);
      Actor left = director.make_actor(random.coin() ? Shape::kWalker : Shape::kDisc, random.between(30, 42));
      Actor right = director.make_actor(left.shape, left.height * random.between(1.4, 2.0));
      const double y = (row + 0.5) * scene.height / kRows;
      const double meet = random.between(0.35, 0.65) * scene.width;
      const double touch = (left.width + right.width) / 2 * random.between(0.6, 0.95);
      const double stand = random.between(0.7, 2.5);
      const bool returns = random.coin();
      const double lead = left.width / 2 + 1;
      const double trail = scene.width + right.width / 2 + 1;
      const double xl = meet - touch / 2;
      const double xr = meet + touch / 2;
      const double arrival = start + std::max(xl + lead, trail - xr) / speed;
      const double departure = arrival + stand;
      const double end_left = returns ? -lead : trail;
      const double end_right = returns ? trail : -lead;
      left.path = {{arrival - (xl + lead) / speed, -lead, y},
                   {arrival, xl, y},
                   {departure, xl, y},
                   {departure + std::abs(end_left - xl) / speed, end_left, y}};
      right.path = {{arrival - (trail - xr) / speed, trail, y},
                    {arrival, xr, y},
                    {departure, xr, y},
                    {departure + std::abs(end_right - xr) / speed, end_right, y}};
      if (random.coin()) {  // the larger one comes from the left
        for (Waypoint& point : left.path) {
          point.x = scene.width - point.x;
        }
        for (Waypoint& point : right.path) {
          point.x = scene.width - point.x;
        }
      }
      director.add(left);
      director.add(right);
      start = std::max(left.path.back().time, right.path.back().time) + random.between(0.2, 1);
    }
  }
  return director.finish();
}

/// Two bars hide actors for up to 0.8 seconds.
Scene occlusion(uint32_t seed) {
  Director director(seed, {.name = "occlusion"});
  Scene& scene = director.scene();
  scene.bars = {{190, 0, 230, scene.height}, {400, 0, 470, scene.height}};
  director.add_apart(60, kGap, [&] {
    Actor actor = director.make_actor(26, 60);
    const double speed = director.random().between(100, 180);
    director.send_across(&actor, director.any_start(), speed, director.random().between(-40, 40));
    return actor;
  });
  return director.finish();
}

/// A walk with bends and, if wanted, stops.
Actor wander(Director* director, double low, double high, bool stops) {
  Random& random = director->random();
  const Scene& scene = director->scene();
  Actor actor = director->make_actor(26, 56);
  director->send_across(&actor, director->any_start(), 100, 0);
  const Waypoint from = actor.path.front();
  Waypoint to = actor.path.back();
  actor.path = {from};
  double time = from.time;
  Waypoint here = from;
  const auto go = [&](double x, double y) {
    time += std::max(0.1, std::hypot(x - here.x, y - here.y) / random.between(low, high));
    here = {time, x, y};
    actor.path.push_back(here);
  };
  const uint32_t bends = 1 + random.below(4);
  for (uint32_t i = 0; i < bends; ++i) {
    go(random.between(0.15, 0.85) * scene.width, director->row(actor));
    if (stops) {
      time += random.between(0.5, 3);
      here.time = time;
      actor.path.push_back(here);
    }
  }
  to.y = director->row(actor);
  go(to.x, to.y);
  return actor;
}

Scene stop_and_go(uint32_t seed) {
  Director director(seed, {.name = "stop and go"});
  director.add_apart(36, kGap, [&] { return wander(&director, 60, 160, true); });
  return director.finish();
}

/// Nothing merges, all change direction; at 7 frames a second some move by nearly a diameter each frame.
Scene turning(uint32_t seed, const std::string& name, int frames_per_second) {
  Director director(seed, {.name = name, .frames_per_second = frames_per_second});
  const int count = static_cast<int>(director.scene().duration() * 0.9);
  director.add_apart(count, kGap, [&] { return wander(&director, 40, 110, false); });
  return director.finish();
}

/// Actors look in, stay half in the frame, and leave. Soon after, others come at the same place.
Scene border(uint32_t seed) {
  Director director(seed, {.name = "border"});
  Random& random = director.random();
  const Scene& scene = director.scene();
  constexpr int kPlaces = 5;  // on each side, one below the other
  for (int place = 0; place < 2 * kPlaces; ++place) {
    const bool is_right = place >= kPlaces;
    double time = random.between(-2, 0);
    while (time < scene.duration()) {
      Actor actor = director.make_actor(30, 58);
      const double y = (place % kPlaces + 0.5) * scene.height / kPlaces;
      const double speed = random.between(50, 140);
      const double outside = -actor.width / 2 - 1;
      // A third of them stay half outside.
      const double depth = random.below(3) == 0 ? 0 : random.between(60, 260);
      const double arrival = time + (depth - outside) / speed;
      const double departure = arrival + random.between(0.1, 2);
      const double end = departure + (depth - outside) / speed;
      actor.path = {{time, outside, y}, {arrival, depth, y}, {departure, depth, y}, {end, outside, y}};
      if (is_right) {
        for (Waypoint& point : actor.path) {
          point.x = scene.width - point.x;
        }
      }
      director.add(actor);
      time = end + random.between(0.3, 1.2);
    }
  }
  return director.finish();
}

/// Twenty lanes with ten objects each, which leave on one side while others come on the other.
Scene two_hundred(uint32_t seed) {
  Director director(seed, {.name = "200 objects", .width = 1920, .height = 1080});
  Random& random = director.random();
  const Scene& scene = director.scene();
  constexpr int kLanes = 20;
  constexpr double kSpacing = 192;
  for (int lane = 0; lane < kLanes; ++lane) {
    const double speed = random.between(60, 420);
    const double y = (lane + 0.5) * scene.height / kLanes;
    const double way = scene.width + 100;
    const double first = -way / speed;
    const bool goes_left = random.coin();
    for (double start = first; start < scene.duration(); start += kSpacing / speed) {
      Actor actor = director.make_actor(24, 46);
      const double from = -actor.width / 2 - 1;
      const double to = scene.width - from;
      actor.path = {{start, goes_left ? to : from, y},
                    {start + (to - from) / speed, goes_left ? from : to, y + random.between(-2, 2)}};
      director.add(actor);
    }
  }
  return director.finish();
}

/// Many objects that cross in all directions.
Scene crowd(uint32_t seed) {
  Director director(seed, {.name = "crowd", .has_merges = true, .width = 1280, .height = 720});
  for (int i = 0; i < 110; ++i) {
    director.add(wander(&director, 50, 130, false));
  }
  return director.finish();
}

Scene noise(uint32_t seed) {
  Director director(seed,
                    {.name = "noise", .min_area = 12, .dropout = 0.12, .speckles = 40, .flashes = 0.15});
  director.add_apart(40, 8, [&] { return wander(&director, 50, 140, false); });
  return director.finish();
}

Scene fragments(uint32_t seed) {
  Director director(seed, {.name = "fragments", .flicker = 0.1});
  Scene& scene = director.scene();
  for (int x = 60; x < scene.width; x += 95) {
    scene.posts.push_back({x, 0, x + 4, scene.height});
  }
  director.add_apart(36, 10, [&] { return wander(&director, 50, 140, false); });
  return director.finish();
}

/// Up to one diameter a frame, at least a diameter apart from one another.
Scene fast(uint32_t seed) {
  constexpr double kLargest = 44;
  Director director(seed, {.name = "fast objects"});
  director.add_apart(220, kLargest, [&] {
    Random& random = director.random();
    const double size = random.between(24, kLargest);
    Actor actor = director.make_actor(random.coin() ? Shape::kDisc : Shape::kCar, size);
    const double speed = random.between(0.5, 1) * size * director.scene().frames_per_second;
    director.send_across(&actor, director.any_start(), speed, random.between(-90, 90));
    return actor;
  });
  return director.finish();
}

/// Objects one behind the other, all equal. They come slowly, so that their speed can be known before each
/// moves to where the one before it was.
Scene fast_rows(uint32_t seed) {
  Director director(seed, {.name = "fast rows"});
  Random& random = director.random();
  const Scene& scene = director.scene();
  constexpr int kLanes = 6;
  for (int lane = 0; lane < kLanes; ++lane) {
    const double size = random.between(24, 40);
    const double y = (lane + 0.5) * scene.height / kLanes;
    double start = random.between(0, 1);
    while (start < scene.duration()) {
      const double pitch = size * random.between(1.6, 2.2);
      const double slow = 0.4 * size * scene.frames_per_second;
      const double fast = 1.0 * size * scene.frames_per_second;
      const int count = 4;
      const double length = pitch * count;
      for (int i = 0; i < count; ++i) {
        Actor actor = director.make_actor(Shape::kDisc, size);
        const double x0 = -size / 2 - 1 - i * pitch;
        const double run_up = length + 40;
        const double end = scene.width + size / 2 + 1;
        const double ready = start + run_up / slow;
        const double x1 = x0 + run_up;
        // From slow to fast in steps of a sixth of a second.
        actor.path = {{start, x0, y}, {ready, x1, y}};
        double x = x1;
        double time = ready;
        for (int step = 1; x < end; ++step) {
          const double speed = std::min(fast, slow + (fast - slow) * step / 4);
          const double dt = std::min(1.0 / 6, (end - x) / speed);
          x += speed * dt;
          time += dt;
          actor.path.push_back({time, x, y});
        }
        director.add(actor);
      }
      start += (length + 40) / slow + 2.5;
    }
  }
  return director.finish();
}

}  // namespace

std::vector<Scene> make_scenes(uint32_t seed) {
  const uint32_t s = seed * 1000;
  return {turning(s + 1, "turning, 30 fps", 30),
          turning(s + 2, "turning, 15 fps", 15),
          turning(s + 3, "turning, 7 fps", 7),
          stop_and_go(s + 4),
          occlusion(s + 5),
          border(s + 6),
          two_hundred(s + 7),
          noise(s + 8),
          fragments(s + 9),
          fast(s + 10),
          fast_rows(s + 11),
          crossing(s + 12, "crossing, 30 fps", 30),
          crossing(s + 13, "crossing, 15 fps", 15),
          crossing(s + 14, "crossing, 7 fps", 7),
          meeting(s + 15),
          crowd(s + 16)};
}

}  // namespace ccl::bench
