// SPDX-License-Identifier: LGPL-2.1-or-later
/// What an opaque CudacclEngine is: an engine, with the regions and the events that the element has for
/// itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capi/call.h"
#include "ccl/draw/outlines.h"
#include "ccl/engine.h"
#include "ccl/events.h"
#include "ccl/regions.h"
#include "cudaccl/cudaccl.h"

struct CudacclEngine {
 public:
  explicit CudacclEngine(std::unique_ptr<ccl::Engine> engine) : engine_(std::move(engine)) {}

  ccl::Engine& engine() const { return *engine_; }
  const char* description();
  ccl::Status configure(const CudacclConfig* given);
  ccl::Status set_regions(const CudacclRegions* given);
  ccl::Status push(const CudacclFrame* given);
  ccl::Status pop(CudacclResult* given);
  ccl::Status run(const CudacclFrame* frame, CudacclResult* result);
  void flush();

  ccl::capi::LastError error;

 private:
  /// What pop() needs to know about a frame that was pushed.
  struct InFlight {
    int64_t time;
    int64_t event_hold_ns;
  };

  ccl::Status check_configured() const;
  ccl::Status prepare_regions();
  ccl::Status make_job(const CudacclFrame& frame, ccl::FrameJob* job, InFlight* in_flight) const;
  ccl::Status lose_frames(const ccl::Status& status);
  void add_tracks(const ccl::FrameResult& result, const InFlight& frame, CudacclResult* made);

  std::unique_ptr<ccl::Engine> engine_;
  std::string description_;
  ccl::Config config_;
  bool is_configured_ = false;
  ccl::Regions regions_;
  std::shared_ptr<const ccl::RegionMask> mask_;        ///< null: the whole frame counts
  std::shared_ptr<const ccl::OutlineLayer> outlines_;  ///< null: there is nothing to draw
  ccl::EventMaker events_;
  ccl::FrameCounts counts_;          ///< of the last frame that was popped
  std::vector<InFlight> in_flight_;  ///< a ring of as many as there are slots
  size_t oldest_ = 0;
  size_t n_in_flight_ = 0;
};
