// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_subject.h"

#include "device/check.h"
#include "device/graph.h"
#include "device/pipeline.h"
#include "device_digest.h"
#include "device_timer.h"
#include "poison.h"

namespace ccl::bench {

namespace {

using device::check;
using device::DeviceArray;
using device::PinnedArray;

constexpr size_t kPitchAlignment = 128;

class PipelineSubject final : public Subject {
 public:
  PipelineSubject(const Config& config, const device::Stream& stream)
      : config_(config), stream_(stream), timer_(stream) {}

  Status configure() {
    pitch_ = (config_.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    CCL_RETURN_IF_ERROR(input_.allocate(pitch_ * config_.height));
    CCL_RETURN_IF_ERROR(output_.allocate(output_bytes()));
    CCL_RETURN_IF_ERROR(records_.allocate(config_.max_components));
    CCL_RETURN_IF_ERROR(counts_.allocate(1));
    CCL_RETURN_IF_ERROR(device_digests_.allocate(kDigestCount));
    CCL_RETURN_IF_ERROR(map_.allocate(n_pixels()));
    const AlgorithmInfo* algorithm = nullptr;
    CCL_RETURN_IF_ERROR(resolve_algorithm(config_.algorithm, Backend::kCuda, &algorithm));
    return device::make_pipeline(config_, *algorithm, &pipeline_);
  }

  Status load(const test::Image& image) override {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpy2DAsync(input_.data(), pitch_, image.pixels(), image.stride, image.width,
                                image.height, cudaMemcpyHostToDevice, stream_.get()),
              "cudaMemcpy2DAsync of an image"));
    CCL_RETURN_IF_ERROR(poison(output_.data(), output_bytes()));
    CCL_RETURN_IF_ERROR(poison(records_.data(), config_.max_components * sizeof(CclComponent)));
    // Some counts are written for some frames only. All labelers must write these.
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(counts_.data(), 0, sizeof(FrameCounts), stream_.get()),
                              "cudaMemsetAsync of the counts"));
    for (uint32_t FrameCounts::*count : {&FrameCounts::n_labels, &FrameCounts::n_components}) {
      CCL_RETURN_IF_ERROR(poison(&(counts_.data()->*count), sizeof(uint32_t)));
    }
    return stream_.synchronize();
  }

  Status time(const Settings& settings, const Repetitions& repetitions, Times* times) override {
    CCL_RETURN_IF_ERROR(pipeline_->prepare(settings, frame()));
    CCL_RETURN_IF_ERROR(capture(settings));
    return timer_.run(
        repetitions, [this] { return graph_.launch(stream_); }, times);
  }

  Status digests(const Settings& settings, bool with_maps, Digests* digests) override {
    uint64_t* values = device_digests_.data();
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(values, 0, kDigestCount * sizeof(uint64_t), stream_.get()),
                              "cudaMemsetAsync of the digests"));
    CCL_RETURN_IF_ERROR(enqueue_record_digest(records_.data(), counts_.data(), config_.max_components,
                                              values + kRecords, stream_.get()));
    CCL_RETURN_IF_ERROR(enqueue_digest(output_.data(), output_bytes(), values + kPixels, stream_.get()));
    if (with_maps) {
      CCL_RETURN_IF_ERROR(enqueue_map_digests(settings));
    }
    uint64_t host_values[kDigestCount] = {};
    FrameCounts counts{};
    CCL_RETURN_IF_ERROR(download(host_values, values, sizeof(host_values)));
    CCL_RETURN_IF_ERROR(download(&counts, counts_.data(), sizeof(counts)));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    *digests = {.counts = counts,
                .records = host_values[kRecords],
                .pixels = host_values[kPixels],
                .root_map = host_values[kRootMap],
                .labels = host_values[kLabels]};
    return {};
  }

 private:
  enum DigestIndex : uint32_t { kRecords, kPixels, kRootMap, kLabels, kDigestCount };

  size_t n_pixels() const { return size_t{config_.width} * config_.height; }
  size_t output_bytes() const { return n_pixels() * bytes_per_pixel(config_.output); }

  device::FrameBuffers frame() const {
    return {.input = input_.data(),
            .input_pitch = pitch_,
            .output = output_.data(),
            .records = records_.data(),
            .counts = counts_.data()};
  }

  Status poison(void* memory, size_t n_bytes) {
    return check(cudaMemsetAsync(memory, test::kPoison, n_bytes, stream_.get()),
                 "cudaMemsetAsync of results");
  }

  Status download(void* to, const void* from, size_t n_bytes) {
    return check(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDeviceToHost, stream_.get()),
                 "cudaMemcpyAsync of results");
  }

  /// Once for each settings: all memory stays where it is, so one graph serves all images.
  Status capture(const Settings& settings) {
    if (is_captured_ && captured_ == settings) {
      return {};
    }
    is_captured_ = false;
    // Once outside the graph: the first launch loads the kernels, which a capture does not allow.
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(settings, frame(), stream_.get(), nullptr));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    CCL_RETURN_IF_ERROR(graph_.capture(
        stream_, [&] { return pipeline_->enqueue(settings, frame(), stream_.get(), nullptr); }));
    captured_ = settings;
    is_captured_ = true;
    return {};
  }

  /// One map after the other through the same pinned memory, which the device reads back: its digests are
  /// faster over the bus than the host's are from memory.
  Status enqueue_map_digests(const Settings& settings) {
    const size_t n_bytes = n_pixels() * sizeof(uint32_t);
    uint64_t* values = device_digests_.data();
    CCL_RETURN_IF_ERROR(pipeline_->enqueue_maps(settings, frame(), map_.data(), nullptr, stream_.get()));
    CCL_RETURN_IF_ERROR(enqueue_digest(map_.data(), n_bytes, values + kRootMap, stream_.get()));
    CCL_RETURN_IF_ERROR(pipeline_->enqueue_maps(settings, frame(), nullptr, map_.data(), stream_.get()));
    return enqueue_digest(map_.data(), n_bytes, values + kLabels, stream_.get());
  }

  Config config_;
  const device::Stream& stream_;
  size_t pitch_ = 0;
  DeviceArray<uint8_t> input_;
  DeviceArray<uint8_t> output_;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;
  DeviceArray<uint64_t> device_digests_;
  PinnedArray<uint32_t> map_;
  std::unique_ptr<device::Pipeline> pipeline_;
  device::Graph graph_;
  Settings captured_;
  bool is_captured_ = false;
  DeviceTimer timer_;
};

}  // namespace

Status make_pipeline_subject(const Config& config, const device::Stream& stream,
                             std::unique_ptr<Subject>* subject) {
  auto made = std::make_unique<PipelineSubject>(config, stream);
  CCL_RETURN_IF_ERROR(made->configure());
  *subject = std::move(made);
  return {};
}

}  // namespace ccl::bench
