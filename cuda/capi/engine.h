// SPDX-License-Identifier: LGPL-2.1-or-later
/// What an opaque CudacclEngine is: a stream, whose structs it converts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capi/call.h"
#include "ccl/stream.h"
#include "cudaccl/cudaccl.h"

struct CudacclEngine {
 public:
  explicit CudacclEngine(std::unique_ptr<ccl::Engine> engine) : stream_(std::move(engine)) {}

  const ccl::Engine& engine() const { return *stream_.engine(); }
  const char* description();
  ccl::Status configure(const CudacclConfig* given);
  ccl::Status set_regions(const CudacclRegions* given);
  ccl::Status push(const CudacclFrame* const* given, size_t n_frames);
  ccl::Status pop(CudacclResult* given);
  ccl::Status run(const CudacclFrame* frame, CudacclResult* result);
  ccl::Status list_shapes(uint32_t max_objects, CudacclShapes* given);
  void flush() { stream_.flush(); }

  ccl::capi::LastError error;

 private:
  ccl::Status check_configured() const;
  ccl::Status check_idle() const;
  ccl::Status make_job(const CudacclFrame& frame, ccl::FrameJob* job, ccl::FrameOptions* options) const;

  ccl::Stream stream_;
  std::string description_;
  std::vector<ccl::Stream::Frame> frames_;     ///< of a push; kept for its memory
  const ccl::StreamResult* result_ = nullptr;  ///< of the frame that was popped last
};
