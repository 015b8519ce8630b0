// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/table.h"

#include <algorithm>

#include "host/memory.h"

namespace ccl::host {

namespace {

std::vector<Strip> divide(uint32_t width, uint32_t height, uint32_t n_strips) {
  std::vector<Strip> strips;
  for (uint32_t i = 0; i < n_strips; ++i) {
    const auto y_begin = static_cast<uint32_t>(uint64_t{height} * i / n_strips);
    const auto y_end = static_cast<uint32_t>(uint64_t{height} * (i + 1) / n_strips);
    strips.push_back({.index = i,
                      .y_begin = y_begin,
                      .y_end = y_end,
                      .first_run = y_begin * width + (i + 1) * kListPadding,
                      .first_label = y_begin * width + 1});
  }
  return strips;
}

}  // namespace

RunTable::RunTable(uint32_t width, uint32_t height, uint32_t n_strips)
    : width_(width), height_(height), strips_(divide(width, height, n_strips)), rows_(height) {
  const size_t n_all_words = size_t{n_words()} * height;
  foreground_ = uninitialized<uint64_t>(n_all_words);
  starts_ = uninitialized<uint64_t>(n_all_words);
  const size_t n_runs = size_t{width} * height + size_t{n_strips + 1} * kListPadding;
  begin_ = uninitialized<uint16_t>(n_runs);
  end_ = uninitialized<uint16_t>(n_runs);
  segment_ = uninitialized<uint8_t>(n_runs);
  shape_ = uninitialized<uint32_t>(n_runs);
  label_ = uninitialized<uint32_t>(n_runs);
}

bool RunTable::has_same_pixels(uint32_t y, uint32_t other) const {
  const uint64_t* foreground = bits(y).foreground;
  return std::equal(foreground, foreground + n_words(), bits(other).foreground);
}

}  // namespace ccl::host
