// SPDX-License-Identifier: LGPL-2.1-or-later
/// The interface of all CPU labelers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "host/segment_source.h"

namespace ccl::host {

/// Finds the components of a frame. A labeler is made for one frame size and takes all its memory when it is
/// made.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// Writes width × height dense values: 0 for background, else 1 + the smallest raster index of the
  /// pixel's component. `image` must have the labeler's frame size.
  virtual void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) = 0;

  /// The number of iterations of the last label(), including the last one, which changed nothing. 0 if the
  /// labeler does not iterate.
  virtual uint32_t iterations() const { return 0; }
};

}  // namespace ccl::host
