// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backend.h"

#include <utility>

#include "cuda_memory.h"
#include "pinned_allocator.h"

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
  if (properties.backend != BackendChoice::kCpu) {
    context_.find(element, properties.cuda_device_id);
  }
  ccl::Status status = make_engine(element, properties, context_, &engine_);
  ccl::Algorithm algorithm{};
  if (status.ok()) {
    status = ccl::resolve_algorithm(properties.algorithm, engine_->backend(), &algorithm);
  }
  if (!status.ok()) {
    close();
    post_error(element, status);
  }
  return status.ok();
}

void Backend::close() {
  close_engine();
  context_.release();
}

void Backend::close_engine() {
  engine_.reset();
  config_.reset();
  gst_clear_object(&pinned_allocator_);
}

bool Backend::configure(GstElement* element, const ccl::Config& config) {
  if (is_configured(config)) {
    return true;
  }
  config_.reset();
  if (const ccl::Status status = engine_->configure(config); !status.ok()) {
    post_error(element, status);
    return false;
  }
  config_ = config;
  return true;
}

bool Backend::share_context(GstElement* element, int device_id) {
  if (!is_cuda()) {
    return true;
  }
  if (context_.handle(device_id) == nullptr) {
    context_.find(element, device_id);
  }
  context_.share(element, engine_->device());
  return move_engine(element, device_id);
}

bool Backend::follow(GstElement* element, GstBuffer* buffer, int device_id) {
  return !is_cuda() || !context_.adopt(buffer, device_id) || move_engine(element, device_id);
}

/// An engine stays in the context that it was made in, so that another is made. No frame may be in flight.
bool Backend::move_engine(GstElement* element, int device_id) {
  const std::shared_ptr<void> wanted = context_.handle(device_id);
  if (wanted == nullptr || wanted.get() == engine_->device()->context()) {
    return true;
  }
  std::unique_ptr<ccl::Engine> moved;
  if (const ccl::Status status = ccl::make_device_engine({.device_id = device_id, .context = wanted}, &moved);
      !status.ok()) {
    post_error(element, status);
    return false;
  }
  close_engine();
  engine_ = std::move(moved);
  return true;
}

bool Backend::reaches(GstBuffer* buffer) const {
  return is_cuda() && is_memory_of(buffer, engine_->device()->context());
}

GstAllocator* Backend::pinned_allocator() {
  if (pinned_allocator_ == nullptr && is_cuda()) {
    pinned_allocator_ = new_pinned_allocator(engine_->device());
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
