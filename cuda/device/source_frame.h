// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame's input in device memory, for the stages before and after labelling.
#pragma once

#include "ccl/engine.h"
#include "ccl/segment/luma.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device {

struct SourceFrame {
  segment::Plane luma = {};  ///< 8 bits a pixel
  Chroma chroma = {};
  /// If its pixels are not null, what the luma was made from (ccl/segment/luma.h).
  SourcePixels pixels = {};

  bool has_pixels() const { return pixels.pixels != nullptr; }

  bool operator==(const SourceFrame&) const = default;
};

}  // namespace ccl::device
