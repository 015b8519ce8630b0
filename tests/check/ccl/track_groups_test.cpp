// SPDX-License-Identifier: LGPL-2.1-or-later
/// Groups that tracks cut (track/guide.h), against the truth: whose pixels are whose, who is cut and who is
/// not, and what happens to a group.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "walkers.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 320;
constexpr uint32_t kHeight = 200;

constexpr int32_t kFrames = 64;

Image draw(const std::vector<Walker>& walkers) {
  return draw(kWidth, kHeight, walkers);
}

/* Whose pixels are whose */

/// Of the pixels that a person shows: later ones of the list are in front.
struct Owned {
  uint32_t n_visible = 0;
  uint32_t n_own = 0;  ///< with the person's id
};

std::vector<Owned> owned_pixels(const std::vector<Walker>& people, const LabelledStream& stream,
                                const TrackedFrame& frame) {
  std::vector<Owned> owned(people.size());
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      for (size_t who = people.size(); who-- > 0;) {
        if (people[who].shows(x, y)) {
          ++owned[who].n_visible;
          owned[who].n_own += id_of_label(frame, stream.labels[size_t{y} * kWidth + x]) == who + 1 ? 1 : 0;
          break;
        }
      }
    }
  }
  return owned;
}

/// Two equal discs that come from opposite sides, cross the picture as one component, and part as they came.
struct DiscPair {
  static constexpr int32_t kRadius = 20;
  static constexpr int32_t kNearest = 25;  ///< between their centres: 1.25 radii, too near for a neck

  double angle;  ///< of the line between them

  std::vector<Walker> at(int32_t t) const {
    const int32_t way = 3 * std::max({kMeeting - t, t - kParting, 0});
    const double half = (kNearest + way) / 2.0;
    const auto rounded = [](double v) { return static_cast<int32_t>(std::lround(v)); };
    const int32_t x = 90 + 2 * t;
    const int32_t y = 100;
    const int32_t dx = rounded(std::cos(angle) * half);
    const int32_t dy = rounded(std::sin(angle) * half);
    return {{x - dx, y - dy, kRadius, 1}, {x + dx, y + dy, kRadius, 1}};
  }
};

/// Six directions, 30° apart.
std::vector<DiscPair> disc_pairs() {
  std::vector<DiscPair> pairs;
  for (int32_t i = 0; i < 6; ++i) {
    pairs.push_back({i * std::numbers::pi / 6});
  }
  return pairs;
}

/// Otherwise the tests below would show nothing.
TEST(TrackGroupsTest, ShapeAloneDoesNotCutDiscs) {
  for (const DiscPair& pair : disc_pairs()) {
    for (int32_t t = kMeeting; t <= kParting; ++t) {
      LabelledStream stream = separated(1);
      EXPECT_EQ(stream.push(draw(pair.at(t))).components.size(), 1u) << pair.angle << ", frame " << t;
    }
  }
}

/// A cut through the middle gives each 87 %: half of what both cover is of the one in front.
TEST(TrackGroupsTest, EachKeepsItsPixels) {
  for (const DiscPair& pair : disc_pairs()) {
    LabelledStream stream = separated(1);
    for (int32_t t = 0; t < kFrames; ++t) {
      const std::vector<Walker> people = pair.at(t);
      const TrackedFrame frame = stream.push(draw(people));
      for (const Owned& owned : owned_pixels(people, stream, frame)) {
        EXPECT_GE(owned.n_own * 100, owned.n_visible * 85) << pair.angle << ", frame " << t;
      }
    }
  }
}

/// On which side of the perpendicular between the true centres a pixel is, and how far from it: negative on
/// that of the first one.
double side_of(const std::vector<Walker>& people, double x, double y) {
  const double dx = people[1].x - people[0].x;
  const double dy = people[1].y - people[0].y;
  const double middle_x = (people[1].x + people[0].x) / 2.0;
  const double middle_y = (people[1].y + people[0].y) / 2.0;
  return ((x - middle_x) * dx + (y - middle_y) * dy) / std::hypot(dx, dy);
}

