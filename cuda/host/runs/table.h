// SPDX-License-Identifier: LGPL-2.1-or-later
/// The runs of a frame, and the strips of rows that threads process in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/runs/simd/kernels.h"

namespace ccl::host {

/// Rows that are labelled by one thread. Components are *local* at first: they end at the strip's borders,
/// until strips are merged. Local labels ascend from first_label on, in the raster order of the local
/// components' first pixels.
struct Strip {
  uint32_t index;
  uint32_t y_begin;
  uint32_t y_end;
  uint32_t first_run;    ///< where the room of its runs begins in the arrays
  uint32_t first_label;  ///< larger than any label of the strips before it
  uint32_t n_labels = 0;
};

/// A row's runs are [begin, end) in the arrays of runs. Equal rows that follow each other share their runs:
/// such a run is a rectangle. Scaled-up masks, straight edges and empty rows have many. The two rows of a
/// pair (pair_labeler.h) share their runs too, equal or not.
struct RowRuns {
  uint32_t begin;
  uint32_t end;

  bool operator==(const RowRuns&) const = default;
};

/// Rows y..y_end − 1, which share their runs.
struct Band {
  uint32_t y;
  uint32_t y_end;
  RowRuns runs;

  uint32_t height() const { return y_end - y; }
};

/// Arrays are as long as the worst frame needs, in which each pixel is a run. They are never filled in
/// advance, so that pages which ordinary frames do not reach stay unmapped.
class RunTable {
 public:
  RunTable(uint32_t width, uint32_t height, uint32_t n_strips);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  uint32_t n_words() const { return count_words(width_); }

  /// One more than any local label can be.
  size_t n_local_labels() const { return size_t{width_} * height_ + 1; }

  std::vector<Strip>& strips() { return strips_; }
  const std::vector<Strip>& strips() const { return strips_; }

  BitRow<uint64_t> bits(uint32_t y) {
    return {foreground_.get() + size_t{y} * n_words(), starts_.get() + size_t{y} * n_words()};
  }
  BitRow<const uint64_t> bits(uint32_t y) const {
    return {foreground_.get() + size_t{y} * n_words(), starts_.get() + size_t{y} * n_words()};
  }

  RowRuns& row(uint32_t y) { return rows_[y]; }
  const RowRuns& row(uint32_t y) const { return rows_[y]; }

  bool has_same_pixels(uint32_t y, uint32_t other) const;

  /// Whether the band's rows have the same pixels. Only the rows of a pair share runs and may differ.
  bool is_rectangles(const Band& band) const {
    return band.height() != 2 || has_same_pixels(band.y, band.y + 1);
  }

  /// Calls visit(band) for all rows of the strip, in order.
  template <typename Visit>
  void for_each_band(const Strip& strip, Visit visit) const {
    for (uint32_t y = strip.y_begin; y < strip.y_end;) {
      Band band{y, y + 1, rows_[y]};
      while (band.y_end < strip.y_end && rows_[band.y_end] == band.runs) {
        ++band.y_end;
      }
      y = band.y_end;
      visit(band);
    }
  }

  // Per run. Runs of pairs have labels only.
  uint16_t* begin() const { return begin_.get(); }     ///< first column
  uint16_t* end() const { return end_.get(); }         ///< the column after the last one
  uint8_t* segment() const { return segment_.get(); }  ///< filled if the frame needs values
  uint32_t* shape() const { return shape_.get(); }     ///< see shape.h; filled if the frame needs shapes
  uint32_t* label() const { return label_.get(); }     ///< first the run's parent, then its local label

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<Strip> strips_;
  std::unique_ptr<uint64_t[]> foreground_;
  std::unique_ptr<uint64_t[]> starts_;
  std::vector<RowRuns> rows_;
  std::unique_ptr<uint16_t[]> begin_;
  std::unique_ptr<uint16_t[]> end_;
  std::unique_ptr<uint8_t[]> segment_;
  std::unique_ptr<uint32_t[]> shape_;
  std::unique_ptr<uint32_t[]> label_;
};

}  // namespace ccl::host
