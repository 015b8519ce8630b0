// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last step of some outputs: of those that show the source in colour, or what a background model
/// expects, and of masks with other values than 255 and 0. For the former, pipelines paint their components
/// as colorized (painted_output()), with 0 as the background, which no colour is; this step makes pixels of
/// these values and of the source.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/source_frame.h"

namespace ccl::device {

struct Composition {
  Output output;  ///< kOverlay, kForeground, or kBackground, which shows the source alone
  PixelLayout layout;
  SourceFrame source;
  const Settings& settings;
};

/// Whether an output needs this step for a source. Parts (ccl/parts.h) may be labelled from other pixels.
bool is_composed(Output output, const SourceFrame& source, const Settings& settings);

/// The settings with which a pipeline paints the values of such an output.
Settings settings_of_values(Output output, const Settings& settings);

/// Enqueues the writing of dense pixels in place of their paint values.
Status compose(const Composition& composition, uint32_t* pixels, cudaStream_t stream);

/// Enqueues the writing of Settings::mask_on and mask_off in place of 255 and 0.
Status recolor_mask(const Settings& settings, size_t n_pixels, uint8_t* pixels, cudaStream_t stream);

}  // namespace ccl::device
