// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tests of random video, short by default and as long as wanted:
///
///     export CUDACCL_TEST_BACKEND=cuda CUDACCL_FUZZ_FRAMES=100000 CUDACCL_FUZZ_THREADS=16
///     build/tests/check/ccl/library-track-device --gtest_filter='*RandomVideo*'
///
/// CUDACCL_FUZZ_FRAMES is the least number of frames, CUDACCL_FUZZ_THREADS how many videos run at a time, and
/// CUDACCL_FUZZ_SEED the seed of the first video, with which a failure is found again. The last line says how
/// many frames were compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace ccl::test {

/// The value of a variable of the environment, `otherwise` if it is not set. Fails the test if it is no
/// number from 1 on.
inline uint32_t number_from_environment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return otherwise;
  }
  uint32_t number = 0;
  const char* end = text + std::strlen(text);
  const std::from_chars_result parsed = std::from_chars(text, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number == 0) {
    ADD_FAILURE() << name << " is \"" << text << "\", not a number from 1 on";
    return otherwise;
  }
  return number;
}

/// Calls run(seed) for video after video, each of `n_frames` frames; `n_videos` unless the environment says
/// otherwise. run() returns the number of frames that it compared, and must have no state that videos share.
/// No video begins after one has failed.
template <typename Run>
void fuzz(uint32_t n_videos, uint32_t n_frames, Run run) {
  const uint32_t first = number_from_environment("CUDACCL_FUZZ_SEED", 1);
  const uint32_t wanted = number_from_environment("CUDACCL_FUZZ_FRAMES", n_videos * n_frames);
  const uint32_t n_threads = number_from_environment("CUDACCL_FUZZ_THREADS", 1);
  if (testing::Test::HasFailure()) {
    return;
  }
  const uint32_t n_seeds = (wanted + n_frames - 1) / n_frames;
  std::atomic<uint32_t> next = 0;
  std::atomic<uint64_t> n_compared = 0;
  const auto work = [&] {
    for (uint32_t i = next++; i < n_seeds && !testing::Test::HasFailure(); i = next++) {
      n_compared += run(first + i);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < n_threads; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::printf("%s.%s: %llu frames compared, in %u videos from seed %u on, %u at a time\n",
              test->test_suite_name(), test->name(), static_cast<unsigned long long>(n_compared.load()),
              n_seeds, first, n_threads);
  EXPECT_TRUE(testing::Test::HasFailure() || n_compared >= wanted);
}

}  // namespace ccl::test
