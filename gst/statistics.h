// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's `stats` property.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

#include "ccl/engine.h"

namespace cudaccl {

class Statistics {
 public:
  void count_frame(const ccl::FrameResult& result);
  void count_dropped() { ++dropped_; }

  /// application/x-cudaccl-stats: device (string), frames, dropped, components, overflow (guint64), and for
  /// each stage STAGE-us-min, STAGE-us-mean, STAGE-us-max (gdouble). The caller's.
  GstStructure* to_structure(const std::string& device) const;

 private:
  struct Range {
    double min = 0;
    double max = 0;
    double sum = 0;

    void add(double value, bool first);
  };

  static constexpr int kStages = 6;

  uint64_t frames_ = 0;
  uint64_t dropped_ = 0;
  uint64_t components_ = 0;
  uint64_t overflow_ = 0;
  Range stages_[kStages];
};

}  // namespace cudaccl
