// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is drawn over painted pixels and boxes: ids and trails of tracks, and outlines of regions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ccl/draw/font.h"
#include "ccl/draw/tracks.h"
#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device {

/// The track records of a frame in device memory. Null: there are none.
struct DeviceTracks {
  const CclTrack* records = nullptr;  ///< by ascending id
  const uint32_t* count = nullptr;    ///< at most Config::max_tracks
};

/// A layer of outlines in device memory. Each slot has one, because a copy for one frame must not change what
/// another one reads.
class DeviceOutlines {
 public:
  /// Enqueues the upload of the job's layer unless it is there. Allocates memory if the layer needs more than
  /// the ones before it.
  Status prepare(const FrameJob& job, cudaStream_t stream);

  const LayerPixel* pixels() const { return pixels_.data(); }
  uint32_t count() const { return count_; }

 private:
  DeviceArray<LayerPixel> pixels_;
  size_t capacity_ = 0;
  uint32_t count_ = 0;
  uint64_t id_ = 0;  ///< of the layer that was uploaded
};

/// Tables of the tracks that frames draw. An engine has one, for frames in their order: the table of a frame
/// follows from that of the frame before, which another slot may still draw from. So there is one table more
/// than slots.
class TrackDrawing {
 public:
  /// Allocates all memory, with Config::max_tracks and an output in colours; else nothing.
  Status configure(const Config& config, size_t n_slots);

  /// Whether a frame draws tracks.
  bool is_active(const Settings& settings, const DeviceTracks& tracks) const;

  /// Enqueues the making of the table of the next frame, once for each frame. It reads `tracks` when the work
  /// that was enqueued before is done. Returns the index of the table in `table`: it is kept until as many
  /// frames as there are slots have been updated after it.
  Status update(const Settings& settings, const DeviceTracks& tracks, const Stream& stream, uint32_t* table);

  /// In place of update(), for a frame that draws no tracks. Trails begin again behind it.
  void skip() { has_before_ = false; }

  /// Enqueues the drawing of trails and captions from a table onto dense pixels. `skipped` as below.
  Status draw(const Settings& settings, uint32_t table, const FrameCounts* skipped, uint32_t* pixels,
              cudaStream_t stream) const;

 private:
  struct Table {
    DeviceArray<draw::Trail> trails;
    DeviceArray<draw::DrawnTrack> drawn;
    DeviceArray<uint32_t> n_tracks;  ///< one
  };

  Status upload_font();
  draw::TrackStyle style_of(const Settings& settings) const;

  Config config_;
  draw::Scale scale_{};
  draw::DigitCells digits_{};
  DeviceArray<uint8_t> digit_coverage_;
  DeviceArray<uint32_t> palettes_;
  std::vector<Table> tables_;
  uint32_t last_ = 0;                   ///< the table of the last update()
  bool has_before_ = false;             ///< the next frame continues its trails
  Event updated_;                       ///< the last update() is done
  cudaStream_t last_stream_ = nullptr;  ///< of it
};

/// Enqueues the blending of outlines onto dense pixels. If `skipped` is not null, frames with more components
/// than `max_components` are left out: their boxes, which lie below, are drawn later.
Status draw_outlines(const Config& config, const DeviceOutlines& outlines, const FrameCounts* skipped,
                     uint32_t* pixels, cudaStream_t stream);

}  // namespace ccl::device
