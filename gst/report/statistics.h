// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's `stats` property.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <iterator>
#include <mutex>
#include <span>

#include "ccl/engine.h"
#include "element/backend.h"
#include "report/event_counts.h"
#include "report/frame_counts.h"

namespace cudaccl {

/// Any thread may use it.
class Statistics {
 public:
  void count_frame(const ccl::FrameResult& result);
  void count_late();     ///< a frame that quality of service dropped
  void count_corrupt();  ///< a frame that could not be read
  /// See EventCounts.
  void set_places(const ccl::Regions& regions);
  void count_events(std::span<const CclEvent> events, std::span<const uint32_t> n_inside);
  void reset();
  /// True once a second, if it is asked often enough: then a change of `stats` is to be notified.
  bool is_report_due();

  /// application/x-cudaccl-stats: `device` (string, empty if there is none) and `device-id` (gint, −1 unless
  /// it is a GPU) of the processor; then `frames`, `dropped` (`late` and `corrupt`), the sums of
  /// kFrameCounts, and for each of ccl::kFilterConditionNames the sum removed-by-NAME (guint64); then what
  /// EventCounts adds; then for each stage STAGE-us-min, STAGE-us-mean, STAGE-us-max (gdouble). Owned by the
  /// caller.
  GstStructure* to_structure(const Processor& processor) const;

 private:
  struct Range {
    double min = 0;
    double max = 0;
    double sum = 0;

    void add(double value, bool first);
  };

  static constexpr int kStages = 8;

  struct Totals {
    uint64_t frames = 0;
    uint64_t late = 0;
    uint64_t corrupt = 0;
    uint64_t counts[std::size(kFrameCounts)] = {};
    uint64_t n_removed[ccl::kFilterConditions] = {};
    Range stages[kStages];
    EventCounts events;
  };

  mutable std::mutex lock_;
  Totals totals_;
  gint64 report_time_ = 0;  ///< of the last report or the start; GLib's monotonic time
};

}  // namespace cudaccl
