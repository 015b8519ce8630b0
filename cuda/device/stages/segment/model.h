// SPDX-License-Identifier: LGPL-2.1-or-later
/// The state of a background model in addition to its planes.
#pragma once

#include <cstdint>

#include "ccl/counts.h"
#include "ccl/segment/light.h"
#include "ccl/segment/motion.h"

namespace ccl::device::segment {

inline constexpr uint32_t kLightWords = 10;

/// light::ColorSums as words that can be added at once by many threads; negative sums in two's complement.
struct LightWords {
  unsigned long long sums[kLightWords];
};
static_assert(sizeof(LightWords) == sizeof(light::ColorSums));

/// Two sums over all frames that needed them, and over all of these but the last one.
struct TotalSums {
  unsigned long long x;
  unsigned long long y;
  unsigned long long last_x;
  unsigned long long last_y;
};

/// What the blocks of a resident kernel share. Zero before the first frame.
struct FrameTotals {
  unsigned long long differing;  ///< pixels: see CountingBarrier
  uint32_t n_differ;             ///< pixels of the frame before
  uint32_t arrivals;             ///< see GridBarrier
  TotalSums light_sums;          ///< see light::Sums
  TotalSums sides;               ///< see Differing
  unsigned long long misfits;  ///< pixels that do not fit the gain, of all frames in which the light changed
  unsigned long long last_misfits;
  LightWords light;       ///< of the mixture, of all frames in which the light changed
  LightWords last_light;  ///< of all but this frame
};

/// What kernels need of the state in addition to planes.
struct Decision {
  ModelState* model;
  uint32_t* has_no_foreground;
  uint32_t* n_ended;
  FrameTotals* totals;
  FrameCounts* counts;
  uint64_t n_pixels;
};

/// The kernel that reads the step of the frame. It is the last one of `n_arguments`, so that a graph can
/// replace it for each frame.
struct StepKernel {
  const void* kernel;
  uint32_t n_arguments;
};

}  // namespace ccl::device::segment
