// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/paint.h"

#include <unistd.h>

#include <algorithm>

#include "host/memory.h"

namespace ccl::host {

namespace {

/// Outputs of at least this many bytes are written past the caches ("streamed"). An output that does not fit
/// the core's own cache is evicted before anybody reads it, and an ordinary store first reads each line. That
/// read is cheap only if every frame is written to the same memory and the cache that all cores share has
/// kept it: then streaming is a fifth slower. Otherwise streaming takes as little as 40 % of the time.
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
  const size_t n_chunks = count_row_chunks(table.height());
  run_values_ = uninitialized<uint32_t>(n_chunks * (table.width() + 2 * kListPadding));
  label_rows_ = uninitialized<uint32_t>(n_chunks * table.width());
}

/// The values of a row's runs, one after the other. If the row shares the runs of the row above, they are
/// still there.
const uint32_t* RunPainter::gather(uint32_t y, uint32_t chunk, const uint32_t* value_of_label) const {
  uint32_t* run_values =
      run_values_.get() + size_t{chunk} * (table_.width() + 2 * kListPadding) + kListPadding;
  const RowRuns row = table_.row(y);
  if (y % kRowsPerChunk == 0 || row != table_.row(y - 1)) {
    std::transform(table_.label() + row.begin, table_.label() + row.end, run_values,
                   [value_of_label](uint32_t label) { return value_of_label[label]; });
  }
  return run_values;
}

ExpandJob RunPainter::job_of_row(uint32_t y, const uint32_t* run_values, uint32_t background) const {
  return {.bits = table_.bits(y), .width = table_.width(), .values = run_values, .background = background};
}

template <typename Row>
void RunPainter::for_each_row(ThreadPool& pool, Row row) {
  pool.parallel_for(count_row_chunks(table_.height()), [&](uint32_t chunk) {
    const uint32_t end = std::min(table_.height(), (chunk + 1) * kRowsPerChunk);
    for (uint32_t y = chunk * kRowsPerChunk; y < end; ++y) {
      row(y, chunk);
    }
    kernels_.end_stream();
  });
}

void RunPainter::paint(const PaintJob& job, const uint32_t* paint_values, ThreadPool& pool) {
  switch (job.config.output) {
    case Output::kColorized:
      write_rows(paint_values, pool, job.image);
      break;
    case Output::kLabels:
      for_each_row(pool, [&](uint32_t y, uint32_t chunk) {
        kernels_.expand_16(job_of_row(y, gather(y, chunk, paint_values), paint_values[0]),
                           job.image.pixels + y * job.image.stride);
      });
      break;
    case Output::kMask:
      for_each_row(pool, [&](uint32_t y, uint32_t chunk) {
        kernels_.expand_8(job_of_row(y, gather(y, chunk, paint_values), paint_values[0]),
                          job.image.pixels + y * job.image.stride);
      });
      break;
    case Output::kOverlay:
    case Output::kForeground:
    case Output::kBackground:
      // Output pixels depend on the input's, so a run has no value of its own.
      host::paint(job, paint_values, pool, [this](uint32_t y, uint32_t chunk) {
        uint32_t* labels = label_rows_.get() + size_t{chunk} * table_.width();
        kernels_.expand_32(job_of_row(y, table_.label() + table_.row(y).begin, 0), labels);
        return labels;
      });
      break;
    case Output::kDistance:
    case Output::kDistance8:  // see make_runs_pipeline()
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
  for_each_row(pool, [&](uint32_t y, uint32_t chunk) {
    expand(job_of_row(y, gather(y, chunk, value_of_label), value_of_label[0]),
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
