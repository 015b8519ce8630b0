// SPDX-License-Identifier: LGPL-2.1-or-later
/// The engine of the C interface, as Python's code uses it: addresses in, blocks of records out. What arrays
/// are and may be is the business of the code in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cudaccl/cudaccl.h"

namespace cudaccl_python {

namespace nb = nanobind;

/// An image in memory: pixels, labels, ids, distances or what is painted.
struct Image {
  uintptr_t address = 0;  ///< 0: there is none
  size_t stride = 0;      ///< bytes
  bool on_device = false;
  uintptr_t stream = 0;  ///< a CUstream, or 0
};

/// The images of a frame. Those that were not configured are ignored.
struct Images {
  Image image, labels, ids, distances, output;
};

/// A frame's moment and what happens before it.
struct Moment {
  int64_t time = CUDACCL_NO_TIME;  ///< nanoseconds
  bool resets_background = false;
  bool resets_tracks = false;
};

/// Raises the exception that belongs to a status other than CUDACCL_OK. `text` is the library's message.
[[noreturn]] void raise_status(CudacclStatus status, const std::string& text);

/// One thread at a time may be in a call; another one gets RuntimeError. Calls that compute release the GIL.
class Engine {
 public:
  Engine(uint32_t backend, int32_t device_id);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  uint32_t backend() const { return cudaccl_engine_backend(engine_); }
  int32_t device_id() const { return cudaccl_engine_device_id(engine_); }
  std::string description() { return cudaccl_engine_description(engine_); }

  /// `values`: fields of CudacclConfig by name. TypeError for a name that it does not have.
  void configure(const nb::dict& values);
  /// Fields of CudacclSettings by name, for all frames that follow.
  void set(const nb::dict& values);
  /// Format, bits, matrix and range of CudacclInput, for all frames that follow.
  void set_format(uint32_t format, uint32_t bits, uint32_t matrix, uint32_t range);
  /// See regions.h.
  void set_regions(const nb::bytes& source);

  /// Starts frames of one moment. The caller keeps the memory until they are popped or flushed.
  void push(std::span<const Images> frames, const Moment& moment);
  /// The numbers and blocks that Engine.pop() in _core.pyi describes. Blocks are valid until the next call.
  nb::tuple pop(nb::handle self);
  void flush();

  CudacclEngine* get() const { return engine_; }

 private:
  class Use;

  void check(CudacclStatus status) const;

  CudacclEngine* engine_ = nullptr;
  CudacclSettings settings_;
  CudacclInput input_;
  std::atomic_flag in_use_ = ATOMIC_FLAG_INIT;
};

/// Memory of an engine that Python reads by the buffer protocol. It keeps its owner alive.
struct Block {
  nb::object owner;
  const void* data = nullptr;
  size_t bytes = 0;
};

/// Memory for images: the GPU's, or the host's, which Python then reads and writes by the buffer protocol.
class Memory {
 public:
  Memory(Engine& engine, bool on_device, size_t bytes);
  ~Memory() { cudaccl_memory_free(memory_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return cudaccl_memory_data(memory_); }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(data()); }
  size_t bytes() const { return bytes_; }
  bool on_device() const { return on_device_; }

 private:
  CudacclMemory* memory_ = nullptr;
  size_t bytes_;
  bool on_device_;
};

/// Writes the field of this name. False if there is none; TypeError or ValueError if it cannot have the
/// value.
bool set_field(CudacclConfig* config, const std::string& name, nb::handle value);
bool set_field(CudacclSettings* settings, const std::string& name, nb::handle value);

/// By field: the numbers of the names of its values.
nb::dict choices();

}  // namespace cudaccl_python
