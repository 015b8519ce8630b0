// SPDX-License-Identifier: LGPL-2.1-or-later
/// A stream of frames: an engine, and all that lasts longer than a frame beside it. The element and the C
/// interface are adapters of it.
///
///     ccl::Stream stream(ccl::make_host_engine());
///     stream.configure({.width = 640, .height = 480});
///     stream.push({.input = {pixels, stride}});
///     const ccl::StreamResult* result = nullptr;
///     stream.pop(&result);  // result->components
///
/// The rules are those of Engine. After a device error, or where memory was not enough, no frame is in
/// flight, and the stream must be configured again. Memory beside the engine's: a frame with regions to draw,
/// labels or polygons takes it, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ccl/draw/outlines.h"
#include "ccl/engine.h"
#include "ccl/events.h"
#include "ccl/regions.h"
#include "ccl/shape.h"
#include "ccl/status.h"

namespace ccl {

/// What a frame has beside its job.
struct FrameOptions {
  int64_t event_hold_ns = 0;  ///< EventFrame::hold_ns
  bool needs_labels = false;  ///< StreamResult::labels; a frame with polygons has them in any case
};

/// Its spans are valid until the next call, apart from list_objects().
struct StreamResult : FrameResult {
  int64_t time = kNoTime;  ///< FrameJob::time
  // With Config::max_tracks; tracks have CclTrack::zones.
  std::span<const CclEvent> events;    ///< in the order of EventMaker::events()
  std::span<const uint32_t> n_inside;  ///< for each zone: how many tracks are in it
  const uint32_t* labels = nullptr;    ///< of the frame, dense: FrameJob::labels
};

/// The largest components of a frame. Spans are valid until the next call.
struct Objects {
  /// By descending area; of equal ones the smaller label first. They are copies, which the caller may change.
  std::span<CclComponent> components;
  /// With kShapeFeatures: those of one component after the other, see PolygonMaker.
  std::span<const CclPolygon> polygons;
  std::span<const CclVertex> vertices;
  bool is_truncated = false;  ///< polygons of a component were left out: a frame has kMaxVertices at most
};

class Stream {
 public:
  /// The polygons of a frame have at most this many vertices.
  static constexpr size_t kMaxVertices = 262144;

  Stream() = default;
  explicit Stream(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  /// Null if there is none.
  const Engine* engine() const { return engine_.get(); }
  /// Replaces the engine, and discards frames in flight. The new one, which may be null, must be configured.
  void use_engine(std::unique_ptr<Engine> engine);

  /// Takes memory for frames of this configuration, and discards frames in flight. Nothing changes if it is
  /// not valid; after every other failure the stream must be configured again.
  Status configure(const Config& config);
  /// Nothing if the stream must be configured before its next frame.
  const std::optional<Config>& config() const { return config_; }
  /// Discards all frames in flight. The stream must be configured before its next frame.
  void forget_configuration();

  /// The regions of frames that are pushed from now on; null: none. Frames in flight keep theirs. After a
  /// failure the old ones stay.
  Status set_regions(std::shared_ptr<const Regions> regions);

  /// False if the outlines of the regions are too long in all to be drawn (see OutlineLayer): known from the
  /// first frame on that draws them.
  bool draws_all_outlines() const { return outlines_ == nullptr || outlines_->is_complete(); }

  /// A frame to push. `regions`, `outlines` and `labels` of the job are the stream's.
  struct Frame {
    FrameJob job;
    FrameOptions options = {};
  };

  /// Starts frames: one, or a batch; see Engine::push().
  Status push(std::span<const Frame> frames);
  Status push(const FrameJob& job, const FrameOptions& options = {}) {
    const Frame frame{job, options};
    return push(std::span(&frame, 1));
  }
  /// Waits for the oldest frame in flight. kNeedMoreData if there is none.
  Status pop(const StreamResult** result);
  size_t n_in_flight() const { return n_in_flight_; }
  /// Discards all frames in flight. The caller may then change their memory.
  void flush();

  /// Lists the `max_objects` largest components of the frame that was popped last, and makes the polygons
  /// that its settings ask for. kInvalidArgument after another call that changes the stream.
  Status list_objects(size_t max_objects, Objects* objects);

  /// Another stream begins, or the last one has ended: discards all frames in flight, forgets their events
  /// without making new ones, and gives memory of labels back.
  void reset();

 private:
  /// Memory for the labels of a frame, kept for frames of the same size.
  class LabelMemory {
   public:
    /// Page-locked if the engine has a device. kOutOfMemory.
    Status prepare(const Engine& engine, size_t n_pixels);
    uint32_t* get() const { return reinterpret_cast<uint32_t*>(memory_.get()); }

   private:
    std::shared_ptr<uint8_t> memory_;
    size_t n_pixels_ = 0;
  };

  /// What pop() needs to know about a frame that was pushed.
  struct InFlight {
    int64_t time = kNoTime;
    bool resets_tracks = false;
    int64_t event_hold_ns = 0;
    std::shared_ptr<const Regions> regions;
    Connectivity connectivity = Connectivity::k8;
    uint32_t features = 0;
    bool has_labels = false;
    LabelMemory labels;  ///< stays when the frame has left
  };

  void forget_events();
  Status prepare_regions(const Config& config);
  Status prepare_events(const Config& config, const std::shared_ptr<const Regions>& regions);
  Status prepare_outlines();
  Status prepare_job(const FrameOptions& options, FrameJob* job, InFlight* frame);
  Status make_events(const InFlight& frame);
  Status lose_frames(Status status);

  std::unique_ptr<Engine> engine_;
  std::optional<Config> config_;
  std::shared_ptr<const Regions> regions_;
  std::shared_ptr<const RegionMask> mask_;        ///< null: the whole frame counts
  std::shared_ptr<const OutlineLayer> outlines_;  ///< null: not made yet, or there is nothing to draw
  EventMaker events_;
  EventConfig event_config_;  ///< for which they are configured; without tracks: not
  std::shared_ptr<const Regions> event_regions_;
  std::vector<InFlight> frames_;  ///< a ring of most_in_flight()
  std::vector<FrameJob> jobs_;    ///< of a push; kept for its memory
  size_t oldest_ = 0;
  size_t n_in_flight_ = 0;
  bool resets_background_ = false;    ///< the next frame with Foreground::kMotion does
  bool resets_tracks_ = false;        ///< the next frame's events begin again: a frame that did was discarded
  const InFlight* popped_ = nullptr;  ///< the frame that `result_` is of; null: there is none
  StreamResult result_;
  std::vector<CclComponent> largest_;
  PolygonMaker polygons_{kMaxVertices};
};

}  // namespace ccl
