// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/distance.h"

#include <algorithm>
#include <vector>

#include "ccl/parts.h"
#include "host/memory.h"

namespace ccl::host {

namespace {

/// Columns that are processed together: their counts stay in the processor's first cache.
constexpr uint32_t kColumnsPerChunk = 512;

/// Pixels that a search goes to each side; the envelope of a row takes less time than a longer one.
constexpr uint32_t kMostSearched = 128;

/// Entries on each side of a stretch, so that a search needs no test for its ends.
constexpr uint32_t kPadding = kMostSearched + kSearchBlock;

}  // namespace

/// Measures stretches of a row: pixels of which no two neighbours belong to two components. Around a stretch
/// are the borders of the frame, blocks without foreground, and pixels of other components.
class DistanceTransform::RowSearch {
 public:
  RowSearch(const SeparationKernels& kernels, uint32_t width)
      : kernels_(kernels),
        short_squares_(width + 2 * size_t{kPadding}),
        found_(width + size_t{kSearchBlock}),
        squares_(width + size_t{2}),
        vertices_(width + size_t{2}),
        result_(width) {}

  void set_aspect(uint32_t aspect) { aspect_ = aspect; }

  /// Calls write(squares), which have 16 or 32 bits, for n pixels. `ends_before`: before the stretch is a
  /// pixel of the frame, and not its border.
  template <typename Write>
  void run(const uint16_t* distances, uint32_t n, bool ends_before, bool ends_after, Write write) {
    if (search(distances, n, ends_before, ends_after)) {
      write(found_.data());
      return;
    }
    uint32_t* squares = squares_.data() + 1;
    kernels_.square_distances(distances, n, squares);
    squares[-1] = ends_before ? 0 : kNoSquare;
    squares[n] = ends_after ? 0 : kNoSquare;
    make_envelope(squares, -1, static_cast<int64_t>(n) + 1, result_.data());
    write(static_cast<const uint32_t*>(result_.data()));
  }

 private:
  /// Returns whether all pixels were found.
  bool search(const uint16_t* distances, uint32_t n, bool ends_before, bool ends_after) {
    const auto padding = [](bool ends) { return ends ? uint16_t{0} : kNoShortSquare; };
    uint16_t* squares = short_squares_.data() + kPadding;
    std::fill_n(squares - kPadding, kPadding, padding(ends_before));
    kernels_.square_short_distances(distances, n, squares);
    std::fill_n(squares + n, kPadding, padding(ends_after));
    const uint32_t most = std::min(square_of(kMostSearched), uint32_t{kNoShortSquare} - 1);
    for (uint32_t x = 0; x < n; x += kSearchBlock) {
      // Of the last block, what is behind the stretch is not needed.
      if (kernels_.search(squares + x, aspect_, kMostSearched, found_.data() + x) > most &&
          *std::max_element(found_.data() + x, found_.data() + std::min(n, x + kSearchBlock)) > most) {
        return false;
      }
    }
    return true;
  }

  uint32_t square_of(uint32_t way) const { return aspect_ * way * aspect_ * way; }

  struct Vertex {
    int64_t x;      ///< of the parabola
    int64_t begin;  ///< the first column in which it is the lowest
  };

  int64_t square_from(const uint32_t* squares, int64_t vertex, int64_t x) const {
    const int64_t way = (x - vertex) * aspect_;
    return way * way + squares[vertex];
  }

  /// The first column in which the parabola of `later` is lower than that of `earlier`.
  int64_t first_below(const uint32_t* squares, int64_t earlier, int64_t later) const {
    const int64_t unit = int64_t{aspect_} * aspect_;
    const int64_t numerator =
        unit * (later * later - earlier * earlier) + int64_t{squares[later]} - squares[earlier];
    const int64_t denominator = 2 * unit * (later - earlier);
    return numerator >= 0 ? numerator / denominator + 1
                          : -(-numerator / denominator) + (numerator % denominator == 0 ? 1 : 0);
  }

  /// The minima over the parabolas of the columns begin..end − 1, for the columns from 0 on.
  void make_envelope(const uint32_t* squares, int64_t begin, int64_t end, uint32_t* out) {
    size_t n = 0;
    for (int64_t x = begin; x < end; ++x) {
      if (squares[x] == kNoSquare) {
        continue;
      }
      int64_t first = begin;
      while (n > 0 && (first = first_below(squares, vertices_[n - 1].x, x)) <= vertices_[n - 1].begin) {
        --n;
      }
      vertices_[n] = {x, n > 0 ? first : begin};
      ++n;
    }
    size_t k = 0;
    for (int64_t x = 0; x < end - 1; ++x) {
      while (k + 1 < n && vertices_[k + 1].begin <= x) {
        ++k;
      }
      const int64_t square = n > 0 ? square_from(squares, vertices_[k].x, x) : kNoSquare;
      out[x] = static_cast<uint32_t>(std::min(square, int64_t{kNoSquare}));
    }
  }

