// SPDX-License-Identifier: LGPL-2.1-or-later
/// Standards of colour in the engine's integers.
#pragma once

#include "ccl/config.h"
#include "ccl/segment/luma.h"

namespace ccl {

/// The weights of red and blue in luma; green has the rest.
struct LumaWeights {
  double red;
  double blue;

  constexpr double green() const { return 1 - red - blue; }
};

inline constexpr LumaWeights kBt601 = {0.2990, 0.1140};
inline constexpr LumaWeights kBt709 = {0.2126, 0.0722};
inline constexpr LumaWeights kBt2020 = {0.2627, 0.0593};

/// From luma and chroma to RGB. With `is_limited` luma is 16..235 and chroma 16..240, else both 0..255.
ColorMatrix color_matrix(const LumaWeights& weights, bool is_limited);

/// Sets the weights of the luma of RGB pixels.
void set_luma_weights(const LumaWeights& weights, SourcePixels* source);

}  // namespace ccl
