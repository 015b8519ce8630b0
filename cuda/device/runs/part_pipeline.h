// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipeline of `runs` for objects that touch (ccl/parts.h).
#pragma once

#include <memory>

#include "device/pipeline.h"

namespace ccl::device {

/// Whether the pipeline is for frames with these settings.
constexpr bool can_have_parts(const Settings& settings) {
  return settings.separation.is_active() && settings.connectivity == Connectivity::k8 &&
         settings.rule.foreground != Foreground::kValues;
}

/// `of_values`: a pipeline of the same configuration, for values. Overlays are left to a later stage
/// (FrameBuffers::is_composed).
Status make_part_pipeline(const Config& config, std::unique_ptr<Pipeline> of_values,
                          std::unique_ptr<Pipeline>* pipeline);

}  // namespace ccl::device