TEST(TrackGroupsTest, CutsAreBetweenTheCentres) {
  constexpr double kTolerance = 3;
  for (const DiscPair& pair : disc_pairs()) {
    LabelledStream stream = separated(1);
    for (int32_t t = 0; t < kFrames; ++t) {
      const std::vector<Walker> people = pair.at(t);
      const TrackedFrame frame = stream.push(draw(people));
      for (size_t i = 0; i < stream.labels.size(); ++i) {
        const double side = side_of(people, static_cast<double>(i % kWidth), static_cast<double>(i / kWidth));
        if (stream.labels[i] != 0 && std::abs(side) > kTolerance) {
          ASSERT_EQ(id_of_label(frame, stream.labels[i]), side < 0 ? 1u : 2u)
              << pair.angle << ", frame " << t << ", " << i % kWidth << ", " << i / kWidth;
        }
      }
    }
  }
}

/* Records, tracks and events */

/// Without a component that shares pixels with the other one.
void expect_two_of_everything(const TrackedFrame& frame, int32_t t) {
  ASSERT_EQ(frame.components.size(), 2u) << t;
  ASSERT_EQ(frame.tracks.size(), 2u) << t;
  for (const CclTrack& track : frame.tracks) {
    EXPECT_EQ(track.flags & (CCL_TRACK_MERGED | CCL_TRACK_FRAGMENTED | CCL_TRACK_PREDICTED), 0u) << t;
    EXPECT_EQ(frame.components[track.component].id, track.id) << t;
    EXPECT_EQ(frame.components[track.component].age, track.age) << t;
    const Walker truth = pair_at(t)[track.id - 1];
    EXPECT_NEAR(track.cx, truth.x, 4) << t;
    EXPECT_NEAR(track.cy, truth.y, 4) << t;
    EXPECT_NEAR(track.width, 17, 3) << t;
    EXPECT_NEAR(track.height, 49, 4) << t;
  }
  for (const CclComponent& component : frame.components) {
    EXPECT_EQ(component.flags & (CCL_COMPONENT_MERGED | CCL_COMPONENT_SPLIT), 0) << t;
  }
}

TEST(TrackGroupsTest, APairHasTwoOfEverything) {
  LabelledStream stream = separated();
  std::vector<TrackedFrame> frames;
  for (int32_t t = 0; t < kFrames; ++t) {
    const Image image = draw(pair_at(t));
    frames.push_back(stream.push(image));
    expect_whole(image, stream.labels, frames.back());
    ASSERT_NO_FATAL_FAILURE(expect_two_of_everything(frames.back(), t));
  }
  for (const CclEvent& event : events_of(kWidth, kHeight, frames)) {
    EXPECT_EQ(event.type, uint32_t{CCL_EVENT_BORN}) << event.id;
  }
}

/// Pixels of a member that hang on by a corner are then parts of their own, and fragments of it.
TEST(TrackGroupsTest, APairIsCutInEitherConnectivity) {
  LabelledStream stream = separated();
  stream.job.settings.connectivity = Connectivity::k4;
  for (int32_t t = 0; t < kFrames; ++t) {
    const Image image = draw(pair_at(t));
    const TrackedFrame frame = stream.push(image);
    expect_whole(image, stream.labels, frame, Connectivity::k4);
    EXPECT_EQ(frame.tracks.size(), 2u) << t;
    EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_MERGED) || frame.has_flags(2, CCL_TRACK_MERGED)) << t;
    uint32_t n_large = 0;
    for (const CclComponent& component : frame.components) {
      EXPECT_TRUE(component.id == 1 || component.id == 2) << t;
      n_large += component.area > 300 ? 1 : 0;
    }
    EXPECT_EQ(n_large, 2u) << t;
  }
}

/// Three abreast: the one in the middle has no side of the group's box.
TEST(TrackGroupsTest, ThreeAbreastAreThree) {
  LabelledStream stream = separated();
  for (int32_t t = 0; t < kFrames; ++t) {
    const int32_t apart = t < kMeeting ? kMeeting - t : std::max(t - kParting, 0);
    const int32_t x = 80 + 2 * t;
    const std::vector<Walker> people = {{x - 11 - apart, 96}, {x, 100}, {x + 11 + apart, 104}};
    const Image image = draw(people);
    const TrackedFrame frame = stream.push(image);
    expect_whole(image, stream.labels, frame);
    for (const Owned& owned : owned_pixels(people, stream, frame)) {
      EXPECT_GE(owned.n_own * 100, owned.n_visible * 80) << t;
    }
  }
}

/* Who is not cut */

