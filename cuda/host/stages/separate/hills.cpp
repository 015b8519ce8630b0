// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/hills.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
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

/// Calls visit(place) for all bytes with this value.
template <typename Visit>
void for_each_byte(const uint8_t* begin, const uint8_t* end, uint8_t value, Visit visit) {
  const auto find = [&] {
    return static_cast<const uint8_t*>(std::memchr(begin, value, static_cast<size_t>(end - begin)));
  };
  for (const uint8_t* at = find(); at != nullptr; at = find()) {
    visit(at);
    begin = at + 1;
  }
}

}  // namespace

/// What is read of the rows around the one that climbs.
struct Hills::Scratch {
  explicit Scratch(uint32_t width) : roots(width), raw_heights(width), heights(width), is_open(width) {}

  /// Kernels for masks do not read roots.
  template <typename Root>
  ThreeRows<Root> roots_around(uint32_t age) {
    if constexpr (std::is_same_v<Root, uint32_t>) {
      return roots.around(age);
    } else {
      return {};
    }
  }

  LastRows<uint32_t> roots;
  LastRows<uint16_t> raw_heights;
  LastRows<uint16_t> heights;
  std::vector<uint8_t> is_open;  ///< per pixel of a row
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
      basins_(uninitialized<uint32_t>(size_t{width} * height + 2)),
      no_basins_(std::make_unique<uint32_t[]>(width + size_t{2})),
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
    climb(roots, connectivity, rows, &scratch_[strip]);
    first_numbers_[strip] = count_summits(rows);
  });
  n_basins_ = 0;
  for (uint32_t& number : first_numbers_) {
    n_basins_ += std::exchange(number, n_basins_);
  }
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) { number_summits(rows, first_numbers_[strip]); });
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) { follow(rows, &scratch_[strip]); });
}

/// Writes heights and steps. Each row is read once: the heights of a row follow one row later, its steps two
/// rows later.
template <typename Root>
void Hills::climb(const Root* roots, Connectivity connectivity, const RowSpan& rows, Scratch* scratch) {
  const auto climb =
      connectivity == Connectivity::k8 ? kernels_.of<Root>().climb_8 : kernels_.of<Root>().climb_4;
  const int64_t begin = rows.begin;
  const int64_t end = rows.end;
  for (int64_t y = begin - 2; y < end + 2; ++y) {
    const size_t first = size_t{width_} * static_cast<size_t>(std::clamp<int64_t>(y, 0, height_ - 1));
    if constexpr (std::is_same_v<Root, uint32_t>) {
      uint32_t* row = scratch->roots.next();
      std::copy_n(roots + first, width_, row);
      repeat_ends(row, width_);
    }
    uint16_t* raw = scratch->raw_heights.next();
    std::copy_n(raw_heights_.get() + first, width_, raw);
    repeat_ends(raw, width_);
    if (y < begin) {
      continue;
    }
    smooth_row<Root>(y - 1, rows, scratch);
    if (y >= begin + 2) {
      const int64_t of = y - 2;
      climb(scratch->heights.around(1), scratch->roots_around<Root>(2), width_,
            steps_.get() + static_cast<size_t>(of) * width_);
    }
  }
}

/// Smooths the row before the newest one. Outside the frame, heights are 0.
template <typename Root>
void Hills::smooth_row(int64_t y, const RowSpan& rows, Scratch* scratch) {
  uint16_t* heights = scratch->heights.next();
  if (y < 0 || y >= height_) {
    std::fill_n(heights, width_, 0);
    return;
  }
  kernels_.of<Root>().smooth(scratch->raw_heights.around(1), scratch->roots_around<Root>(1), width_, heights);
  if (y >= rows.begin && y < rows.end) {
    std::copy_n(heights, width_, heights_.get() + static_cast<size_t>(y) * width_);
  }
}

/// Calls visit(pixel) for the summits of the rows.
template <typename Visit>
void Hills::for_each_summit(const RowSpan& rows, Visit visit) const {
  for_each_byte(steps_.get() + size_t{rows.begin} * width_, steps_.get() + size_t{rows.end} * width_, kNoStep,
                [&](const uint8_t* at) { visit(static_cast<uint32_t>(at - steps_.get())); });
}

