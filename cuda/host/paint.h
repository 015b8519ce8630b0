// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last stage: from labels to output pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/engine.h"
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
  const uint32_t* areas;  ///< of labels 1..n_labels, at those indices
  uint32_t n_labels;
  InputImage input;  ///< read for Output::kOverlay only
  OutputImage image;
};

/// Writes what a pixel of each label becomes into ink[0..n_labels].
void mix_ink(const PaintJob& job, uint32_t* ink);

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
