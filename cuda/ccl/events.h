// SPDX-License-Identifier: LGPL-2.1-or-later
/// From the tracks of consecutive frames to events: see docs/events.md for the rules.
///
/// Only results are read, so events are the same for both backends. Only confirmed tracks have events. While
/// a track is predicted, or hidden in a larger one, it stays where it was seen last: it enters and leaves no
/// zone and crosses no line. When it is seen again, its move from there to the new place counts as one
/// straight move. Likewise, when a track is confirmed, its move since its first frame does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/engine.h"
#include "ccl/regions.h"
#include "ccl/status.h"
#include "ccl/track.h"
#include "ccl/zones.h"

namespace ccl {

/// What events depend on apart from frames.
struct EventConfig {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t max_tracks = 0;  ///< as in Config

  bool operator==(const EventConfig&) const = default;
};

/// What a frame adds.
struct EventFrame {
  /// FrameResult::tracks, of which the first EventConfig::max_tracks count.
  std::span<const CclTrack> tracks;
  uint32_t n_components = 0;  ///< kept
  bool relearning = false;    ///< FrameCounts::relearning
  int64_t time = kNoTime;     ///< FrameJob::time
  bool resets = false;        ///< FrameJob::resets_tracks: time begins again, too
  /// The scene has stopped after this time without a kept component. Frames in which the background is being
  /// learned do not count.
  int64_t hold_ns = 0;
};

/// Takes the frames of one stream in their order. One thread at a time may use it.
class EventMaker {
 public:
  /// Takes all memory: no frame takes more. For other zones or lines than before, no track is inside any
  /// zone, and zones that were left this way have no events. kOutOfMemory: all tracks, zones and lines are
  /// forgotten; configure again before the next frame.
  Status configure(const EventConfig& config, const Regions& regions);

  /// Forgets all tracks, without events.
  void clear();

  void update(const EventFrame& frame);

  /// Of the last frame: its tracks, with CclTrack::zones filled in. Valid until the next call.
  std::span<const CclTrack> tracks() const { return tracks_; }

  /// Of the last frame, in this order: started; then by ascending id of the track: born, split from its
  /// parent, left, entered, dwelled, crossed (each by ascending zone or line), died; then merged, then split,
  /// each by ascending id; then crowded by ascending zone; then stopped. Valid until the next call.
  std::span<const CclEvent> events() const { return events_; }

  /// How many tracks are in each zone.
  std::span<const uint32_t> n_inside() const { return n_inside_; }

 private:
  struct Anchors {
    FixedPoint bottom;
    FixedPoint centroid;

    const FixedPoint& of(Anchor anchor) const { return anchor == Anchor::kBottom ? bottom : centroid; }
  };

  /// A track that was in the last frame.
  struct Known {
    uint32_t id;
    bool is_confirmed;
    bool was_merged;      ///< when it was seen last
    bool leads;           ///< has the smallest id of those in this frame that were together
    uint32_t group;       ///< equal for tracks that shared a component when they were seen last
    bool is_placed;       ///< has been compared with these zones
    bool touches_border;  ///< of the frame, where it was seen last
    uint32_t zones;       ///< it is in: bits
    uint32_t dwelled;     ///< bits of the zones whose event has been made
    uint32_t stay;        ///< index of what is kept for it in entered_, crossings_ and passed_
    float x, y;           ///< where it is
    Anchors anchors;      ///< where it was seen last; before it is confirmed, where it was seen first
  };

  /// A track that shares its component.
  struct Member {
    uint32_t component;
    uint32_t area;  ///< of its box
  };

  /// A track that this frame shows.
  struct Shown {
    uint32_t component;
    uint32_t group;
    uint32_t id;
    Known* track;
  };

  static bool is_seen(const CclTrack& track) { return (track.flags & CCL_TRACK_PREDICTED) == 0; }

  void reserve();
  void take_zones(const Regions& regions);
  void forget_zones();
  bool start_or_stop(const EventFrame& frame);
  void follow_tracks(std::span<const CclTrack> tracks);
  Known begin(const CclTrack& track);
  void follow(Known* known, const CclTrack& track, std::span<const CclTrack> tracks);
  void find_members(std::span<const CclTrack> tracks);
  bool is_hidden(const CclTrack& track) const;
  FixedPoint anchor_in_frame(const CclTrack& track, Anchor anchor) const;
  Anchors anchors_in_frame(const CclTrack& track) const;
  void move(Known* known, const CclTrack& track);
  uint32_t zones_around(const Known& known, const CclTrack& track, const Anchors& anchors);
  void change_zones(Known* known, uint32_t inside);
  void cross_lines(const Known& known, const CclTrack& track, const Anchors& anchors);
  void count_crossing(const Known& known, uint32_t line);
  int32_t* crossings_of(const Known& known);
  bool has_stayed(int64_t passed, double margin) const;
  void end(const Known& known);
  void crowd();
  void add(uint32_t type, const Known& known, uint32_t other, uint32_t where);
  void add(uint32_t type, uint32_t other, uint32_t where);

  // In event_groups.cpp.
  void regroup();
  void split_groups();
  void merge_groups();
  void take_unseen_along();

  EventConfig config_;
  bool is_relative_ = true;
  std::vector<Zone> zones_;
  std::vector<Line> lines_;
  std::vector<ZoneShape> zone_shapes_;
  std::vector<LineShape> line_shapes_;

  FrameClock clock_;
  FrameTime now_;        ///< of the frame
  int64_t elapsed_ = 0;  ///< since the first frame: never decreases
  bool is_active_ = false;
  int64_t quiet_ = 0;  ///< time without a component while active

  std::vector<Known> known_;     ///< by ascending id
  std::vector<Known> next_;      ///< those of this frame, while they are made
  std::vector<Member> members_;  ///< of this frame: by component, the largest first
  std::vector<Shown> shown_;
  std::vector<int64_t> entered_;  ///< for each stay and zone: when it was entered
  /// For each stay and line: how often it was crossed to the right, less how often to the left, and that does
  /// not count yet.
  std::vector<int32_t> crossings_;
  /// For each stay, and zone and then line: since when it has been on the side where it does not count yet.
  std::vector<int64_t> passed_;
  std::vector<uint32_t> free_stays_;
  std::vector<uint32_t> n_inside_;  ///< of each zone
  size_t n_stays_ = 0;
  uint32_t crowded_ = 0;  ///< bits of zones
  std::vector<CclTrack> tracks_;
  std::vector<CclEvent> events_;
};

}  // namespace ccl
