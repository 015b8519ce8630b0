// SPDX-License-Identifier: LGPL-2.1-or-later
/// The engine that labels, the CUDA context it works in, and how its failures are reported.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <string>

#include "ccl/stream.h"
#include "memory/cuda_context.h"
#include "properties/properties.h"

namespace cudaccl {

/// The processor in use.
struct Processor {
  BackendChoice backend = BackendChoice::kAuto;  ///< kAuto: none
  int cuda_device_id = -1;                       ///< −1 on the CPU
  std::string description;                       ///< for people
};

/// The engine that the properties ask for, and the CUDA context that it shares with the pipeline. Open from
/// NULL→READY to READY→NULL; READY→PAUSED opens it again if the properties changed. Any thread may use
/// processor() and context().
class Backend {
 public:
  /// Makes the engine, unless the open one is what the properties ask for. Without a usable GPU
  /// BackendChoice::kAuto uses the CPU and posts one info message, and kCuda fails. False after an element
  /// error; the backend is then closed.
  bool open(GstElement* element, const Properties& properties);
  void close();

  /// Frames go through it. It has an engine while the backend is open.
  ccl::Stream& stream() { return stream_; }
  /// Null if the backend is not open.
  const ccl::Engine* engine() const { return stream_.engine(); }
  /// The processor in use now: it changes when the engine moves to another GPU.
  Processor processor() const;
  bool is_cuda() const { return engine() != nullptr && engine()->backend() == ccl::Backend::kCuda; }

  /// Configures the engine unless it has this configuration already.
  ccl::Status configure(const ccl::Config& config);
  bool is_configured(const ccl::Config& config) const { return stream_.config() == config; }

  /// Lets engine and pipeline use the same CUDA context: the one that was shared with the element, or else
  /// the engine's, which is then shared. False after an element error.
  bool share_context(GstElement* element);
  /// Moves the engine into the context of the buffer's CUDA memory, if that is possible. False after an
  /// element error.
  bool follow(GstElement* element, GstBuffer* buffer);
  /// Whether the engine can use the buffer's memory in place, on the GPU.
  bool reaches(GstBuffer* buffer) const;

  CudaContext& context() { return context_; }
  /// Page-locked memory for transfers; null on the CPU. Borrowed.
  GstAllocator* pinned_allocator();

 private:
  bool open_engine(GstElement* element, const Properties& properties);
  bool move_engine(GstElement* element);
  void use_engine(std::unique_ptr<ccl::Engine> made);

  CudaContext context_;
  BackendChoice choice_ = BackendChoice::kAuto;  ///< as the property was when the backend was opened
  int device_id_ = -1;                           ///< as the property was when the backend was opened
  ccl::Stream stream_;
  GstAllocator* pinned_allocator_ = nullptr;

  mutable std::mutex lock_;  ///< for the one below
  Processor processor_;
};

/// Posts an element error for a status that is not ok.
void post_error(GstElement* element, const ccl::Status& status);

}  // namespace cudaccl
