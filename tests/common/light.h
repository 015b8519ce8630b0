// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a background model must believe after a frame in which the light changed, pixel by pixel from the
/// rule in docs/foreground.md. It shares the library's plain types, and no code.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/segment.h"

namespace ccl::test {

/// Luma of three frames of the same size, row by row. The first one is what the model believes: it has been
/// shown without noise until nothing of the model changed any more.
struct LightCase {
  BackgroundModel model = BackgroundModel::kSigmaDelta;
  std::vector<uint8_t> known;
  std::vector<uint8_t> before;  ///< the last frame of the old light, with objects
  std::vector<uint8_t> now;     ///< the first one of the new light
};

struct LightOutcome {
  std::vector<uint8_t> background;  ///< the luma that the model believes after it
  uint32_t n_misfits = 0;           ///< pixels that do not fit the gain
  bool keeps_objects = false;       ///< see docs/foreground.md
  bool keeps_misfits = false;
};

/// At the default sensitivity. A pixel of `now` must be equal to the one of `known` or differ by more than 6:
/// the mixture learns a value near its mean before it sees that the light has changed.
LightOutcome expect_after_light(const LightCase& light);

}  // namespace ccl::test
