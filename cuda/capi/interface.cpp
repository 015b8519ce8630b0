// SPDX-License-Identifier: LGPL-2.1-or-later
/// The functions of an engine. Each checks that there is one, and lets no exception out.
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "capi/convert.h"
#include "capi/engine.h"
#include "capi/structs.h"
#include "ccl/checked.h"

using ccl::Status;
using ccl::StatusCode;
using ccl::capi::call;
using ccl::capi::refuse;
using ccl::capi::thread_error;

struct CudacclMemory {
  std::shared_ptr<uint8_t> bytes;
};

namespace {

constexpr size_t kHostAlignment = 64;

/// The caller owns the context, and it outlives the engine.
std::shared_ptr<void> borrow(void* context) {
  return {std::shared_ptr<void>(), context};
}

/// As the element does: any reason for which there is no GPU leads to the CPU, unless the caller insists.
Status make_engine(const CudacclEngineOptions& options, std::unique_ptr<ccl::Engine>* engine,
                   Status* no_device) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_range("backend", options.backend, 0, CUDACCL_BACKEND_CUDA));
  if (options.device_id < -1) {
    return refuse("device_id is " + std::to_string(options.device_id) +
                  "; -1, or the id of a GPU, is possible");
  }
  if (options.backend == CUDACCL_BACKEND_CPU && options.context != nullptr) {
    return refuse("a CUDA context for the CPU; set CudacclEngineOptions::context to NULL");
  }
  if (options.backend != CUDACCL_BACKEND_CPU) {
    *no_device =
        ccl::make_device_engine({.device_id = options.device_id, .context = borrow(options.context)}, engine);
    if (no_device->ok() || options.backend == CUDACCL_BACKEND_CUDA || options.context != nullptr) {
      return *no_device;
    }
  }
  *engine = ccl::make_host_engine();
  return {};
}

Status make_handle(const CudacclEngineOptions* given, CudacclEngine** engine) {
  CudacclEngineOptions options = ccl::capi::defaults<CudacclEngineOptions>();
  if (given != nullptr) {
    CCL_RETURN_IF_ERROR(ccl::capi::read(given, &options));
  }
  std::unique_ptr<ccl::Engine> made;
  Status no_device;
  CCL_RETURN_IF_ERROR(make_engine(options, &made, &no_device));
  auto handle = std::make_unique<CudacclEngine>(std::move(made));
  if (!no_device.ok()) {
    handle->error.set(no_device);
  }
  *engine = handle.release();
  return {};
}

Status allocate_on_host(size_t bytes, std::shared_ptr<uint8_t>* memory) {
  const std::optional<size_t> padded = ccl::checked_sum(bytes, kHostAlignment - 1);
  auto* allocated = static_cast<uint8_t*>(
      padded ? std::aligned_alloc(kHostAlignment, *padded / kHostAlignment * kHostAlignment) : nullptr);
  if (allocated == nullptr) {
    return {StatusCode::kOutOfMemory, "not enough memory for " + std::to_string(bytes) + " bytes"};
  }
  memory->reset(allocated, std::free);
  return {};
}

Status allocate(const ccl::Engine& engine, uint32_t kind, size_t bytes, std::shared_ptr<uint8_t>* memory) {
  const std::shared_ptr<ccl::Device> device = engine.device();
  if (kind == CUDACCL_MEMORY_HOST) {
    return device != nullptr ? device->allocate_host(bytes, memory) : allocate_on_host(bytes, memory);
  }
  return device != nullptr ? device->allocate(bytes, memory)
                           : Status(StatusCode::kUnsupported, "an engine on the CPU has no GPU memory");
}

/// Calls a function of the engine, if there is one.
template <typename Function>
CudacclStatus call_engine(CudacclEngine* engine, Function function) noexcept {
  if (engine == nullptr) {
    return call(&thread_error(), [] { return refuse("the CudacclEngine is NULL"); });
  }
  return call(&engine->error, function);
}

}  // namespace

namespace ccl::capi {

LastError& thread_error() {
  thread_local LastError error;
  return error;
}

}  // namespace ccl::capi