/// Something joins a person, and both are one component that has no neck: nobody else is expected in it.
TEST(TrackGroupsTest, OneMemberTakesAll) {
  LabelledStream stream = separated();
  for (int32_t t = 0; t < 40; ++t) {
    std::vector<Walker> people = {{80 + 2 * t, 100}};
    if (t >= 20) {
      people.push_back({90 + 2 * t, 104});
    }
    const TrackedFrame frame = stream.push(draw(people));
    ASSERT_EQ(frame.components.size(), 1u) << t;
    EXPECT_EQ(frame.components[0].id, 1u) << t;
    EXPECT_EQ(frame.tracks.size(), 1u) << t;
  }
}

/// Two that were never seen apart for long enough.
TEST(TrackGroupsTest, TracksThatAreNotProvenDoNotCut) {
  LabelledStream stream = separated();
  TrackedFrame frame;
  for (int32_t t = kMeeting - 2; t < kParting; ++t) {
    frame = stream.push(draw(pair_at(t)));
  }
  EXPECT_EQ(frame.components.size(), 1u);
}

TEST(TrackGroupsTest, ValuesAreCutByShape) {
  LabelledStream stream = separated();
  stream.job.settings.rule.foreground = Foreground::kValues;
  for (int32_t t = 0; t < kFrames; ++t) {
    const TrackedFrame frame = stream.push(draw(pair_at(t)));
    if (t > kMeeting && t <= kParting) {
      ASSERT_EQ(frame.components.size(), 1u) << t;
      EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED)) << t;
      EXPECT_TRUE(frame.has_flags(2, CCL_TRACK_MERGED)) << t;
    }
  }
}

/// Without room in the table there is no track, so nobody is known to be there.
TEST(TrackGroupsTest, FullTablesDoNotCut) {
  LabelledStream stream = separated(3, {.max_tracks = 1});
  for (int32_t t = 0; t <= kParting; ++t) {
    const TrackedFrame frame = stream.push(draw(pair_at(t)));
    EXPECT_EQ(frame.tracks.size(), 1u) << t;
    EXPECT_EQ(frame.components.size(), t >= kMeeting - 1 ? 1u : 2u) << t;
  }
}

/// More parts than records: the frame has no ids, and the next one finds the tracks by their places.
TEST(TrackGroupsTest, PartsThatHaveNoRecord) {
  LabelledStream stream = separated(3, {.max_components = 2, .max_tracks = 64});
  TrackedFrame frame;
  for (int32_t t = 0; t < kFrames; ++t) {
    std::vector<Walker> people = pair_at(t);
    if (t == 25 || t == 26) {
      people.push_back({280, 160, 9, 1});
    }
    frame = stream.push(draw(people));
    expect_tracks(frame);
    ASSERT_EQ(frame.components.size(), 2u) << t;
    for (const CclComponent& component : frame.components) {
      EXPECT_EQ(component.id != 0, people.size() == 2) << t;
    }
  }
  EXPECT_EQ(frame.id_at(pair_at(kFrames - 1)[0].x, 50), 1u);
  EXPECT_EQ(frame.id_at(pair_at(kFrames - 1)[1].x, 54), 2u);
}

/// No direction is preferred: places of tracks are rounded, but nothing is decided in another way.
TEST(TrackGroupsTest, MirroredPairsAreCutAsInAMirror) {
  constexpr auto kRight = static_cast<int32_t>(kWidth) - 1;
  LabelledStream stream = separated();
  LabelledStream mirrored = separated();
  for (int32_t t = 0; t < kFrames; ++t) {
    std::vector<Walker> people = pair_at(t);
    const TrackedFrame frame = stream.push(draw(people));
    for (Walker& one : people) {
      one.x = kRight - one.x;
    }
    const TrackedFrame other = mirrored.push(draw(people));
    ASSERT_EQ(frame.tracks.size(), other.tracks.size()) << t;
    for (size_t k = 0; k < frame.tracks.size(); ++k) {
      const CclTrack& a = frame.tracks[k];
      const CclTrack& b = other.tracks[k];
      EXPECT_EQ(a.id, b.id) << t;
      EXPECT_EQ(a.flags, b.flags) << t << ", id " << a.id;
      EXPECT_NEAR(kRight + 1 - a.x - a.width, b.x, 1) << t << ", id " << a.id;
      EXPECT_NEAR(a.y, b.y, 1) << t << ", id " << a.id;
      EXPECT_NEAR(a.width, b.width, 1) << t << ", id " << a.id;
    }
  }
}

