// SPDX-License-Identifier: LGPL-2.1-or-later
/// The same frame again and again: every byte of every result is the same each time, whatever order threads
/// ran in.
#include <gtest/gtest.h>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

/// The CPU's labelers share no memory between threads without waiting, and are slow to repeat.
int n_repeats(int on_cuda) {
  return backend() == Backend::kCuda ? on_cuda : on_cuda / 20;
}

class Repeat : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  void SetUp() override {
    runner_.config.algorithm = GetParam().algorithm;
    runner_.config.output = Output::kColorized;
  }

  /// Root map and labels are compared in one run of `map_stride`.
  void expect_same(const Image& image, int n_runs, int map_stride) {
    runner_.config.max_components = image.width * image.height;
    runner_.with_maps = true;
    const Outcome first = runner_.run(image, {});
    Outcome without_maps = first;
    without_maps.root_map.clear();
    without_maps.labels.clear();
    for (int i = 1; i < n_runs && !HasFailure(); ++i) {
      runner_.with_maps = i % map_stride == 0;
      EXPECT_TRUE(same_bytes(runner_.run(image, {}), runner_.with_maps ? first : without_maps))
          << image.name << ", run " << i;
    }
  }

  FrameRunner runner_;
};

TEST_P(Repeat, SmallFramesAThousandTimes) {
  for (const Image& image :
       {noise(131, 67, 1, 55, 1), noise(131, 67, 2, 40, 1), spiral(131, 67),
        drawn("comb", 131, 67, [](uint32_t x, uint32_t y) { return y == 66 || x % 2; })}) {
    expect_same(image, n_repeats(1000), 1);
  }
}

TEST_P(Repeat, LargeFrames) {
  expect_same(noise(1920, 1080, 1, 50, 1), n_repeats(100), 10);
  expect_same(blobs(1920, 1080, 1), n_repeats(100), 10);
}

INSTANTIATE_TEST_SUITE_P(AllLabelers, Repeat, testing::ValuesIn(labelers()), test_name<AlgorithmInfo>);

}  // namespace

}  // namespace ccl::test
