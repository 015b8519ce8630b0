// SPDX-License-Identifier: LGPL-2.1-or-later
/// Rows of the mixture in a frame in which the light changed (ccl/segment/light.h). That is rare, so they are
/// not vectorized.
#pragma once

#include <cstdint>

#include "ccl/segment/light.h"
#include "host/stages/segment/simd/background.h"

namespace ccl::host {

/// A row of a frame, and the state of its pixels. U and V are of every pixel.
struct MixtureLightRow {
  uint32_t width;
  const uint8_t* pixels;
  const uint8_t* u;
  const uint8_t* v;
  MixtureRow state;
};

/// Adds the pixels that count.
void add_light(const MixtureLightRow& row, light::ColorSums* sums);

/// Pixels whose luma does not fit the gain.
uint32_t count_misfits(const light::Change& change, const MixtureLightRow& row);

/// Begins again with this frame, and with what is known of the background. `keeps_misfits`: see
/// mixture::relearn().
void relearn_light(const light::Change& change, bool keeps_misfits, const MixtureLightRow& row);

/// Begins again with this frame only. `keeps_variance`: after a change of light.
void begin_row(const MixtureLightRow& row, bool keeps_variance);

}  // namespace ccl::host
