// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/statistics.h"

#include <algorithm>
#include <string>

#include "ccl/setting_names.h"
#include "memory/owned.h"

namespace cudaccl {

namespace {

struct Stage {
  const char* name;
  float ccl::StageTimes::*time;
};

constexpr Stage kStageTimes[] = {
    {"upload", &ccl::StageTimes::upload},   {"segment", &ccl::StageTimes::segment},
    {"label", &ccl::StageTimes::label},     {"number", &ccl::StageTimes::number},
    {"measure", &ccl::StageTimes::measure}, {"track", &ccl::StageTimes::track},
    {"paint", &ccl::StageTimes::paint},     {"download", &ccl::StageTimes::download},
};

}  // namespace

void Statistics::Range::add(double value, bool first) {
  min = first ? value : std::min(min, value);
  max = first ? value : std::max(max, value);
  sum += value;
}

void Statistics::count_frame(const ccl::FrameResult& result) {
  const std::lock_guard guard(lock_);
  for (int i = 0; i < kStages; ++i) {
    totals_.stages[i].add(result.times.*kStageTimes[i].time, totals_.frames == 0);
  }
  for (size_t i = 0; i < std::size(kFrameCounts); ++i) {
    totals_.counts[i] += kFrameCounts[i].value(result);
  }
  for (uint32_t i = 0; i < ccl::kFilterConditions; ++i) {
    totals_.n_removed[i] += result.counts.n_removed[i];
  }
  ++totals_.frames;
}

void Statistics::count_late() {
  const std::lock_guard guard(lock_);
  ++totals_.late;
}

void Statistics::count_corrupt() {
  const std::lock_guard guard(lock_);
  ++totals_.corrupt;
}

void Statistics::set_places(const ccl::Regions& regions) {
  const std::lock_guard guard(lock_);
  totals_.events.set_places(regions);
}

void Statistics::count_events(std::span<const CclEvent> events, std::span<const uint32_t> n_inside) {
  const std::lock_guard guard(lock_);
  totals_.events.count(events, n_inside);
}

void Statistics::reset() {
  const std::lock_guard guard(lock_);
  totals_ = {};
  report_time_ = g_get_monotonic_time();
}

bool Statistics::is_report_due() {
  const gint64 now = g_get_monotonic_time();
  const std::lock_guard guard(lock_);
  const bool is_due = now - report_time_ >= G_USEC_PER_SEC;
  report_time_ = is_due ? now : report_time_;
  return is_due;
}

GstStructure* Statistics::to_structure(const Processor& processor) const {
  static_assert(std::size(kStageTimes) == kStages);
  Totals totals;
  {
    const std::lock_guard guard(lock_);
    totals = totals_;
  }
  Owned<GstStructure> made(
      gst_structure_new("application/x-cudaccl-stats", "device", G_TYPE_STRING, processor.description.c_str(),
                        "device-id", G_TYPE_INT, processor.cuda_device_id, "frames", G_TYPE_UINT64,
                        totals.frames, "dropped", G_TYPE_UINT64, totals.late + totals.corrupt, "late",
                        G_TYPE_UINT64, totals.late, "corrupt", G_TYPE_UINT64, totals.corrupt, nullptr));
  GstStructure* structure = made.get();
  for (size_t i = 0; i < std::size(kFrameCounts); ++i) {
    gst_structure_set(structure, kFrameCounts[i].stats_field, G_TYPE_UINT64, totals.counts[i], nullptr);
  }
  for (uint32_t i = 0; i < ccl::kFilterConditions; ++i) {
    const std::string field = std::string("removed-by-") + ccl::kFilterConditionNames[i];
    gst_structure_set(structure, field.c_str(), G_TYPE_UINT64, totals.n_removed[i], nullptr);
  }
  totals.events.add_to(structure);
  for (int i = 0; i < kStages; ++i) {
    const Range& stage = totals.stages[i];
    const std::string prefix = std::string(kStageTimes[i].name) + "-us-";
    const double mean = totals.frames > 0 ? stage.sum / static_cast<double>(totals.frames) : 0;
    gst_structure_set(structure, (prefix + "min").c_str(), G_TYPE_DOUBLE, stage.min,
                      (prefix + "mean").c_str(), G_TYPE_DOUBLE, mean, (prefix + "max").c_str(), G_TYPE_DOUBLE,
                      stage.max, nullptr);
  }
  return made.release();
}

}  // namespace cudaccl
