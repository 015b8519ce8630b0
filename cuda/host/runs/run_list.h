// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lists of labelled runs, and what each run adds to the sums of its component.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/runs/shape.h"
#include "host/runs/table.h"
#include "host/stages/sums.h"

namespace ccl::host {

/// Rows y..y_end − 1 and their runs: arrays indexed by run, each of `count` entries.
struct RunList {
  uint32_t y;
  uint32_t y_end;
  uint32_t count;
  const uint16_t* begin;  ///< first column
  const uint16_t* end;    ///< the column after the last one
  const uint32_t* label;  ///< local
  // What rectangles have.
  const uint32_t* shape = nullptr;   ///< see shape.h; if the frame needs shapes
  const uint8_t* segment = nullptr;  ///< if the frame needs values
  // These are of the runs of a pair of different rows, whose pixels are known by their sums only.
  const uint32_t* n_pixels = nullptr;
  const uint32_t* n_upper = nullptr;     ///< pixels in the upper row
  const uint32_t* column_sum = nullptr;  ///< sum of the pixels' columns
};

/// The runs of a band whose columns are in the table.
inline RunList list_band(const RunTable& table, Band band) {
  const uint32_t first = band.runs.begin;
  return {.y = band.y,
          .y_end = band.y_end,
          .count = band.runs.end - first,
          .begin = table.begin() + first,
          .end = table.end() + first,
          .label = table.label() + first,
          .shape = table.shape() + first,
          .segment = table.segment() + first};
}

/// The sums that records with these features need.
template <uint32_t kFeatures>
using SumsFor = std::conditional_t<kFeatures == 0, BasicSums, Sums>;

/// A view of runs that have all pixels of their columns in all rows. It only refers to the list, so that it
/// is passed in a register. areas() and sums() return functions of i, for loops over the runs.
class RectangleList {
 public:
  explicit RectangleList(const RunList& list) : list_(list) {}

  const RunList& list() const { return list_; }
  uint32_t count() const { return list_.count; }
  uint32_t label(uint32_t i) const { return list_.label[i]; }
  uint8_t segment(uint32_t i) const { return list_.segment[i]; }

  auto areas() const {
    return [&list = list_, n_rows = list_.y_end - list_.y](uint32_t i) {
      return (list.end[i] - list.begin[i]) * n_rows;
    };
  }

  template <uint32_t kFeatures>
  auto sums() const {
    return [&list = list_, y = list_.y, n_rows = list_.y_end - list_.y,
            rows = RowSums(list_.y, list_.y_end)](uint32_t i) {
      const Rectangle rectangle{list.begin[i], list.end[i], y, n_rows};
      auto sums = geometry<SumsFor<kFeatures>>(rectangle, rows, kFeatures);
      if constexpr ((kFeatures & (kFeaturePerimeter | kFeatureEuler)) != 0) {
        add_shape(rectangle, list.shape[i], &sums);
      }
      return sums;
    };
  }

 private:
  /// A rectangle of L × H pixels has 2L + 2H edges, and every pair of pixels above each other in linked runs
  /// hides two.
  ///
  /// The Euler number of a component is its runs minus its links: a run adds one to the pixels minus their
  /// horizontal pairs; a link of k ≥ 1 overlapping pixels adds k − 1 full 2×2 windows and k vertical pairs;
  /// and a link by a corner alone is one of the windows that pixel_shape() subtracts. The rows of a rectangle
  /// are H runs and H − 1 links.
  static void add_shape(const Rectangle& rectangle, uint32_t shape, Sums* sums) {
    sums->perimeter += 2 * (rectangle.x1 - rectangle.x0 + rectangle.n_rows - overlap_of_shape(shape));
    sums->euler += 1 - static_cast<int32_t>(links_of_shape(shape));
  }

  const RunList& list_;
};

/// A view of the runs of a pair of different rows.
class PairList {
 public:
  explicit PairList(const RunList& list) : list_(list) {}

  uint32_t count() const { return list_.count; }
  uint32_t label(uint32_t i) const { return list_.label[i]; }
  static uint8_t segment(uint32_t) { return kBinarySegment; }

  auto areas() const {
    return [&list = list_](uint32_t i) { return list.n_pixels[i]; };
  }

  template <uint32_t kFeatures>
  auto sums() const {
    static_assert(kFeatures == 0, "a pair's sums are enough for records without features only");
    return [&list = list_, y = list_.y](uint32_t i) {
      const uint32_t n = list.n_pixels[i];
      const uint32_t n_upper = list.n_upper[i];
      return BasicSums{.x_min = list.begin[i],
                       .y_min = n_upper != 0 ? y : y + 1,
                       .x_max = list.end[i] - 1u,
                       .y_max = n_upper != n ? y + 1 : y,
                       .x = list.column_sum[i],
                       .y = uint64_t{n} * (y + 1) - n_upper};
    };
  }

 private:
  const RunList& list_;
};

}  // namespace ccl::host
