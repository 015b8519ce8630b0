// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "regions.h"
#include "without_gil.h"

namespace cudaccl_python {

/// Marks the engine as in use, or raises.
class Engine::Use {
 public:
  explicit Use(Engine* engine) : engine_(engine) {
    if (engine->in_use_.test_and_set(std::memory_order_acquire)) {
      PyErr_SetString(PyExc_RuntimeError, "another thread uses this engine: make one engine for each thread");
      throw nb::python_error();
    }
  }
  ~Use() { engine_->in_use_.clear(std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Engine* engine_;
};

void raise_status(CudacclStatus status, const std::string& text) {
  const std::string message = text.empty() ? cudaccl_status_text(status) : text;
  PyObject* type = PyExc_RuntimeError;
  nb::object device_error;
  switch (status) {
    case CUDACCL_INVALID_ARGUMENT:
    case CUDACCL_UNSUPPORTED:
      type = PyExc_ValueError;
      break;
    case CUDACCL_OUT_OF_MEMORY:
      type = PyExc_MemoryError;
      break;
    case CUDACCL_NO_DEVICE:
    case CUDACCL_DEVICE_ERROR:
      device_error = nb::module_::import_("cudaccl._types").attr("DeviceError");
      type = device_error.ptr();
      break;
    case CUDACCL_OK:
    case CUDACCL_NEED_MORE_DATA:
      break;
  }
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

namespace {

uint32_t memory_of(const Image& image) {
  return image.on_device ? CUDACCL_MEMORY_DEVICE : CUDACCL_MEMORY_HOST;
}

/// `plane`, or null if there is no image.
const CudacclPlane* plane_of(const Image& image, CudacclPlane* plane) {
  if (image.address == 0) {
    return nullptr;
  }
  cudaccl_plane_init(plane, sizeof *plane);
  plane->values = reinterpret_cast<uint32_t*>(image.address);
  plane->stride = image.stride;
  plane->memory = memory_of(image);
  plane->stream = reinterpret_cast<void*>(image.stream);
  return plane;
}

}  // namespace

Memory::Memory(Engine& engine, bool on_device, size_t bytes) : bytes_(bytes), on_device_(on_device) {
  const uint32_t kind = on_device ? CUDACCL_MEMORY_DEVICE : CUDACCL_MEMORY_HOST;
  if (const CudacclStatus status = cudaccl_memory_new(engine.get(), kind, bytes, &memory_);
      status != CUDACCL_OK) {
    raise_status(status, cudaccl_last_error(engine.get()));
  }
}

Engine::Engine(uint32_t backend, int32_t device_id) {
  CudacclEngineOptions options;
  cudaccl_engine_options_init(&options, sizeof options);
  options.backend = backend;
  options.device_id = device_id;
  if (CudacclStatus status = cudaccl_engine_new(&options, &engine_); status != CUDACCL_OK) {
    status = status == CUDACCL_UNSUPPORTED ? CUDACCL_NO_DEVICE : status;  // a build without CUDA
    raise_status(status, cudaccl_last_error(nullptr));
  }
  cudaccl_settings_init(&settings_, sizeof settings_);
  cudaccl_input_init(&input_, sizeof input_);
}

Engine::~Engine() {
  cudaccl_engine_free(engine_);
}

void Engine::check(CudacclStatus status) const {
  if (status != CUDACCL_OK) {
    raise_status(status, cudaccl_last_error(engine_));
  }
}

void Engine::configure(const nb::dict& values) {
  const Use use(this);
  CudacclConfig config;
  cudaccl_config_init(&config, sizeof config);
  std::string algorithm;
  for (const auto& [key, value] : values) {
    const auto name = nb::cast<std::string>(key);
    if (name == "algorithm") {
      algorithm = nb::cast<std::string>(value);
      config.algorithm = algorithm.c_str();
    } else if (!set_field(&config, name, value)) {
      throw nb::type_error(("unknown keyword " + name).c_str());
    }
  }
  CudacclStatus status;
  {
    const WithoutGil released;
    status = cudaccl_engine_configure(engine_, &config);
  }
  check(status);
}

void Engine::set(const nb::dict& values) {
  const Use use(this);
  CudacclSettings settings = settings_;
  for (const auto& [key, value] : values) {
    const auto name = nb::cast<std::string>(key);
    if (!set_field(&settings, name, value)) {
      throw nb::type_error(("unknown keyword " + name).c_str());
    }
  }
  settings_ = settings;
}

void Engine::set_format(uint32_t format, uint32_t bits, uint32_t matrix, uint32_t range) {
  const Use use(this);
  input_.format = format;
  input_.bits = bits;
  input_.matrix = matrix;
  input_.range = range;
}

void Engine::set_regions(const nb::bytes& source) {
  const Use use(this);
  check(cudaccl_python::set_regions(engine_, source));
}

void Engine::push(std::span<const Images> frames, const Moment& moment) {
  const Use use(this);
  /// A frame of the C interface with all that it points to.
  struct Pushed {
    CudacclInput input;
    CudacclPlane labels, ids, distances;
    CudacclOutput output;
    CudacclFrame frame;
  };
  std::vector<Pushed> pushed(frames.size());
  std::vector<const CudacclFrame*> pointers;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Images& images = frames[i];
    Pushed& to = pushed[i];
    to.input = input_;
    to.input.planes[0] = reinterpret_cast<const void*>(images.image.address);
    to.input.strides[0] = images.image.stride;
    to.input.memory = memory_of(images.image);
    to.input.stream = reinterpret_cast<void*>(images.image.stream);
    cudaccl_frame_init(&to.frame, sizeof to.frame);
    to.frame.input = &to.input;
    to.frame.labels = plane_of(images.labels, &to.labels);
    to.frame.ids = plane_of(images.ids, &to.ids);
    to.frame.distances = plane_of(images.distances, &to.distances);
    to.frame.settings = &settings_;
    to.frame.time = moment.time;
    to.frame.reset_background = moment.resets_background ? 1 : 0;
    to.frame.reset_tracks = moment.resets_tracks ? 1 : 0;
    if (images.output.address != 0) {
      cudaccl_output_init(&to.output, sizeof to.output);
      to.output.pixels = reinterpret_cast<void*>(images.output.address);
      to.output.stride = images.output.stride;
      to.output.memory = memory_of(images.output);
      to.output.stream = reinterpret_cast<void*>(images.output.stream);
      to.frame.output = &to.output;
    }
    pointers.push_back(&to.frame);
  }
  CudacclStatus status;
  {
    const WithoutGil released;
    status = cudaccl_engine_push_batch(engine_, pointers.data(), pointers.size());
  }
  check(status);
}

nb::tuple Engine::pop(nb::handle self) {
  const Use use(this);
  CudacclResult result;
  cudaccl_result_init(&result, sizeof result);
  CudacclStatus status;
  {
    const WithoutGil released;
    status = cudaccl_engine_pop(engine_, &result);
  }
  check(status);
  const nb::object owner = nb::borrow(self);
  const auto block = [&](const void* data, size_t count, size_t size) {
    return nb::cast(Block{owner, data, count * size});
  };
  const nb::tuple times =
      nb::make_tuple(result.upload_us, result.segment_us, result.label_us, result.number_us,
                     result.measure_us, result.track_us, result.paint_us, result.download_us);
  return nb::make_tuple(result.n_labels, result.n_components, result.overflow != 0, result.level,
                        result.relearning != 0, times,
                        block(result.records, result.n_records, sizeof *result.records),
                        block(result.tracks, result.n_tracks, sizeof *result.tracks),
                        block(result.events, result.n_events, sizeof *result.events));
}

void Engine::flush() {
  const Use use(this);
  CudacclStatus status;
  {
    const WithoutGil released;
    status = cudaccl_engine_flush(engine_);
  }
  check(status);
}

}  // namespace cudaccl_python
