// SPDX-License-Identifier: LGPL-2.1-or-later
/// An engine owns memory and runs the stages label → number → measure → paint on frames pushed into it.
///
///     std::unique_ptr<ccl::Engine> engine = ccl::make_host_engine();
///     engine->configure({.width = 640, .height = 480});
///     engine->push({.input = {pixels, stride}});
///     ccl::FrameResult result;
///     engine->pop(&result);  // result.components
///
/// Frames leave in the order they came. One thread at a time may use an engine. After configure() no call
/// allocates, but that the GPU takes what is seldom needed with the first frame that needs it: images that
/// lie elsewhere than Config tells, outputs on the device with padded rows or where 16-byte stores may not
/// go, and in `runs` a filter, the other foreground rule, a table that overflows, a map. A device error in
/// push() or pop() discards all frames, ends the life of their results, and wants configure() again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/status.h"

namespace ccl {

/// Rows of 8-bit pixels, `stride` bytes from one row's start to the next one's. Only a device engine reads
/// Memory::kDevice, which is memory of the context it works in.
struct InputImage {
  const uint8_t* pixels = nullptr;
  size_t stride = 0;
  Memory memory = Memory::kHost;
  /// A CUstream: the frame is read once all that is on it at push() is done. Null: nothing writes the frame.
  void* stream = nullptr;
};

/// Rows of bytes_per_pixel(Config::output) pixels, as above. Ignored with Output::kNone. Host memory that is
/// not page-locked (see Device::allocate_host()) is written in pop(), which waits for it.
struct OutputImage {
  uint8_t* pixels = nullptr;
  size_t stride = 0;
  Memory memory = Memory::kHost;
  /// A CUstream: the pixels are written once all that is on it at push() is done. Null: nothing uses them.
  void* stream = nullptr;
};

/// One frame. What the pointers lead to is the caller's and must stay as it is until the frame is popped
/// or flushed. The output must not overlap the input.
struct FrameJob {
  InputImage input;
  OutputImage output;
  Settings settings;
  /// If not null, width × height values, dense: 0 for background, else 1 + the smallest raster index of
  /// the pixel's component.
  uint32_t* root_map = nullptr;
  /// If not null, width × height values, dense: the canonical labels, before filtering.
  uint32_t* labels = nullptr;
};

/// kInvalidArgument, with what is wrong, unless the images fit the configuration and the backend.
Status validate(const FrameJob& job, const Config& config, Backend backend);

/// Microseconds each stage took; on the GPU by events on the frame's stream. The GPU's `runs` fuses the
/// stages from label to paint and tells the time of all as label.
struct StageTimes {
  float upload = 0;
  float label = 0;
  float number = 0;
  float measure = 0;
  float paint = 0;
  float download = 0;
};

struct FrameResult {
  FrameCounts counts;
  bool overflow = false;          ///< n_components > max_components: the table holds the largest
  bool labels_saturated = false;  ///< Output::kLabels and n_labels > 65535
  /// Ascending labels; min(n_components, max_components) records. The engine's, valid until the next
  /// push(), flush() or configure(), and until a pop() that fails.
  std::span<const CclComponent> components;
  StageTimes times;
};

/// A GPU and the context on it that an engine works in. It may outlive the engine; any thread may use it.
class Device {
 public:
  virtual ~Device() = default;

  /// CUDA device ordinal.
  virtual int id() const = 0;

  /// The CUcontext, which lives as long as this.
  virtual void* context() const = 0;

  /// Page-locked host memory: copies between it and the GPU run at full speed and leave the host free. It
  /// may outlive this. kOutOfMemory where there is no more.
  virtual Status allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual Backend backend() const = 0;
  /// For a person: the processor in use.
  virtual std::string description() const = 0;

  /// Takes all memory that frames of this configuration need. Frames in flight are discarded. After a
  /// failure the engine must be configured again before it is used.
  virtual Status configure(const Config& config) = 0;

  /// Starts a frame. kInvalidArgument when Config::slots frames are in flight already.
  virtual Status push(const FrameJob& job) = 0;

  /// Waits for the oldest frame in flight. kNeedMoreData when there is none.
  virtual Status pop(FrameResult* result) = 0;

  /// Discards all frames in flight; their memory is the caller's again.
  virtual void flush() = 0;

  /// What a device engine shares with those around it; null on the CPU.
  virtual std::shared_ptr<Device> device() const = 0;
};

std::unique_ptr<Engine> make_host_engine();

/// True in a build with the CUDA part.
bool has_device_engine();

struct DeviceOptions {
  int device_id = -1;  ///< CUDA device ordinal; −1 takes the first
  /// The CUcontext to work in, kept as long as anything of the engine needs it. Null: the device's primary
  /// context.
  std::shared_ptr<void> context;
};

/// kUnsupported in a build without CUDA; kNoDevice where there is no driver or no such GPU.
Status make_device_engine(const DeviceOptions& options, std::unique_ptr<Engine>* engine);

}  // namespace ccl
