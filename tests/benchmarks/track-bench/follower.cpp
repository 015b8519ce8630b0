// SPDX-License-Identifier: LGPL-2.1-or-later
#include "follower.h"

#include <algorithm>
#include <cmath>

#include "protocol.h"

namespace ccl::bench {

Follower::Follower(const Options& options, Size size)
    : size_(size), map_(size_t{size.width} * size.height), pixels_(4 * map_.size()) {
  if (options.is_cuda) {
    require(make_device_engine({}, &engine_));
  } else {
    engine_ = make_host_engine();
  }
  require(engine_->configure({.width = size.width,
                              .height = size.height,
                              .output = Output::kOverlay,
                              .layout = {},
                              .max_tracks = options.max_tracks,
                              .threads = 1}));
  job_.output = {.pixels = pixels_.data(), .stride = size_t{4} * size.width};
  job_.settings.overlay_alpha = 255;
  job_.labels = map_.data();
}

const FrameResult& Follower::follow(double time) {
  job_.time = std::llround(time * 1e9);
  require(engine_->push(job_));
  require(engine_->pop(&result_));
  // From labels, which all components have, to records, which those have that the filter keeps.
  record_of_label_.assign(result_.counts.n_labels + 1, uint32_t{kNone});
  for (uint32_t i = 0; i < result_.components.size(); ++i) {
    record_of_label_[result_.components[i].label] = i;
  }
  std::transform(map_.begin(), map_.end(), map_.begin(),
                 [&](uint32_t label) { return record_of_label_[label]; });
  return result_;
}

}  // namespace ccl::bench
