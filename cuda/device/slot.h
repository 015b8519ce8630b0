// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame in flight: its stream and all the memory it needs from upload to records.
#pragma once

#include <array>
#include <cstdint>

#include "ccl/engine.h"
#include "device/labeler.h"
#include "device/measure.h"
#include "device/memory.h"
#include "device/number.h"
#include "device/paint.h"
#include "device/select.h"

namespace ccl::device {

/// All calls, construction and destruction included, need the context to be current. A slot has its own
/// scratch, so that frames in different slots overlap; inside a slot the stream orders the stages.
class Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  /// Waits for what is on the stream.
  ~Slot();

  /// Takes all memory; once only.
  Status configure(const Config& config);

  /// Enqueues all stages of a frame. Even after a failure the job's memory may be in use until wait().
  Status start(const FrameJob& job, Labeler& labeler);

  /// Waits for the frame and fills `result`, whose records stay in this slot until the next start().
  Status finish(FrameResult* result);

  /// Waits for all work that was enqueued.
  void wait();

 private:
  /// Events on the stream, in the order they are recorded.
  enum Point : uint32_t {
    kStarted,
    kUploaded,
    kLabelled,
    kNumbered,
    kMeasured,
    kPainted,
    kDownloaded,
    kRecordsStarted,
    kRecordsDownloaded,
    kPointCount,
  };

  uint32_t n_pixels() const { return config_.width * config_.height; }
  SegmentSource frame(const Settings& settings) const;
  Status upload(const InputImage& image);
  Status run_stages(const FrameJob& job, Labeler& labeler);
  Status download(const FrameJob& job);
  Status download_records(uint32_t n_records);
  Status record(Point point) { return events_[point].record(stream_); }
  Status elapsed(Point from, Point to, float* microseconds) const {
    return events_[to].elapsed_since(events_[from], microseconds);
  }
  Status read_times(bool has_records, StageTimes* times) const;

  Config config_;
  size_t input_pitch_ = 0;

  // Device memory; per pixel unless told otherwise. A frame may have as many components as pixels.
  DeviceArray<uint8_t> input_;
  DeviceArray<uint32_t> root_map_;
  DeviceArray<uint32_t> labels_;
  DeviceArray<uint32_t> areas_;         ///< per label
  DeviceArray<uint32_t> record_index_;  ///< per label
  DeviceArray<uint8_t> output_;         ///< bytes_per_pixel(Config::output) a pixel
  DeviceArray<CclComponent> records_;   ///< Config::max_components
  DeviceArray<Counts> counts_;          ///< one

  Numbering numbering_;
  Selection selection_;
  Measurement measurement_;
  Painting painting_;

  PinnedArray<Counts> host_counts_;         ///< one
  PinnedArray<CclComponent> host_records_;  ///< Config::max_components

  std::array<Event, kPointCount> events_;
  Stream stream_;
};

}  // namespace ccl::device
