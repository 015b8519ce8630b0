// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/config.h"

#include <string>

#include "ccl/engine.h"

namespace ccl {

Status validate(const Config& config) {
  if (config.width == 0 || config.height == 0 || config.width > kMaxDimension ||
      config.height > kMaxDimension) {
    return {StatusCode::kInvalidArgument, "a frame of " + std::to_string(config.width) + "×" +
                                              std::to_string(config.height) + " pixels; 1×1 to " +
                                              std::to_string(kMaxDimension) + "×" +
                                              std::to_string(kMaxDimension) + " can be labelled"};
  }
  if (config.max_components == 0) {
    return {StatusCode::kInvalidArgument, "max_components is 0; the table needs at least one record"};
  }
  if (config.threads > kMaxThreads) {
    return {StatusCode::kInvalidArgument, std::to_string(config.threads) + " threads; at most " +
                                              std::to_string(kMaxThreads) + " can share a frame"};
  }
  if (config.slots == 0) {
    return {StatusCode::kInvalidArgument, "slots is 0; at least one frame must be in flight"};
  }
  return {};
}

Status validate(const FrameJob& job, const Config& config, Backend backend) {
  if (job.input.pixels == nullptr || job.input.stride < config.width) {
    return {StatusCode::kInvalidArgument, "the input image has no pixels, or a stride of " +
                                              std::to_string(job.input.stride) + " bytes for rows of " +
                                              std::to_string(config.width)};
  }
  const size_t row = size_t{config.width} * bytes_per_pixel(config.output);
  if (config.output != Output::kNone && (job.output.pixels == nullptr || job.output.stride < row)) {
    return {StatusCode::kInvalidArgument, "the output image has no pixels, or a stride of " +
                                              std::to_string(job.output.stride) + " bytes for rows of " +
                                              std::to_string(row)};
  }
  const bool is_on_device = job.input.memory == Memory::kDevice ||
                            (config.output != Output::kNone && job.output.memory == Memory::kDevice);
  if (is_on_device && backend == Backend::kCpu) {
    return {StatusCode::kInvalidArgument, "an image in the GPU's memory, which the CPU engine cannot reach"};
  }
  return {};
}

}  // namespace ccl
