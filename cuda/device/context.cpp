// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/context.h"

#include <cuda.h>

#include "device/check.h"
#include "device/memory.h"

namespace ccl::device {

/// The driver's functions that have no counterpart in the runtime.
struct Driver {
  decltype(&cuInit) init = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuDeviceGetCount) device_count = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetName) device_name = nullptr;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuDeviceTotalMem) device_memory = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) primary_retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) primary_release = nullptr;
  decltype(&cuCtxPushCurrent) push_current = nullptr;
  decltype(&cuCtxPopCurrent) pop_current = nullptr;
  decltype(&cuCtxGetDevice) context_device = nullptr;

  /// Looks up the functions. Returns kNoDevice if no driver is installed, or one that is too old.
  Status load();

  Status check(CUresult result, const char* call, StatusCode code = StatusCode::kDeviceError) const;
};

namespace {

template <typename Function>
Status entry_point(const char* name, Function* function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  // The version of the driver's interface whose declarations in <cuda.h> the types above use.
  constexpr unsigned int kDriverInterface = 12000;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &address, kDriverInterface, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || address == nullptr) {
    cudaGetLastError();
    const std::string reason = error != cudaSuccess ? cudaGetErrorString(error) : "not found";
    return {StatusCode::kNoDevice, "no usable CUDA driver is installed (" + std::string(name) + ": " +
                                       reason + "); one for CUDA " + std::to_string(CUDART_VERSION / 1000) +
                                       " or newer is needed"};
  }
  *function = reinterpret_cast<Function>(address);
  return {};
}

}  // namespace

Status Driver::load() {
  CCL_RETURN_IF_ERROR(entry_point("cuInit", &init));
  CCL_RETURN_IF_ERROR(entry_point("cuGetErrorString", &error_string));
  CCL_RETURN_IF_ERROR(entry_point("cuDeviceGetCount", &device_count));
  CCL_RETURN_IF_ERROR(entry_point("cuDeviceGet", &device_get));
  CCL_RETURN_IF_ERROR(entry_point("cuDeviceGetName", &device_name));
  CCL_RETURN_IF_ERROR(entry_point("cuDeviceGetAttribute", &device_attribute));
  CCL_RETURN_IF_ERROR(entry_point("cuDeviceTotalMem", &device_memory));
  CCL_RETURN_IF_ERROR(entry_point("cuDevicePrimaryCtxRetain", &primary_retain));
  CCL_RETURN_IF_ERROR(entry_point("cuDevicePrimaryCtxRelease", &primary_release));
  CCL_RETURN_IF_ERROR(entry_point("cuCtxPushCurrent", &push_current));
  CCL_RETURN_IF_ERROR(entry_point("cuCtxPopCurrent", &pop_current));
  CCL_RETURN_IF_ERROR(entry_point("cuCtxGetDevice", &context_device));
  return check(init(0), "cuInit", StatusCode::kNoDevice);
}

Status Driver::check(CUresult result, const char* call, StatusCode code) const {
  if (result == CUDA_SUCCESS) {
    return {};
  }
  const char* text = nullptr;
  if (error_string(result, &text) != CUDA_SUCCESS || text == nullptr) {
    text = "unknown CUDA error";
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    code = StatusCode::kOutOfMemory;
  }
  return {code, std::string(call) + ": " + text + " (" + std::to_string(result) + ")"};
}

Context::Context() : driver_(std::make_unique<Driver>()) {}

Context::~Context() {
  if (is_retained_) {
    driver_->primary_release(device_);
  }
}

Status Context::create(const DeviceOptions& options, std::shared_ptr<Context>* context) {
  std::shared_ptr<Context> made(new Context);
  const Driver& driver = *made->driver_;
  CCL_RETURN_IF_ERROR(made->driver_->load());
  if (options.context != nullptr) {
    made->caller_context_ = options.context;
    made->handle_ = options.context.get();
    const CurrentContext current(*made);
    CCL_RETURN_IF_ERROR(current.status());
    CCL_RETURN_IF_ERROR(driver.check(driver.context_device(&made->device_), "cuCtxGetDevice"));
  } else {
    CCL_RETURN_IF_ERROR(made->find_device(options.device_id));
    CUcontext primary = nullptr;
    CCL_RETURN_IF_ERROR(
        driver.check(driver.primary_retain(&primary, made->device_), "cuDevicePrimaryCtxRetain"));
    made->handle_ = primary;
    made->is_retained_ = true;
  }
  CCL_RETURN_IF_ERROR(made->describe());
  *context = std::move(made);
  return {};
}

