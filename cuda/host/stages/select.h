// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components get a record.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/thread_pool.h"

namespace ccl::host {

struct Selection {
  uint32_t n_components;  ///< left after filtering by area
  uint32_t n_records;     ///< the smaller one of n_components and the table's length
};

/// Labels, or records, begin..end − 1.
struct IndexSpan {
  uint32_t begin;
  uint32_t end;

  uint32_t size() const { return end - begin; }
};

/// Gives records to the components that pass the filter or, when there are more than `max_components`, to
/// the largest of them by area, of equal ones to those with smaller labels. Threads share the work by spans
/// of labels.
class Selector {
 public:
  /// Takes all memory for so many spans.
  explicit Selector(size_t n_spans) : shares_(n_spans) {}

  /// `areas` has the area of each label, and is read by assign() too; a label of area 0 is none. The spans
  /// ascend.
  Selection choose(const uint32_t* areas, std::span<const IndexSpan> spans, const Settings& settings,
                   uint32_t max_components, ThreadPool& pool);

  /// Writes for each label of a span that was chosen from: the component's place among the records, which
  /// ascend by label, or kNoRecord. Threads may each call it for another span.
  void assign(size_t span, uint32_t* record_of_label) const;

  /// The records of a span.
  IndexSpan records(size_t span) const { return shares_[span].records; }

 private:
  static constexpr uint32_t kDigitBits = 8;
  static constexpr uint32_t kDigits = 1u << kDigitBits;
  using Histogram = std::array<uint32_t, kDigits>;

  /// A span's part of all that is counted.
  struct Share {
    IndexSpan labels;
    uint32_t n_passing;
    uint32_t n_larger;  ///< than the threshold
    uint32_t n_equal;   ///< as large as that; of those, in the end: how many get a record
    IndexSpan records;
    Histogram histogram;
  };

  bool passes(uint32_t area) const { return smallest_ <= area && area <= largest_; }
  template <typename Work>
  void for_each_share(ThreadPool& pool, Work work);
  Histogram count_digits(ThreadPool& pool, uint32_t known_bits, uint32_t prefix, uint32_t shift);
  uint32_t find_threshold(ThreadPool& pool, uint32_t n_components, uint32_t n_kept);
  void share_out(ThreadPool& pool, uint32_t n_kept);

  // Of the last choice.
  const uint32_t* areas_ = nullptr;
  uint32_t smallest_ = 1;  ///< areas that pass
  uint32_t largest_ = 0;
  uint32_t threshold_ = 0;  ///< all that are larger get a record, and some of those that are as large
  uint32_t n_labels_ = 0;
  size_t n_shares_ = 0;
  std::vector<Share> shares_;
};

}  // namespace ccl::host
