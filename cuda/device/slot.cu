// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/slot.h"

#include <algorithm>

#include "device/check.h"

namespace ccl::device {

namespace {

// Rows of the input start where a memory transaction does.
constexpr size_t kPitchAlignment = 128;

}  // namespace

Slot::~Slot() {
  wait();
}

Status Slot::configure(const Config& config) {
  config_ = config;
  input_pitch_ = (config.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  CCL_RETURN_IF_ERROR(stream_.create());
  for (Event& event : events_) {
    CCL_RETURN_IF_ERROR(event.create());
  }
  CCL_RETURN_IF_ERROR(input_.allocate(input_pitch_ * config.height));
  CCL_RETURN_IF_ERROR(root_map_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(labels_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(areas_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(record_index_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(output_.allocate(size_t{n_pixels()} * bytes_per_pixel(config.output)));
  CCL_RETURN_IF_ERROR(records_.allocate(config.max_components));
  CCL_RETURN_IF_ERROR(counts_.allocate(1));
  CCL_RETURN_IF_ERROR(host_counts_.allocate(1));
  CCL_RETURN_IF_ERROR(host_records_.allocate(config.max_components));
  CCL_RETURN_IF_ERROR(numbering_.configure(n_pixels()));
  CCL_RETURN_IF_ERROR(selection_.configure(n_pixels(), config.max_components));
  CCL_RETURN_IF_ERROR(measurement_.configure(config.max_components));
  return painting_.configure(config);
}

void Slot::wait() {
  if (stream_.get() != nullptr) {
    // Whoever waits here wants the memory back, which a failed stream does not use either.
    static_cast<void>(stream_.synchronize());
  }
}

SegmentSource Slot::frame(const Settings& settings) const {
  return {.pixels = input_.data(),
          .pitch = input_pitch_,
          .width = config_.width,
          .height = config_.height,
          .rule = settings.rule};
}

Status Slot::start(const FrameJob& job, Labeler& labeler) {
  CCL_RETURN_IF_ERROR(record(kStarted));
  CCL_RETURN_IF_ERROR(upload(job.input));
  CCL_RETURN_IF_ERROR(record(kUploaded));
  CCL_RETURN_IF_ERROR(run_stages(job, labeler));
  CCL_RETURN_IF_ERROR(download(job));
  return record(kDownloaded);
}

Status Slot::upload(const InputImage& image) {
  return check(cudaMemcpy2DAsync(input_.data(), input_pitch_, image.pixels, image.stride, config_.width,
                                 config_.height, cudaMemcpyHostToDevice, stream_.get()),
               "cudaMemcpy2DAsync of the input");
}

Status Slot::run_stages(const FrameJob& job, Labeler& labeler) {
  const Settings& settings = job.settings;
  const SegmentSource source = frame(settings);
  CCL_RETURN_IF_ERROR(labeler.label(source, settings.connectivity, root_map_.data(), stream_.get()));
  CCL_RETURN_IF_ERROR(record(kLabelled));

  CCL_RETURN_IF_ERROR(
      numbering_.run(root_map_.data(), labels_.data(), &counts_.data()->n_labels, stream_.get()));
  CCL_RETURN_IF_ERROR(record(kNumbered));

  CCL_RETURN_IF_ERROR(Measurement::measure_areas(labels_.data(), config_.width, config_.height, areas_.data(),
                                                 stream_.get()));
  CCL_RETURN_IF_ERROR(
      selection_.run(settings, areas_.data(), counts_.data(), record_index_.data(), stream_.get()));
  const MeasureInput measure_input{.frame = source,
                                   .labels = labels_.data(),
                                   .areas = areas_.data(),
                                   .record_index = record_index_.data(),
                                   .counts = counts_.data()};
  CCL_RETURN_IF_ERROR(measurement_.measure_records(settings, measure_input, records_.data(), stream_.get()));
  CCL_RETURN_IF_ERROR(record(kMeasured));

  const PaintInput paint_input{.frame = source,
                               .labels = labels_.data(),
                               .areas = areas_.data(),
                               .counts = counts_.data(),
                               .records = records_.data()};
  CCL_RETURN_IF_ERROR(painting_.run(settings, paint_input, output_.data(), stream_.get()));
  return record(kPainted);
}

/// All but the records, whose number the host does not know yet.
Status Slot::download(const FrameJob& job) {
  const size_t map_bytes = size_t{n_pixels()} * sizeof(uint32_t);
  CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(host_counts_.data(), counts_.data(), sizeof(Counts),
                                            cudaMemcpyDeviceToHost, stream_.get()),
                            "cudaMemcpyAsync of the counts"));
  if (config_.output != Output::kNone) {
    const size_t row = size_t{config_.width} * bytes_per_pixel(config_.output);
    CCL_RETURN_IF_ERROR(check(cudaMemcpy2DAsync(job.output.pixels, job.output.stride, output_.data(), row,
                                                row, config_.height, cudaMemcpyDeviceToHost, stream_.get()),
                              "cudaMemcpy2DAsync of the output"));
  }
  if (job.root_map != nullptr) {
    CCL_RETURN_IF_ERROR(check(
        cudaMemcpyAsync(job.root_map, root_map_.data(), map_bytes, cudaMemcpyDeviceToHost, stream_.get()),
        "cudaMemcpyAsync of the root map"));
  }
  if (job.labels != nullptr) {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpyAsync(job.labels, labels_.data(), map_bytes, cudaMemcpyDeviceToHost, stream_.get()),
              "cudaMemcpyAsync of the labels"));
  }
  return {};
}

/// A second copy, of as many records as there are: frames have few, and the whole table would cost each of
/// them a megabyte. The stream is idle by then, so that it waits for nothing.
Status Slot::download_records(uint32_t n_records) {
  CCL_RETURN_IF_ERROR(record(kRecordsStarted));
  CCL_RETURN_IF_ERROR(
      check(cudaMemcpyAsync(host_records_.data(), records_.data(), n_records * sizeof(CclComponent),
                            cudaMemcpyDeviceToHost, stream_.get()),
            "cudaMemcpyAsync of the records"));
  CCL_RETURN_IF_ERROR(record(kRecordsDownloaded));
  return stream_.synchronize();
}

Status Slot::finish(FrameResult* result) {
  CCL_RETURN_IF_ERROR(events_[kDownloaded].synchronize());
  const Counts counts = *host_counts_.data();
  const uint32_t n_records = std::min(counts.n_components, config_.max_components);
  if (n_records > 0) {
    CCL_RETURN_IF_ERROR(download_records(n_records));
  }
  *result = {};
  result->n_labels = counts.n_labels;
  result->n_components = counts.n_components;
  result->overflow = counts.n_components > config_.max_components;
  result->labels_saturated = config_.output == Output::kLabels && counts.n_labels > kMaxPaintedLabel;
  result->components = {host_records_.data(), n_records};
  return read_times(n_records > 0, &result->times);
}

Status Slot::read_times(bool has_records, StageTimes* times) const {
  CCL_RETURN_IF_ERROR(elapsed(kStarted, kUploaded, &times->upload));
  CCL_RETURN_IF_ERROR(elapsed(kUploaded, kLabelled, &times->label));
  CCL_RETURN_IF_ERROR(elapsed(kLabelled, kNumbered, &times->number));
  CCL_RETURN_IF_ERROR(elapsed(kNumbered, kMeasured, &times->measure));
  CCL_RETURN_IF_ERROR(elapsed(kMeasured, kPainted, &times->paint));
  CCL_RETURN_IF_ERROR(elapsed(kPainted, kDownloaded, &times->download));
  if (has_records) {
    float records = 0;
    CCL_RETURN_IF_ERROR(elapsed(kRecordsStarted, kRecordsDownloaded, &records));
    times->download += records;
  }
  return {};
}

}  // namespace ccl::device
