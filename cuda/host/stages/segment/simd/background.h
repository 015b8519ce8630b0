// SPDX-License-Identifier: LGPL-2.1-or-later
/// Rows of the background models, for several instruction sets. All of them run the rules of ccl/segment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/segment/mixture.h"
#include "ccl/segment/sigma_delta.h"
#include "host/simd_level.h"

namespace ccl::host {

/// Rows of state and of scratch may be read and written up to the end of the block of the last pixel, and
/// read at one entry before the first. Rows of frames are only read where they have pixels.
inline constexpr uint32_t kBlock = 64;

struct SigmaDeltaRow {
  uint8_t* mean;
  uint8_t* variance;
  uint8_t* status;
  uint8_t* candidate;
  uint8_t* stay;
};

struct SigmaDeltaChromaRow {
  uint8_t* mean_u;
  uint8_t* mean_v;
  uint8_t* variance;
  uint8_t* candidate_u;
  uint8_t* candidate_v;
};

/// Modes of a row of pixels, by mode.
struct MixtureRow {
  uint16_t* weight[mixture::kModes];
  uint16_t* mean[mixture::kModes];
  uint16_t* variance[mixture::kModes];
  uint16_t* chroma[mixture::kModes];
};

/// What classification writes.
struct ClassRow {
  uint64_t* bits;     ///< of the foreground, in whole words; what is after the last pixel is 0
  uint32_t n_differ;  ///< pixels
};

struct SigmaDeltaClassJob {
  sigma_delta::Thresholds thresholds;
  uint32_t width;
  const uint8_t* pixels;
  const uint8_t* mean[3];  ///< of the row above, the row itself, and the row below
  const uint8_t* variance;
  const uint8_t* chroma_classes;  ///< of each pixel: sigma_delta::pack(); null: no chroma
};

struct SigmaDeltaChromaClassJob {
  sigma_delta::Thresholds thresholds;
  uint32_t width;  ///< of the chroma
  const uint8_t* u;
  const uint8_t* v;
  SigmaDeltaChromaRow state;
  uint8_t* classes;  ///< out: sigma_delta::pack()
};

struct SigmaDeltaUpdateJob {
  sigma_delta::Thresholds thresholds;
  sigma_delta::Rates rates;
  uint32_t width;
  const uint8_t* pixels;
  SigmaDeltaRow state;
  const uint8_t* chroma_classes;  ///< as in SigmaDeltaClassJob
};

struct SigmaDeltaChromaUpdateJob {
  sigma_delta::Thresholds thresholds;
  sigma_delta::Rates rates;
  uint32_t width;
  const uint8_t* u;
  const uint8_t* v;
  const uint8_t*
      luma_status;  ///< of the first luma pixel that each chroma pixel belongs to, as it was learnt
  const uint8_t* luma_stay;
  SigmaDeltaChromaRow state;
};

struct MixtureClassJob {
  mixture::Thresholds thresholds;
  uint32_t width;
  const uint8_t* pixels;
  const uint8_t* u;  ///< of every pixel
  const uint8_t* v;
  bool has_chroma;
  MixtureRow state;
  const uint16_t* around[2];  ///< means of the first mode in the rows above and below
  const uint16_t* around_chroma[2];
};

struct MixtureUpdateJob {
  mixture::Rates rates;
  uint32_t width;
  const uint8_t* pixels;
  const uint8_t* u;
  const uint8_t* v;
  MixtureRow state;
};

struct BackgroundKernels {
  void (*classify_sigma_delta)(const SigmaDeltaClassJob& job, ClassRow* out);
  void (*classify_sigma_delta_chroma)(const SigmaDeltaChromaClassJob& job);
  void (*update_sigma_delta)(const SigmaDeltaUpdateJob& job);
  void (*update_sigma_delta_chroma)(const SigmaDeltaChromaUpdateJob& job);
  void (*classify_mixture)(const MixtureClassJob& job, ClassRow* out);
  void (*update_mixture)(const MixtureUpdateJob& job);

  /// out[x] = in[x / 2].
  void (*double_columns)(const uint8_t* in, uint32_t width, uint8_t* out);
  /// Every second byte.
  void (*halve_columns)(const uint8_t* in, uint32_t width, uint8_t* out);
};

/// The kernels of a level, which must be supported.
const BackgroundKernels& background_kernels(SimdLevel level);

extern const BackgroundKernels
    kPlainBackgroundKernels;  ///< the rules, pixel by pixel: what others must equal
extern const BackgroundKernels kPortableBackgroundKernels;
#if defined(__x86_64__)
extern const BackgroundKernels kAvx2BackgroundKernels;
extern const BackgroundKernels kAvx512BackgroundKernels;
#endif

}  // namespace ccl::host
