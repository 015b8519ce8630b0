// SPDX-License-Identifier: LGPL-2.1-or-later
/// People, drawn as ellipses, who meet, walk together and part, and what must be true of their parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "ccl/events.h"
#include "images.h"
#include "track_scene.h"

namespace ccl::test {

/// An ellipse, `aspect` times as high as wide.
struct Walker {
  int32_t x, y;
  int32_t half_height = 24;
  int32_t aspect = 3;

  bool shows(uint32_t at_x, uint32_t at_y) const {
    const int32_t dx = aspect * (static_cast<int32_t>(at_x) - x);
    const int32_t dy = static_cast<int32_t>(at_y) - y;
    return dx * dx + dy * dy <= half_height * half_height;
  }
};

inline Image draw(uint32_t width, uint32_t height, const std::vector<Walker>& walkers) {
  return drawn("walkers", width, height, [&](uint32_t x, uint32_t y) {
    return std::any_of(walkers.begin(), walkers.end(), [&](const Walker& one) { return one.shows(x, y); });
  });
}

/// Two who come apart, meet in frame 20, walk together until frame 40, so near that no neck is between them,
/// and part.
inline constexpr int32_t kMeeting = 20;
inline constexpr int32_t kParting = 40;

inline std::vector<Walker> pair_at(int32_t t) {
  const int32_t apart = t < kMeeting ? kMeeting - t : std::max(t - kParting, 0);
  return {{60 + 3 * t / 2 - apart, 50}, {69 + 3 * t / 2 + apart, 54}};
}

/// A stream of which the labels of pixels are known.
class LabelledStream : public TrackedStream {
 public:
  using TrackedStream::TrackedStream;

  /// One frame, a step after the one before it. Its labels are in `labels`.
  TrackedFrame push(const Image& image) {
    labels.assign(size_t{image.width} * image.height, 0);
    job.labels = labels.data();
    return TrackedStream::push(image);
  }

  /// Nothing is shown for a frame.
  void drop() { set_now(now() + kStepNs); }

  std::vector<uint32_t> labels;  ///< of the last frame
};

inline LabelledStream separated(uint8_t aspect = 3, const Config& config = {.max_tracks = 64}) {
  LabelledStream stream(config);
  stream.job.settings.separation = {.neck = 700, .aspect = aspect};
  return stream;
}

/// By label, what a loop over all pixels finds.
struct FoundPart {
  uint32_t area = 0;
  uint32_t left = UINT32_MAX, top = UINT32_MAX;
  uint32_t right = 0, bottom = 0;  ///< the last column and row
  bool is_flooded = false;
};

/// Marks all pixels of the label at `start` that are connected with it.
inline void flood(const std::vector<uint32_t>& labels, uint32_t width, Connectivity connectivity,
                  size_t start, std::vector<bool>* is_reached) {
  const auto height = static_cast<int64_t>(labels.size() / width);
  std::vector<size_t> stack = {start};
  (*is_reached)[start] = true;
  while (!stack.empty()) {
    const auto x = static_cast<int64_t>(stack.back() % width);
    const auto y = static_cast<int64_t>(stack.back() / width);
    stack.pop_back();
    for (int64_t step = 0; step < 9; ++step) {
      const int64_t at_x = x + step % 3 - 1;
      const int64_t at_y = y + step / 3 - 1;
      const bool connects = at_x == x || at_y == y || connectivity == Connectivity::k8;
      if (!connects || at_x < 0 || at_y < 0 || at_x >= width || at_y >= height) {
        continue;
      }
      const auto next = static_cast<size_t>(at_y * width + at_x);
      if (labels[next] == labels[start] && !(*is_reached)[next]) {
        (*is_reached)[next] = true;
        stack.push_back(next);
      }
    }
  }
}

/// Of labels in the raster order of first pixels, from 1 on; each part must be connected.
inline std::vector<FoundPart> find_parts(const std::vector<uint32_t>& labels, uint32_t width,
                                         Connectivity connectivity) {
  std::vector<FoundPart> parts(1);
  std::vector<bool> is_reached(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == 0) {
      continue;
    }
    EXPECT_LE(labels[i], parts.size()) << "labels ascend";
    parts.resize(std::max(parts.size(), size_t{labels[i]} + 1));
    FoundPart& part = parts[labels[i]];
    if (!is_reached[i]) {
      EXPECT_FALSE(part.is_flooded) << "part " << labels[i] << " is not connected";
      part.is_flooded = true;
      flood(labels, width, connectivity, i, &is_reached);
    }
    const auto x = static_cast<uint32_t>(i % width);
    const auto y = static_cast<uint32_t>(i / width);
    ++part.area;
    part.left = std::min(part.left, x);
    part.right = std::max(part.right, x);
    part.top = std::min(part.top, y);
    part.bottom = std::max(part.bottom, y);
  }
  return parts;
}

