// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backend.h"

namespace cudaccl {

namespace {

ccl::Status make_cuda_engine(GstElement* element, int device_id, CudaContext* context,
                             std::unique_ptr<ccl::Engine>* engine) {
  if (ccl::has_device_engine()) {
    context->acquire(element, device_id);
  }
  const ccl::Status status =
      ccl::make_device_engine({.device_id = device_id, .context = context->handle()}, engine);
  if (!status.ok()) {
    context->release();
  }
  return status;
}

}  // namespace

ccl::Status make_engine(GstElement* element, const Properties& properties, CudaContext* context,
                        std::unique_ptr<ccl::Engine>* engine) {
  if (properties.backend != BackendChoice::kCpu) {
    const ccl::Status status = make_cuda_engine(element, properties.cuda_device_id, context, engine);
    if (status.ok() || properties.backend == BackendChoice::kCuda) {
      return status;
    }
    if (ccl::has_device_engine()) {
      GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND, ("Labelling on the CPU"),
                       ("labelling on the CPU: %s", status.message().c_str()));
    }
  }
  context->release();
  *engine = ccl::make_host_engine();
  return {};
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