Status Context::count_devices(int* count) const {
  return driver_->check(driver_->device_count(count), "cuDeviceGetCount");
}

Status Context::find_device(int device_id) {
  int count = 0;
  CCL_RETURN_IF_ERROR(count_devices(&count));
  const int requested = device_id == -1 ? 0 : device_id;
  if (requested < 0 || requested >= count) {
    const std::string available =
        count == 0 ? "no CUDA device was found"
                   : "there are " + std::to_string(count) + ", from 0 to " + std::to_string(count - 1);
    return {StatusCode::kNoDevice, "no CUDA device with id " + std::to_string(requested) + ": " + available};
  }
  return driver_->check(driver_->device_get(&device_, requested), "cuDeviceGet");
}

Status Context::describe(int device, DeviceDescription* description) const {
  constexpr int kNameLength = 256;
  char name[kNameLength] = "";
  size_t memory = 0;
  CCL_RETURN_IF_ERROR(driver_->check(driver_->device_name(name, kNameLength, device), "cuDeviceGetName"));
  CCL_RETURN_IF_ERROR(
      driver_->check(driver_->device_attribute(&description->compute_major,
                                               CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                     "cuDeviceGetAttribute"));
  CCL_RETURN_IF_ERROR(
      driver_->check(driver_->device_attribute(&description->compute_minor,
                                               CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
                     "cuDeviceGetAttribute"));
  CCL_RETURN_IF_ERROR(driver_->check(driver_->device_memory(&memory, device), "cuDeviceTotalMem"));
  description->name = name;
  description->memory = memory;
  return {};
}

Status Context::describe() {
  DeviceDescription device;
  CCL_RETURN_IF_ERROR(describe(device_, &device));
  description_ = device.name + ", compute capability " + std::to_string(device.compute_major) + "." +
                 std::to_string(device.compute_minor);
  return {};
}

Status Context::list(std::vector<DeviceDescription>* devices) {
  const std::unique_ptr<Context> driver(new Context);
  CCL_RETURN_IF_ERROR(driver->driver_->load());
  int count = 0;
  CCL_RETURN_IF_ERROR(driver->count_devices(&count));
  if (count == 0) {
    return {StatusCode::kNoDevice, "no CUDA device was found"};
  }
  devices->resize(static_cast<size_t>(count));
  for (int id = 0; id < count; ++id) {
    CUdevice device = 0;
    CCL_RETURN_IF_ERROR(driver->driver_->check(driver->driver_->device_get(&device, id), "cuDeviceGet"));
    CCL_RETURN_IF_ERROR(driver->describe(device, &(*devices)[static_cast<size_t>(id)]));
  }
  return {};
}

template <typename Allocator>
Status Context::allocate_with(size_t bytes, std::shared_ptr<uint8_t>* memory) {
  const CurrentContext current(*this);
  CCL_RETURN_IF_ERROR(current.status());
  void* allocated = nullptr;
  CCL_RETURN_IF_ERROR(Allocator::acquire(&allocated, bytes));
  return catch_bad_alloc([&]() -> Status {
    memory->reset(static_cast<uint8_t*>(allocated), [context = shared_from_this()](uint8_t* pixels) {
      const CurrentContext owner(*context);
      if (owner.status().ok()) {  // else the memory was released with its context
        ignore(Allocator::release(pixels));
      }
    });
    return {};
  });
}

Status Context::allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) {
  return allocate_with<PinnedAllocator>(bytes, memory);
}

Status Context::allocate(size_t bytes, std::shared_ptr<uint8_t>* memory) {
  return allocate_with<DeviceAllocator>(bytes, memory);
}

CurrentContext::CurrentContext(const Context& context)
    : context_(context),
      status_(context.driver_->check(context.driver_->push_current(static_cast<CUcontext>(context.handle_)),
                                     "cuCtxPushCurrent")) {}

CurrentContext::~CurrentContext() {
  if (status_.ok()) {
    CUcontext popped = nullptr;
    context_.driver_->pop_current(&popped);
  }
}

}  // namespace ccl::device
