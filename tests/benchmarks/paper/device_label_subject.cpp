// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paper/device_label_subject.h"

#include <cstdio>
#include <optional>

#include "ccl/algorithm.h"
#include "device/check.h"
#include "device/graph.h"
#include "device/labelers/forms.h"
#include "device_digest.h"
#include "device_timer.h"
#include "digest.h"
#include "paper/step_timer.h"

namespace ccl::bench {

namespace {

using device::check;
using device::DeviceArray;

constexpr size_t kPitchAlignment = 128;

class DeviceLabelSubject final : public LabelSubject {
 public:
  DeviceLabelSubject(std::unique_ptr<device::Labeler> labeler, bool counts_sizes, Size size,
                     const device::Stream& stream)
      : labeler_(std::move(labeler)),
        counts_sizes_(counts_sizes),
        size_(size),
        pitch_((size.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment),
        stream_(stream),
        timer_(stream) {}

  Status allocate() {
    CCL_RETURN_IF_ERROR(pixels_.allocate(pitch_ * size_.height));
    CCL_RETURN_IF_ERROR(root_map_.allocate(n_pixels()));
    CCL_RETURN_IF_ERROR(workspace_.allocate(labeler_->workspace_bytes(size_.width, size_.height)));
    CCL_RETURN_IF_ERROR(n_iterations_.allocate(1));
    return digest_.allocate(1);
  }

  Status load(const test::Image& image, const ForegroundRule& rule) override {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpy2DAsync(pixels_.data(), pitch_, image.pixels(), image.stride, image.width,
                                image.height, cudaMemcpyHostToDevice, stream_.get()),
              "cudaMemcpy2DAsync of an image"));
    frame_ = {.pixels = pixels_.data(),
              .pitch = pitch_,
              .width = size_.width,
              .height = size_.height,
              .rule = rule};
    return stream_.synchronize();
  }

