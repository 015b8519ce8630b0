// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/select.h"

#include <algorithm>
#include <array>

namespace ccl::host {

namespace {

/// Components with a larger area than `area` are all kept, and `n_equal` of those with just that.
struct Threshold {
  uint32_t area;
  uint32_t n_equal;
};

/// The area of the n_kept-th largest of the components that pass, by radix select: the digits are found one
/// after the other from the highest, each by a histogram over the areas that agree in the digits before it.
/// It takes no memory, and its time does not depend on the areas. More than `n_kept` must pass.
Threshold find_threshold(const uint32_t* areas, uint32_t n_labels, const Settings& settings,
                         uint32_t n_kept) {
  constexpr uint32_t kDigitBits = 8;
  constexpr uint32_t kDigits = 1u << kDigitBits;
  Threshold threshold{0, n_kept};
  uint32_t known_bits = 0;
  for (uint32_t shift = 32; shift > 0;) {
    shift -= kDigitBits;
    std::array<uint32_t, kDigits> histogram{};
    for (uint32_t label = 1; label <= n_labels; ++label) {
      const uint32_t area = areas[label];
      if (settings.keeps(area) && (area & known_bits) == threshold.area) {
        ++histogram[area >> shift & (kDigits - 1)];
      }
    }
    uint32_t digit = kDigits - 1;
    while (histogram[digit] < threshold.n_equal) {
      threshold.n_equal -= histogram[digit];
      --digit;
    }
    threshold.area |= digit << shift;
    known_bits |= (kDigits - 1) << shift;
  }
  return threshold;
}

}  // namespace

Selection select(const uint32_t* areas, uint32_t n_labels, const Settings& settings, uint32_t max_components,
                 uint32_t* record_of_label) {
  Selection selection{};
  for (uint32_t label = 1; label <= n_labels; ++label) {
    selection.n_components += settings.keeps(areas[label]) ? 1u : 0u;
  }
  record_of_label[0] = kNoRecord;
  if (selection.n_components <= max_components) {
    for (uint32_t label = 1; label <= n_labels; ++label) {
      const uint32_t is_kept = settings.keeps(areas[label]) ? 1 : 0;
      record_of_label[label] = selection.n_records | (is_kept - 1);  // kNoRecord has all bits set
      selection.n_records += is_kept;
    }
    return selection;
  }
  Threshold threshold = find_threshold(areas, n_labels, settings, max_components);
  for (uint32_t label = 1; label <= n_labels; ++label) {
    record_of_label[label] = kNoRecord;
    const uint32_t area = areas[label];
    if (!settings.keeps(area) || area < threshold.area) {
      continue;
    }
    if (area == threshold.area) {
      if (threshold.n_equal == 0) {
        continue;
      }
      --threshold.n_equal;
    }
    record_of_label[label] = selection.n_records++;
  }
  return selection;
}

}  // namespace ccl::host
