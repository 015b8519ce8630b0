// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the library is and can do, without an engine.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "capi/call.h"
#include "capi/convert.h"
#include "capi/structs.h"
#include "ccl/devices.h"
#include "ccl/engine.h"
#include "ccl/setting_names.h"

using ccl::Status;
using ccl::StatusCode;
using ccl::capi::call;
using ccl::capi::refuse;
using ccl::capi::thread_error;

const char* cudaccl_status_text(CudacclStatus status) {
  switch (status) {
    case CUDACCL_OK:
      return "ok";
    case CUDACCL_NEED_MORE_DATA:
      return "no frame is in flight";
    case CUDACCL_INVALID_ARGUMENT:
      return "invalid argument";
    case CUDACCL_UNSUPPORTED:
      return "unsupported";
    case CUDACCL_NO_DEVICE:
      return "no such GPU";
    case CUDACCL_OUT_OF_MEMORY:
      return "not enough memory";
    case CUDACCL_DEVICE_ERROR:
      return "device error";
  }
  return "unknown status";
}

const char* cudaccl_version(void) {
  return CCL_VERSION;
}

uint32_t cudaccl_api_version(void) {
  return CUDACCL_API_VERSION;
}

uint32_t cudaccl_component_layout_version(void) {
  return CCL_COMPONENT_LAYOUT_VERSION;
}

uint32_t cudaccl_track_layout_version(void) {
  return CCL_TRACK_LAYOUT_VERSION;
}

uint32_t cudaccl_has_cuda(void) {
  return ccl::has_device_engine() ? 1 : 0;
}

size_t cudaccl_algorithm_count(void) {
  return ccl::algorithms().size();
}

CudacclStatus cudaccl_algorithm_info(size_t index, CudacclAlgorithmInfo* info) {
  return call(&thread_error(), [=]() -> Status {
    CCL_RETURN_IF_ERROR(ccl::capi::check_size(info));
    if (index >= ccl::algorithms().size()) {
      return refuse("there is no algorithm " + std::to_string(index) + "; there are " +
                    std::to_string(ccl::algorithms().size()));
    }
    const ccl::AlgorithmInfo& algorithm = ccl::algorithms()[index];
    CudacclAlgorithmInfo made{};
    made.name = algorithm.nick;
    made.source = algorithm.source;
    made.on_cpu = algorithm.runs_on(ccl::Backend::kCpu) ? 1 : 0;
    made.on_cuda = algorithm.runs_on(ccl::Backend::kCuda) ? 1 : 0;
    ccl::capi::write(made, info);
    return {};
  });
}

CudacclStatus cudaccl_device_count(int32_t* count) {
  return call(&thread_error(), [=]() -> Status {
    if (count == nullptr) {
      return refuse("the place of the count is NULL");
    }
    *count = 0;
    std::vector<ccl::DeviceDescription> devices;
    if (Status status = ccl::list_devices(&devices); !status.ok()) {
      const bool is_none =
          status.code() == StatusCode::kNoDevice || status.code() == StatusCode::kUnsupported;
      if (!is_none) {
        return status;
      }
      thread_error().set(status);
    }
    *count = static_cast<int32_t>(devices.size());
    return {};
  });
}

CudacclStatus cudaccl_device_info(int32_t device_id, CudacclDeviceInfo* info) {
  return call(&thread_error(), [=]() -> Status {
    CCL_RETURN_IF_ERROR(ccl::capi::check_size(info));
    std::vector<ccl::DeviceDescription> devices;
    CCL_RETURN_IF_ERROR(ccl::list_devices(&devices));
    if (device_id < 0 || static_cast<size_t>(device_id) >= devices.size()) {
      return {StatusCode::kNoDevice, "no CUDA device with id " + std::to_string(device_id) + "; there are " +
                                         std::to_string(devices.size())};
    }
    const ccl::DeviceDescription& device = devices[static_cast<size_t>(device_id)];
    CudacclDeviceInfo made{};
    std::memcpy(made.name, device.name.c_str(), std::min(device.name.size(), sizeof made.name - 1));
    made.compute_major = device.compute_major;
    made.compute_minor = device.compute_minor;
    made.memory = device.memory;
    ccl::capi::write(made, info);
    return {};
  });
}

uint32_t cudaccl_bytes_per_pixel(uint32_t output) {
  return output <= CUDACCL_OUTPUT_DISTANCE8 ? ccl::bytes_per_pixel(static_cast<ccl::Output>(output)) : 0;
}

const char* cudaccl_filter_name(size_t index) {
  return index < ccl::kFilterConditions ? ccl::kFilterConditionNames[index] : nullptr;
}
