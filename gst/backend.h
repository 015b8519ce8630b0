// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which engine labels, in which CUDA context, and how failures are told.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ccl/engine.h"
#include "cuda_context.h"
#include "properties.h"

namespace cudaccl {

/// What labels.
struct Processor {
  BackendChoice backend = BackendChoice::kAuto;  ///< kAuto: none yet
  int cuda_device_id = -1;                       ///< −1 on the CPU
  std::string description;                       ///< for a person
};

/// The engine that the properties ask for, and the CUDA context that it shares with the pipeline. Open from
/// NULL→READY to READY→NULL. Any thread may use processor() and context().
class Backend {
 public:
  /// Makes the engine. BackendChoice::kAuto takes the CPU where there is no usable GPU and says so once in a
  /// message; kCuda fails there. False after an element error.
  bool open(GstElement* element, const Properties& properties);
  void close();

  /// The engine; null when not open.
  ccl::Engine* engine() const { return engine_.get(); }
  /// What the engine works on now, wherever it has moved.
  Processor processor() const;
  bool is_cuda() const { return engine_ && engine_->backend() == ccl::Backend::kCuda; }

  /// Configures the engine, unless it is configured so already. False after an element error.
  bool configure(GstElement* element, const ccl::Config& config);
  bool is_configured(const ccl::Config& config) const { return config_ == config; }
  /// After a failure: the engine must be configured again.
  void forget_configuration() { config_.reset(); }

  /// Brings engine and pipeline into one CUDA context: the one that was shared with the element, else the
  /// engine's own. False after an element error.
  bool share_context(GstElement* element);
  /// Moves the engine into the context of a buffer's CUDA memory, if it can. False after an element error.
  bool follow(GstElement* element, GstBuffer* buffer);
  /// Whether the engine can use the buffer's memory where it is, on the GPU.
  bool reaches(GstBuffer* buffer) const;

  CudaContext& context() { return context_; }
  /// Page-locked memory for transfers; null on the CPU. Borrowed.
  GstAllocator* pinned_allocator();

 private:
  bool move_engine(GstElement* element);
  void use_engine(std::unique_ptr<ccl::Engine> engine);

  CudaContext context_;
  int device_id_ = -1;  ///< what was asked for when it was opened
  std::unique_ptr<ccl::Engine> engine_;
  std::optional<ccl::Config> config_;  ///< what the engine is configured for
  GstAllocator* pinned_allocator_ = nullptr;

  mutable std::mutex lock_;  ///< for the one below
  Processor processor_;
};

/// Posts an element error for a status that is not ok.
void post_error(GstElement* element, const ccl::Status& status);

}  // namespace cudaccl
