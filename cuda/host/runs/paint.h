// SPDX-License-Identifier: LGPL-2.1-or-later
/// The painting stage of the CPU's `runs`: rows of pixels from rows of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/runs/table.h"
#include "host/stages/paint.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// Paints frames whose runs have their local labels.
class RunPainter {
 public:
  /// Takes all memory for frames of the table's size.
  RunPainter(const Kernels& kernels, const RunTable& table);

  /// Paints the output. `paint_values` has the paint value of each label, and the background's at 0.
  void paint(const PaintJob& job, const uint32_t* paint_values, ThreadPool& pool);

  /// Writes value_of_label[label] for every pixel, and value_of_label[0] for background, 4 bytes each.
  void write_rows(const uint32_t* value_of_label, ThreadPool& pool, const OutputImage& image);

  /// Writes the labels themselves, 4 bytes each.
  void write_labels(ThreadPool& pool, const OutputImage& image);

 private:
  const uint32_t* gather(uint32_t y, uint32_t chunk, const uint32_t* value_of_label) const;
  ExpandJob job_of_row(uint32_t y, const uint32_t* run_values, uint32_t background) const;
  bool is_streamed(const OutputImage& image) const;
  template <typename Row>
  void for_each_row(ThreadPool& pool, Row row);

  const Kernels& kernels_;
  const RunTable& table_;
  size_t stream_size_;
  std::unique_ptr<uint32_t[]> run_values_;  ///< per row chunk: the values of a row's runs
  std::unique_ptr<uint32_t[]> label_rows_;  ///< per row chunk: a row of labels
};

}  // namespace ccl::host
