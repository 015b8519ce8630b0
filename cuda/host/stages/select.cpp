// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/select.h"

#include <algorithm>
#include <numeric>

namespace ccl::host {

/// Few labels are counted sooner than another thread has woken.
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

Selection Selector::choose(const uint32_t* areas, std::span<const IndexSpan> spans, const Settings& settings,
                           uint32_t max_components, ThreadPool& pool) {
  areas_ = areas;
  smallest_ = std::max(settings.filter.min_area, 1u);
  largest_ = settings.filter.max_area;
  threshold_ = 0;
  n_shares_ = spans.size();
  n_labels_ = 0;
  for (size_t i = 0; i < n_shares_; ++i) {
    shares_[i].labels = spans[i];
    n_labels_ += spans[i].size();
  }
  for_each_share(pool, [this](Share& share) {
    share.n_passing =
        static_cast<uint32_t>(std::count_if(areas_ + share.labels.begin, areas_ + share.labels.end,
                                            [this](uint32_t area) { return passes(area); }));
  });
  uint32_t n_components = 0;
  for (size_t i = 0; i < n_shares_; ++i) {
    shares_[i].records = {n_components, n_components + shares_[i].n_passing};
    n_components = shares_[i].records.end;
  }
  if (n_components > max_components) {
    threshold_ = find_threshold(pool, n_components, max_components);
    share_out(pool, max_components);
  }
  return {n_components, std::min(n_components, max_components)};
}

/// How often each digit occurs in the areas that pass and agree with `prefix` in the bits that are known.
Selector::Histogram Selector::count_digits(ThreadPool& pool, uint32_t known_bits, uint32_t prefix,
                                           uint32_t shift) {
  for_each_share(pool, [&](Share& share) {
    share.histogram.fill(0);
    for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
      const uint32_t area = areas_[label];
      if (passes(area) && (area & known_bits) == prefix) {
        ++share.histogram[area >> shift & (kDigits - 1)];
      }
    }
  });
  Histogram sum{};
  for (size_t i = 0; i < n_shares_; ++i) {
    std::transform(sum.begin(), sum.end(), shares_[i].histogram.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

/// The area of the n_kept-th largest of the components that pass, by radix select: the digits are found one
/// after the other from the highest, each by a histogram over the areas that agree in the digits before it.
/// It takes no memory, and its time does not depend on the areas. Where there are too many components most
/// are small, so first it is tried whether all digits but the last are 0. More than `n_kept` must pass.
uint32_t Selector::find_threshold(ThreadPool& pool, uint32_t n_components, uint32_t n_kept) {
  uint32_t threshold = 0;
  uint32_t n_left = n_kept;  // to be found among the areas that agree with the threshold so far
  const auto find_digit = [&](const Histogram& histogram, uint32_t shift) {
    uint32_t digit = kDigits - 1;
    while (histogram[digit] < n_left) {
      n_left -= histogram[digit];
      --digit;
    }
    threshold |= digit << shift;
  };
  const Histogram of_small = count_digits(pool, ~(kDigits - 1), 0, 0);
  const uint32_t n_large = n_components - std::accumulate(of_small.begin(), of_small.end(), 0u);
  if (n_large < n_kept) {
    n_left -= n_large;
    find_digit(of_small, 0);
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

/// Tells each share how many of its components of just the threshold's area get a record.
void Selector::share_out(ThreadPool& pool, uint32_t n_kept) {
  for_each_share(pool, [this](Share& share) {
    share.n_larger = 0;
    share.n_equal = 0;
    for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
      const uint32_t area = areas_[label];
      share.n_larger += passes(area) && area > threshold_ ? 1 : 0;
      share.n_equal += passes(area) && area == threshold_ ? 1 : 0;
    }
  });
  uint32_t n_equal = n_kept;
  for (size_t i = 0; i < n_shares_; ++i) {
    n_equal -= shares_[i].n_larger;
  }
  uint32_t n_records = 0;
  for (size_t i = 0; i < n_shares_; ++i) {
    Share& share = shares_[i];
    share.n_equal = std::min(share.n_equal, n_equal);
    n_equal -= share.n_equal;
    share.records = {n_records, n_records + share.n_larger + share.n_equal};
    n_records = share.records.end;
  }
}

void Selector::assign(size_t span, uint32_t* record_of_label) const {
  const Share& share = shares_[span];
  uint32_t record = share.records.begin;
  if (threshold_ == 0 && share.n_passing == share.labels.size()) {
    std::iota(record_of_label + share.labels.begin, record_of_label + share.labels.end, record);
    return;
  }
  uint32_t n_equal = threshold_ == 0 ? 0 : share.n_equal;
  for (uint32_t label = share.labels.begin; label < share.labels.end; ++label) {
    const uint32_t area = areas_[label];
    const uint32_t is_equal = (area == threshold_ ? 1u : 0u) & (n_equal != 0 ? 1u : 0u);
    const uint32_t is_kept = (passes(area) ? 1u : 0u) & (is_equal | (area > threshold_ ? 1u : 0u));
    n_equal -= is_kept & is_equal;
    record_of_label[label] = record | (is_kept - 1);  // kNoRecord has all bits set
    record += is_kept;
  }
}

}  // namespace ccl::host
