// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "ccl/engine.h"
#include "fixture.h"

/// The exit status that Meson reports as skipped.
constexpr int kSkipped = 77;

/// Keeps freed memory in the process. The system must clear each page that it gives again: tests of large
/// frames spent more time on this than on frames.
static void keep_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 1 << 24);
#endif
}

int main(int argc, char** argv) {
  keep_memory();
  testing::InitGoogleTest(&argc, argv);
  // Kept while the tests run: starting a device is slow, and would happen for every engine.
  std::unique_ptr<ccl::Engine> engine;
  const ccl::Status status = ccl::test::make_engine(&engine);
  const bool is_missing =
      status.code() == ccl::StatusCode::kNoDevice || status.code() == ccl::StatusCode::kUnsupported;
  if (is_missing && !GTEST_FLAG_GET(list_tests)) {
    std::printf("skipped: there is no %s backend here: %s\n", ccl::backend_name(ccl::test::backend()),
                status.message().c_str());
    return kSkipped;
  }
  if (!is_missing && !status.ok()) {
    std::printf("no engine can be made: %s\n", status.message().c_str());
    return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
