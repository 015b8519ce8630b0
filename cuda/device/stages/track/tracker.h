// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage of the GPU. The rules are in cuda/track/. A frame takes four kernels, each of which is
/// launched while the one before it runs: overlap.cu, associate.cu, settle.cu, paint.cu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ccl/engine.h"
#include "ccl/status.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/stages/segment/vectors.h"
#include "device/stages/separate/guide.h"
#include "device/stages/track/associate.h"
#include "device/stages/track/frame_labels.h"
#include "device/stages/track/index_map.h"
#include "device/stages/track/overlap.h"
#include "device/stages/track/pair_table.h"
#include "track/step.h"
#include "track/tables.h"

namespace ccl::device {

/// The tracks of a frame in flight, on the GPU and on the host: memory of a slot.
class TrackDelivery {
 public:
  Status configure(uint32_t max_tracks);

  /// Config::max_tracks tracks, in device memory.
  CclTrack* tracks() const { return tracks_.data(); }

  /// Enqueues the copy of as many tracks as there are.
  Status enqueue(const track::TrackHeader* header, cudaStream_t stream) const;

  /// The tracks of the frame that was delivered.
  std::span<const CclTrack> delivered() const { return {host_tracks_.data(), *n_tracks_.data()}; }

 private:
  DeviceArray<CclTrack> tracks_;
  PinnedArray<CclTrack> host_tracks_;
  PinnedArray<uint32_t> n_tracks_;  ///< one
};

/// What the track stage reads and writes of a frame, beside the tracker's own memory.
struct TrackedFrame {
  FrameLabels labels;
  segment::Plane luma;
  const FrameBuffers& buffers;
  const Settings& settings;
  CclTrack* tracks;      ///< out, in device memory
  bool defers_overflow;  ///< see Pipeline::defers_overflow()
};

/// One per engine. It outlives a change of the configuration unless fits() says otherwise: the tracks go on.
/// All calls, construction and destruction included, need the context to be current.
///
/// For each frame: next_step(), begin(), then enqueue(), or set_step() and a graph with what enqueue()
/// enqueued, then end(). Frames come in their order; on the GPU each waits for the one before it, whatever
/// their streams. So the maps of two frames serve all slots, and the addresses of a slot's frames stay the
/// same: a word in device memory says which map is the newer one.
class Tracker {
 public:
  /// Takes all memory, that of painting too. Ids begin after `last_id`.
  Status configure(const Config& config, uint32_t last_id);

  /// Whether the tracks may go on with frames of a configuration.
  bool fits(const Config& config) const;

  /// Waits for all frames and reads the largest id that was given.
  Status read_last_id(uint32_t* last_id) const;

  /// The step of the frame that is pushed now.
  track::TrackStep next_step(const FrameJob& job) {
    return track::step_of(job.tracking, clock_.next(job.time, job.resets_tracks), job.resets_tracks,
                          job.settings.separation.aspect);
  }

  /// Makes `stream` wait for the previous frame.
  Status begin(const Stream& stream);

  /// Makes the next launch of a graph with what enqueue() enqueued for these buffers use another step.
  Status set_step(const track::TrackStep& step, const FrameBuffers& buffers, Graph* graph) const {
    if (buffers.guide != nullptr) {
      CCL_RETURN_IF_ERROR(graph->set_last_argument(Guide::kernel(), Guide::kArguments, &step));
    }
    return graph->set_last_argument(overlap_kernel(), kOverlapArguments, &step);
  }

  /// FrameBuffers::guide of the frame with this step. Components of values touch and may have equal
  /// colours, so tracks do not guide their cuts.
  Guide* guide_for(const Settings& settings, const track::TrackStep& step) {
    guide_.set_step(step);
    return settings.separation.is_active() && settings.rule.foreground != Foreground::kValues ? &guide_
                                                                                              : nullptr;
  }

  /// Enqueues, after the pipeline has, what makes ids and tracks, and the pixels of shown_output(). `marks`
  /// may be null.
  Status enqueue(const Config& config, const TrackedFrame& frame, const track::TrackStep& step,
                 cudaStream_t stream, StageMarks* marks) const;

  Status end(const Stream& stream) { return ended_.record(stream); }

  /// The header lies in device memory.
  const track::TrackHeader* header() const { return tables_.header; }

 private:
  /// What changes from frame to frame beside the tables.
  struct State;

  Status allocate_pairs();
  State* state() const;
  IndexMaps maps() const;
  PairTable pairs() const;

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  track::TrackSizes sizes_;
  uint32_t shared_bytes_ = 0;  ///< see AssociateJob
  FrameClock clock_;
  Guide guide_;
  Stream stream_;                       ///< for memory that is initialized once
  Event ended_;                         ///< of the last frame
  cudaStream_t last_stream_ = nullptr;  ///< of the last frame

  DeviceArray<std::byte> memory_;  ///< of the tables
  track::TrackTables tables_;
  DeviceArray<std::byte> state_;  ///< one State
  DeviceArray<PairCell> cells_;
  DeviceArray<uint32_t> used_cells_;
  DeviceArray<track::Overlap> overlaps_;
  DeviceArray<IndexMaps::Cell> maps_[2];
  DeviceArray<uint32_t> palettes_;
  DeviceArray<uint32_t> colors_;
};

}  // namespace ccl::device