uint32_t Hills::count_summits(const RowSpan& rows) const {
  uint32_t n = 0;
  for_each_summit(rows, [&](uint32_t) { ++n; });
  return n;
}

void Hills::number_summits(const RowSpan& rows, uint32_t number) {
  for_each_summit(rows, [&](uint32_t pixel) {
    summits_[number] = pixel;
    basins()[pixel] = ++number;
  });
}

/// Gives each pixel the number of its summit, a row at a time: from the first row on to those whose way leads
/// up, from the last row on to those whose way leads down first, then up again. Few ways are left.
void Hills::follow(const RowSpan& rows, Scratch* scratch) {
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    const uint32_t* above = y > rows.begin ? basins() + (y - size_t{1}) * width_ : no_basins_.get() + 1;
    take_from(y, above, kernels_.begin_from_above);
  }
  for (uint32_t y = rows.end - 1; y-- > rows.begin;) {
    take_from(y, basins() + (y + size_t{1}) * width_, kernels_.take_from_below);
  }
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    follow_ways_of(y, rows, scratch);
  }
}

/// Takes basins from another row, then from pixels of the row, to which few step. Both ends of the row are
/// apart: what the kernel reads beside them is a part of the row that it writes.
void Hills::take_from(uint32_t y, const uint32_t* other, decltype(SeparationKernels::take_from_below) take) {
  const uint8_t* steps = steps_.get() + size_t{y} * width_;
  uint32_t* row = basins() + size_t{y} * width_;
  const auto take_end = [&](uint32_t x) {
    const uint32_t around[] = {x > 0 ? other[x - 1] : 0, other[x], x + 1 < width_ ? other[x + 1] : 0};
    take(steps + x, around + 1, 1, row + x);
  };
  take_end(0);
  if (width_ > 1) {
    take(steps + 1, other + 1, width_ - 2, row + 1);
    take_end(width_ - 1);
  }
  for_each_byte(steps, steps + width_, kLeft,
                [&](const uint8_t* at) { row[at - steps] = row[at - steps - 1]; });
  for_each_byte(steps, steps + width_, kRight, [&](const uint8_t* at) {
    if (at == steps || at[-1] != kRight) {  // else it has what the first one of those in a row has found
      const uint8_t* last = std::find_if(at, steps + width_, [](uint8_t step) { return step != kRight; });
      std::fill(row + (at - steps), row + (last - steps), row[last - steps]);
    }
  });
}

/// Gives all open pixels of a row their basins.
void Hills::follow_ways_of(uint32_t y, const RowSpan& rows, Scratch* scratch) {
  const size_t begin = size_t{rows.begin} * width_;
  const size_t end = size_t{rows.end} * width_;
  const size_t first = size_t{y} * width_;
  uint8_t* is_open = scratch->is_open.data();
  kernels_.find_open(steps_.get() + first, basins() + first, width_, is_open);
  for_each_byte(is_open, is_open + width_, 1, [&](const uint8_t* at) {
    follow_way(first + static_cast<size_t>(at - is_open), begin, end);
  });
}

/// Gives all pixels on the way to a summit its number, until one has it. Outside begin..end − 1 basins belong
/// to other threads.
void Hills::follow_way(size_t pixel, size_t begin, size_t end) {
  const auto is_inside = [&](size_t at) { return at >= begin && at < end; };
  size_t at = pixel;
  while (is_inside(at) && basins()[at] == 0) {
    at = next(at);
  }
  uint32_t basin = 0;
  if (is_inside(at)) {
    basin = basins()[at];
  } else {
    while (steps_[at] != kNoStep) {
      at = next(at);
    }
    basin = 1 + static_cast<uint32_t>(std::lower_bound(summits_.get(), summits_.get() + n_basins_, at) -
                                      summits_.get());
  }
  while (is_inside(pixel) && basins()[pixel] == 0) {
    basins()[std::exchange(pixel, next(pixel))] = basin;
  }
}

template void Hills::measure(const uint32_t*, Connectivity, uint32_t);
template void Hills::measure(const uint8_t*, Connectivity, uint32_t);

}  // namespace ccl::host
