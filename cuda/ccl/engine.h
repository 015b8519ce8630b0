// SPDX-License-Identifier: LGPL-2.1-or-later
/// An engine owns memory and runs the stages segment → label → number → select → measure → track → paint on
/// frames pushed into it.
///
///     std::unique_ptr<ccl::Engine> engine = ccl::make_host_engine();
///     engine->configure({.width = 640, .height = 480});
///     engine->push({.input = {pixels, stride}});
///     ccl::FrameResult result;
///     engine->pop(&result);  // result.components
///
/// Rules:
/// - Frames leave in the order in which they were pushed.
/// - One thread at a time may use an engine.
/// - A device error in push() or pop() discards all frames and invalidates their results. Then the engine
///   must be configured again.
///
/// Memory: configure() takes all memory, and later calls allocate nothing, with two exceptions. Both engines
/// take the memory of a background model, of its image (Output::kBackground), of a plane of luma
/// (SourcePixels), of the sums of all components (a filter that reads more than areas; on the GPU not with
/// `runs`), and of grey statistics (kFeatureGrey) with the first frame that needs them; configure() keeps
/// the model unless the frame's size changes. The GPU engine takes the memory for rare cases with the first
/// frame that needs it. These cases are:
/// - an input or output image in another memory than Config names;
/// - a plane on the host, though Config::output_memory is the device;
/// - an output image on the device with padded rows, or at an address that 16-byte stores cannot write to;
/// - from the host: an input that is not a plane of 8-bit luma, or larger pixels of it than before;
/// - Settings::draw_regions, and again for FrameJob::outlines of more pixels than before;
/// - with `runs`: an active filter; Filter::top_n; hysteresis;
/// - with `runs`: Foreground::kValues, and later each change between the foreground rules;
/// - with `runs`: a record table that overflows;
/// - with `runs`: FrameJob::root_map or FrameJob::labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ccl/clock.h"
#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/draw/outlines.h"
#include "ccl/grey.h"
#include "ccl/regions.h"
#include "ccl/segment.h"
#include "ccl/segment/luma.h"
#include "ccl/status.h"
#include "ccl/track.h"
#include "ccl/tracking.h"

namespace ccl {

/// The chroma of an image: a value of each array for every 2^shift_x × 2^shift_y pixels, rounded up. In the
/// same memory as the image.
struct Chroma {
  const uint8_t* u = nullptr;  ///< null: the image has no chroma
  const uint8_t* v = nullptr;
  size_t stride = 0;    ///< of both, bytes
  uint8_t step = 1;     ///< bytes from one value to the next: more than 1 if u and v alternate
  uint8_t shift_x = 0;  ///< 0 or 1
  uint8_t shift_y = 0;  ///< 0 or 1

