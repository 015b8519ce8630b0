// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every CPU labeler takes and gives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "host/segment_source.h"

namespace ccl::host {

/// Finds the components of a frame. A labeler is made for one frame size and takes all its memory then.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// Writes width × height dense values: 0 for background, else 1 + the smallest raster index of the
  /// pixel's component. `image` must have the size the labeler was made for.
  virtual void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) = 0;

  /// Of an iterative labeler: how many iterations the last label() took, that which changed nothing included.
  /// 0 for all others.
  virtual uint32_t iterations() const { return 0; }
};

}  // namespace ccl::host
