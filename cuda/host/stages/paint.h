// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last stage: from labels to output pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "ccl/colors.h"
#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/engine.h"
#include "host/stages/label_range.h"
#include "host/stages/row_chunks.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// A frame to be painted. Config::output is not kNone.
struct PaintJob {
  const Config& config;
  const Settings& settings;
  InputImage input;  ///< read by the outputs that show it
  OutputImage image;
};

/// The components of a frame with tracks. Arrays are indexed by label.
struct TrackedLabels {
  const uint32_t* marks;
  const uint32_t* record_index;
  std::span<const CclComponent> records;
};

/// Makes paint values: what the pixels of each component become.
class PaintRule {
 public:
  explicit PaintRule(const PaintJob& job);

  /// The paint value of background, and of components that the filter does not keep.
  uint32_t background() const { return background_; }

  /// Writes the paint values of a range of components. Both arrays have the range's indices.
  void make_values(const LabelRange& range, const uint32_t* marks, uint32_t* paint_values) const;

  /// Writes the colours that follow from the components' ids. A component with id 0 is grey.
  void make_colors_of_ids(const LabelRange& range, const TrackedLabels& labels, uint32_t* paint_values) const;

 private:
  template <typename ValueOf>
  void make_values(const LabelRange& range, const uint32_t* marks, uint32_t* paint_values,
                   ValueOf value_of) const;

  const PaintJob& job_;
  uint32_t background_;
  std::array<uint32_t, kPaletteSize> colors_;  ///< the palette in the output's layout
};

/// The packed grey of every luma value; filled for outputs that show the input.
using GreyTable = std::array<uint32_t, 256>;
GreyTable make_greys(const PaintJob& job);

/// Paints row y, whose pixels have these labels; paint_values[label] is the paint value of each.
void paint_row(const PaintJob& job, uint32_t y, const uint32_t* labels, const uint32_t* paint_values,
               const GreyTable& greys);

/// Paints every pixel of the output. row_labels(y, chunk) returns the labels of row y. It is called for the
/// rows of a row chunk in order, by one thread.
template <typename RowLabels>
void paint(const PaintJob& job, const uint32_t* paint_values, ThreadPool& pool, RowLabels row_labels) {
  const GreyTable greys = make_greys(job);
  for_each_row(pool, job.config.height, [&](uint32_t y, uint32_t chunk) {
    paint_row(job, y, row_labels(y, chunk), paint_values, greys);
  });
}

/// Fills the chroma planes of Output::kMask, if there are any.
void fill_chroma(const Config& config, const OutputImage& image);

/// Draws the outline of each record's bounding box, one pixel wide. Does nothing unless pixels have colours.
void draw_boxes(std::span<const CclComponent> records, const Config& config, const OutputImage& image);

}  // namespace ccl::host
