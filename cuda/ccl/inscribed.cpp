// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/inscribed.h"

#include <algorithm>
#include <limits>

#include "ccl/config.h"

namespace ccl {

namespace {

/// Of columns without another pixel.
constexpr uint16_t kFar = std::numeric_limits<uint16_t>::max();
static_assert(kMaxDimension < kFar);

/// From the distances of a row to those of the next one.
void count_row(const uint32_t* labels, uint32_t label, uint32_t n, uint16_t* counts) {
  for (uint32_t x = 0; x < n; ++x) {
    const uint32_t next = std::min<uint32_t>(counts[x] + 1u, kFar);
    counts[x] = static_cast<uint16_t>(labels[x] == label ? next : 0);
  }
}

}  // namespace

InscribedCircle InscribedCircleFinder::find(const LabelImage& image, uint32_t label, const PixelBox& box,
                                            uint32_t width, uint32_t height) {
  prepare(box);
  measure_below(image, label, box, box.y + box.height < height ? 0 : kFar);
  best_ = {};
  std::fill_n(counts_.begin(), box.width, box.y > 0 ? 0 : kFar);
  for (uint32_t row = 0; row < box.height; ++row) {
    count_row(image.labels + size_t{box.y + row} * image.stride + box.x, label, box.width, counts_.data());
    const uint16_t* below = below_.get() + size_t{row} * box.width;
    for (uint32_t x = 0; x < box.width; ++x) {
      distances_[x] = std::min(counts_[x], below[x]);
    }
    search_row(box, box.y + row, box.x > 0, box.x + box.width < width);
  }
  return best_;
}

void InscribedCircleFinder::prepare(const PixelBox& box) {
  const size_t n_pixels = size_t{box.width} * box.height;
  if (n_pixels > n_below_) {
    n_below_ = 0;
    below_.reset();  // first, so that there are never both
    below_ = std::make_unique_for_overwrite<uint16_t[]>(n_pixels);
    n_below_ = n_pixels;
  }
  if (box.width > counts_.size()) {
    envelope_.reserve(box.width + size_t{2});
    distances_.resize(box.width);
    counts_.resize(box.width);  // last: its size says that there is memory for all
  }
}

void InscribedCircleFinder::measure_below(const LabelImage& image, uint32_t label, const PixelBox& box,
                                          uint16_t border) {
  std::fill_n(counts_.begin(), box.width, border);
  for (uint32_t row = box.height; row-- > 0;) {
    count_row(image.labels + size_t{box.y + row} * image.stride + box.x, label, box.width, counts_.data());
    std::copy_n(counts_.data(), box.width, below_.get() + size_t{row} * box.width);
  }
}

/// Searches the runs of a row of the frame that have pixels with more than the best distance in their column.
/// Another pixel between two runs is nearer to both than all that is behind it.
void InscribedCircleFinder::search_row(const PixelBox& box, uint32_t y, bool ends_before, bool ends_after) {
  const uint16_t* first = distances_.data();
  const uint16_t* last = first + box.width;
  const auto is_far = [this](uint32_t distance) { return distance * distance > best_.squared_distance; };
  for (const uint16_t* at = first; (at = std::find_if(at, last, is_far)) != last;) {
    const uint16_t* begin = at;
    while (begin != first && begin[-1] != 0) {
      --begin;
    }
    at = std::find(at, last, 0);
    const Run run{.begin = static_cast<uint32_t>(begin - first),
                  .end = static_cast<uint32_t>(at - first),
                  .ends_before = begin != first || ends_before,
                  .ends_after = at != last || ends_after};
    if (is_long(run)) {
      search_run(run, box.x, y);
    }
  }
}

/// Whether there is room for more than the best distance between the ends.
bool InscribedCircleFinder::is_long(const Run& run) const {
  const uint64_t n = run.end - run.begin;
  const uint64_t most = run.ends_before && run.ends_after ? (n + 1) / 2 : n;
  return (!run.ends_before && !run.ends_after) || most * most > best_.squared_distance;
}

void InscribedCircleFinder::search_run(const Run& run, uint32_t left, uint32_t y) {
  envelope_.clear();
  if (run.ends_before) {
    add_parabola(int64_t{run.begin} - 1, 0);
  }
  for (uint32_t x = run.begin; x < run.end; ++x) {
    if (const int64_t distance = distances_[x]; distance != kFar) {
      add_parabola(x, distance * distance);
    }
  }
  if (run.ends_after) {
    add_parabola(run.end, 0);
  }
  if (envelope_.empty()) {
    return;
  }
  auto lowest = envelope_.begin();
  for (uint32_t x = run.begin; x < run.end; ++x) {
    while (lowest + 1 != envelope_.end() && (lowest + 1)->begin <= x) {
      ++lowest;
    }
    if (const int64_t square = lowest->at(x); square > int64_t{best_.squared_distance}) {
      best_ = {left + x, y, static_cast<uint32_t>(square)};
    }
  }
}

/// The new parabola is that of a later column than all others, so it is the lowest one on the right of where
/// it meets the last one: of the column c and the square s, and of d and t, at (d² − c² + t − s) / 2 (d − c).
void InscribedCircleFinder::add_parabola(int64_t column, int64_t square) {
  int64_t begin = 0;
  while (!envelope_.empty()) {
    const Parabola& last = envelope_.back();
    const int64_t numerator = column * column - last.column * last.column + square - last.square;
    const int64_t denominator = 2 * (column - last.column);
    // Both are below 2³², and the division of 32 bits is the faster one.
    begin = numerator < 0 ? 0 : static_cast<uint32_t>(numerator) / static_cast<uint32_t>(denominator) + 1;
    if (begin > last.begin) {
      break;
    }
    envelope_.pop_back();
    begin = 0;
  }
  envelope_.push_back({column, square, begin});
}

}  // namespace ccl