CudacclStatus cudaccl_engine_new(const CudacclEngineOptions* options, CudacclEngine** engine) {
  return call(&thread_error(), [=] {
    if (engine == nullptr) {
      return refuse("the place of the new CudacclEngine is NULL");
    }
    *engine = nullptr;
    return make_handle(options, engine);
  });
}

void cudaccl_engine_free(CudacclEngine* engine) {
  delete engine;
}

const char* cudaccl_last_error(const CudacclEngine* engine) {
  return engine != nullptr ? engine->error.text() : thread_error().text();
}

uint32_t cudaccl_engine_backend(const CudacclEngine* engine) {
  if (engine == nullptr) {
    return CUDACCL_BACKEND_AUTO;
  }
  return engine->engine().backend() == ccl::Backend::kCpu ? CUDACCL_BACKEND_CPU : CUDACCL_BACKEND_CUDA;
}

const char* cudaccl_engine_description(CudacclEngine* engine) {
  const char* text = "";
  if (engine != nullptr) {
    call(&engine->error, [&] {
      text = engine->description();
      return Status();
    });
  }
  return text;
}

int32_t cudaccl_engine_device_id(const CudacclEngine* engine) {
  const std::shared_ptr<ccl::Device> device = engine != nullptr ? engine->engine().device() : nullptr;
  return device != nullptr ? device->id() : -1;
}

void* cudaccl_engine_context(const CudacclEngine* engine) {
  const std::shared_ptr<ccl::Device> device = engine != nullptr ? engine->engine().device() : nullptr;
  return device != nullptr ? device->context() : nullptr;
}

CudacclStatus cudaccl_memory_new(CudacclEngine* engine, uint32_t kind, size_t bytes, CudacclMemory** memory) {
  return call_engine(engine, [=]() -> Status {
    if (memory == nullptr) {
      return refuse("the place of the new CudacclMemory is NULL");
    }
    *memory = nullptr;
    CCL_RETURN_IF_ERROR(ccl::capi::check_range("the kind of memory", kind, 0, CUDACCL_MEMORY_DEVICE));
    if (bytes == 0) {
      return refuse("0 bytes of memory; at least 1 is needed");
    }
    auto made = std::make_unique<CudacclMemory>();
    CCL_RETURN_IF_ERROR(allocate(engine->engine(), kind, bytes, &made->bytes));
    *memory = made.release();
    return {};
  });
}

void* cudaccl_memory_data(const CudacclMemory* memory) {
  return memory != nullptr ? memory->bytes.get() : nullptr;
}

void cudaccl_memory_free(CudacclMemory* memory) {
  delete memory;
}

CudacclStatus cudaccl_engine_configure(CudacclEngine* engine, const CudacclConfig* config) {
  return call_engine(engine, [=] { return engine->configure(config); });
}

CudacclStatus cudaccl_engine_set_regions(CudacclEngine* engine, const CudacclRegions* regions) {
  return call_engine(engine, [=] { return engine->set_regions(regions); });
}

CudacclStatus cudaccl_engine_push(CudacclEngine* engine, const CudacclFrame* frame) {
  return call_engine(engine, [=] { return engine->push(&frame, 1); });
}

CudacclStatus cudaccl_engine_push_batch(CudacclEngine* engine, const CudacclFrame* const* frames,
                                        size_t n_frames) {
  return call_engine(engine, [=] { return engine->push(frames, n_frames); });
}

CudacclStatus cudaccl_engine_pop(CudacclEngine* engine, CudacclResult* result) {
  return call_engine(engine, [=] { return engine->pop(result); });
}

CudacclStatus cudaccl_engine_run(CudacclEngine* engine, const CudacclFrame* frame, CudacclResult* result) {
  return call_engine(engine, [=] { return engine->run(frame, result); });
}

CudacclStatus cudaccl_engine_shapes(CudacclEngine* engine, uint32_t max_objects, CudacclShapes* shapes) {
  return call_engine(engine, [=] { return engine->list_shapes(max_objects, shapes); });
}

CudacclStatus cudaccl_engine_flush(CudacclEngine* engine) {
  return call_engine(engine, [=] {
    engine->flush();
    return Status();
  });
}
