// SPDX-License-Identifier: LGPL-2.1-or-later
/// From structs of the C interface to those of the engine. What the engine's types cannot hold is refused
/// here; what the engine refuses itself is left to it.
#pragma once

#include "ccl/stream.h"
#include "cudaccl/cudaccl.h"

namespace ccl::capi {

/// More slots are refused.
inline constexpr uint32_t kMaxSlots = 64;

Status convert(const CudacclConfig& given, Config* config);

/// Sets the settings, the segmentation and the tracking of `job`. `largest_value` is that of a pixel.
Status convert(const CudacclSettings& given, uint32_t largest_value, FrameJob* job, FrameOptions* options);

/// The largest value of a pixel's luma, for thresholds.
Status find_largest_value(const CudacclInput& input, uint32_t* largest);

/// Sets the input, and what the settings say about its colours; after the settings.
Status convert(const CudacclInput& given, const Config& config, FrameJob* job);
/// Sets the output. `given` may be null if nothing is painted.
Status convert(const CudacclOutput* given, const Config& config, FrameJob* job);
/// Sets the planes of the configuration.
Status convert_planes(const CudacclFrame& given, const Config& config, FrameJob* job);

Status convert(const CudacclRegions& given, Regions* regions);

/// `name` begins the message.
Status check_range(const char* name, double value, double least, double largest);
/// kInvalidArgument with this message.
Status refuse(const std::string& message);

}  // namespace ccl::capi
