// SPDX-License-Identifier: LGPL-2.1-or-later
/// The device engine: a ring of slots, each with a stream, and a stream for the copies in each direction, so
/// that the upload of one frame, the kernels of another and the download of a third overlap. Frames of a
/// batch that can share a launch have a slot in common.
#include "ccl/engine.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/batch_slot.h"
#include "device/check.h"
#include "device/context.h"
#include "device/slot.h"
#include "device/stages/draw.h"
#include "device/stages/segment/segmenter.h"
#include "device/stages/track/tracker.h"

namespace ccl {

namespace device {

namespace {

__global__ void probe() {}

/// kUnsupported if this build has no code for the GPU. The context must be current.
Status check_code(const Context& context) {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();
    return {StatusCode::kUnsupported, "this build of cudaccl has no code for " + context.description() +
                                          "; build it with -Dcuda-archs for that, or with all"};
  }
  return check(error, "cudaFuncGetAttributes");
}

class DeviceEngine final : public Engine {
 public:
  explicit DeviceEngine(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  ~DeviceEngine() override {
    const CurrentContext current(*context_);
    if (current.status().ok()) {
      release();
      segmenter_.reset();
      tracker_.reset();
    } else {
      abandon();
    }
  }

  Backend backend() const override { return Backend::kCuda; }

  std::string description() const override { return context_->description(); }

  Status configure(const Config& config) override {
    const CurrentContext current(*context_);
    if (!current.status().ok()) {
      return lose_context(current.status());
    }
    release();
    CCL_RETURN_IF_ERROR(validate(config));
    const AlgorithmInfo* algorithm = nullptr;
    CCL_RETURN_IF_ERROR(resolve_algorithm(config.algorithm, Backend::kCuda, &algorithm));
    config_ = config;
    // There are never more components than pixels.
    config_.max_components = std::min(config.max_components, config.width * config.height);
    Status status = catch_bad_alloc([&] { return make_slots(*algorithm); });
    if (!status.ok()) {
      release();
    }
    return status;
  }

  using Engine::push;
  Status push(std::span<const FrameJob> jobs) override {
    if (slots_.empty()) {
      return {StatusCode::kInvalidArgument, "the engine is not configured"};
    }
    CCL_RETURN_IF_ERROR(validate(jobs, n_in_flight_, config_, Backend::kCuda));
    const CurrentContext current(*context_);
    if (!current.status().ok()) {
      return lose_context(current.status());
    }
    if (Status status = catch_bad_alloc([&] { return start(jobs); }); !status.ok()) {
      return discard_frames(status);
    }
    return {};
  }

  Status pop(FrameResult* result) override {
    if (n_in_flight_ == 0) {
      return {StatusCode::kNeedMoreData, "no frame is in flight"};
    }
    const CurrentContext current(*context_);
    if (!current.status().ok()) {
      return lose_context(current.status());
    }
    if (Status status = catch_bad_alloc([&] { return finish(result); }); !status.ok()) {
      return discard_frames(status);
    }
    return {};
  }

  void flush() override {
    const CurrentContext current(*context_);
    if (current.status().ok()) {
      for (const std::unique_ptr<Slot>& slot : slots_) {
        slot->wait();
      }
      for (const std::unique_ptr<BatchSlot>& slot : batch_slots_) {
        slot->flush();
      }
    }
    forget_frames();
  }

  std::shared_ptr<Device> device() const override { return context_; }

 private:
  /// A frame in flight: that of a batch, in a slot, or waiting for one.
  struct Frame {
    BatchSlot* batch = nullptr;
    Slot* slot = nullptr;
    FrameJob job;  ///< of a frame that waits
  };

  /// For frames of batches that cannot share a launch, so many that their copies overlap.
  size_t n_slots() const { return config_.batch > 1 ? std::max(config_.slots, 3u) : config_.slots; }

  Status start(std::span<const FrameJob> jobs) {
    const auto free = std::find_if(batch_slots_.begin(), batch_slots_.end(),
                                   [](const auto& slot) { return !slot->is_in_use(); });
    bool can_share = false;
    if (jobs.size() > 1 && free != batch_slots_.end()) {
      CCL_RETURN_IF_ERROR((*free)->prepare(jobs, &can_share));
    }
    if (can_share) {
      CCL_RETURN_IF_ERROR((*free)->start(jobs));
      for (size_t i = 0; i < jobs.size(); ++i) {
        frame(n_in_flight_++).batch = free->get();
      }
      return {};
    }
    for (const FrameJob& job : jobs) {
      frame(n_in_flight_++).job = job;
    }
    return start_waiting();
  }

  /// The n-th frame in flight.
  Frame& frame(size_t n) { return frames_[(oldest_ + n) % frames_.size()]; }

  /// Starts frames that wait, as many as there are slots.
  Status start_waiting() {
    for (size_t i = 0; i < n_in_flight_ && n_in_slots_ < slots_.size(); ++i) {
      Frame& waiting = frame(i);
      if (waiting.batch == nullptr && waiting.slot == nullptr) {
        waiting.slot = slots_[next_slot_].get();
        next_slot_ = (next_slot_ + 1) % slots_.size();
        ++n_in_slots_;
        CCL_RETURN_IF_ERROR(waiting.slot->start(std::exchange(waiting.job, {})));
      }
    }
    return {};
  }

  Status finish(FrameResult* result) {
    CCL_RETURN_IF_ERROR(start_waiting());  // in the slot of the last result, which is no longer valid
    const Frame oldest = std::exchange(frames_[oldest_], {});
    oldest_ = (oldest_ + 1) % frames_.size();
    --n_in_flight_;
    if (oldest.batch == nullptr) {
      --n_in_slots_;
      return oldest.slot->finish(/*is_alone=*/n_in_flight_ == 0, result);
    }
    bool overflows = false;
    CCL_RETURN_IF_ERROR(oldest.batch->pop(result, &overflows));
    return overflows ? run_alone(oldest.batch->job(), result) : Status();
  }

  /// Processes the rare frame of a batch whose table overflows.
  Status run_alone(const FrameJob& job, FrameResult* result) {
    if (lone_slot_ == nullptr) {
      const AlgorithmInfo* algorithm = nullptr;
      CCL_RETURN_IF_ERROR(resolve_algorithm(config_.algorithm, Backend::kCuda, &algorithm));
      CCL_RETURN_IF_ERROR(make_slot(*algorithm, &lone_slot_));
    }
    CCL_RETURN_IF_ERROR(lone_slot_->start(job));
    return lone_slot_->finish(/*is_alone=*/false, result);
  }

  void forget_frames() {
    std::fill(frames_.begin(), frames_.end(), Frame());
    oldest_ = 0;
    n_in_flight_ = 0;
    n_in_slots_ = 0;
    next_slot_ = 0;
  }

  Status make_slot(const AlgorithmInfo& algorithm, std::unique_ptr<Slot>* slot) {
    std::unique_ptr<Pipeline> pipeline;
    CCL_RETURN_IF_ERROR(make_pipeline(config_, algorithm, &pipeline));
    *slot = std::make_unique<Slot>();
    return (*slot)->configure(config_, std::move(pipeline), copies_.get(),
                              {segmenter_.get(), tracker_.get(), track_drawing_.get()});
  }

  Status make_slots(const AlgorithmInfo& algorithm) {
    if (segmenter_ == nullptr || !segmenter_->has_size(config_.width, config_.height)) {
      segmenter_.reset();
      auto segmenter = std::make_unique<Segmenter>();
      CCL_RETURN_IF_ERROR(segmenter->configure(config_.width, config_.height));
      segmenter_ = std::move(segmenter);
    }
    CCL_RETURN_IF_ERROR(prepare_tracker());
    if (n_slots() > 1) {
      copies_ = std::make_unique<CopyStreams>();
      CCL_RETURN_IF_ERROR(copies_->up.create());
      CCL_RETURN_IF_ERROR(copies_->down.create());
    }
    frames_ = std::vector<Frame>(most_in_flight(config_));
    track_drawing_ = std::make_unique<TrackDrawing>();
    CCL_RETURN_IF_ERROR(track_drawing_->configure(config_, n_slots()));
    for (uint32_t i = 0; i < config_.slots && config_.batch > 1 && BatchSlot::is_for(config_); ++i) {
      batch_slots_.push_back(std::make_unique<BatchSlot>());
      CCL_RETURN_IF_ERROR(batch_slots_.back()->configure(config_));
    }
    for (uint32_t i = 0; i < n_slots(); ++i) {
      slots_.emplace_back();
      CCL_RETURN_IF_ERROR(make_slot(algorithm, &slots_.back()));
    }
    return {};
  }

  /// Keeps the tracks if they fit the configuration. Ids go on in any case.
  Status prepare_tracker() {
    if (tracker_ != nullptr && tracker_->fits(config_)) {
      return {};
    }
    if (tracker_ != nullptr) {
      CCL_RETURN_IF_ERROR(tracker_->read_last_id(&last_id_));
      tracker_.reset();
    }
    if (config_.max_tracks > 0) {
      auto tracker = std::make_unique<Tracker>();
      CCL_RETURN_IF_ERROR(tracker->configure(config_, last_id_));
      tracker_ = std::move(tracker);
    }
    return {};
  }

  /// Returns to the unconfigured state, once the frames in flight are done. The context must be current.
  void release() {
    slots_.clear();
    lone_slot_.reset();
    batch_slots_.clear();
    track_drawing_.reset();
    copies_.reset();
    forget_frames();
  }

  /// After a failure. The segment and track stages may have stopped between two kernels of a frame, so their
  /// state goes too.
  Status discard_frames(const Status& status) {
    release();
    segmenter_.reset();
    if (tracker_ != nullptr) {
      static_cast<void>(tracker_->read_last_id(&last_id_));  // unless the GPU has failed
      tracker_.reset();
    }
    return status;
  }

  /// For a context that was destroyed: everything made in it is gone, and must not be freed in another
  /// context.
  void abandon() {
    for (std::unique_ptr<Slot>& slot : slots_) {
      static_cast<void>(slot.release());
    }
    slots_.clear();
    for (std::unique_ptr<BatchSlot>& slot : batch_slots_) {
      static_cast<void>(slot.release());
    }
    batch_slots_.clear();
    static_cast<void>(lone_slot_.release());
    static_cast<void>(segmenter_.release());
    static_cast<void>(track_drawing_.release());
    static_cast<void>(tracker_.release());
    static_cast<void>(copies_.release());
    forget_frames();
  }

  Status lose_context(const Status& status) {
    abandon();
    return status;
  }

  // First, so that the context outlives what was made in it.
  std::shared_ptr<Context> context_;
  Config config_;
  std::unique_ptr<Segmenter> segmenter_;  ///< kept while frames have the same size
  std::unique_ptr<Tracker> tracker_;      ///< null: components have no identity over time
  uint32_t last_id_ = 0;                  ///< of tracks that are no longer there
  std::unique_ptr<CopyStreams> copies_;   ///< null if there is one slot only
  std::unique_ptr<TrackDrawing> track_drawing_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Slot> lone_slot_;  ///< once the table of a frame of a batch overflowed
  std::vector<std::unique_ptr<BatchSlot>> batch_slots_;
  std::vector<Frame> frames_;  ///< a ring of most_in_flight()
  size_t oldest_ = 0;          ///< index of the oldest frame in flight
  size_t n_in_flight_ = 0;     ///< frames from there on
  size_t n_in_slots_ = 0;      ///< of these, those that were started in a slot each
  size_t next_slot_ = 0;       ///< for the next one
};

}  // namespace

}  // namespace device

bool has_device_engine() {
  return true;
}

Status list_devices(std::vector<DeviceDescription>* devices) {
  return device::catch_bad_alloc([&] { return device::Context::list(devices); });
}

Status make_device_engine(const DeviceOptions& options, std::unique_ptr<Engine>* engine) {
  return device::catch_bad_alloc([&]() -> Status {
    std::shared_ptr<device::Context> context;
    CCL_RETURN_IF_ERROR(device::Context::create(options, &context));
    {
      const device::CurrentContext current(*context);
      CCL_RETURN_IF_ERROR(current.status());
      CCL_RETURN_IF_ERROR(device::check_code(*context));
    }
    *engine = std::make_unique<device::DeviceEngine>(std::move(context));
    return {};
  });
}

}  // namespace ccl
