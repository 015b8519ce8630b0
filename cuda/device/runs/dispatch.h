// SPDX-License-Identifier: LGPL-2.1-or-later
/// Chooses and launches the kernel of a frame. tile_memory.cpp chooses the size of its tiles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/status.h"
#include "device/runs/batch.h"
#include "device/runs/emission.h"
#include "device/runs/paint_rule.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// Writes how many blocks of any kernel for tiles of this width the GPU holds at once, so that they may wait
/// for one another; 0 if a tile does not fit into its shared memory.
Status find_resident_blocks(bool has_values, uint32_t tile_width, uint32_t* n_blocks);

/// How many bytes a parked tile of this kind takes.
size_t parked_bytes(bool has_values, uint32_t tile_width, uint32_t max_runs);

/// Enqueues all steps of a frame (kernel.cuh). If `frame_bits`, a bit image of the frame's size in device
/// memory, is not null, it is labelled in place of the frame's pixels; overlays show the pixels. `pixels`,
/// the output, may be null if the mode is PaintMode::kNone. `full_filter` is null if the limits of the area
/// are the whole filter, and what it removes need not be counted; its top_n is not applied. `n_blocks` is at
/// most what find_resident_blocks() wrote.
Status process_tiles(const Tiles& tiles, const uint32_t* frame_bits, uint32_t n_blocks,
                     const Emitter& emitter, const PaintRule& rule, const FullFilter* full_filter,
                     uint8_t* pixels, cudaStream_t stream);

/// Enqueues all steps of the frames of a batch, without a filter, in at most `n_groups` groups of blocks: as
/// many as the tiles' memory has room for, and as find_resident_blocks() allows. Records and counts of the
/// emitter are those of the first frame; those of the others follow. The input is that of the batch, and is
/// aligned and has the pitch that `tiles` says.
Status process_batch(const Tiles& tiles, uint32_t n_groups, const Emitter& emitter, const PaintRule& rule,
                     const Batch& batch, cudaStream_t stream);

}  // namespace ccl::device::runs
