// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage (cuda/track/): decisions by one block or one cluster of blocks, and what
/// follows from them by the whole GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/stages/track/pair_table.h"
#include "track/step.h"
#include "track/tables.h"

namespace ccl::device {

/// Which colour each component gets.
struct ColorTable {
  /// Per value of a map of records (index_map.h), from 0 to unrecorded(): its colour in the output's layout.
  /// Null: the output has no colours.
  uint32_t* colors = nullptr;
  const uint32_t* palettes = nullptr;  ///< palette_colors()
  PixelLayout layout = {};
  Settings settings = {};
};

/// All pointers point to device memory.
struct AssociateJob {
  uint32_t width;
  uint32_t height;
  const FrameCounts* counts;
  CclComponent* records;
  uint32_t max_records;          ///< of a frame; with more than `tables` has room for, none is matched
  const track::Origin* origins;  ///< null if tracks guide no cuts
  CclTrack* tracks;              ///< out
  track::TrackTables tables;
  PairTable pairs;
  track::Overlap* overlaps;  ///< scratch, of TrackSizes::max_overlaps()
  const track::TrackStep* step;
  uint32_t shared_bytes;  ///< of each block; see shared_tables.cuh
  uint32_t* newest;       ///< see IndexMaps: becomes the other one
  ColorTable colors;
};

/// Writes how much shared memory the kernel may have for tables of these lengths.
Status find_shared_bytes(const track::TrackSizes& sizes, uint32_t* bytes);

/// Enqueues the matching of tracks and components, right after count_overlaps(). Frees all cells of the
/// pairs.
Status associate_frame(const AssociateJob& job, cudaStream_t stream);

/// Enqueues, right after it, what follows: ids in the records, the frame's tracks, and the colours.
Status settle_frame(const AssociateJob& job, cudaStream_t stream);

/// Enqueues the writing of id 0 to the records of a frame with more components than records, which were
/// chosen late.
Status clear_ids(CclComponent* records, uint32_t n_records, cudaStream_t stream);

}  // namespace ccl::device
