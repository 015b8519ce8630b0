// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame in flight: its stream and all the memory it needs from upload to records.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device {

/// Streams for the copies of all slots, one for each direction. On the slots' own streams a copy up would
/// wait behind copies down that other slots began before it.
struct Transfers {
  Stream up;
  Stream down;
};

/// All calls, construction and destruction included, need the context to be current. A slot has its own
/// pipeline, so that frames in different slots overlap; inside a slot the stream orders the stages.
///
/// All work on a frame between its transfers is one graph launch. A frame that lies on the device already is
/// used where it lies. Such frames come from pools that go round, so graphs are kept by address.
class Slot : private StageMarks {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  /// Waits for what is on the stream.
  ~Slot() override;

  /// Takes all memory but what Pipeline takes later, and what frames take that lie elsewhere than `config`
  /// tells, or on the device in a way that the kernels do not write; once only. `algorithm` is
  /// what Config::algorithm means on the GPU.
  Status configure(const Config& config, const AlgorithmInfo& algorithm, Transfers* transfers);

  /// Enqueues a frame. Even after a failure the job's memory may be in use until wait().
  Status start(const FrameJob& job);

  /// Waits for the frame and fills `result`, whose records stay in this slot until the next start().
  Status finish(FrameResult* result);

  /// Waits for all work that was enqueued.
  void wait();

 private:
  /// Events on the stream, in the order they are recorded.
  enum Point : uint32_t {
    kStarted,
    kUploaded,
    kFirstStage,
    kProcessed = kFirstStage + uint32_t{kStageCount},
    kDownloaded,
    kPointCount,
  };

  Status take_input_memory();
  Status take_output_memory();
  Status place();
  bool has_download() const;
  Status upload();
  struct CapturedGraph;
  Status process();
  CapturedGraph* find_graph();
  Status capture(CapturedGraph* captured);
  void forget_graphs();
  Status mark(Stage stage, cudaStream_t stream) override;
  Status deliver_records();
  Status deliver_images();
  Status download_output();
  Status choose_records();
  Status record(Point point, const Stream& stream) { return events_[point].record(stream); }
  Status follow(const Stream& stream, Point point, const Stream& before);
  Status follow(const Stream& stream, const Event& event, void* foreign);
  Status read_times(StageTimes* times) const;

  Config config_;
  size_t input_pitch_ = 0;
  FrameJob job_;                ///< the frame in flight
  FrameBuffers frame_{};        ///< where it is for the kernels
  bool delivers_late_ = false;  ///< its images are written when it is popped

  DeviceArray<uint8_t> input_;         ///< for frames that do not lie on the device
  DeviceArray<uint8_t> output_;        ///< likewise, bytes_per_pixel(Config::output) a pixel
  DeviceArray<CclComponent> records_;  ///< Config::max_components
  DeviceArray<FrameCounts> counts_;    ///< one
  std::unique_ptr<Pipeline> pipeline_;

  PinnedArray<FrameCounts> host_counts_;    ///< one
  PinnedArray<CclComponent> host_records_;  ///< Config::max_components

  /// All stages, for frames that lie there and have these settings.
  struct CapturedGraph {
    Graph graph;
    FrameBuffers frame{};
    Settings settings;
    uint32_t marked = 0;    ///< a bit for each stage that it marks
    uint64_t last_use = 0;  ///< number of the frame

    bool is_for(const FrameBuffers& wanted, const Settings& wanted_settings) const {
      return graph.is_captured() && frame == wanted && settings == wanted_settings;
    }
  };
  std::array<CapturedGraph, 16> graphs_;
  uint64_t n_frames_ = 0;
  Foreground foreground_ = Foreground::kBinary;  ///< of the last frame
  uint32_t marked_ = 0;                          ///< a bit for each stage that the frame marks

  std::array<Event, kPointCount> events_;
  Event written_;  ///< on the stream that writes the input
  Event vacant_;   ///< on the stream that uses the output's memory
  Stream stream_;  ///< of the kernels
  const Stream* up_ = nullptr;
  const Stream* down_ = nullptr;
};

}  // namespace ccl::device
