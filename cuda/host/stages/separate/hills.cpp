// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/hills.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/runs/table.h"

namespace ccl::host {

/// The last rows that were read, with a margin on each side.
template <typename T>
class LastRows {
 public:
  explicit LastRows(uint32_t width) : stride_(width + size_t{2}), rows_(kRows * stride_) {}

  /// The row that is `age` rows older than the newest one.
  T* row(uint32_t age) { return rows_.data() + (newest_ + kRows - age) % kRows * stride_ + 1; }
  T* next() {
    newest_ = (newest_ + 1) % kRows;
    return row(0);
  }
  /// The row that is `age` rows older than the newest one, and its neighbours.
  ThreeRows<T> around(uint32_t age) { return {row(age + 1), row(age), row(age - 1)}; }

 private:
  static constexpr uint32_t kRows = 4;

  size_t stride_;
  std::vector<T> rows_;
  uint32_t newest_ = 0;
};

namespace {

template <typename T>
void repeat_ends(T* row, uint32_t width) {
  row[-1] = row[0];
  row[width] = row[width - 1];
}

}  // namespace

/// What is read of the rows around the one that climbs.
struct Hills::Scratch {
  explicit Scratch(uint32_t width) : roots(width), mask(width), raw_heights(width), heights(width) {}

  template <typename Root>
  LastRows<Root>& roots_of() {
    if constexpr (sizeof(Root) == 1) {
      return mask;
    } else {
      return roots;
    }
  }

  LastRows<uint32_t> roots;
  LastRows<uint8_t> mask;
  LastRows<uint16_t> raw_heights;
  LastRows<uint16_t> heights;
};

Hills::Hills(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      strips_(height, pool),
      kernels_(separation_kernels(choose_simd_level())),
      distance_(width, height, pool),
      raw_heights_(uninitialized<uint16_t>(size_t{width} * height)),
      heights_(uninitialized<uint16_t>(size_t{width} * height)),
      steps_(uninitialized<uint8_t>(size_t{width} * height)),
      basins_(uninitialized<uint32_t>(size_t{width} * height + 1)),
      summits_(uninitialized<uint32_t>(size_t{width} * height)),
      first_numbers_(strips_.count()),
      scratch_(strips_.count(), Scratch(width)) {
  for (int64_t step = 0; step < 9; ++step) {
    offsets_[step] = (step / 3 - 1) * int64_t{width} + step % 3 - 1;
  }
}

Hills::~Hills() = default;

template <typename Root>
void Hills::measure(const Root* roots, Connectivity connectivity, uint32_t aspect) {
  distance_.measure_heights(roots, aspect, raw_heights_.get());
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) {
    first_numbers_[strip] = climb(roots, connectivity, rows, &scratch_[strip]);
  });
  n_basins_ = 0;
  for (uint32_t& number : first_numbers_) {
    n_basins_ += std::exchange(number, n_basins_);
  }
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) { number_summits(rows, first_numbers_[strip]); });
  strips_.for_each([&](uint32_t, const RowSpan& rows) { follow(rows); });
}

/// Writes heights and steps, and returns the number of summits. Each row is read once: the
/// heights of a row follow one row later, its steps two rows later.
template <typename Root>
uint32_t Hills::climb(const Root* roots, Connectivity connectivity, const RowSpan& rows, Scratch* scratch) {
  const auto climb =
      connectivity == Connectivity::k8 ? kernels_.of<Root>().climb_8 : kernels_.of<Root>().climb_4;
  const int64_t begin = rows.begin;
  const int64_t end = rows.end;
  uint32_t n_summits = 0;
  for (int64_t y = begin - 2; y < end + 2; ++y) {
    const size_t first = size_t{width_} * static_cast<size_t>(std::clamp<int64_t>(y, 0, height_ - 1));
    Root* row = scratch->roots_of<Root>().next();
    std::copy_n(roots + first, width_, row);
    repeat_ends(row, width_);
    uint16_t* raw = scratch->raw_heights.next();
    std::copy_n(raw_heights_.get() + first, width_, raw);
    repeat_ends(raw, width_);
    if (y < begin) {
      continue;
    }
    smooth_row<Root>(y - 1, rows, scratch);
    if (y >= begin + 2) {
      const int64_t of = y - 2;
      n_summits += climb(scratch->heights.around(1), scratch->roots_of<Root>().around(2), width_,
                         steps_.get() + static_cast<size_t>(of) * width_);
    }
  }
  return n_summits;
}

