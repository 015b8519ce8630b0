// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last stage: from labels to output pixels.
#pragma once

#include <cstdint>
#include <span>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/engine.h"

namespace ccl::host {

class ThreadPool;

/// One frame to be painted.
struct PaintJob {
  uint32_t width;
  uint32_t height;
  Output output;  ///< not kNone
  PixelLayout layout;
  const Settings& settings;
  const uint32_t* labels;  ///< canonical, width × height, dense
  const uint32_t* areas;   ///< of labels 1..n_labels, at those indices
  uint32_t n_labels;
  InputImage input;  ///< read for Output::kOverlay only
  OutputImage image;
};

/// Paints every pixel of the output. `ink` is scratch of n_labels + 1 values.
void paint(const PaintJob& job, uint32_t* ink, ThreadPool& pool);

/// Draws the outline, one pixel wide, of each record's bounding box. Only for 4-byte pixels.
void draw_boxes(std::span<const CclComponent> records, const PixelLayout& layout, const OutputImage& image);

}  // namespace ccl::host
