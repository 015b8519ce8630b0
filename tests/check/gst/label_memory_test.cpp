// SPDX-License-Identifier: LGPL-2.1-or-later
/// The memory of labels, which polygons are made from: no more than frames in flight need, and none after the
/// stream.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "harness.h"

namespace {

/// What every operator new of the process has taken and not given back.
std::atomic<int64_t> n_bytes = 0;

// Not inline: GCC takes a malloc() in operator new for one that does not belong to operator delete.
[[gnu::noinline]] void* allocate(size_t size) {
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  n_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  return memory;
}

}  // namespace

void* operator new(size_t size) {
  return allocate(size);
}

// A sanitizer has this one of its own, which the ones below would not fit.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  n_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}

namespace cudaccl::test {

namespace {

constexpr uint32_t kSide = 1024;
constexpr int64_t kLabelsOfAFrame = int64_t{kSide} * kSide * 4;

class LabelMemory : public testing::TestWithParam<int> {};

}  // namespace

TEST_P(LabelMemory, IsThatOfTheFramesInFlight) {
  if (backend() != "cpu") {
    GTEST_SKIP() << "labels of a GPU are in page-locked memory, which is not counted here";
  }
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer gives the plugin an operator new of its own, which is not counted here";
#endif
  const int depth = GetParam();
  Harness h("output=passthrough threads=1 features=hull pipeline-depth=" + std::to_string(depth));
  const int64_t before = n_bytes;
  ASSERT_TRUE(h.send_caps("GRAY8", kSide, kSide));
  const Image image = blank(kSide, kSide);
  const auto push_frames = [&](int n_frames) {
    for (int frame = 0; frame < n_frames; ++frame) {
      ASSERT_EQ(h.push(image), GST_FLOW_OK) << frame;
      h.pull();
    }
  };
  push_frames(depth + 1);
  const int64_t first = n_bytes;
  ASSERT_GT(first - before, (depth + 1) * kLabelsOfAFrame) << "they are counted";
  push_frames(20);
  EXPECT_LT(n_bytes - first, kLabelsOfAFrame);
  ASSERT_EQ(gst_element_set_state(h.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_LE(n_bytes - first, -(depth + 1) * kLabelsOfAFrame) << "the stream has ended";
}

INSTANTIATE_TEST_SUITE_P(Depth, LabelMemory, testing::Values(0, 2));

}  // namespace cudaccl::test
