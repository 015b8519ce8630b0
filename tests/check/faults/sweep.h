// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lives in which one request of memory fails, each time a later one, until none does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "faults.h"

namespace faults {

/// What a life gave, in its order.
struct Story {
  std::vector<uint64_t> results;    ///< a digest of each
  std::vector<std::string> errors;  ///< the texts
  bool gave_after_error = false;    ///< a result followed an error
};

/// Whether what was given is right, as far as it goes, and a failure was reported, once.
inline testing::AssertionResult is_sound(const Story& got, const Story& want, const char* word) {
  if (got.results.size() > want.results.size() ||
      !std::equal(got.results.begin(), got.results.end(), want.results.begin())) {
    return testing::AssertionFailure() << "a wrong result among " << got.results.size();
  }
  if (got.errors.size() > 1) {
    return testing::AssertionFailure()
           << got.errors.size() << " errors: " << got.errors[0] << "; " << got.errors[1];
  }
  if (got.errors.empty() && got.results.size() < want.results.size()) {
    return testing::AssertionFailure()
           << "no error, and only " << got.results.size() << " of " << want.results.size() << " results";
  }
  if (got.gave_after_error) {
    return testing::AssertionFailure() << "a result after the error " << got.errors[0];
  }
  if (!got.errors.empty() && got.errors[0].find(word) == std::string::npos) {
    return testing::AssertionFailure() << "the error says nothing of " << word << ": " << got.errors[0];
  }
  return testing::AssertionSuccess();
}

/// Every so manyth request fails, each in a life of its own: CUDACCL_FAULT_STEP, or 1.
inline uint64_t fault_step() {
  const char* text = std::getenv("CUDACCL_FAULT_STEP");
  return text != nullptr ? std::max(std::strtoull(text, nullptr, 10), 1ull) : 1;
}

/// The first request that fails. Each row of lives begins with a later one than the row before, so that with
/// a step of six, six of them fail each request once between them.
inline uint64_t next_first_fault() {
  static uint64_t n_rows = 0;
  return 1 + n_rows++ % fault_step();
}

/// Calls live(), which returns a Story, again and again, once with a fault and once without. It must clean up
/// behind itself. `name` is for the line that says how many lives there were, `word` must be in each error.
template <typename Live>
void sweep(const char* name, const char* word, Live live) {
  begin({});
  live();  // what is made once in a process is made now
  const Story want = live();
  ASSERT_TRUE(want.errors.empty()) << want.errors[0];
  ASSERT_FALSE(want.results.empty());
  uint64_t n_lives = 0;
  uint64_t n_errors = 0;
  for (const bool is_lasting : {true, false}) {
    for (uint64_t n = next_first_fault();; n += fault_step()) {
      const int64_t before = n_living();
      begin({n, is_lasting});
      bool is_good = true;
      bool has_ended = false;
      {
        const Story got = live();
        has_ended = !has_failed();
        begin({});
        const Story next = live();
        n_lives += 2;
        n_errors += got.errors.size();
        is_good = is_sound(got, want, word) && next.errors.empty() && next.results == want.results;
        EXPECT_TRUE(is_sound(got, want, word))
            << "request " << n << (is_lasting ? " and all later ones" : "") << " fail";
        EXPECT_TRUE(next.errors.empty() && next.results == want.results)
            << "the life after the one in which request " << n << (is_lasting ? " and all later ones" : "")
            << " failed is another one" << (next.errors.empty() ? "" : ": " + next.errors[0]);
      }
      if (is_good) {  // else the messages live, too
        is_good = n_living() == before;
        EXPECT_EQ(n_living(), before) << "leaked after request " << n;
      }
      if (has_ended || !is_good) {
        break;
      }
    }
  }
  std::printf("%s: %llu lives, %llu errors\n", name, static_cast<unsigned long long>(n_lives),
              static_cast<unsigned long long>(n_errors));
  EXPECT_GT(n_errors, 10u);
}

/// A digest of bytes, with what was before: FNV-1a.
inline uint64_t digest(const void* data, size_t size, uint64_t before = 0xcbf29ce484222325) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i) {
    before = (before ^ bytes[i]) * 0x100000001b3;
  }
  return before;
}

}  // namespace faults
