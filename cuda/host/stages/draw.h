// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is drawn over painted pixels and boxes: ids and trails of tracks, and outlines of regions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ccl/draw/font.h"
#include "ccl/draw/tracks.h"
#include "ccl/engine.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// One for a configuration. Takes all memory when it is made; frames must be drawn in their order.
class Drawing {
 public:
  /// `pool` must outlive this.
  Drawing(const Config& config, ThreadPool& pool);

  /// Draws what the frame's settings want over the pixels of its output: outlines, then trails, then ids.
  /// Does nothing unless pixels have colours. `tracks` are those of the frame, by ascending id.
  void draw(const FrameJob& job, std::span<const CclTrack> tracks);

  /// In place of draw(), for a frame that nothing is drawn over. Trails begin again behind it.
  void skip() { table_.n_tracks = 0; }

 private:
  /// What a frame has of each track, by ascending id.
  struct Table {
    std::unique_ptr<draw::Trail[]> trails;
    std::unique_ptr<draw::DrawnTrack[]> drawn;
    uint32_t n_tracks = 0;
  };

  draw::TrackStyle style_of(const Settings& settings) const;
  void update(const draw::TrackStyle& style, std::span<const CclTrack> tracks);

  Config config_;
  ThreadPool& pool_;
  draw::Scale scale_;
  std::optional<draw::DigitFont> font_;  ///< if pixels have colours
  Table table_;                          ///< of the last frame that drew tracks
  Table before_;                         ///< of the one before it
};

}  // namespace ccl::host