/// Smooths the row before the newest one. Outside the frame, heights are 0.
template <typename Root>
void Hills::smooth_row(int64_t y, const RowSpan& rows, Scratch* scratch) {
  uint16_t* heights = scratch->heights.next();
  if (y < 0 || y >= height_) {
    std::fill_n(heights, width_, 0);
    return;
  }
  kernels_.of<Root>().smooth(scratch->raw_heights.around(1), scratch->roots_of<Root>().around(1), width_,
                             heights);
  if (y >= rows.begin && y < rows.end) {
    std::copy_n(heights, width_, heights_.get() + static_cast<size_t>(y) * width_);
  }
}

/// Also clears the background.
void Hills::number_summits(const RowSpan& rows, uint32_t number) {
  std::fill(basins_.get() + size_t{rows.begin} * width_, basins_.get() + size_t{rows.end} * width_, 0);
  const uint8_t* end = steps_.get() + size_t{rows.end} * width_;
  const uint8_t* summit = steps_.get() + size_t{rows.begin} * width_;
  while ((summit = std::find(summit, end, kNoStep)) != end) {
    summits_[number] = static_cast<uint32_t>(summit - steps_.get());
    basins_[summits_[number]] = number + 1;
    ++number;
    ++summit;
  }
}

/// Calls visit(pixel) for the pixels begin..end − 1 that are no background.
template <typename Visit>
void Hills::for_each_foreground(size_t begin, size_t end, Visit visit) const {
  constexpr size_t kChunk = sizeof(uint64_t);
  constexpr uint64_t kBackgroundChunk = kBackground * (~uint64_t{0} / 255);
  for (size_t chunk = begin; chunk < end; chunk += kChunk) {
    const size_t chunk_end = std::min(end, chunk + kChunk);
    uint64_t steps = 0;
    if (chunk + kChunk <= end) {
      std::memcpy(&steps, steps_.get() + chunk, kChunk);
    }
    if (steps != kBackgroundChunk) {
      for (size_t pixel = chunk; pixel < chunk_end; ++pixel) {
        if (steps_[pixel] != kBackground) {
          visit(pixel);
        }
      }
    }
  }
}

/// Gives each pixel the number of its summit. A first pass follows steps up and left, a second one, from the
/// last pixel on, what is left.
void Hills::follow(const RowSpan& rows) {
  const size_t begin = size_t{rows.begin} * width_;
  const size_t end = size_t{rows.end} * width_;
  for_each_foreground(begin, end, [&](size_t pixel) {
    const size_t to = next(pixel);
    basins_[pixel] = to < pixel && to >= begin ? basins_[to] : to == pixel ? basins_[pixel] : 0;
  });
  for (size_t pixel = end; pixel-- > begin;) {
    if (basins_[pixel] != 0 || steps_[pixel] == kBackground) {
      continue;
    }
    const size_t to = next(pixel);
    if (to >= begin && to < end && basins_[to] != 0) {
      basins_[pixel] = basins_[to];
    } else {
      follow_way(pixel, begin, end);
    }
  }
}

/// Gives all pixels on the way to a summit its number, until one has it. Outside begin..end − 1 pixels belong
/// to other threads.
void Hills::follow_way(size_t pixel, size_t begin, size_t end) {
  const auto is_open = [&](size_t at) { return at >= begin && at < end && basins_[at] == 0; };
  size_t at = pixel;
  while (is_open(at)) {
    at = next(at);
  }
  if (at < begin || at >= end) {
    while (steps_[at] != kNoStep) {
      at = next(at);
    }
  }
  for (const uint32_t basin = basins_[at]; is_open(pixel);) {
    basins_[std::exchange(pixel, next(pixel))] = basin;
  }
}

template void Hills::measure(const uint32_t*, Connectivity, uint32_t);
template void Hills::measure(const uint8_t*, Connectivity, uint32_t);

}  // namespace ccl::host
