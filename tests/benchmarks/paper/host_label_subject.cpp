// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <chrono>

#include "ccl/algorithm.h"
#include "digest.h"
#include "host/labelers/forms.h"
#include "host/thread_pool.h"
#include "label_subject.h"

namespace ccl::bench {

namespace {

class HostLabelSubject final : public LabelSubject {
 public:
  HostLabelSubject(std::unique_ptr<host::Labeler> labeler, Size size)
      : labeler_(std::move(labeler)),
        stride_(size_t{size.width} + 2),
        padded_(stride_ * (size_t{size.height} + 2)),
        segments_{padded_.data() + stride_ + 1, stride_, size.width, size.height},
        root_map_(size_t{size.width} * size.height) {}

  Status load(const test::Image& image, const ForegroundRule& rule) override {
    for (uint32_t y = 0; y < image.height; ++y) {
      const uint8_t* in = image.pixels() + y * image.stride;
      std::transform(in, in + image.width, padded_.data() + (y + 1) * stride_ + 1,
                     [rule](uint8_t value) { return rule.segment(value); });
    }
    return {};
  }

  Status label(Connectivity connectivity, const Repetitions& repetitions, Labelling* labelling) override {
    // What can be afforded only once needs no run to warm up.
    labelling->us = {run(connectivity)};
    if (const int n = repetitions.of(labelling->us.front()); n > 1) {
      labelling->us.clear();
      for (int i = 0; i < n; ++i) {
        labelling->us.push_back(run(connectivity));
      }
    }
    labelling->n_iterations = labeler_->iterations();
    labelling->root_map_digest = digest_of(root_map_.data(), root_map_.size() * sizeof(uint32_t));
    return {};
  }

 private:
  float run(Connectivity connectivity) {
    const auto start = std::chrono::steady_clock::now();
    labeler_->label(segments_, connectivity, root_map_.data());
    return std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
  }

  std::unique_ptr<host::Labeler> labeler_;
  size_t stride_;
  std::vector<uint8_t> padded_;
  host::SegmentSource segments_;
  std::vector<uint32_t> root_map_;
};

std::unique_ptr<host::Labeler> make_labeler(const std::string& nick, Size size, host::ThreadPool& pool) {
  const auto make_propagation = [&](host::Propagation propagation) {
    return host::make_neighbor_propagation(size.width, size.height, propagation, pool);
  };
  if (nick == "neighbor-propagation/ep") {
    return make_propagation(host::Propagation::kElementary);
  }
  if (nick == "neighbor-propagation/f") {
    return make_propagation(host::Propagation::kForward);
  }
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.nick == nick && info.host.make_labeler != nullptr) {
      return info.host.make_labeler(size.width, size.height, pool);
    }
  }
  return nullptr;
}

}  // namespace

Status make_host_label_subject(const std::string& nick, Size size, host::ThreadPool& pool,
                               std::unique_ptr<LabelSubject>* subject) {
  std::unique_ptr<host::Labeler> labeler = make_labeler(nick, size, pool);
  if (!labeler) {
    return {StatusCode::kUnsupported, "there is no such labeler on the CPU"};
  }
  *subject = std::make_unique<HostLabelSubject>(std::move(labeler), size);
  return {};
}

}  // namespace ccl::bench
