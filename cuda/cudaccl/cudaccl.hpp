// SPDX-License-Identifier: LGPL-2.1-or-later
/// The C interface of libcudaccl for C++17: structs that initialise themselves, an engine that frees itself,
/// and exceptions in place of statuses. Nothing here is compiled into the library.
///
///     cudaccl::Engine engine;
///     cudaccl::Config config;
///     config.width = 640;
///     config.height = 480;
///     engine.configure(config);
///     cudaccl::Input input;
///     input.planes[0] = pixels;
///     input.strides[0] = 640;
///     cudaccl::Frame frame;
///     frame.input = &input;
///     const cudaccl::Result result = engine.run(frame);
///     for (const CclComponent& record : result.components())
///       std::cout << record.area << '\n';
#ifndef CUDACCL_HPP
#define CUDACCL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cudaccl/cudaccl.h"

namespace cudaccl {

/// A struct of the C interface with the default of each field.
template <typename T, void (*init)(T*, std::size_t)>
struct Initialised : T {
  Initialised() { init(this, sizeof(T)); }
};

using EngineOptions = Initialised<CudacclEngineOptions, cudaccl_engine_options_init>;
using Config = Initialised<CudacclConfig, cudaccl_config_init>;
using Settings = Initialised<CudacclSettings, cudaccl_settings_init>;
using Regions = Initialised<CudacclRegions, cudaccl_regions_init>;
using Input = Initialised<CudacclInput, cudaccl_input_init>;
using Output = Initialised<CudacclOutput, cudaccl_output_init>;
using Plane = Initialised<CudacclPlane, cudaccl_plane_init>;
using Frame = Initialised<CudacclFrame, cudaccl_frame_init>;
using Shapes = Initialised<CudacclShapes, cudaccl_shapes_init>;
using AlgorithmInfo = Initialised<CudacclAlgorithmInfo, cudaccl_algorithm_info_init>;
using DeviceInfo = Initialised<CudacclDeviceInfo, cudaccl_device_info_init>;

/// An array that somebody else owns.
template <typename T>
class Range {
 public:
  Range(const T* data, std::size_t size) : data_(data), size_(size) {}

  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t index) const { return data_[index]; }

 private:
  const T* data_;
  std::size_t size_;
};

/// See CudacclResult for how long its arrays are valid.
struct Result : Initialised<CudacclResult, cudaccl_result_init> {
  Range<CclComponent> components() const { return {records, n_records}; }
  Range<CclTrack> all_tracks() const { return {tracks, n_tracks}; }
  Range<CclEvent> all_events() const { return {events, n_events}; }
};

/// A failure, with the text that says what to do.
class Error : public std::runtime_error {
 public:
  Error(CudacclStatus status, const std::string& text) : std::runtime_error(text), status_(status) {}

  CudacclStatus status() const { return status_; }

 private:
  CudacclStatus status_;
};

/// Throws an Error unless the status is OK. `engine` is that of the call; null: it had none.
inline void check(CudacclStatus status, const CudacclEngine* engine = nullptr) {
  if (status != CUDACCL_OK) {
    throw Error(status, cudaccl_last_error(engine));
  }
}

/// The regions of a JSON text or a file: see cudaccl_regions_read(). Throws Error.
inline std::shared_ptr<const CudacclRegions> read_regions(const std::string& source) {
  CudacclRegions* regions = nullptr;
  check(cudaccl_regions_read(source.data(), source.size(), &regions));
  return {regions, cudaccl_regions_free};
}

/// Memory for images: see cudaccl_memory_new().
class Memory {
 public:
  Memory(CudacclEngine* engine, std::uint32_t kind, std::size_t bytes) {
    CudacclMemory* memory = nullptr;
    check(cudaccl_memory_new(engine, kind, bytes, &memory), engine);
    memory_.reset(memory);
  }

  void* data() const { return cudaccl_memory_data(memory_.get()); }

 private:
  struct Free {
    void operator()(CudacclMemory* memory) const { cudaccl_memory_free(memory); }
  };
  std::unique_ptr<CudacclMemory, Free> memory_;
};

/// All functions throw Error.
class Engine {
 public:
  explicit Engine(const CudacclEngineOptions& options = EngineOptions()) {
    CudacclEngine* engine = nullptr;
    check(cudaccl_engine_new(&options, &engine));
    engine_.reset(engine);
  }

  /// The engine, as functions of the C interface take it.
  CudacclEngine* get() const { return engine_.get(); }

  std::string description() const { return cudaccl_engine_description(get()); }
  bool is_cuda() const { return cudaccl_engine_backend(get()) == CUDACCL_BACKEND_CUDA; }

  void configure(const CudacclConfig& config) { check(cudaccl_engine_configure(get(), &config), get()); }
  void set_regions(const CudacclRegions& regions) {
    check(cudaccl_engine_set_regions(get(), &regions), get());
  }
  void push(const CudacclFrame& frame) { check(cudaccl_engine_push(get(), &frame), get()); }
  void push(const std::vector<const CudacclFrame*>& frames) {
    check(cudaccl_engine_push_batch(get(), frames.data(), frames.size()), get());
  }
  void flush() { check(cudaccl_engine_flush(get()), get()); }
  Memory allocate(std::uint32_t kind, std::size_t bytes) { return Memory(get(), kind, bytes); }

  Result pop() {
    Result result;
    check(cudaccl_engine_pop(get(), &result), get());
    return result;
  }

  Result run(const CudacclFrame& frame) {
    Result result;
    check(cudaccl_engine_run(get(), &frame, &result), get());
    return result;
  }

  /// Of the frame that was popped last.
  Shapes shapes(std::uint32_t max_objects = UINT32_MAX) {
    Shapes shapes;
    check(cudaccl_engine_shapes(get(), max_objects, &shapes), get());
    return shapes;
  }

 private:
  struct Free {
    void operator()(CudacclEngine* engine) const { cudaccl_engine_free(engine); }
  };
  std::unique_ptr<CudacclEngine, Free> engine_;
};

}  // namespace cudaccl

#endif  // CUDACCL_HPP
