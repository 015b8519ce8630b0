// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/stream.h"

#include <algorithm>
#include <new>
#include <utility>

namespace ccl {

namespace {

Status out_of_memory(const char* what) {
  try {
    return {StatusCode::kOutOfMemory, std::string("not enough memory for ") + what};
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "out of memory"};  // so short that it takes none
  }
}

/// Calls `function`, which takes memory for something.
template <typename Function>
Status take_memory(const char* what, Function function) {
  try {
    function();
  } catch (const std::bad_alloc&) {
    return out_of_memory(what);
  }
  return {};
}

template <typename Image>
bool has_size(const Image& image, const Config& config) {
  return image.width() == config.width && image.height() == config.height;
}

void find_largest(std::span<const CclComponent> components, size_t count,
                  std::vector<CclComponent>* largest) {
  largest->resize(std::min(count, components.size()));
  std::partial_sort_copy(components.begin(), components.end(), largest->begin(), largest->end(),
                         [](const CclComponent& a, const CclComponent& b) {
                           return a.area != b.area ? a.area > b.area : a.label < b.label;
                         });
}

}  // namespace

/* Engine and configuration */

void Stream::use_engine(std::unique_ptr<Engine> engine) {
  forget_configuration();
  forget_events();  // another engine gives the same ids again
  frames_.clear();
  engine_ = std::move(engine);
}

Status Stream::configure(const Config& config) {
  CCL_RETURN_IF_ERROR(validate(config));
  forget_configuration();
  CCL_RETURN_IF_ERROR(engine_->configure(config));
  CCL_RETURN_IF_ERROR(take_memory("frames in flight", [&] {
    if (frames_.size() != most_in_flight(config)) {
      frames_ = std::vector<InFlight>(most_in_flight(config));
    }
    jobs_.reserve(config.batch);
  }));
  CCL_RETURN_IF_ERROR(prepare_regions(config));
  config_ = config;
  return {};
}

void Stream::reset() {
  flush();
  forget_events();
  std::fill(frames_.begin(), frames_.end(), InFlight());
}

void Stream::forget_events() {
  events_.clear();
  event_config_ = {};
}

/* Regions */

Status Stream::set_regions(std::shared_ptr<const Regions> regions) {
  if (regions == regions_) {
    return {};
  }
  std::swap(regions, regions_);
  std::shared_ptr<const RegionMask> old_mask = std::exchange(mask_, nullptr);
  std::shared_ptr<const OutlineLayer> old_outlines = std::exchange(outlines_, nullptr);
  Status status = config_ ? prepare_regions(*config_) : Status();
  if (status.ok()) {
    return status;
  }
  regions_ = std::move(regions);
  mask_ = std::move(old_mask);
  outlines_ = std::move(old_outlines);
  return lose_frames(std::move(status));
}

/// Makes of the regions what frames of the configuration need.
Status Stream::prepare_regions(const Config& config) {
  if (outlines_ != nullptr && !has_size(*outlines_, config)) {
    outlines_ = nullptr;
  }
  const bool has_polygons = regions_ != nullptr && (!regions_->include.empty() || !regions_->exclude.empty());
  if (has_polygons && (mask_ == nullptr || !has_size(*mask_, config))) {
    CCL_RETURN_IF_ERROR(take_memory("the mask of the regions", [&] {
      mask_ = std::make_shared<const RegionMask>(*regions_, config.width, config.height);
    }));
  }
  return n_in_flight_ == 0 ? prepare_events(config, regions_) : Status();
}

/// Outlines have a pixel for each of the frame's while they are made, so they are made for the first frame
/// that draws them.
Status Stream::prepare_outlines() {
  if (regions_ == nullptr || outlines_ != nullptr) {
    return {};
  }
  return take_memory("the outlines of the regions", [&] {
    const std::vector<Outline> outlines = outlines_of(*regions_, config_->width, config_->height);
    if (!outlines.empty()) {
      outlines_ = std::make_shared<const OutlineLayer>(outlines, config_->width, config_->height);
    }
  });
}

/// Does nothing if the events are of these regions already.
Status Stream::prepare_events(const Config& config, const std::shared_ptr<const Regions>& regions) {
  const EventConfig wanted = {
      .width = config.width, .height = config.height, .max_tracks = config.max_tracks};
  if (config.max_tracks == 0) {
    events_.clear();
  } else if (wanted != event_config_ || regions != event_regions_) {
    event_config_ = {};
    static const Regions kNone;  // no copy, for which there may be no memory
    CCL_RETURN_IF_ERROR(events_.configure(wanted, regions != nullptr ? *regions : kNone));
  }
  event_config_ = wanted;
  event_regions_ = regions;
  return {};
}

/* Frames */

