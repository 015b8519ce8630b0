// SPDX-License-Identifier: LGPL-2.1-or-later
/// Requests of memory that fail on purpose: every operator new, aligned_alloc() and, in tests of the element,
/// memory of buffers.
#pragma once

#include <cstdint>

namespace faults {

/// Which requests fail, counted from 1 while one is Armed.
struct Plan {
  uint64_t first = UINT64_MAX;
  bool is_lasting = false;  ///< all later ones, too
};

/// Begins to count from 1.
void begin(const Plan& plan);
/// No further request fails.
void calm();
/// Whether a request has failed since begin().
bool has_failed();
/// The requests since then.
uint64_t n_requests();

/// Counts a request, and says whether it must fail. Any thread may call it.
bool fails();

/// Blocks of memory that were requested, armed or not, and are not given back.
int64_t n_living();
void count_living(int64_t change);

/// While one exists, requests are counted and may fail. The test's own are made outside of it.
class Armed {
 public:
  Armed();
  ~Armed();
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
};

/// What `function` returns, armed.
template <typename Function>
auto armed(Function function) {
  const Armed now;
  return function();
}

}  // namespace faults
