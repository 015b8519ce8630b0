// SPDX-License-Identifier: LGPL-2.1-or-later
#include "batch.h"
#include "device.h"
#include "segment.h"
#include "track.h"

namespace ccl::bench {

Status Device::open(std::unique_ptr<Device>*) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

Status run_batch(int, char**) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

Status run_segment(int, char**) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

Status run_track(int, char**) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

Status run_track_noise(int, char**) {
  return {StatusCode::kUnsupported, "this build has no CUDA"};
}

}  // namespace ccl::bench