Status Stream::push(std::span<const Frame> frames) {
  if (!config_) {
    return {StatusCode::kInvalidArgument, "the stream is not configured"};
  }
  jobs_.clear();
  bool resets_background = resets_background_;
  for (const Frame& frame : frames) {
    FrameJob& job = jobs_.emplace_back(frame.job);
    resets_background = resets_background || job.resets_background;
    job.resets_background = resets_background && job.settings.rule.foreground == Foreground::kMotion;
    resets_background = resets_background && !job.resets_background;
  }
  if (n_in_flight_ + frames.size() <= frames_.size()) {  // else the engine refuses the frames
    popped_ = nullptr;
    for (size_t i = 0; i < frames.size(); ++i) {
      InFlight& in_flight = frames_[(oldest_ + n_in_flight_ + i) % frames_.size()];
      if (Status status = prepare_job(frames[i].options, &jobs_[i], &in_flight); !status.ok()) {
        return lose_frames(std::move(status));
      }
      in_flight.resets_tracks = in_flight.resets_tracks || (i == 0 && resets_tracks_);
    }
  }
  if (Status status = engine_->push(jobs_); !status.ok()) {
    return lose_frames(std::move(status));
  }
  n_in_flight_ += frames.size();
  resets_background_ = resets_background;
  resets_tracks_ = false;
  return {};
}

/// Fills in the frame, and what the stream has for its job.
Status Stream::prepare_job(const FrameOptions& options, FrameJob* job, InFlight* frame) {
  job->regions = mask_;
  if (job->settings.draw_regions && has_colors(config_->output)) {
    CCL_RETURN_IF_ERROR(prepare_outlines());
    job->outlines = outlines_;
  }
  frame->time = job->time;
  frame->resets_tracks = job->resets_tracks;
  frame->event_hold_ns = options.event_hold_ns;
  frame->regions = regions_;
  frame->connectivity = job->settings.connectivity;
  frame->features = job->settings.features;
  frame->has_labels = options.needs_labels || (job->settings.features & kShapeFeatures) != 0;
  if (frame->has_labels) {
    CCL_RETURN_IF_ERROR(frame->labels.prepare(*engine_, size_t{config_->width} * config_->height));
    job->labels = frame->labels.get();
  }
  return {};
}

Status Stream::pop(const StreamResult** result) {
  popped_ = nullptr;
  if (n_in_flight_ == 0) {
    return {StatusCode::kNeedMoreData, "no frame is in flight"};
  }
  FrameResult of_engine;
  if (Status status = engine_->pop(&of_engine); !status.ok()) {
    return lose_frames(std::move(status));
  }
  const InFlight& frame = frames_[oldest_];
  oldest_ = (oldest_ + 1) % frames_.size();
  --n_in_flight_;
  result_ = {of_engine, frame.time, {}, {}, frame.has_labels ? frame.labels.get() : nullptr};
  if (config_->max_tracks > 0) {
    if (Status status = make_events(frame); !status.ok()) {
      return lose_frames(std::move(status));
    }
  }
  popped_ = &frame;
  *result = &result_;
  return {};
}

Status Stream::make_events(const InFlight& frame) {
  CCL_RETURN_IF_ERROR(prepare_events(*config_, frame.regions));
  events_.update({.tracks = result_.tracks,
                  .n_components = result_.counts.n_components,
                  .relearning = result_.counts.relearning != 0,
                  .time = frame.time,
                  .resets = frame.resets_tracks,
                  .hold_ns = frame.event_hold_ns});
  result_.tracks = events_.tracks();
  result_.events = events_.events();
  result_.n_inside = events_.n_inside();
  return {};
}

/// After a refusal nothing has changed; after every other failure the stream must be configured again.
Status Stream::lose_frames(Status status) {
  if (status.code() == StatusCode::kOutOfMemory || status.code() == StatusCode::kDeviceError) {
    forget_configuration();
  }
  return status;
}

void Stream::forget_configuration() {
  flush();
  config_.reset();
}

void Stream::flush() {
  for (size_t i = 0; i < n_in_flight_; ++i) {
    resets_tracks_ = resets_tracks_ || frames_[(oldest_ + i) % frames_.size()].resets_tracks;
  }
  if (engine_ != nullptr) {
    engine_->flush();
  }
  popped_ = nullptr;
  oldest_ = 0;
  n_in_flight_ = 0;
}

/* The frame that was popped */

Status Stream::list_objects(size_t max_objects, Objects* objects) {
  if (popped_ == nullptr) {
    return {StatusCode::kInvalidArgument,
            "there is no frame whose objects could be listed: pop one, and list them before another call"};
  }
  *objects = {};
  return take_memory("objects and their polygons; a lower max-objects needs less", [&] {
    find_largest(result_.components, max_objects, &largest_);
    objects->components = largest_;
    if ((popped_->features & kShapeFeatures) == 0) {
      return;
    }
    polygons_.make({.image = {popped_->labels.get(), config_->width},
                    .width = config_->width,
                    .height = config_->height,
                    .connectivity = popped_->connectivity,
                    .features = popped_->features,
                    .components = largest_});
    objects->polygons = polygons_.polygons();
    objects->vertices = polygons_.vertices();
    objects->is_truncated = polygons_.is_truncated();
  });
}

Status Stream::LabelMemory::prepare(const Engine& engine, size_t n_pixels) {
  if (memory_ != nullptr && n_pixels == n_pixels_) {
    return {};
  }
  memory_.reset();
  n_pixels_ = n_pixels;
  const size_t bytes = n_pixels * sizeof(uint32_t);
  if (const std::shared_ptr<Device> device = engine.device(); device != nullptr) {
    return device->allocate_host(bytes, &memory_);
  }
  return take_memory("the labels that polygons and masks are made from", [&] {
    memory_ = std::shared_ptr<uint8_t>(new uint8_t[bytes], std::default_delete<uint8_t[]>());
  });
}

}  // namespace ccl
