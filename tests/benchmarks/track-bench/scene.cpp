// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scene.h"

#include <cmath>
#include <numbers>

namespace ccl::bench {

namespace {

constexpr double kStepsPerSecond = 1.0;

/// u and v run from −1 to 1 over the box.
bool walker_covers(double u, double v, double aspect, double swing) {
  constexpr double kHead = 0.18;  // of half the height
  const double head_u = u * aspect / kHead;
  const double head_v = (v + 1 - kHead) / kHead;
  if (head_u * head_u + head_v * head_v <= 1) {
    return true;
  }
  if (v >= -0.7 && v <= 0.15) {
    return std::abs(u) <= 0.7;
  }
  const double reach = 0.55 * swing * (v - 0.1);
  return v > 0.1 && v <= 1 && (std::abs(u - 0.2 - reach) <= 0.3 || std::abs(u + 0.2 + reach) <= 0.3);
}

}  // namespace

Waypoint Actor::at(double time) const {
  size_t next = 1;
  while (next + 1 < path.size() && path[next].time <= time) {
    ++next;
  }
  const Waypoint& a = path[next - 1];
  const Waypoint& b = path[next];
  const double share = (time - a.time) / (b.time - a.time);
  return {time, a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

bool Actor::covers(double dx, double dy, double time) const {
  const double u = dx / (width / 2);
  const double v = dy / (height / 2);
  if (std::abs(u) > 1 || std::abs(v) > 1) {
    return false;
  }
  switch (shape) {
    case Shape::kWalker:
      return walker_covers(u, v, width / height,
                           std::sin(2 * std::numbers::pi * (kStepsPerSecond * time + phase)));
    case Shape::kCar:
      return v >= -0.1 || std::abs(u) <= 0.6;
    case Shape::kDisc:
      return u * u + v * v <= 1;
  }
  return false;
}

}  // namespace ccl::bench
