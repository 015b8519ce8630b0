// SPDX-License-Identifier: LGPL-2.1-or-later
/// The engine of the CPU backend. push() runs all stages of a frame; its result waits in a slot until pop().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "host/pipeline.h"
#include "host/stages/draw.h"
#include "host/stages/segment/luma.h"
#include "host/stages/segment/segmenter.h"
#include "host/stages/track.h"
#include "host/thread_pool.h"

namespace ccl::host {

class HostEngine final : public Engine {
 public:
  Backend backend() const override { return Backend::kCpu; }
  std::string description() const override;
  Status configure(const Config& config) override;
  using Engine::push;
  Status push(std::span<const FrameJob> jobs) override;
  Status pop(FrameResult* result) override;
  void flush() override { n_waiting_ = 0; }
  std::shared_ptr<Device> device() const override { return nullptr; }

 private:
  Status start(const FrameJob& job);
  void prepare_tracks(const Config& config);
  size_t max_records() const;
  void run(const FrameJob& job, const ResultTables& tables, FrameResult* result);
  void process(FrameJob job, ResultTables tables, FrameResult* result);

  /// A finished frame that waits for pop().
  struct Slot {
    FrameResult result;
    std::unique_ptr<CclComponent[]> records;
    std::unique_ptr<CclTrack[]> tracks;
    std::unique_ptr<CclGrey[]> grey;  ///< once a frame asked for it
  };

  Config config_;
  std::string out_of_memory_;  ///< a message, made while memory is left for it
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<StreamBackground> background_;
  std::unique_ptr<StreamTracks> tracks_;  ///< null: components have no identity over time
  uint32_t last_id_ = 0;                  ///< of tracks that are no longer there
  std::unique_ptr<LumaPlanes> luma_planes_;
  std::unique_ptr<Segmenter> segmenter_;
  std::unique_ptr<Pipeline> pipeline_;  ///< null until configured
  std::unique_ptr<Drawing> drawing_;
  std::vector<Slot> slots_;
  uint32_t first_waiting_ = 0;  ///< the oldest frame's slot
  uint32_t n_waiting_ = 0;
};

}  // namespace ccl::host
