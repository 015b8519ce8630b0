// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element/backend.h"

#include <utility>

#include "element/debug.h"
#include "memory/cuda_memory.h"
#include "memory/pinned_allocator.h"

namespace cudaccl {

namespace {

ccl::Status make_engine(GstElement* element, const Properties& properties, const CudaContext& context,
                        std::unique_ptr<ccl::Engine>* engine) {
  if (properties.backend != BackendChoice::kCpu) {
    ccl::Status status = ccl::make_device_engine(
        {.device_id = properties.cuda_device_id, .context = context.handle(properties.cuda_device_id)},
        engine);
    if (status.ok() || properties.backend == BackendChoice::kCuda) {
      return status;
    }
    if (ccl::has_device_engine()) {
      GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND, ("Labelling on the CPU"),
                       ("labelling on the CPU: %s", status.message().c_str()));
    }
  }
  *engine = ccl::make_host_engine();
  return {};
}

}  // namespace

bool Backend::open(GstElement* element, const Properties& properties) {
  try {
    return open_engine(element, properties);
  } catch (...) {  // of lack of memory
    close();
    throw;
  }
}

bool Backend::open_engine(GstElement* element, const Properties& properties) {
  ccl::Status status;
  if (engine() == nullptr || properties.backend != choice_ || properties.cuda_device_id != device_id_) {
    close();
    choice_ = properties.backend;
    device_id_ = properties.cuda_device_id;
    if (properties.backend != BackendChoice::kCpu) {
      context_.find(element, properties.cuda_device_id);
    }
    std::unique_ptr<ccl::Engine> engine;
    status = make_engine(element, properties, context_, &engine);
    use_engine(std::move(engine));
  }
  const ccl::AlgorithmInfo* algorithm = nullptr;
  if (status.ok()) {
    status = ccl::resolve_algorithm(properties.algorithm, engine()->backend(), &algorithm);
  }
  if (!status.ok()) {
    close();
    post_error(element, status);
    return false;
  }
  return true;
}

void Backend::close() {
  use_engine(nullptr);
  context_.release();
}

/// Replaces the engine, which must have no frame in flight; null for none.
void Backend::use_engine(std::unique_ptr<ccl::Engine> made) {
  Processor processor;
  if (made != nullptr) {
    const std::shared_ptr<ccl::Device> device = made->device();
    processor.backend = made->backend() == ccl::Backend::kCuda ? BackendChoice::kCuda : BackendChoice::kCpu;
    processor.cuda_device_id = device != nullptr ? device->id() : -1;
    processor.description = made->description();
  }
  stream_.use_engine(std::move(made));
  gst_clear_object(&pinned_allocator_);
  const std::lock_guard guard(lock_);
  processor_ = std::move(processor);
}

Processor Backend::processor() const {
  const std::lock_guard guard(lock_);
  return processor_;
}

ccl::Status Backend::configure(const ccl::Config& config) {
  return is_configured(config) ? ccl::Status() : stream_.configure(config);
}

bool Backend::share_context(GstElement* element) {
  if (!is_cuda()) {
    return true;
  }
  if (context_.handle(device_id_) == nullptr) {
    context_.find(element, device_id_);
  }
  context_.share(element, engine()->device());
  return move_engine(element);
}

bool Backend::follow(GstElement* element, GstBuffer* buffer) {
  return !is_cuda() || !context_.adopt(buffer, device_id_) || move_engine(element);
}

/// Makes a new engine if the context is another one, because an engine cannot change its context. No frame
/// may be in flight.
bool Backend::move_engine(GstElement* element) {
  const std::shared_ptr<void> wanted = context_.handle(device_id_);
  if (wanted == nullptr || wanted.get() == engine()->device()->context()) {
    return true;
  }
  std::unique_ptr<ccl::Engine> moved;
  if (const ccl::Status status =
          ccl::make_device_engine({.device_id = device_id_, .context = wanted}, &moved);
      !status.ok()) {
    post_error(element, status);
    return false;
  }
  use_engine(std::move(moved));
  return true;
}

bool Backend::reaches(GstBuffer* buffer) const {
  return is_cuda() && is_memory_of(buffer, engine()->device()->context());
}

GstAllocator* Backend::pinned_allocator() {
  if (pinned_allocator_ == nullptr && is_cuda()) {
    pinned_allocator_ = new_pinned_allocator(engine()->device());
  }
  return pinned_allocator_;
}

void post_error(GstElement* element, const ccl::Status& status) {
  const char* message = status.message().c_str();
  switch (status.code()) {
    case ccl::StatusCode::kNoDevice:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", message), (nullptr));
      break;
    case ccl::StatusCode::kOutOfMemory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", message), (nullptr));
      break;
    case ccl::StatusCode::kUnsupported:
    case ccl::StatusCode::kInvalidArgument:
      GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("%s", message), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element, RESOURCE, FAILED, ("%s", message), (nullptr));
      break;
  }
}

}  // namespace cudaccl
