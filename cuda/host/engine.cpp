// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/engine.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "ccl/colors.h"
#include "host/processors.h"

namespace ccl::host {

namespace {

std::string describe_lack_of_memory(const Config& config) {
  return "not enough memory for frames of " + std::to_string(config.width) + "×" +
         std::to_string(config.height) + " pixels, " + std::to_string(config.slots) +
         " slots and a table of " + std::to_string(config.max_components) +
         " components; smaller frames, a lower pipeline-depth or max-components, or fewer other processes " +
         "need less";
}

}  // namespace

std::string HostEngine::description() const {
  const uint32_t n_threads = pool_ ? pool_->n_threads() : count_processors();
  return "CPU, " + std::to_string(n_threads) + (n_threads == 1 ? " thread" : " threads");
}

Status HostEngine::configure(const Config& config) {
  flush();
  pipeline_.reset();
  drawing_.reset();
  segmenter_.reset();
  CCL_RETURN_IF_ERROR(validate(config));
  const AlgorithmInfo* algorithm = nullptr;
  CCL_RETURN_IF_ERROR(resolve_algorithm(config.algorithm, Backend::kCpu, &algorithm));
  out_of_memory_ = "out of memory";  // so short that it takes none
  try {
    out_of_memory_ = describe_lack_of_memory(config);
    const uint32_t n_threads =
        config.threads != 0 ? config.threads : choose_thread_count(config.width, config.height);
    if (!pool_ || pool_->n_threads() != n_threads || pool_->has_lost_workers()) {
      pool_ = std::make_unique<ThreadPool>(n_threads);  // before the old one ends, so that workers stay alive
    }
    slots_ = std::vector<Slot>(most_in_flight(config));
    config_ = config;
    for (Slot& slot : slots_) {
      slot.records = std::make_unique_for_overwrite<CclComponent[]>(max_records());
      slot.tracks = std::make_unique_for_overwrite<CclTrack[]>(config.max_tracks);
    }
    palette_colors();  // built here, not while the first frame waits
    luma_planes_ = std::make_unique<LumaPlanes>(config.width, config.height, *pool_);
    if (!background_ || !background_->is_for(config.width, config.height)) {
      background_ = std::make_unique<StreamBackground>(config.width, config.height);
    }
    segmenter_ = std::make_unique<Segmenter>(config.width, config.height, *pool_, *background_);
    prepare_tracks(config);
    drawing_ = std::make_unique<Drawing>(config, *pool_);
    pipeline_ = make_pipeline(config, *algorithm, *pool_, tracks_.get());
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, std::move(out_of_memory_)};
  } catch (const std::system_error& error) {
    return {StatusCode::kOutOfMemory,
            std::string("cannot start the engine's threads: ") + error.what() + "; fewer threads may work"};
  }
  first_waiting_ = 0;
  return {};
}

/// A frame never has more components than pixels.
size_t HostEngine::max_records() const {
  return std::min(size_t{config_.max_components}, size_t{config_.width} * config_.height);
}

Status HostEngine::push(std::span<const FrameJob> jobs) {
  if (!pipeline_) {
    return {StatusCode::kInvalidArgument, "the engine is not configured"};
  }
  CCL_RETURN_IF_ERROR(validate(jobs, n_waiting_, config_, Backend::kCpu));
  for (const FrameJob& job : jobs) {
    CCL_RETURN_IF_ERROR(start(job));
  }
  return {};
}

Status HostEngine::start(const FrameJob& job) {
  Slot& slot = slots_[(first_waiting_ + n_waiting_) % slots_.size()];
  slot.result = {};
  try {
    if (has_grey(job.settings) && slot.grey == nullptr) {
      slot.grey = std::make_unique_for_overwrite<CclGrey[]>(max_records());
    }
    run(job,
        {.records = slot.records.get(),
         .tracks = slot.tracks.get(),
         .grey = {.records = has_grey(job.settings) ? slot.grey.get() : nullptr}},
        &slot.result);
  } catch (const std::bad_alloc&) {  // of what is taken with the first frame that needs it
    pipeline_.reset();
    return {StatusCode::kOutOfMemory, std::move(out_of_memory_)};
  }
  slot.result.overflow = slot.result.counts.n_components > config_.max_components;
  slot.result.labels_saturated =
      config_.output == Output::kLabels && slot.result.counts.n_labels > kMaxPaintedLabel;
  ++n_waiting_;
  return {};
}

/// Keeps the tracks if they fit the configuration. Ids go on in any case.
void HostEngine::prepare_tracks(const Config& config) {
  if (tracks_ != nullptr && tracks_->is_for(config)) {
    return;
  }
  if (tracks_ != nullptr) {
    last_id_ = tracks_->last_id();
    tracks_.reset();
  }
  if (config.max_tracks > 0) {
    tracks_ = std::make_unique<StreamTracks>(config, last_id_);
  }
}

void HostEngine::run(const FrameJob& job, const ResultTables& tables, FrameResult* result) {
  if (tracks_ != nullptr) {
    tracks_->begin(job);
  }
  process(job, tables, result);
  const Settings& settings = job.settings;
  if (settings.draw_ids || settings.draw_trails || settings.draw_regions) {
    StageClock clock;
    drawing_->draw(job, result->tracks);
    result->times.paint += clock.lap();
  } else {
    drawing_->skip();
  }
}

void HostEngine::process(FrameJob job, ResultTables tables, FrameResult* result) {
  StageClock clock;
  if (job.input.source.pixels != nullptr) {
    job.input = luma_planes_->convert(job.input, job.settings.rule.foreground == Foreground::kMotion);
    result->times.segment = clock.lap();
  }
  tables.grey.source =
      grey_source(job.input.source, {.pixels = job.input.pixels, .stride = job.input.stride});
  if (!makes_bits(job.settings.rule, job.segmentation, job.regions != nullptr)) {
    pipeline_->run(job, {}, tables, result);
    return;
  }
  const FrameBits bits = segmenter_->run(job, &result->counts);
  result->times.segment += clock.lap();
  if (config_.output == Output::kBackground && job.settings.rule.foreground == Foreground::kMotion) {
    job.input = luma_planes_->show(background_->model, job.input);
  }
  job.settings.rule = kBitRule;
  pipeline_->run(job, bits, tables, result);
}

Status HostEngine::pop(FrameResult* result) {
  if (n_waiting_ == 0) {
    return {StatusCode::kNeedMoreData, "no frame is in flight"};
  }
  *result = slots_[first_waiting_].result;
  first_waiting_ = (first_waiting_ + 1) % slots_.size();
  --n_waiting_;
  return {};
}

}  // namespace ccl::host

namespace ccl {

std::unique_ptr<Engine> make_host_engine() {
  return std::make_unique<host::HostEngine>();
}

}  // namespace ccl
