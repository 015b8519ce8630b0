// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/select.h"

#include <algorithm>
#include <numeric>

namespace ccl::host {

/// Counting a few labels takes less time than waking another thread.
template <typename Work>
void Selector::for_each_share(ThreadPool& pool, Work work) {
  constexpr uint32_t kWorthSharing = 8192;
  const auto n_shares = static_cast<uint32_t>(n_shares_);
  if (n_labels_ >= kWorthSharing) {
    pool.parallel_for(n_shares, [&](uint32_t i) { work(shares_[i]); });
  } else {
    std::for_each_n(shares_.begin(), n_shares, work);
  }
}

uint32_t Selector::choose(const uint32_t* marks, std::span<const MarkedLabels> spans, uint32_t max_components,
                          ThreadPool& pool, FrameCounts* counts) {
  marks_ = marks;
  threshold_ = 0;
  n_shares_ = spans.size();
  n_labels_ = 0;
  uint32_t n_components = 0;
  for (size_t i = 0; i < n_shares_; ++i) {
    Share& share = shares_[i];
    share.labels = spans[i].labels;
    share.n_kept = spans[i].n_kept;
    share.records = {n_components, n_components + share.n_kept};
    n_components = share.records.end;
    n_labels_ += share.labels.size();
  }
  if (n_components > max_components) {
    threshold_ = find_threshold(pool, n_components, max_components);
    share_out(pool, max_components);
  }
  counts->n_components = n_components;
  return std::min(n_components, max_components);
}

uint32_t Selector::keep_largest(uint32_t* marks, std::span<MarkedLabels> spans, uint32_t top_n,
                                ThreadPool& pool, uint32_t* record_index) {
  FrameCounts counts;
  if (choose(marks, spans, top_n, pool, &counts) == counts.n_components) {
    return 0;
  }
  for (size_t i = 0; i < spans.size(); ++i) {
    assign(i, record_index);
    for (uint32_t label = spans[i].labels.begin; label < spans[i].labels.end; ++label) {
      marks[label] = record_index[label] != kNoRecord ? marks[label] : 0;
    }
    spans[i].n_kept = records(i).size();
  }
  return counts.n_components - top_n;
}

/// Counts the digits at `shift` of the marks that are not 0 and agree with `prefix` in the known bits.
Selector::Histogram Selector::count_digits(ThreadPool& pool, uint32_t known_bits, uint32_t prefix,
                                           uint32_t shift) {
  for_each_share(pool, [&](Share& share) {
    share.histogram.fill(0);
    for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
      const uint32_t mark = marks_[label];
      if (mark != 0 && (mark & known_bits) == prefix) {
        ++share.histogram[mark >> shift & (kDigits - 1)];
      }
    }
  });
  Histogram sum{};
  for (size_t i = 0; i < n_shares_; ++i) {
    std::transform(sum.begin(), sum.end(), shares_[i].histogram.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

/// The n_records-th largest mark, by radix select: the digits are found one after the other from the highest,
/// each by a histogram of the marks that agree in the digits before it. This takes no memory, and its time
/// does not depend on the marks. If there are too many components, most are small, so the first attempt is a
/// threshold of one digit. There must be more than `n_records` components.
uint32_t Selector::find_threshold(ThreadPool& pool, uint32_t n_components, uint32_t n_records) {
  uint32_t threshold = 0;
  uint32_t n_missing = n_records;  // to be found among the marks that agree with the threshold so far
  const auto find_digit = [&](const Histogram& histogram, uint32_t shift) {
    uint32_t digit = kDigits - 1;
    while (histogram[digit] < n_missing) {
      n_missing -= histogram[digit];
      --digit;
    }
    threshold |= digit << shift;
  };
  const Histogram small_marks = count_digits(pool, ~(kDigits - 1), 0, 0);
  const uint32_t n_large = n_components - std::accumulate(small_marks.begin(), small_marks.end(), 0u);
  if (n_large < n_records) {
    n_missing -= n_large;
    find_digit(small_marks, 0);
    return threshold;
  }
  uint32_t known_bits = 0;
  for (uint32_t shift = 32; shift > 0;) {
    shift -= kDigitBits;
    find_digit(count_digits(pool, known_bits, threshold, shift), shift);
    known_bits |= (kDigits - 1) << shift;
  }
  return threshold;
}

/// Finds for each share how many of its components whose mark is the threshold get a record.
void Selector::share_out(ThreadPool& pool, uint32_t n_records) {
  for_each_share(pool, [this](Share& share) {
    share.n_larger = 0;
    share.n_equal = 0;
    for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
      share.n_larger += marks_[label] > threshold_ ? 1 : 0;
      share.n_equal += marks_[label] == threshold_ ? 1 : 0;
    }
  });
  uint32_t n_equal = n_records;
  for (size_t i = 0; i < n_shares_; ++i) {
    n_equal -= shares_[i].n_larger;
  }
  uint32_t next_record = 0;
  for (size_t i = 0; i < n_shares_; ++i) {
    Share& share = shares_[i];
    share.n_equal = std::min(share.n_equal, n_equal);
    n_equal -= share.n_equal;
    share.records = {next_record, next_record + share.n_larger + share.n_equal};
    next_record = share.records.end;
  }
}

void Selector::assign(size_t span, uint32_t* record_index) const {
  const Share& share = shares_[span];
  uint32_t record = share.records.begin;
  if (threshold_ == 0 && share.n_kept == share.labels.size()) {
    std::iota(record_index + share.labels.begin, record_index + share.labels.end, record);
    return;
  }
  uint32_t n_equal = threshold_ == 0 ? 0 : share.n_equal;
  for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
    const uint32_t mark = marks_[label];
    const uint32_t is_equal = (mark == threshold_ ? 1u : 0u) & (n_equal != 0 ? 1u : 0u);
    const uint32_t has_record = is_equal | (mark > threshold_ ? 1u : 0u);
    n_equal -= is_equal;
    record_index[label] = record | (has_record - 1);  // kNoRecord has all bits set
    record += has_record;
  }
}

}  // namespace ccl::host