  const SeparationKernels& kernels_;
  uint32_t aspect_ = 1;
  std::vector<uint16_t> short_squares_;  ///< of distances in columns, with padding
  std::vector<uint16_t> found_;
  std::vector<uint32_t> squares_;  ///< of distances in columns, with an entry on each side
  std::vector<Vertex> vertices_;
  std::vector<uint32_t> result_;
};

DistanceTransform::DistanceTransform(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      pool_(pool),
      strips_(height, pool),
      kernels_(separation_kernels(choose_simd_level())),
      blocks_(width, height),
      column_distances_(uninitialized<uint16_t>(size_t{width} * height)),
      searches_(strips_.count(), RowSearch(kernels_, width)) {}

DistanceTransform::~DistanceTransform() = default;

template <typename Root>
void DistanceTransform::measure(const Root* roots, uint32_t aspect, uint32_t* squares) {
  measure_columns(roots);
  strips_.for_each([&](uint32_t strip, const RowSpan& rows) {
    for (uint32_t y = rows.begin; y < rows.end; ++y) {
      uint32_t* row = squares + size_t{y} * width_;
      std::fill_n(row, width_, 0);
      measure_row(roots, aspect, strip, y,
                  [&](uint32_t x, const auto* found, uint32_t n) { std::copy_n(found, n, row + x); });
    }
  });
}

template <typename Root>
void DistanceTransform::measure_columns(const Root* roots) {
  pool_.parallel_for((width_ + kColumnsPerChunk - 1) / kColumnsPerChunk, [&](uint32_t chunk) {
    const uint32_t begin = chunk * kColumnsPerChunk;
    measure_columns(roots, begin, std::min(width_, begin + kColumnsPerChunk));
  });
}

template <typename Root>
bool DistanceTransform::write_heights(const Root* roots, uint32_t aspect, uint32_t strip, uint32_t y,
                                      uint16_t* heights) {
  bool are_low = true;
  std::fill_n(heights, width_, 0);
  measure_row(roots, aspect, strip, y, [&](uint32_t x, const auto* squares, uint32_t n) {
    if constexpr (sizeof *squares == sizeof(uint16_t)) {
      kernels_.measure_short_heights(squares, n, heights + x);
    } else {
      kernels_.measure_heights(squares, n, heights + x);
      are_low = false;
    }
  });
  return are_low;
}

/// First from above, then from below.
template <typename Root>
void DistanceTransform::measure_columns(const Root* roots, uint32_t x_begin, uint32_t x_end) {
  const RootKernels<Root>& kernels = kernels_.of<Root>();
  uint16_t counts[kColumnsPerChunk];
  const auto count = [&](uint32_t y, uint32_t previous, const auto& count_row) {
    const Root* row = roots + size_t{y} * width_;
    const Root* previous_row = roots + size_t{previous} * width_;
    uint16_t* distances = column_distances_.get() + size_t{y} * width_;
    blocks_.for_each_span(
        y, x_begin, x_end,
        [&](uint32_t begin, uint32_t end) {
          count_row(row + begin, previous_row + begin, end - begin, counts + (begin - x_begin),
                    distances + begin);
        },
        [&](uint32_t begin, uint32_t end) { std::fill_n(counts + (begin - x_begin), end - begin, 0); });
  };
  std::fill_n(counts, x_end - x_begin, kNoColumnDistance);
  for (uint32_t y = 0; y < height_; ++y) {
    blocks_.find(y, x_begin, x_end, [&](uint32_t x, uint32_t n) {
      return kernels.has_foreground(roots + size_t{y} * width_ + x, n);
    });
    count(y, y > 0 ? y - 1 : 0, kernels.count_down);
  }
  std::fill_n(counts, x_end - x_begin, kNoColumnDistance);
  for (uint32_t y = height_; y-- > 0;) {
    count(y, std::min(y + 1, height_ - 1), kernels.count_up);
  }
}

/// Calls write(first column, squares, n), with squares of 16 or 32 bits, for each stretch of a row.
template <typename Root, typename Write>
void DistanceTransform::measure_row(const Root* roots, uint32_t aspect, uint32_t strip, uint32_t y,
                                    Write write) {
  RowSearch& search = searches_[strip];
  search.set_aspect(aspect);
  const Root* row = roots + size_t{y} * width_;
  const uint16_t* distances = column_distances_.get() + size_t{y} * width_;
  blocks_.for_each_span(y, [&](uint32_t span_begin, uint32_t span_end) {
    for (uint32_t begin = span_begin; begin < span_end;) {
      uint32_t end = span_end;
      if constexpr (sizeof(Root) > 1) {  // components of a mask do not touch
        end = begin + 1;
        while (end < span_end && (row[end] == row[end - 1] || row[end] == 0 || row[end - 1] == 0)) {
          ++end;
        }
      }
      search.run(distances + begin, end - begin, begin > 0, end < width_,
                 [&](const auto* squares) { write(begin, squares, end - begin); });
      begin = end;
    }
  });
}

template void DistanceTransform::measure(const uint32_t*, uint32_t, uint32_t*);
template void DistanceTransform::measure_columns(const uint32_t*);
template void DistanceTransform::measure_columns(const uint8_t*);
template bool DistanceTransform::write_heights(const uint32_t*, uint32_t, uint32_t, uint32_t, uint16_t*);
template bool DistanceTransform::write_heights(const uint8_t*, uint32_t, uint32_t, uint32_t, uint16_t*);

}  // namespace ccl::host
