// SPDX-License-Identifier: LGPL-2.1-or-later
/// The engine of the CPU backend: owns the memory, and runs a frame's stages when it is pushed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "ccl/sums.h"
#include "host/labeler.h"
#include "host/measure.h"
#include "host/thread_pool.h"

namespace ccl::host {

class HostEngine final : public Engine {
 public:
  Backend backend() const override { return Backend::kCpu; }
  std::string description() const override;
  Status configure(const Config& config) override;
  Status push(const FrameJob& job) override;
  Status pop(FrameResult* result) override;
  void flush() override { n_waiting_ = 0; }

 private:
  /// A frame that is done and waits to be popped.
  struct Slot {
    FrameResult result;
    std::unique_ptr<CclComponent[]> records;
  };

  /// All that depends on the configuration. Arrays are as long as the worst frame needs and never filled
  /// in advance, so that what ordinary frames do not reach stays unmapped.
  struct Memory {
    Memory(const Config& config, Algorithm algorithm, ThreadPool& pool);

    std::unique_ptr<uint8_t[]> padded_segments;
    SegmentImage segments;
    std::unique_ptr<uint32_t[]> root_map;         ///< per pixel; of frames that ask for no copy
    std::unique_ptr<uint32_t[]> labels;           ///< per pixel; of frames that ask for no copy
    std::unique_ptr<uint32_t[]> areas;            ///< per label
    std::unique_ptr<uint32_t[]> record_of_label;  ///< per label
    std::unique_ptr<uint32_t[]> ink;              ///< per label
    std::unique_ptr<Sums[]> sums;                 ///< per record
    std::unique_ptr<uint8_t[]> values;            ///< per record
    std::unique_ptr<Labeler> labeler;
    std::vector<Slot> slots;
  };

  void separate_segments(const FrameJob& job);
  LabeledFrame label(const FrameJob& job, StageTimes& times);
  void measure(const FrameJob& job, const LabeledFrame& frame, Slot& slot);
  void paint_frame(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result);

  Config config_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Memory> memory_;  ///< null until configured
  uint32_t first_waiting_ = 0;      ///< the oldest frame's slot
  uint32_t n_waiting_ = 0;
};

}  // namespace ccl::host