  Status label(Connectivity connectivity, const Repetitions& repetitions, Labelling* labelling) override {
    constexpr int kPoison = 0xa5;
    CCL_RETURN_IF_ERROR(
        check(cudaMemsetAsync(root_map_.data(), kPoison, n_pixels() * sizeof(uint32_t), stream_.get()),
              "cudaMemsetAsync of the root map"));
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(n_iterations_.data(), 0, sizeof(uint32_t), stream_.get()),
                              "cudaMemsetAsync of the iterations"));
    CCL_RETURN_IF_ERROR(capture(connectivity));
    labelling->us.clear();
    CCL_RETURN_IF_ERROR(timer_.run(
        repetitions, [this] { return graph_.launch(stream_); }, &labelling->us));
    return take_results(labelling);
  }

  Status time_steps(Connectivity connectivity, const Repetitions& repetitions,
                    std::vector<Step>* steps) override {
    return bench::time_steps(
        stream_, [&] { return enqueue(connectivity); }, repetitions.most, steps);
  }

 private:
  size_t n_pixels() const { return size_t{size_.width} * size_.height; }

  Status enqueue(Connectivity connectivity) {
    return labeler_->label(frame_, connectivity, root_map_.data(), workspace_.data(), n_iterations_.data(),
                           stream_.get());
  }

  /// Once for each rule and connectivity: all memory stays where it is, so one graph serves all images.
  Status capture(Connectivity connectivity) {
    if (captured_ == std::pair{connectivity, frame_.rule}) {
      return {};
    }
    captured_.reset();
    // Once outside the graph: the first launch loads the kernels, which a capture does not allow.
    CCL_RETURN_IF_ERROR(enqueue(connectivity));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    CCL_RETURN_IF_ERROR(graph_.capture(stream_, [&] { return enqueue(connectivity); }));
    captured_ = {connectivity, frame_.rule};
    return {};
  }

  Status take_results(Labelling* labelling) {
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(digest_.data(), 0, sizeof(uint64_t), stream_.get()),
                              "cudaMemsetAsync of the digest"));
    CCL_RETURN_IF_ERROR(
        enqueue_digest(root_map_.data(), n_pixels() * sizeof(uint32_t), digest_.data(), stream_.get()));
    CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(&labelling->root_map_digest, digest_.data(), sizeof(uint64_t),
                                              cudaMemcpyDeviceToHost, stream_.get()),
                              "cudaMemcpyAsync of the digest"));
    CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(&labelling->n_iterations, n_iterations_.data(),
                                              sizeof(uint32_t), cudaMemcpyDeviceToHost, stream_.get()),
                              "cudaMemcpyAsync of the iterations"));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    return counts_sizes_ ? take_sizes(labelling) : Status{};
  }

  /// Without their padding.
  Status take_sizes(Labelling* labelling) {
    std::vector<uint32_t> sizes(n_pixels());
    const size_t row = size_.width * sizeof(uint32_t);
    const size_t padded_row = row + 2 * sizeof(uint32_t);
    const uint32_t* first =
        device::label_equivalence_sizes(workspace_.data(), size_.width, size_.height) + size_.width + 3;
    CCL_RETURN_IF_ERROR(check(cudaMemcpy2DAsync(sizes.data(), row, first, padded_row, row, size_.height,
                                                cudaMemcpyDeviceToHost, stream_.get()),
                              "cudaMemcpy2DAsync of the sizes"));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    labelling->sizes_digest = digest_of(sizes.data(), sizes.size() * sizeof(uint32_t));
    return {};
  }

  std::unique_ptr<device::Labeler> labeler_;
  bool counts_sizes_;
  Size size_;
  size_t pitch_;
  const device::Stream& stream_;
  device::SegmentSource frame_{};
  DeviceArray<uint8_t> pixels_;
  DeviceArray<uint32_t> root_map_;
  DeviceArray<uint8_t> workspace_;
  DeviceArray<uint32_t> n_iterations_;
  DeviceArray<uint64_t> digest_;
  device::Graph graph_;
  std::optional<std::pair<Connectivity, ForegroundRule>> captured_;
  DeviceTimer timer_;
};

/// "+sizes", "/64" or both after the nick; null where `suffix` is something else.
std::unique_ptr<device::Labeler> make_label_equivalence(std::string suffix) {
  const std::string sizes = "+sizes";
  device::LabelEquivalenceForm form;
  if (suffix.starts_with(sizes)) {
    form.with_sizes = true;
    suffix.erase(0, sizes.size());
  }
  char rest = 0;
  if (!suffix.empty() && (std::sscanf(suffix.c_str(), "/%u%c", &form.threads, &rest) != 1 ||
                          form.threads == 0 || form.threads > form.kMostThreads)) {
    return nullptr;
  }
  return device::make_label_equivalence(form);
}

std::unique_ptr<device::Labeler> make_labeler(const std::string& nick) {
  if (nick == "dlp-without-sr") {
    return device::make_dlp(device::DlpForm::kWithoutScatter);
  }
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.nick == nick && info.device.make_labeler != nullptr) {
      return info.device.make_labeler();
    }
  }
  const std::string label_equivalence = "label-equivalence";
  return nick.starts_with(label_equivalence) ? make_label_equivalence(nick.substr(label_equivalence.size()))
                                             : nullptr;
}

}  // namespace

Status make_device_label_subject(const std::string& nick, Size size, const device::Stream& stream,
                                 std::unique_ptr<LabelSubject>* subject) {
  std::unique_ptr<device::Labeler> labeler = make_labeler(nick);
  if (!labeler) {
    return {StatusCode::kUnsupported, "there is no such labeler on the GPU"};
  }
  auto made = std::make_unique<DeviceLabelSubject>(std::move(labeler),
                                                   nick.find("+sizes") != std::string::npos, size, stream);
  CCL_RETURN_IF_ERROR(made->allocate());
  *subject = std::move(made);
  return {};
}

}  // namespace ccl::bench
