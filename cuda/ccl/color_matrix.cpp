// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/color_matrix.h"

#include <cmath>

namespace ccl {

namespace {

constexpr double kFixedOne = 65536;

int32_t fixed(double value) {
  return static_cast<int32_t>(std::lround(value * kFixedOne));
}

}  // namespace

ColorMatrix color_matrix(const LumaWeights& weights, bool is_limited) {
  const double chroma = is_limited ? 255.0 / 224 : 1;
  const double red_v = 2 * (1 - weights.red) * chroma;
  const double blue_u = 2 * (1 - weights.blue) * chroma;
  return {.black = is_limited ? 16 : 0,
          .luma = fixed(is_limited ? 255.0 / 219 : 1),
          .red_v = fixed(red_v),
          .green_u = fixed(-blue_u * weights.blue / weights.green()),
          .green_v = fixed(-red_v * weights.red / weights.green()),
          .blue_u = fixed(blue_u)};
}

void set_luma_weights(const LumaWeights& weights, SourcePixels* source) {
  source->red_weight = static_cast<uint16_t>(fixed(weights.red));
  source->green_weight = static_cast<uint16_t>(fixed(weights.green()));
  source->u_scale = static_cast<uint32_t>(fixed(1 / (2 * (1 - weights.blue))));
  source->v_scale = static_cast<uint32_t>(fixed(1 / (2 * (1 - weights.red))));
}

}  // namespace ccl