/* What happens to a group */

/// Frame after frame of a story, in which both come apart, and are apart again at its end.
class Story {
 public:
  explicit Story(LabelledStream* stream) : stream_(stream) {}

  void show(const Image& image) {
    frame = stream_->push(image);
    expect_whole(image, stream_->labels, frame);
    expect_tracks(frame);
  }
  void show_pair(int32_t from, int32_t to) {
    for (int32_t t = from; t < to; ++t) {
      show(draw(pair_at(t)));
    }
  }
  /// Both ids, from the left to the right.
  std::vector<uint32_t> ids() const {
    return {frame.id_at(pair_at(kFrames - 1)[0].x, 50), frame.id_at(pair_at(kFrames - 1)[1].x, 54)};
  }

  TrackedFrame frame;

 private:
  LabelledStream* stream_;
};

const std::vector<uint32_t> kSameIds = {1, 2};

TEST(TrackGroupsTest, ALightComesOnForAFrame) {
  LabelledStream stream = separated();
  Story story(&stream);
  story.show_pair(0, 30);
  const Image light = drawn("light", kWidth, kHeight, [](uint32_t, uint32_t) { return true; });
  story.show(light);
  story.show_pair(31, kFrames);
  EXPECT_EQ(story.ids(), kSameIds);
  EXPECT_EQ(story.frame.tracks.size(), 2u);
}

TEST(TrackGroupsTest, TimesMayBeMissingOrGoBack) {
  for (const bool has_time : {false, true}) {
    LabelledStream stream = separated();
    Story story(&stream);
    story.show_pair(0, 30);
    stream.set_now(stream.now() - (has_time ? 5'000'000'000 : 0));
    stream.has_times = has_time;
    story.show_pair(30, 31);
    stream.has_times = true;
    story.show_pair(31, kFrames);
    EXPECT_EQ(story.ids(), kSameIds) << has_time;
  }
}

/// After 10 s, which count as one, both are expected where nobody is: who is who is not known then.
TEST(TrackGroupsTest, AJumpEndsNobody) {
  LabelledStream stream = separated();
  Story story(&stream);
  story.show_pair(0, 30);
  stream.set_now(stream.now() + 10'000'000'000);
  story.show_pair(30, kFrames);
  std::vector<uint32_t> ids = story.ids();
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, kSameIds);
}

TEST(TrackGroupsTest, EverySecondFrameIsEnough) {
  LabelledStream stream = separated();
  Story story(&stream);
  for (int32_t t = 1; t < kFrames; t += 2) {
    stream.drop();
    story.show_pair(t, t + 1);
  }
  EXPECT_EQ(story.ids(), kSameIds);
}

/// What is known ends with the tracks: the pair is one until it parts.
TEST(TrackGroupsTest, AResetForgetsTheMembers) {
  LabelledStream stream = separated();
  Story story(&stream);
  story.show_pair(0, 30);
  stream.job.resets_tracks = true;
  story.show_pair(30, 31);
  ASSERT_EQ(story.frame.components.size(), 1u);
  EXPECT_EQ(story.frame.components[0].id, 3u);
  story.show_pair(31, kFrames);
  EXPECT_EQ(story.ids().size(), 2u);
  EXPECT_NE(story.ids()[0], story.ids()[1]);
  EXPECT_GE(std::min(story.ids()[0], story.ids()[1]), 3u);
}

/// They walk out of the frame together, and the next pair is another one.
TEST(TrackGroupsTest, AGroupLeavesTheFrame) {
  for (const int32_t way : {-4, 4}) {
    LabelledStream stream = separated();
    Story story(&stream);
    story.show_pair(0, 30);
    for (int32_t t = 0; t < 90; ++t) {
      const std::vector<Walker> people = pair_at(30);
      story.show(draw({{people[0].x + way * t, people[0].y}, {people[1].x + way * t, people[1].y}}));
    }
    EXPECT_TRUE(story.frame.components.empty());
    EXPECT_TRUE(story.frame.tracks.empty());
    story.show_pair(0, kFrames);
    EXPECT_EQ(story.frame.components.size(), 2u);
    EXPECT_GT(std::min(story.ids()[0], story.ids()[1]), 2u) << way;
    EXPECT_NE(story.ids()[0], story.ids()[1]) << way;
  }
}

}  // namespace

}  // namespace ccl::test
