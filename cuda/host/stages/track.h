// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage of the CPU. The rules are in cuda/track/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/stages/kept_runs.h"
#include "host/stages/overlap.h"
#include "track/step.h"
#include "track/tables.h"

namespace ccl::host {

/// What a stream's tracks expect of the frame to come.
struct ExpectedTracks {
  const track::TrackState* tracks;
  uint32_t n_tracks;
  uint32_t duration_us;
};

/// The tracks of an engine's stream. They live as long as the frames' size and the tables' lengths stay the
/// same.
class StreamTracks {
 public:
  /// Takes all memory. Ids begin after `last_id`.
  StreamTracks(const Config& config, uint32_t last_id);

  bool is_for(const Config& config) const {
    return config.width == width_ && config.height == height_ && track::sizes_of(config) == tables_.sizes;
  }

  uint32_t max_tracks() const { return tables_.sizes.max_tracks; }

  /// The largest id that was given.
  uint32_t last_id() const { return tables_.header->n_ids; }

  /// For the runs of the frame to come. All rows must be written before run(), unless it has no records.
  KeptRuns& runs() { return *current_; }

  /// Whether run() reads the runs of a frame with these counts.
  bool needs_runs(const FrameCounts& counts) const {
    return counts.n_components > 0 && counts.n_components <= tables_.sizes.max_components;
  }

  /// Begins a frame; before the calls below.
  void begin(const FrameJob& job);

  /// For cuts that are guided by tracks.
  ExpectedTracks expected();
  /// Where to write what is known of the parts that have a record, if tracks guided the cuts.
  track::Origin* add_origins();

  /// Finds the tracks of a frame. `result` has its counts and components, and gets its tracks, which are
  /// written to `tracks`. Writes id, age and flags of the `records`, as many as the result has components.
  void run(const FrameJob& job, CclComponent* records, CclTrack* tracks, FrameResult* result);

 private:
  uint32_t width_;
  uint32_t height_;
  std::unique_ptr<std::byte[]> memory_;  ///< not filled in advance, as KeptRuns
  track::TrackTables tables_;
  FrameClock clock_;
  track::TrackStep step_;                     ///< of the frame
  std::unique_ptr<track::Origin[]> origins_;  ///< per record, once tracks guided cuts
  bool has_origins_ = false;
  OverlapCounter overlaps_;
  std::unique_ptr<KeptRuns> previous_;
  std::unique_ptr<KeptRuns> current_;
};

}  // namespace ccl::host
