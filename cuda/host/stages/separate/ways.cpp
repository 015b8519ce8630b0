// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/ways.h"

#include <algorithm>
#include <utility>

#include "host/memory.h"
#include "host/stages/separate/bytes.h"

namespace ccl::host {

template <typename Basin>
Ways<Basin>::Ways(uint32_t width, uint32_t height, const Blocks& blocks, const uint8_t* steps)
    : width_(width),
      height_(height),
      blocks_(blocks),
      steps_(steps),
      kernels_(separation_kernels(choose_simd_level()).with<Basin>()),
      basins_(uninitialized<Basin>(size_t{width} * (height + size_t{1}) + 1)) {
  std::fill_n(row(height), width + 1, Basin{0});
  for (int64_t step = 0; step < kBackground; ++step) {
    offsets_[step] = (step / 3 - 1) * int64_t{width} + step % 3 - 1;
  }
}

template <typename Basin>
void Ways<Basin>::begin_row(uint32_t y, const RowSpan& rows) {
  take_from(y, row(y > rows.begin ? y - 1 : height_), kernels_.begin_from_above);
  blocks_.for_each_gap(y, [&](uint32_t begin, uint32_t end) { std::fill(row(y) + begin, row(y) + end, 0); });
}

/// From the last row on, pixels whose way leads down take the basin of the row below. Few ways are left:
/// those that lead up and down.
template <typename Basin>
void Ways<Basin>::follow(const RowSpan& rows, uint32_t n_before, std::span<const uint32_t> summits,
                         uint8_t* is_open) {
  const auto take = [&](const uint8_t* steps, const Basin* below, uint32_t n, Basin* basins) {
    kernels_.take_from_below(steps, below, n, n_before, basins);
  };
  for (uint32_t y = rows.end; y-- > rows.begin;) {
    take_from(y, row(y + 1 < rows.end ? y + 1 : height_), take);
  }
  const size_t begin = size_t{rows.begin} * width_;
  const size_t end = size_t{rows.end} * width_;
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    blocks_.for_each_span(y, [&](uint32_t span_begin, uint32_t span_end) {
      const size_t first = size_t{y} * width_ + span_begin;
      const uint32_t n = span_end - span_begin;
      kernels_.find_open(steps_ + first, &at(first), n, is_open);
      for_each_byte(is_open, is_open + n, 1, [&](const uint8_t* open) {
        follow_way(first + static_cast<size_t>(open - is_open), begin, end, summits);
      });
    });
  }
}

/// Takes basins from another row, then from pixels of the row, to which few step. Both ends of the row are
/// apart: what the kernel reads beside them is a part of the row that it writes.
template <typename Basin>
template <typename Take>
void Ways<Basin>::take_from(uint32_t y, const Basin* other, Take take) {
  const uint8_t* steps = steps_ + size_t{y} * width_;
  Basin* basins = row(y);
  const auto take_end = [&](uint32_t x) {
    const Basin around[] = {x > 0 ? other[x - 1] : Basin{0}, other[x],
                            x + 1 < width_ ? other[x + 1] : Basin{0}};
    take(steps + x, around + 1, 1, basins + x);
  };
  blocks_.for_each_span(y, [&](uint32_t span_begin, uint32_t span_end) {
    uint32_t begin = span_begin;
    uint32_t end = span_end;
    if (begin == 0) {
      take_end(begin++);
    }
    if (end == width_ && end > begin) {
      take_end(--end);
    }
    take(steps + begin, other + begin, end - begin, basins + begin);
    const uint8_t* steps_end = steps + span_end;
    for_each_byte(steps + span_begin, steps_end, kLeft,
                  [&](const uint8_t* left) { basins[left - steps] = basins[left - steps - 1]; });
    for_each_byte(steps + span_begin, steps_end, kRight, [&](const uint8_t* right) {
      // Else it has what the first one of those in a row has found.
      if (right == steps + span_begin || right[-1] != kRight) {
        const uint8_t* last = std::find_if(right, steps_end, [](uint8_t step) { return step != kRight; });
        std::fill(basins + (right - steps), basins + (last - steps), basins[last - steps]);
      }
    });
  });
}

/// Gives all pixels on the way to a summit its number, until one has it. Outside begin..end − 1 basins belong
/// to other threads.
template <typename Basin>
void Ways<Basin>::follow_way(size_t pixel, size_t begin, size_t end, std::span<const uint32_t> summits) {
  const auto is_inside = [&](size_t place) { return place >= begin && place < end; };
  size_t place = pixel;
  while (is_inside(place) && at(place) == 0) {
    place = next(place);
  }
  Basin basin = 0;
  if (is_inside(place)) {
    basin = at(place);
  } else {
    while (steps_[place] != kNoStep) {
      place = next(place);
    }
    basin =
        static_cast<Basin>(1 + (std::lower_bound(summits.begin(), summits.end(), place) - summits.begin()));
  }
  while (is_inside(pixel) && at(pixel) == 0) {
    at(std::exchange(pixel, next(pixel))) = basin;
  }
}

template class Ways<uint16_t>;
template class Ways<uint32_t>;

}  // namespace ccl::host
