// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/painter.h"

#include <unistd.h>

#include <algorithm>

namespace ccl::host {

namespace {

/// Outputs from so many bytes on are written past the caches. What a core's own cache does not hold is out of
/// it again before anyone reads it, and to write it there costs a read of each line first. Only where the
/// same memory is written frame after frame, and the cache that all cores share has kept it, is that read
/// cheap, and streaming a fifth slower; where it is not, streaming takes down to 40 % of the time.
size_t find_stream_size() {
  constexpr size_t kLeast = size_t{1} << 20;
#if defined(_SC_LEVEL2_CACHE_SIZE)
  return std::max(kLeast, static_cast<size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE))));
#else
  return kLeast;
#endif
}

}  // namespace

RunPainter::RunPainter(const Kernels& kernels, const RunTable& table)
    : kernels_(kernels), table_(table), stream_size_(find_stream_size()) {
  const size_t n_turns = count_paint_turns(table.height());
  inks_ = uninitialized<uint32_t>(n_turns * (table.width() + 2 * kListPadding));
  label_rows_ = uninitialized<uint32_t>(n_turns * table.width());
}

/// The inks of a row's runs, one after the other. Those of the row before are still there.
const uint32_t* RunPainter::gather(uint32_t y, uint32_t turn, const uint32_t* ink) const {
  uint32_t* inks = inks_.get() + size_t{turn} * (table_.width() + 2 * kListPadding) + kListPadding;
  const RowRuns row = table_.row(y);
  if (y % kPaintRowsPerTurn == 0 || row != table_.row(y - 1)) {
    std::transform(table_.label() + row.begin, table_.label() + row.end, inks,
                   [ink](uint32_t label) { return ink[label]; });
  }
  return inks;
}

ExpandJob RunPainter::job_of_row(uint32_t y, const uint32_t* inks, uint32_t background) const {
  return {.bits = table_.bits(y), .width = table_.width(), .inks = inks, .background = background};
}

template <typename Row>
void RunPainter::for_each_row(ThreadPool& pool, Row row) {
  pool.parallel_for(count_paint_turns(table_.height()), [&](uint32_t turn) {
    const uint32_t end = std::min(table_.height(), (turn + 1) * kPaintRowsPerTurn);
    for (uint32_t y = turn * kPaintRowsPerTurn; y < end; ++y) {
      row(y, turn);
    }
    kernels_.end_stream();
  });
}

void RunPainter::paint(const PaintJob& job, const uint32_t* ink, ThreadPool& pool) {
  switch (job.config.output) {
    case Output::kColorized:
      write_rows(ink, pool, job.image);
      break;
    case Output::kLabels:
      for_each_row(pool, [&](uint32_t y, uint32_t turn) {
        kernels_.expand_16(job_of_row(y, gather(y, turn, ink), ink[0]),
                           job.image.pixels + y * job.image.stride);
      });
      break;
    case Output::kMask:
      for_each_row(pool, [&](uint32_t y, uint32_t turn) {
        kernels_.expand_8(job_of_row(y, gather(y, turn, ink), ink[0]),
                          job.image.pixels + y * job.image.stride);
      });
      break;
    case Output::kOverlay:
      // Its pixels depend on the input's, so runs are of no use.
      host::paint(job, ink, pool, [this](uint32_t y, uint32_t turn) {
        uint32_t* labels = label_rows_.get() + size_t{turn} * table_.width();
        kernels_.expand_32(job_of_row(y, table_.label() + table_.row(y).begin, 0), labels);
        return labels;
      });
      break;
    case Output::kNone:
      break;
  }
}

bool RunPainter::is_streamed(const OutputImage& image) const {
  return image.stride * table_.height() >= stream_size_ &&
         (reinterpret_cast<uintptr_t>(image.pixels) | image.stride) % kStreamAlignment == 0;
}

void RunPainter::write_rows(const uint32_t* value_of_label, ThreadPool& pool, const OutputImage& image) {
  const auto expand = is_streamed(image) ? kernels_.stream_32 : kernels_.expand_32;
  for_each_row(pool, [&](uint32_t y, uint32_t turn) {
    expand(job_of_row(y, gather(y, turn, value_of_label), value_of_label[0]),
           image.pixels + y * image.stride);
  });
}

void RunPainter::write_labels(ThreadPool& pool, const OutputImage& image) {
  const auto expand = is_streamed(image) ? kernels_.stream_32 : kernels_.expand_32;
  for_each_row(pool, [&](uint32_t y, uint32_t) {
    expand(job_of_row(y, table_.label() + table_.row(y).begin, 0), image.pixels + y * image.stride);
  });
}

}  // namespace ccl::host
