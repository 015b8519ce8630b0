// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/track/tracker.h"

#include <utility>

#include "device/check.h"
#include "device/stages/paint.h"
#include "device/stages/track/paint.h"

namespace ccl::device {

struct Tracker::State {
  uint32_t n_pairs;       ///< see PairTable
  uint32_t newest_map;    ///< see IndexMaps
  uint32_t written_map;   ///< see IndexMaps
  track::TrackStep step;  ///< see OverlapJob
};

namespace {

template <typename T>
Status allocate_zeros(size_t count, const Stream& stream, DeviceArray<T>* array) {
  CCL_RETURN_IF_ERROR(array->allocate(count));
  return check(cudaMemsetAsync(array->data(), 0, count * sizeof(T), stream.get()),
               "cudaMemsetAsync of the track stage");
}

}  // namespace

Status Tracker::configure(const Config& config, uint32_t last_id) {
  width_ = config.width;
  height_ = config.height;
  sizes_ = track::sizes_of(config);
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(ended_.create());
  CCL_RETURN_IF_ERROR(find_shared_bytes(sizes_, &shared_bytes_));
  CCL_RETURN_IF_ERROR(allocate_zeros(track::TrackTables::bytes(sizes_), stream_, &memory_));
  tables_ = {sizes_, memory_.data()};
  CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(&tables_.header->n_ids, &last_id, sizeof(last_id),
                                            cudaMemcpyHostToDevice, stream_.get()),
                            "cudaMemcpyAsync of the last id"));
  guide_.configure(tables_);
  CCL_RETURN_IF_ERROR(allocate_zeros(sizeof(State), stream_, &state_));
  CCL_RETURN_IF_ERROR(allocate_pairs());
  for (DeviceArray<IndexMaps::Cell>& map : maps_) {
    CCL_RETURN_IF_ERROR(allocate_zeros(size_t{width_} * height_, stream_, &map));
  }
  CCL_RETURN_IF_ERROR(colors_.allocate(maps().unrecorded() + 1));
  return upload_palettes(stream_, &palettes_);  // waits for all
}

Status Tracker::allocate_pairs() {
  const uint32_t max_pairs = sizes_.max_overlaps();
  CCL_RETURN_IF_ERROR(allocate_zeros(size_t{1} << PairTable::log2_capacity_for(max_pairs), stream_, &cells_));
  CCL_RETURN_IF_ERROR(used_cells_.allocate(max_pairs));
  return overlaps_.allocate(max_pairs);
}

bool Tracker::fits(const Config& config) const {
  return config.width == width_ && config.height == height_ && track::sizes_of(config) == sizes_;
}

Status Tracker::read_last_id(uint32_t* last_id) const {
  CCL_RETURN_IF_ERROR(check(cudaStreamWaitEvent(stream_.get(), ended_.get()), "cudaStreamWaitEvent"));
  CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(last_id, &tables_.header->n_ids, sizeof(*last_id),
                                            cudaMemcpyDeviceToHost, stream_.get()),
                            "cudaMemcpyAsync of the last id"));
  return stream_.synchronize();
}

Status Tracker::begin(const Stream& stream) {
  const bool is_new_stream = std::exchange(last_stream_, stream.get()) != stream.get();
  return is_new_stream ? check(cudaStreamWaitEvent(stream.get(), ended_.get()), "cudaStreamWaitEvent")
                       : Status();
}

Tracker::State* Tracker::state() const {
  return reinterpret_cast<State*>(state_.data());
}

IndexMaps Tracker::maps() const {
  return {.maps = {maps_[0].data(), maps_[1].data()},
          .newest = &state()->newest_map,
          .written = &state()->written_map,
          .max_components = sizes_.max_components};
}

PairTable Tracker::pairs() const {
  return {.cells = cells_.data(),
          .log2_capacity = PairTable::log2_capacity_for(sizes_.max_overlaps()),
          .max_pairs = sizes_.max_overlaps(),
          .used = used_cells_.data(),
          .n_pairs = &state()->n_pairs};
}

Status Tracker::enqueue(const Config& config, const TrackedFrame& frame, const track::TrackStep& step,
                        cudaStream_t stream, StageMarks* marks) const {
  const Output output = shown_output(config, frame.buffers);
  CCL_RETURN_IF_ERROR(count_overlaps({.width = width_,
                                      .height = height_,
                                      .frame = frame.labels,
                                      .counts = frame.buffers.counts,
                                      .records = frame.buffers.records,
                                      .tables = tables_,
                                      .maps = maps(),
                                      .pairs = pairs(),
                                      .step = &state()->step},
                                     step, stream));
  if (frame.buffers.guide != nullptr) {
    CCL_RETURN_IF_ERROR(guide_.find_origins(frame.buffers.counts, frame.buffers.records, maps(), stream));
  }
  const AssociateJob job{.width = width_,
                         .height = height_,
                         .counts = frame.buffers.counts,
                         .records = frame.buffers.records,
                         .max_records = config.max_components,
                         .origins = frame.buffers.guide != nullptr ? guide_.origins() : nullptr,
                         .tracks = frame.tracks,
                         .tables = tables_,
                         .pairs = pairs(),
                         .overlaps = overlaps_.data(),
                         .step = &state()->step,
                         .shared_bytes = shared_bytes_,
                         .newest = &state()->newest_map,
                         .colors = {.colors = has_colors(output) ? colors_.data() : nullptr,
                                    .palettes = palettes_.data(),
                                    .layout = config.layout,
                                    .settings = frame.settings}};
  CCL_RETURN_IF_ERROR(associate_frame(job, stream));
  CCL_RETURN_IF_ERROR(settle_frame(job, stream));
  if (marks != nullptr) {
    CCL_RETURN_IF_ERROR(marks->mark(StageMarks::kTrack, stream));
  }
  CCL_RETURN_IF_ERROR(paint_tracked({.output = output,
                                     .luma = frame.luma,
                                     .labels = frame.labels.labels,
                                     .maps = maps(),
                                     .colors = colors_.data(),
                                     .layout = config.layout,
                                     .overlay_alpha = frame.settings.overlay_alpha,
                                     .limited_range = frame.settings.limited_range,
                                     .pixels = frame.buffers.output},
                                    stream));
  if (frame.settings.draw_boxes) {
    CCL_RETURN_IF_ERROR(outline_boxes(config, frame.buffers, frame.defers_overflow, stream));
  }
  return marks != nullptr ? marks->mark(StageMarks::kPaint, stream) : Status();
}

}  // namespace ccl::device
