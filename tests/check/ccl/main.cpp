// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "ccl/engine.h"
#include "fixture.h"

/// The exit status that Meson reports as skipped.
constexpr int kSkipped = 77;

int main(int argc, char** argv) {
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
