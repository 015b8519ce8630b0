// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage by teams of up to 32 threads, over scenes that also have resets, fragments,
/// and frames that are not matched: the same bits as by one thread, which is what the CPU runs. Built with
/// -fsanitize=thread, it finds steps whose threads race.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "thread_team.h"
#include "track/associate.h"

namespace ccl::test {

namespace {

using track::Overlap;
using track::TrackFrame;
using track::TrackSizes;
using track::TrackStep;
using track::TrackTables;

constexpr uint32_t kWidth = 640;
constexpr uint32_t kHeight = 360;

/// left ≤ x < right, top ≤ y < bottom, pixels.
struct Rectangle {
  int32_t left, top, right, bottom;

  bool is_empty() const { return left >= right || top >= bottom; }
  uint32_t area() const {
    return is_empty() ? 0 : static_cast<uint32_t>(right - left) * static_cast<uint32_t>(bottom - top);
  }
  bool operator<(const Rectangle& other) const {
    return std::tie(top, left, right, bottom) < std::tie(other.top, other.left, other.right, other.bottom);
  }
};

Rectangle common(const Rectangle& a, const Rectangle& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

/// A frame's components; each consists of rectangles, which count as if they did not overlap.
struct Scene {
  TrackStep step;
  bool is_matched;
  std::vector<std::vector<Rectangle>> components;
  std::vector<CclComponent> records;
  std::vector<Overlap> overlaps;  ///< with the scene before
};

CclComponent record_of(const std::vector<Rectangle>& parts) {
  CclComponent record{};
  Rectangle box = parts.front();
  double x = 0;
  double y = 0;
  for (const Rectangle& part : parts) {
    box = {std::min(box.left, part.left), std::min(box.top, part.top), std::max(box.right, part.right),
           std::max(box.bottom, part.bottom)};
    record.area += part.area();
    x += part.area() * 0.5 * (part.left + part.right - 1);
    y += part.area() * 0.5 * (part.top + part.bottom - 1);
  }
  record.x = static_cast<uint32_t>(box.left);
  record.y = static_cast<uint32_t>(box.top);
  record.width = static_cast<uint32_t>(box.right - box.left);
  record.height = static_cast<uint32_t>(box.bottom - box.top);
  record.cx = static_cast<float>(x / record.area);
  record.cy = static_cast<float>(y / record.area);
  return record;
}

std::vector<Overlap> overlaps_of(const Scene& before, const Scene& now) {
  std::vector<Overlap> overlaps;
  for (uint32_t p = 0; p < before.components.size(); ++p) {
    for (uint32_t c = 0; c < now.components.size(); ++c) {
      uint32_t pixels = 0;
      for (const Rectangle& a : before.components[p]) {
        for (const Rectangle& b : now.components[c]) {
          pixels += common(a, b).area();
        }
      }
      if (pixels > 0) {
        overlaps.push_back({p, c, pixels});
      }
    }
  }
  return overlaps;
}

/// Rectangles that move, change direction, meet, break in two, vanish and return.
class Crowd {
 public:
  Crowd(uint32_t seed, uint32_t n) : random_(seed) {
    for (uint32_t i = 0; i < n; ++i) {
      movers_.push_back(make_mover());
    }
  }

  Scene next(const Scene& before) {
    Scene scene{
        .step = step(), .is_matched = number(40) > 0, .components = {}, .records = {}, .overlaps = {}};
    std::vector<Rectangle> seen;
    for (Mover& mover : movers_) {
      move(&mover, &seen);
    }
    std::sort(seen.begin(), seen.end());
    unite(seen, &scene.components);
    for (const std::vector<Rectangle>& component : scene.components) {
      scene.records.push_back(record_of(component));
      scene.records.back().label = static_cast<uint32_t>(scene.records.size());
    }
    if (before.is_matched && scene.is_matched && scene.step.resets == 0) {
      scene.overlaps = overlaps_of(before, scene);
      std::shuffle(scene.overlaps.begin(), scene.overlaps.end(), random_);  // any order is right
    }
    return scene;
  }

 private:
  struct Mover {
    int32_t x, y, width, height, vx, vy, hidden;
  };

  int32_t number(int32_t end) { return std::uniform_int_distribution<int32_t>(0, end - 1)(random_); }

  Mover make_mover() {
    const int32_t size = 4 + number(24);
    return {number(kWidth), number(kHeight), size, size + number(12), number(25) - 12, number(25) - 12, 0};
  }

  TrackStep step() {
    constexpr uint32_t kDurations[] = {33'333, 33'333, 33'333, 100'000, 1'000'000};
    time_ns_ += 33'333'333;
    return {.time_ns = time_ns_,
            .duration_us = kDurations[number(5)],
            .confirm_frames = static_cast<uint32_t>(1 + number(4)),
            .lost_us = static_cast<uint32_t>(number(2'000'000)),
            .resets = number(100) == 0 ? 1u : 0u};
  }

  void move(Mover* mover, std::vector<Rectangle>* seen) {
    if (number(30) == 0) {
      mover->vx = number(25) - 12;
      mover->vy = number(25) - 12;
    }
    if (number(200) == 0) {
      *mover = make_mover();
    }
    if (number(40) == 0) {
      mover->hidden = number(10);
    }
    mover->x += mover->vx;
    mover->y += mover->vy;
    if (mover->hidden-- > 0) {
      return;
    }
    const Rectangle whole{mover->x, mover->y, mover->x + mover->width, mover->y + mover->height};
    Rectangle left = whole;
    Rectangle right = whole;
    if (number(8) == 0) {  // behind a post
      left.right = whole.left + mover->width / 2 - 1;
      right.left = left.right + 2;
    } else {
      right.left = right.right;
    }
    for (const Rectangle& part : {left, right}) {
      const Rectangle visible = common(part, {0, 0, kWidth, kHeight});
      if (!visible.is_empty()) {
        seen->push_back(visible);
      }
    }
  }

  /// Rectangles that overlap are one component. Its place is that of its first rectangle.
  static void unite(const std::vector<Rectangle>& seen, std::vector<std::vector<Rectangle>>* components) {
    std::vector<size_t> first(seen.size());
    for (size_t i = 0; i < seen.size(); ++i) {
      first[i] = i;
      for (size_t j = 0; j < i; ++j) {
        if (!common(seen[i], seen[j]).is_empty() && first[j] != first[i]) {
          const size_t low = std::min(first[i], first[j]);
          const size_t high = std::max(first[i], first[j]);
          std::replace(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(i) + 1, high, low);
        }
      }
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      if (first[i] == i) {
        components->emplace_back();
        for (size_t j = i; j < seen.size(); ++j) {
          if (first[j] == i) {
            components->back().push_back(seen[j]);
          }
        }
      }
    }
  }

  std::mt19937 random_;
  std::vector<Mover> movers_;
  int64_t time_ns_ = 0;
};

struct TrackedScene {
  std::vector<CclComponent> records;
  std::vector<CclTrack> tracks;
};

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Runs all scenes by a team of `n` threads. `most_pairs`: TrackTables.
template <typename Team>
std::vector<TrackedScene> track(const std::vector<Scene>& scenes, const TrackSizes& sizes, uint32_t n_threads,
                                uint64_t most_pairs) {
  const auto memory = std::make_unique<std::byte[]>(TrackTables::bytes(sizes));
  TrackTables tables(sizes, memory.get());
  tables.most_pairs = most_pairs;
  std::vector<TrackedScene> tracked;
  for (const Scene& scene : scenes) {
    tracked.push_back({scene.records, std::vector<CclTrack>(sizes.max_tracks)});
  }
  run_team<Team>(n_threads, [&](const Team& team) {
    for (size_t i = 0; i < scenes.size(); ++i) {
      const Scene& scene = scenes[i];
      const TrackFrame frame{.width = kWidth,
                             .height = kHeight,
                             .n_components = static_cast<uint32_t>(scene.records.size()),
                             .is_matched = scene.is_matched ? 1u : 0u,
                             .n_overlaps = static_cast<uint32_t>(scene.overlaps.size()),
                             .overlaps = scene.overlaps.data(),
                             .records = tracked[i].records.data(),
                             .tracks = tracked[i].tracks.data()};
      track::associate(team, scene.step, frame, tables);
      if (team.rank() == 0) {
        tracked[i].tracks.resize(tables.header->n_tracks);
      }
      team.sync();
    }
  });
  return tracked;
}

struct Case {
  uint32_t n_movers;
  uint32_t max_tracks;
  uint32_t n_scenes;
};

class TrackThreadsTest : public testing::TestWithParam<Case> {};

TEST_P(TrackThreadsTest, TeamsOfEverySizeAgree) {
  const Case& c = GetParam();
  const TrackSizes sizes{.max_tracks = c.max_tracks, .max_components = 4 * c.n_movers};
  size_t n_with_id = 0;
  for (uint32_t seed = 0; seed < 2; ++seed) {
    Crowd crowd(seed, c.n_movers);
    std::vector<Scene> scenes;
    for (uint32_t i = 0; i < c.n_scenes; ++i) {
      scenes.push_back(crowd.next(i > 0 ? scenes.back() : Scene{}));
    }
    const std::vector<TrackedScene> want = track<ThreadTeam>(scenes, sizes, 1, UINT64_MAX);
    const std::vector<TrackedScene> others[] = {
        track<ThreadTeam>(scenes, sizes, 2, UINT64_MAX), track<ThreadTeam>(scenes, sizes, 32, UINT64_MAX),
        track<LaneTeam>(scenes, sizes, 8, UINT64_MAX), track<LaneTeam>(scenes, sizes, 8, 0)};
    for (const std::vector<TrackedScene>& got : others) {
      for (size_t i = 0; i < scenes.size(); ++i) {
        ASSERT_TRUE(same(got[i].records, want[i].records) && same(got[i].tracks, want[i].tracks))
            << "seed " << seed << ", scene " << i << ", team " << &got - others;
      }
    }
    for (const TrackedScene& scene : want) {
      n_with_id += static_cast<size_t>(std::count_if(scene.records.begin(), scene.records.end(),
                                                     [](const CclComponent& r) { return r.id != 0; }));
    }
  }
  EXPECT_GT(n_with_id, size_t{c.n_scenes});
}

// Few and many; more than the exact assignment takes; and a table that is too short.
INSTANTIATE_TEST_SUITE_P(Crowds, TrackThreadsTest,
                         testing::Values(Case{3, 64, 60}, Case{40, 256, 30}, Case{150, 1024, 12},
                                         Case{40, 20, 30}, Case{5, 1, 30}));

}  // namespace

}  // namespace ccl::test
