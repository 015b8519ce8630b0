// SPDX-License-Identifier: LGPL-2.1-or-later
/// What follows from the matches: tracks, records and colours. Each thread takes a component and all tracks
/// in it. That is a long chain of instructions for few threads, so they are spread over the whole GPU.
#include <algorithm>

#include "ccl/colors.h"
#include "device/launch.cuh"
#include "device/stages/track/associate.h"
#include "device/stages/track/frame_of.cuh"
#include "device/stages/track/team.cuh"
#include "track/associate.h"

namespace ccl::device {

namespace {

constexpr uint32_t kThreads = 128;
constexpr uint32_t kMostBlocks = 128;

struct Colors {
  const ColorTable& table;
  uint32_t n_pixels;

  __device__ void write(uint32_t i, uint32_t id, uint32_t area) const {
    if (table.colors != nullptr) {
      const uint32_t color =
          id != 0 ? table.palettes[color_index(table.settings, id, area, n_pixels)] : kNoIdColor;
      table.colors[i + 1] = pack(color, table.layout);
    }
  }
};

__global__ void __launch_bounds__(kThreads) settle(AssociateJob job) {
  wait_for_previous_kernel();
  const SpreadTeam team;
  const uint32_t max_components = job.tables.sizes.max_components;
  const uint32_t n_components = job.counts->n_components;
  const track::TrackStep step = *job.step;
  track::TrackFrame frame = frame_of(job);
  frame.tracks = job.tracks;
  const track::Matching m = track::last_matching(step, frame, job.tables);
  const Colors colors{job.colors, job.width * job.height};
  track::settle(team, m, [&](uint32_t c, uint32_t id) { colors.write(c, id, m.tables.parts[c].area); });
  if (m.n_parts == 0) {
    for (uint32_t i = team.rank(); i < min(n_components, job.max_records); i += team.size()) {
      job.records[i].id = 0;
      if (i < max_components) {
        colors.write(i, 0, 0);
      }
    }
  }
  if (job.colors.colors != nullptr && team.rank() == 0) {
    job.colors.colors[0] = pack(job.colors.settings.background_color, job.colors.layout);
    job.colors.colors[max_components + 1] = pack(kNoIdColor, job.colors.layout);
  }
}

}  // namespace

Status settle_frame(const AssociateJob& job, cudaStream_t stream) {
  const uint32_t most = std::max(job.max_records, job.tables.sizes.max_tracks);
  return launch_overlapped("settle", settle, std::min(blocks_for(most, kThreads), kMostBlocks), kThreads,
                           stream, job);
}

}  // namespace ccl::device
