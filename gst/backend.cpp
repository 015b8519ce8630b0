// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backend.h"

namespace cudaccl {

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
