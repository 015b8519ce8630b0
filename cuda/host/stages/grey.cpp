// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/grey.h"

#include <algorithm>

namespace ccl::host {

namespace {

/// The sums of at most kMaxLength values at the columns from `x0` on. `Sum` holds any of them, columns
/// counted from x0. `read(i)` returns value i.
template <typename Sum, uint32_t kMaxLength, typename Read>
void add_stretch(uint32_t y, uint32_t x0, uint32_t n, Read read, GreySums* sums) {
  Sum values = 0;
  Sum squares = 0;
  Sum columns = 0;
  uint32_t least = kMaxGrey;
  uint32_t largest = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t value = read(i);
    values += value;
    squares += Sum{value} * value;
    columns += Sum{value} * i;
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  add_grey({.values = values,
            .squares = squares,
            .x = columns + uint64_t{values} * x0,
            .y = uint64_t{values} * y,
            .max = largest,
            .max_inverse = kMaxGrey - least},
           sums);
}

/// Calls add(x, n) for stretches of at most kMaxLength columns.
template <uint32_t kMaxLength, typename Add>
void for_each_stretch(uint32_t x0, uint32_t x1, Add add) {
  for (uint32_t x = x0; x < x1; x += kMaxLength) {
    add(x, std::min(kMaxLength, x1 - x));
  }
}

}  // namespace

void add_values(const SourcePixels& source, uint32_t y, uint32_t x0, uint32_t x1, GreySums* sums) {
  constexpr uint32_t kMaxLength = 4096;
  static_assert(uint64_t{kMaxLength} * kMaxLength * 255 < uint64_t{1} << 32, "sums of bytes fit 32 bits");
  const uint8_t* row = source.pixels + y * source.stride;
  if (source.bits == 8) {
    for_each_stretch<kMaxLength>(x0, x1, [&](uint32_t x, uint32_t n) {
      const uint8_t* values = row + x;
      add_stretch<uint32_t, kMaxLength>(
          y, x, n, [values](uint32_t i) { return uint32_t{values[i]}; }, sums);
    });
    return;
  }
  for_each_stretch<kMaxLength>(x0, x1, [&, layout = source](uint32_t x, uint32_t n) {
    const uint8_t* values = row + size_t{x} * layout.step;
    add_stretch<uint64_t, kMaxLength>(
        y, x, n, [&](uint32_t i) { return wide_luma(layout, values + size_t{i} * layout.step); }, sums);
  });
}

void measure_grey(const LabeledFrame& frame, const GreyJob& job, const uint32_t* record_index,
                  const CclComponent* records, uint32_t n_records, GreySums* sums) {
  std::fill_n(sums, n_records, GreySums{});
  for_each_run(frame, [&](const Run& run) {
    if (const uint32_t record = record_index[run.label]; record != kNoRecord) {
      add_values(job.source, run.y, run.x0, run.x1, &sums[record]);
    }
  });
  std::transform(records, records + n_records, sums, job.records, make_grey);
}

}  // namespace ccl::host
