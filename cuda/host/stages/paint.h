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
#include "host/thread_pool.h"

namespace ccl::host {

/// Rows are painted by this many at a time, each turn on one thread.
inline constexpr uint32_t kPaintRowsPerTurn = 64;

constexpr uint32_t count_paint_turns(uint32_t height) {
  return (height + kPaintRowsPerTurn - 1) / kPaintRowsPerTurn;
}

/// One frame to be painted. Config::output is not kNone.
struct PaintJob {
  const Config& config;
  const Settings& settings;
  InputImage input;  ///< read for Output::kOverlay only
  OutputImage image;
};

/// What the pixels of each component become.
class InkMixer {
 public:
  explicit InkMixer(const PaintJob& job);

  /// Of pixels that are in no component.
  uint32_t background() const { return background_; }

  /// Writes the inks of a range of components with these areas, both arrays having the range's indices.
  void mix(const LabelRange& range, const uint32_t* areas, uint32_t* ink) const;

 private:
  template <typename Ink>
  void mix(const LabelRange& range, const uint32_t* areas, uint32_t* ink, Ink ink_of) const;

  const PaintJob& job_;
  uint32_t background_;
  std::array<uint32_t, kPaletteSize> colors_;  ///< the palette in the output's layout
};

/// The packed grey of every luma value; filled for Output::kOverlay only.
using GreyTable = std::array<uint32_t, 256>;
GreyTable make_greys(const PaintJob& job);

/// Paints row y, whose pixels have these canonical labels.
void paint_row(const PaintJob& job, uint32_t y, const uint32_t* labels, const uint32_t* ink,
               const GreyTable& greys);

/// Paints every pixel of the output. row_labels(y, turn) gives the labels of row y; rows of one turn are
/// asked for in order, by one thread.
template <typename RowLabels>
void paint(const PaintJob& job, const uint32_t* ink, ThreadPool& pool, RowLabels row_labels) {
  const GreyTable greys = make_greys(job);
  const uint32_t height = job.config.height;
  pool.parallel_for(count_paint_turns(height), [&](uint32_t turn) {
    const uint32_t end = std::min(height, (turn + 1) * kPaintRowsPerTurn);
    for (uint32_t y = turn * kPaintRowsPerTurn; y < end; ++y) {
      paint_row(job, y, row_labels(y, turn), ink, greys);
    }
  });
}

/// Draws the outline, one pixel wide, of each record's bounding box. Does nothing unless pixels have colours.
void draw_boxes(std::span<const CclComponent> records, const Config& config, const OutputImage& image);

}  // namespace ccl::host
