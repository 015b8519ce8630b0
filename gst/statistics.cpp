// SPDX-License-Identifier: LGPL-2.1-or-later
#include "statistics.h"

#include <algorithm>

namespace cudaccl {

namespace {

struct Stage {
  const char* name;
  float ccl::StageTimes::*time;
};

constexpr Stage kStageTimes[] = {
    {"upload", &ccl::StageTimes::upload}, {"label", &ccl::StageTimes::label},
    {"number", &ccl::StageTimes::number}, {"measure", &ccl::StageTimes::measure},
    {"paint", &ccl::StageTimes::paint},   {"download", &ccl::StageTimes::download},
};

}  // namespace

void Statistics::Range::add(double value, bool first) {
  min = first ? value : std::min(min, value);
  max = first ? value : std::max(max, value);
  sum += value;
}

void Statistics::count_frame(const ccl::FrameResult& result) {
  for (int i = 0; i < kStages; ++i) {
    stages_[i].add(result.times.*kStageTimes[i].time, frames_ == 0);
  }
  ++frames_;
  components_ += result.n_components;
  overflow_ += result.overflow;
}

GstStructure* Statistics::to_structure(const std::string& device) const {
  static_assert(std::size(kStageTimes) == kStages);
  GstStructure* structure =
      gst_structure_new("application/x-cudaccl-stats", "device", G_TYPE_STRING, device.c_str(), "frames",
                        G_TYPE_UINT64, frames_, "dropped", G_TYPE_UINT64, dropped_, "components",
                        G_TYPE_UINT64, components_, "overflow", G_TYPE_UINT64, overflow_, nullptr);
  for (int i = 0; i < kStages; ++i) {
    const std::string prefix = std::string(kStageTimes[i].name) + "-us-";
    const double mean = frames_ > 0 ? stages_[i].sum / static_cast<double>(frames_) : 0;
    gst_structure_set(structure, (prefix + "min").c_str(), G_TYPE_DOUBLE, stages_[i].min,
                      (prefix + "mean").c_str(), G_TYPE_DOUBLE, mean, (prefix + "max").c_str(), G_TYPE_DOUBLE,
                      stages_[i].max, nullptr);
  }
  return structure;
}

}  // namespace cudaccl