/// Parts are connected and cover the foreground, and the records, one for each part, are theirs.
inline void expect_whole(const Image& image, const std::vector<uint32_t>& labels, const TrackedFrame& frame,
                         Connectivity connectivity = Connectivity::k8) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto x = static_cast<uint32_t>(i % image.width);
    const auto y = static_cast<uint32_t>(i / image.width);
    ASSERT_EQ(labels[i] != 0, image.at(x, y) == kForeground) << x << ", " << y;
  }
  const std::vector<FoundPart> parts = find_parts(labels, image.width, connectivity);
  ASSERT_EQ(frame.components.size(), parts.size() - 1);
  for (size_t k = 0; k < frame.components.size(); ++k) {
    const CclComponent& record = frame.components[k];
    const FoundPart& part = parts[k + 1];
    EXPECT_EQ(record.label, k + 1);
    EXPECT_EQ(record.area, part.area) << k;
    EXPECT_EQ(record.x, part.left) << k;
    EXPECT_EQ(record.y, part.top) << k;
    EXPECT_EQ(record.width, part.right - part.left + 1) << k;
    EXPECT_EQ(record.height, part.bottom - part.top + 1) << k;
  }
}

/// Ids ascend, and a track that shares its component with no other one has that component's id.
inline void expect_tracks(const TrackedFrame& frame) {
  uint32_t last = 0;
  for (const CclTrack& track : frame.tracks) {
    ASSERT_GT(track.id, last);
    last = track.id;
    const bool is_predicted = (track.flags & CCL_TRACK_PREDICTED) != 0;
    ASSERT_EQ(is_predicted, track.component == CCL_NO_COMPONENT);
    if (!is_predicted) {
      ASSERT_LT(track.component, frame.components.size());
      const CclComponent& component = frame.components[track.component];
      ASSERT_TRUE(component.id == track.id || (track.flags & CCL_TRACK_MERGED) != 0);
    }
  }
  for (const CclComponent& component : frame.components) {
    ASSERT_TRUE(component.id == 0 || frame.find(component.id) != nullptr) << component.id;
  }
}

/// Of confirmed tracks, apart from the start.
inline std::vector<CclEvent> events_of(uint32_t width, uint32_t height,
                                       const std::vector<TrackedFrame>& frames) {
  EventMaker maker;
  EXPECT_TRUE(maker.configure({.width = width, .height = height, .max_tracks = 64}, {}).ok());
  std::vector<CclEvent> events;
  for (const TrackedFrame& frame : frames) {
    maker.update({.tracks = frame.tracks,
                  .n_components = static_cast<uint32_t>(frame.components.size()),
                  .hold_ns = 2'000'000'000});
    std::copy_if(maker.events().begin(), maker.events().end(), std::back_inserter(events),
                 [](const CclEvent& event) { return event.type != CCL_EVENT_STARTED; });
  }
  return events;
}

/// The id of the component of a pixel; 0 if it has none.
inline uint32_t id_of_label(const TrackedFrame& frame, uint32_t label) {
  for (const CclComponent& component : frame.components) {
    if (component.label == label) {
      return component.id;
    }
  }
  return 0;
}

}  // namespace ccl::test
