// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/hills.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>
#include <type_traits>

#include "host/memory.h"
#include "host/stages/separate/bytes.h"

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
  uint32_t n_low = 0;            ///< of the newest rows, how many have low heights
  uint32_t n_summits = 0;        ///< of the strip
  uint32_t n_before = 0;         ///< of earlier strips
};

Hills::Hills(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      strips_(height, pool),
      kernels_(separation_kernels(choose_simd_level())),
      distance_(width, height, pool),
      heights_(uninitialized<uint16_t>(size_t{width} * height)),
      steps_(uninitialized<uint8_t>(size_t{width} * height)),
      few_(width, height, distance_.blocks(), steps_.get()),
      many_(width, height, distance_.blocks(), steps_.get()),
      summits_(uninitialized<uint32_t>(size_t{width} * height)),
      scratch_(strips_.count(), Scratch(width)) {}

Hills::~Hills() = default;

template <typename Root>
void Hills::measure(const Root* roots, Connectivity connectivity, uint32_t aspect) {
  assert(sizeof(Root) > 1 || connectivity == Connectivity::k8);
  distance_.measure_columns(roots);
  strips_.for_each(
      [&](uint32_t strip, const RowSpan& rows) { measure_strip(roots, connectivity, aspect, strip, rows); });
  join_summits();
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) {
    Scratch& scratch = scratch_[strip];
    const std::span<const uint32_t> summits(summits_.get(), n_basins_);
    if (are_few()) {
      few_.follow(rows, scratch.n_before, summits, scratch.is_open.data());
    } else {
      begin_many(rows, scratch.n_before, scratch.n_summits);
      many_.follow(rows, 0, summits, scratch.is_open.data());
    }
  });
}

/// Writes heights and steps, and begins the ways. Each row is read once: the heights of a row follow one row
/// later, its steps two rows later.
template <typename Root>
void Hills::measure_strip(const Root* roots, Connectivity connectivity, uint32_t aspect, uint32_t strip,
                          const RowSpan& rows) {
  Scratch* scratch = &scratch_[strip];
  scratch->n_low = 0;
  scratch->n_summits = 0;
  const int64_t begin = rows.begin;
  for (int64_t y = begin - 2; y < rows.end + int64_t{2}; ++y) {
    read_row(roots, aspect, strip, std::clamp<int64_t>(y, 0, height_ - 1));
    if (y >= begin) {
      smooth_row<Root>(y - 1, rows, scratch);
    }
    if (y >= begin + 2) {
      const auto of = static_cast<uint32_t>(y - 2);
      climb_row<Root>(connectivity, of, scratch);
      number_summits(of, rows, scratch);
      few_.begin_row(of, rows);
    }
  }
}

/// Makes a row the newest one.
template <typename Root>
void Hills::read_row(const Root* roots, uint32_t aspect, uint32_t strip, int64_t y) {
  Scratch& scratch = scratch_[strip];
  if constexpr (std::is_same_v<Root, uint32_t>) {
    uint32_t* row = scratch.roots.next();
    std::copy_n(roots + static_cast<size_t>(y) * width_, width_, row);
    repeat_ends(row, width_);
  }
  uint16_t* raw = scratch.raw_heights.next();
  const bool is_low = distance_.write_heights(roots, aspect, strip, static_cast<uint32_t>(y), raw);
  scratch.n_low = is_low ? scratch.n_low + 1 : 0;
  repeat_ends(raw, width_);
}

/// Smooths the row before the newest one. Outside the frame, heights are 0.
template <typename Root>
void Hills::smooth_row(int64_t y, const RowSpan& rows, Scratch* scratch) {
  uint16_t* heights = scratch->heights.next();
  std::fill_n(heights, width_, 0);
  if (y < 0 || y >= height_) {
    return;
  }
  const RootKernels<Root>& kernels = kernels_.of<Root>();
  const auto smooth = scratch->n_low >= 3 ? kernels.smooth_low : kernels.smooth;
  blocks().for_each_span(static_cast<uint32_t>(y), [&](uint32_t x, uint32_t end) {
    smooth(scratch->raw_heights.around(1).from(x), scratch->roots_around<Root>(1).from(x), end - x,
           heights + x);
    if (y >= rows.begin && y < rows.end) {
      std::copy(heights + x, heights + end, heights_.get() + static_cast<size_t>(y) * width_ + x);
    }
  });
}

/// Writes the steps of a row. Its smooth heights, and those around, are of the last five rows.
template <typename Root>
void Hills::climb_row(Connectivity connectivity, uint32_t y, Scratch* scratch) {
  const RootKernels<Root>& kernels = kernels_.of<Root>();
  const bool is_8 = connectivity == Connectivity::k8;
  const auto climb = scratch->n_low >= 5 ? (is_8 ? kernels.climb_low_8 : kernels.climb_low_4)
                                         : (is_8 ? kernels.climb_8 : kernels.climb_4);
  blocks().for_each_span(y, [&](uint32_t x, uint32_t end) {
    climb(scratch->heights.around(1).from(x), scratch->roots_around<Root>(2).from(x), end - x,
          steps_.get() + size_t{y} * width_ + x);
  });
}

/// Lists the summits of a row. They are numbered from 1 on in each strip, as long as they are few.
void Hills::number_summits(uint32_t y, const RowSpan& rows, Scratch* scratch) {
  const uint8_t* steps = steps_.get() + size_t{y} * width_;
  uint32_t* summits = summits_.get() + size_t{rows.begin} * width_;
  blocks().for_each_span(y, [&](uint32_t begin, uint32_t end) {
    for_each_byte(steps + begin, steps + end, kNoStep, [&](const uint8_t* at) {
      const auto pixel = static_cast<uint32_t>(at - steps_.get());
      summits[scratch->n_summits] = pixel;
      few_.set_summit(pixel, ++scratch->n_summits);
    });
  });
}

/// Joins the lists of all strips.
void Hills::join_summits() {
  n_basins_ = 0;
  strips_.for_each_in_turn([&](uint32_t strip, const RowSpan& rows) {
    Scratch& scratch = scratch_[strip];
    std::memmove(summits_.get() + n_basins_, summits_.get() + size_t{rows.begin} * width_,
                 scratch.n_summits * sizeof(uint32_t));
    scratch.n_before = n_basins_;
    n_basins_ += scratch.n_summits;
  });
}

/// Begins the ways of a strip again, with all numbers of the frame.
void Hills::begin_many(const RowSpan& rows, uint32_t n_before, uint32_t n_summits) {
  for (uint32_t number = n_before; number < n_before + n_summits; ++number) {
    many_.set_summit(summits_[number], number + 1);
  }
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    many_.begin_row(y, rows);
  }
}

template void Hills::measure(const uint32_t*, Connectivity, uint32_t);
template void Hills::measure(const uint8_t*, Connectivity, uint32_t);

}  // namespace ccl::host
