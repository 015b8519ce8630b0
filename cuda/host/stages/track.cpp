// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/track.h"

#include <utility>

#include "track/associate.h"

namespace ccl::host {

StreamTracks::StreamTracks(const Config& config, uint32_t last_id)
    : width_(config.width),
      height_(config.height),
      memory_(
          std::make_unique_for_overwrite<std::byte[]>(track::TrackTables::bytes(track::sizes_of(config)))),
      tables_(track::sizes_of(config), memory_.get()),
      overlaps_(config.height, track::sizes_of(config)),
      previous_(std::make_unique<KeptRuns>(config.width, config.height)),
      current_(std::make_unique<KeptRuns>(config.width, config.height)) {
  *tables_.header = {};
  tables_.header->n_ids = last_id;
}

void StreamTracks::begin(const FrameJob& job) {
  step_ = track::step_of(job.tracking, clock_.next(job.time, job.resets_tracks), job.resets_tracks,
                         job.settings.separation.aspect);
  has_origins_ = false;
}

ExpectedTracks StreamTracks::expected() {
  return {.tracks = tables_.tracks_of(tables_.header->parity),
          .n_tracks = step_.resets != 0 ? 0 : tables_.header->n_tracks,
          .duration_us = step_.duration_us};
}

track::Origin* StreamTracks::add_origins() {
  if (origins_ == nullptr) {
    origins_ = std::make_unique_for_overwrite<track::Origin[]>(tables_.sizes.max_components);
  }
  has_origins_ = true;
  return origins_.get();
}

void StreamTracks::run(const FrameJob& job, CclComponent* records, CclTrack* tracks, FrameResult* result) {
  const auto n_records = static_cast<uint32_t>(result->components.size());
  bool is_matched = result->counts.n_components <= tables_.sizes.max_components;
  uint32_t n_overlaps = 0;
  if (is_matched && n_records > 0 && tables_.header->n_components > 0 && !job.resets_tracks) {
    is_matched = overlaps_.count(*previous_, *current_, n_records);
    n_overlaps = is_matched ? overlaps_.n_overlaps() : 0;
  }
  if (!is_matched) {
    std::for_each(records, records + n_records, [](CclComponent& record) { record.id = 0; });
  }
  const track::TrackFrame frame{.width = width_,
                                .height = height_,
                                .n_components = n_records,
                                .is_matched = is_matched ? 1u : 0u,
                                .n_overlaps = n_overlaps,
                                .overlaps = overlaps_.overlaps(),
                                .origins = has_origins_ ? origins_.get() : nullptr,
                                .records = records,
                                .tracks = tracks};
  track::associate(track::HostTeam{}, step_, frame, tables_);
  result->tracks = {tracks, tables_.header->n_tracks};
  std::swap(previous_, current_);
}

}  // namespace ccl::host
