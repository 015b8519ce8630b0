// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components get a record.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/counts.h"
#include "ccl/sums.h"
#include "host/stages/label_range.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// Gives records to the components that the filter keeps. If there are more than `max_components`, only the
/// largest by area get one, and of equally large ones those with smaller labels. Threads share the work by
/// spans of labels.
class Selector {
 public:
  /// Takes all memory for this number of spans.
  explicit Selector(size_t n_spans) : shares_(n_spans) {}

  /// Makes the marks of all but the `top_n` largest components 0, and corrects `n_kept` of the spans. Returns
  /// how many marks that were. `record_index` is scratch, with an entry per label.
  uint32_t keep_largest(uint32_t* marks, std::span<MarkedLabels> spans, uint32_t top_n, ThreadPool& pool,
                        uint32_t* record_index);

  /// `marks` has the mark of each label (ccl/filter.h). assign() reads it too. The spans ascend. Writes what
  /// `counts` reports of the marks, and returns the number of records: the smaller one of n_components and
  /// `max_components`.
  uint32_t choose(const uint32_t* marks, std::span<const MarkedLabels> spans, uint32_t max_components,
                  ThreadPool& pool, FrameCounts* counts);

  /// Writes for each label of a span of choose(): the index of its record, or kNoRecord. Records ascend by
  /// label. Threads may each call it for another span.
  void assign(size_t span, uint32_t* record_index) const;

  /// The records of a span's components.
  IndexSpan records(size_t span) const { return shares_[span].records; }

 private:
  static constexpr uint32_t kDigitBits = 8;
  static constexpr uint32_t kDigits = 1u << kDigitBits;
  using Histogram = std::array<uint32_t, kDigits>;

  /// A span and its counts.
  struct Share {
    IndexSpan labels;
    uint32_t n_kept;
    uint32_t n_larger;  ///< than the threshold
    uint32_t n_equal;   ///< to the threshold; after share_out(), how many of these get a record
    IndexSpan records;
    Histogram histogram;
  };

  template <typename Work>
  void for_each_share(ThreadPool& pool, Work work);
  Histogram count_digits(ThreadPool& pool, uint32_t known_bits, uint32_t prefix, uint32_t shift);
  uint32_t find_threshold(ThreadPool& pool, uint32_t n_components, uint32_t n_records);
  void share_out(ThreadPool& pool, uint32_t n_records);

  // What the last choice left.
  const uint32_t* marks_ = nullptr;
  uint32_t threshold_ = 0;  ///< all larger marks get a record, and some of the equal ones; 0: all but marks 0
  uint32_t n_labels_ = 0;
  size_t n_shares_ = 0;
  std::vector<Share> shares_;
};

}  // namespace ccl::host
