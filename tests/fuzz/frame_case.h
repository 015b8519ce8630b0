// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames and settings from the bytes of a fuzzer, through the C interface, and what the oracle expects of
/// them.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.h"
#include "ccl/config.h"
#include "ccl/segment.h"
#include "cudaccl/cudaccl.hpp"
#include "images.h"

namespace fuzz {

struct FrameCase {
  ccl::test::Image image;
  const char* labeler = "runs";
  uint32_t threads = 1;
  uint32_t max_components = 1;
  ccl::Settings settings;
  ccl::Segmentation segmentation;
};

/// Up to 70×40 pixels: bits, grey values, blobs or noise.
ccl::test::Image take_frame(Bytes* bytes);
/// The name of a labeler of the CPU, or "auto".
const char* take_labeler(Bytes* bytes);
ccl::Filter take_filter(Bytes* bytes);

cudaccl::Settings to_c(const ccl::Settings& settings, const ccl::Segmentation& segmentation);

/// The engine of this process, on the CPU.
CudacclEngine* engine();
/// Ends the program unless a call of engine() succeeded.
void require_ok(CudacclStatus status, const char* call);

/// Runs the frame, and ends the program unless all is as the oracle expects.
void check_frame(const FrameCase& frame);

}  // namespace fuzz
