// SPDX-License-Identifier: LGPL-2.1-or-later
/// The same frame again and again: every byte of every result is the same each time, whatever order threads
/// ran in.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

bool is_cuda() {
  return backend() == Backend::kCuda;
}

/// On the CPU with more threads than small frames get by themselves.
class Repeat : public testing::TestWithParam<LabelerCase> {
 protected:
  void SetUp() override {
    runner_.config.algorithm = GetParam().labeler.algorithm;
    runner_.config.output = Output::kColorized;
    runner_.config.threads = 4;
  }

  /// Root map and labels are compared in one run of `map_stride`.
  void expect_same(const Image& image, int n_runs, int map_stride) {
    runner_.config.max_components = image.width * image.height;
    runner_.with_maps = true;
    const Outcome first = runner_.run(image, GetParam().settings());
    ASSERT_GT(first.counts.n_labels, 0u);
    Outcome without_maps = first;
    without_maps.root_map.clear();
    without_maps.labels.clear();
    for (int i = 1; i < n_runs && !HasFailure(); ++i) {
      runner_.with_maps = i % map_stride == 0;
      EXPECT_TRUE(
          same_bytes(runner_.run(image, GetParam().settings()), runner_.with_maps ? first : without_maps))
          << image.name << ", run " << i;
    }
  }

  FrameRunner runner_;
};

/// On a GPU each of them, whose threads meet in more ways than the few of a CPU.
TEST_P(Repeat, SmallFramesAThousandTimes) {
  for (const Image& image :
       {noise(131, 67, 1, 55, 1), noise(131, 67, 2, 40, 1), spiral(131, 67),
        drawn("comb", 131, 67, [](uint32_t x, uint32_t y) { return y == 66 || x % 2; })}) {
    expect_same(image, is_cuda() ? 1000 : 250, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, Repeat, testing::ValuesIn(labeler_cases()), test_name<LabelerCase>);

class RepeatLarge : public Repeat {};

TEST_P(RepeatLarge, Frames) {
  const auto [width, height, n_runs] = is_cuda() ? std::tuple{1920u, 1080u, 100} : std::tuple{640u, 480u, 10};
  expect_same(noise(width, height, 1, 50, 1), n_runs, 10);
  expect_same(blobs(width, height, 1), n_runs, 10);
}

std::vector<LabelerCase> cases_of_the_default_rule() {
  std::vector<LabelerCase> cases = labeler_cases();
  std::erase_if(cases, [](const LabelerCase& c) {
    return c.connectivity != Connectivity::k8 || c.foreground != Foreground::kBinary;
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Labelers, RepeatLarge, testing::ValuesIn(cases_of_the_default_rule()),
                         test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
