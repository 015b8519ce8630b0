// SPDX-License-Identifier: LGPL-2.1-or-later
/// The largest circle in a component, from exact distances: integers alone decide, so the same labels give
/// the same circle everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/label_image.h"

namespace ccl {

/// A pixel of a component, and its squared distance to the centre of the nearest pixel of the frame that is
/// not of the component; 0 if there is no such pixel.
struct InscribedCircle {
  uint32_t x, y;
  uint32_t squared_distance;

  bool operator==(const InscribedCircle&) const = default;
};

/// Finds the pixel with the largest distance, of equal ones the first in raster order: one component at a
/// time. Keeps its memory, which is 2 bytes for each pixel of the largest box.
///
/// In two passes, after A. Meijster, J. B. T. M. Roerdink, W. H. Hesselink, "A General Algorithm for
/// Computing Distance Transforms in Linear Time", Mathematical Morphology and its Applications to Image and
/// Signal Processing, 2000: within columns, then within rows, by the lower envelope of parabolas. We look at
/// the component's box alone, around which are only other pixels, and leave out the runs that are too near to
/// other pixels to have a larger distance than those before.
class InscribedCircleFinder {
 public:
  /// Of the pixels with this label, which lie in `box`; the frame has `width` × `height` pixels. Throws
  /// std::bad_alloc.
  InscribedCircle find(const LabelImage& image, uint32_t label, const PixelBox& box, uint32_t width,
                       uint32_t height);

 private:
  /// Pixels of the component, from `begin` to `end` − 1 in a row of the box. There is another pixel before
  /// and behind them, or the frame's border, which does not end them.
  struct Run {
    uint32_t begin, end;
    bool ends_before, ends_after;
  };

  /// The parabola over a column, which is the lowest one from the column `begin` on.
  struct Parabola {
    int64_t column, square, begin;

    int64_t at(int64_t x) const { return (x - column) * (x - column) + square; }
  };

  void prepare(const PixelBox& box);
  void measure_below(const LabelImage& image, uint32_t label, const PixelBox& box, uint16_t border);
  void search_row(const PixelBox& box, uint32_t y, bool ends_before, bool ends_after);
  bool is_long(const Run& run) const;
  void search_run(const Run& run, uint32_t left, uint32_t y);
  void add_parabola(int64_t column, int64_t square);

  std::unique_ptr<uint16_t[]> below_;  ///< per pixel of the box: the distance to the next one below
  size_t n_below_ = 0;
  std::vector<uint16_t> counts_;     ///< per column: the distance to the next pixel above
  std::vector<uint16_t> distances_;  ///< per column of the row: that to the nearer one of both
  std::vector<Parabola> envelope_;
  InscribedCircle best_ = {};
};

}  // namespace ccl
