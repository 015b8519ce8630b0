// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filters.h"

#include "names.h"

namespace ccl {

void PrintTo(const Filter& filter, std::ostream* out) {
  const auto& [min_area, max_area] = filter;
  *out << "areas from " << min_area << " to " << max_area;
}

}  // namespace ccl

namespace ccl::test {

bool is_kept(const Filter& filter, const ExpectedFrame& frame, uint32_t label) {
  const auto& [min_area, max_area] = filter;  // all fields: a new one does not compile until it is used here
  const uint32_t area = frame.areas[label];
  return area >= min_area && area <= max_area;
}

std::vector<Filter> filter_cases() {
  std::vector<Filter> cases;
  for (const uint32_t min_area : {0u, 1u, 2u, 3u, 10u, 100000u}) {
    for (const uint32_t max_area : {0u, 1u, 2u, 9u, 10u, 60u, 5000u, 0xffffffffu}) {
      cases.push_back({.min_area = min_area, .max_area = max_area});
    }
  }
  return cases;
}

}  // namespace ccl::test