  bool operator==(const Chroma&) const = default;
};

/// Rows of 8-bit pixels, `stride` bytes from one row's start to the next one's. Only a device engine reads
/// Memory::kDevice; it must be memory of the engine's context.
struct InputImage {
  const uint8_t* pixels = nullptr;
  size_t stride = 0;
  Memory memory = Memory::kHost;
  /// A CUstream: the frame is read after all work that is on the stream at push(). Null: nothing writes it.
  void* stream = nullptr;
  Chroma chroma = {};  ///< read by Foreground::kMotion, Output::kOverlay, kForeground and kBackground
  /// If its pixels are not null, the luma is found there, in the same memory, and `pixels` and `stride` above
  /// are the engine's.
  SourcePixels source = {};
};

/// Rows of pixels of bytes_per_pixel(Config::output) bytes, as above. Ignored with Output::kNone. pop()
/// writes host memory that is not page-locked (see Device::allocate_host()), and waits for it.
struct OutputImage {
  uint8_t* pixels = nullptr;
  size_t stride = 0;
  Memory memory = Memory::kHost;
  /// A CUstream: the pixels are written after all work that is on the stream at push(). Null: nothing uses
  /// them.
  void* stream = nullptr;
  /// Output::kMask only: planes of chroma that the engine fills with 128, which is grey. Rows of
  /// `chroma_row` bytes.
  uint8_t* chroma[2] = {};
  size_t chroma_stride = 0;
  uint32_t chroma_row = 0;
  uint32_t chroma_rows = 0;
};

/// Where a plane (see ccl::Plane) is written: rows of 32-bit values, `stride` bytes from one row's start to
/// the next one's, a multiple of 4. pop() writes host memory that is not page-locked, and waits for it.
struct PlaneImage {
  uint32_t* values = nullptr;
  size_t stride = 0;
  Memory memory = Memory::kHost;
  /// A CUstream, as OutputImage::stream.
  void* stream = nullptr;
};

/// One frame. The caller owns the memory of all pointers and must not change it until the frame is popped or
/// flushed. The output must not overlap the input.
struct FrameJob {
  InputImage input;
  OutputImage output;
  PlaneImage label_plane = {};     ///< with kLabelPlane of Config::planes
  PlaneImage id_plane = {};        ///< with kIdPlane
  PlaneImage distance_plane = {};  ///< with kDistancePlane
  Settings settings;
  Segmentation segmentation = {};
  std::shared_ptr<const RegionMask> regions = nullptr;  ///< of the frame's size; null: the whole frame counts
  /// Of the frame's size; drawn with Settings::draw_regions. Null: none.
  std::shared_ptr<const OutlineLayer> outlines = nullptr;
  Tracking tracking = {};  ///< with Config::max_tracks
  /// When the frame was taken, in nanoseconds on any clock, for Foreground::kMotion and tracks; kNoTime if
  /// not known.
  int64_t time = kNoTime;
  bool resets_background = false;  ///< with Foreground::kMotion: the model learns again from this frame on
  bool resets_tracks = false;      ///< all tracks end before this frame; their ids are not used again
  /// If not null, width × height values, dense: 0 for background, else 1 + the smallest raster index of
  /// the pixel's component.
  uint32_t* root_map = nullptr;
  /// If not null, width × height values, dense: the canonical labels, before filtering.
  uint32_t* labels = nullptr;
};

/// kInvalidArgument, with a message that says why, if the images do not fit the configuration or the backend.
Status validate(const FrameJob& job, const Config& config, Backend backend);

/// The same for frames that are pushed in one call, while others are in flight.
Status validate(std::span<const FrameJob> jobs, size_t n_in_flight, const Config& config, Backend backend);

/// Microseconds of each stage, select as part of measure; on the GPU measured by events on the frame's
/// stream. The GPU's `runs` fuses the stages from label to paint and reports their time as label. Distances
/// are measured in label.
struct StageTimes {
  float upload = 0;
  float segment = 0;
  float label = 0;
  float number = 0;
  float measure = 0;
  float track = 0;
  float paint = 0;
  float download = 0;
};

struct FrameResult {
  FrameCounts counts;
  bool overflow = false;          ///< n_components > max_components: the table holds the largest
  bool labels_saturated = false;  ///< Output::kLabels and n_labels > 65535
  /// min(n_components, max_components) records by ascending label. The engine owns them. They are valid until
  /// the next push(), pop(), flush() or configure().
  std::span<const CclComponent> components;
  /// With Config::max_tracks: all tracks, by ascending id. As long valid as the components.
  std::span<const CclTrack> tracks;
  /// With kFeatureGrey: the statistics of each component, in the order of `components`; else empty. As long
  /// valid as these.
  std::span<const CclGrey> grey;
  StageTimes times;
};

/// A GPU and the CUDA context of an engine. It may outlive the engine. Any thread may use it.
class Device {
 public:
  virtual ~Device() = default;

  /// CUDA device ordinal.
  virtual int id() const = 0;

  /// The CUcontext. It lives as long as this object.
  virtual void* context() const = 0;

  /// Page-locked host memory: copies between it and the GPU run at full speed and do not block the host. It
  /// may outlive this object. kOutOfMemory if there is no more.
  virtual Status allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) = 0;

  /// The GPU's memory, likewise.
  virtual Status allocate(size_t bytes, std::shared_ptr<uint8_t>* memory) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual Backend backend() const = 0;
  /// The processor in use, for people to read.
  virtual std::string description() const = 0;

  /// Takes the memory that frames of this configuration need, and discards frames in flight. After a failure
  /// the engine must be configured again before it is used.
  virtual Status configure(const Config& config) = 0;

  /// Starts frames, in their order: one, or several in one call, at most Config::batch, which is a batch.
  /// Results are those of frames that are pushed one by one. The GPU labels the frames of a batch in one
  /// launch if they lie in its memory, have the same settings, and need `runs` alone: no filter, no bit
  /// image, no tracks. kInvalidArgument, and nothing is started, if one of them is not valid, or if more
  /// frames than slots × batch would be in flight.
  virtual Status push(std::span<const FrameJob> jobs) = 0;
  Status push(const FrameJob& job) { return push(std::span(&job, 1)); }

  /// Waits for the oldest frame in flight. kNeedMoreData if there is none.
  virtual Status pop(FrameResult* result) = 0;

  /// Discards all frames in flight. The caller may then change their memory.
  virtual void flush() = 0;

  /// The device of a device engine, for the caller to use too; null on the CPU.
  virtual std::shared_ptr<Device> device() const = 0;
};

std::unique_ptr<Engine> make_host_engine();

/// True in a build with the CUDA part.
bool has_device_engine();

struct DeviceOptions {
  int device_id = -1;  ///< CUDA device ordinal; −1 takes the first
  /// The CUcontext to use. It is kept as long as the engine, or anything it returned, needs it. Null: the
  /// device's primary context.
  std::shared_ptr<void> context;
};

/// kUnsupported in a build without CUDA; kNoDevice if there is no driver or no such GPU.
Status make_device_engine(const DeviceOptions& options, std::unique_ptr<Engine>* engine);

}  // namespace ccl
