// SPDX-License-Identifier: LGPL-2.1-or-later
/// The number of iterations of the labelers that repeat their steps until nothing changes, and what the
/// papers predict for it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

const std::set<std::string> kIterating = {"label-equivalence", "label-equivalence-2", "row-col-unify",
                                          "neighbor-propagation"};

class IterationsTest : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  IterationsTest() {
    runner_.config.algorithm = GetParam().algorithm;
    runner_.config.max_components = 1;
    runner_.with_maps = false;
  }

  bool iterates() const { return kIterating.contains(GetParam().nick); }

  uint32_t iterations(const Image& image, Connectivity connectivity) {
    return runner_.run(image, {.connectivity = connectivity, .rule = {}}).counts.n_iterations;
  }

  FrameRunner runner_;
};

TEST_P(IterationsTest, OnlyIteratingLabelersCount) {
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    for (const Image& image : {noise(140, 90, 1, 55, 1), plain("full", 140, 90, 255), spiral(140, 90)}) {
      EXPECT_EQ(iterations(image, connectivity) > 0, iterates()) << image.name;
    }
  }
}

/// The iteration that changes nothing is counted; iterations of other frames are not.
TEST_P(IterationsTest, NothingToDoTakesOneIteration) {
  const Image empty = plain("empty", 140, 90);
  const Image dots = drawn("dots", 140, 90, [](uint32_t x, uint32_t y) { return x % 2 == 0 && y % 2 == 0; });
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    iterations(spiral(140, 90), connectivity);
    EXPECT_EQ(iterations(empty, connectivity), iterates() ? 1u : 0u);
    EXPECT_EQ(iterations(dots, connectivity), iterates() ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, IterationsTest, testing::ValuesIn(labelers()), test_name<AlgorithmInfo>);

class IterationsOnASpiral : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCuda) {
      GTEST_SKIP() << "the labelers are the GPU's";
    }
  }

  static uint32_t iterations(Algorithm algorithm, uint32_t size) {
    FrameRunner runner;
    runner.config.algorithm = algorithm;
    runner.config.max_components = 1;
    runner.with_maps = false;
    return runner.run(spiral(size, size), {.connectivity = Connectivity::k4, .rule = {}}).counts.n_iterations;
  }
};

/// Label equivalence takes the same number for any size (Kalentev et al., section 3), with a tolerance: it
/// costs an iteration when one thread overwrites another's label.
TEST_F(IterationsOnASpiral, OfLabelEquivalenceDoNotGrow) {
  EXPECT_LE(iterations(Algorithm::kLabelEquivalence, 256), iterations(Algorithm::kLabelEquivalence, 64) + 2);
  EXPECT_LE(iterations(Algorithm::kLabelEquivalence2, 256),
            iterations(Algorithm::kLabelEquivalence2, 64) + 2);
}

/// Row-Col Unify goes around one bend with each line (Kalentev et al., section 4: 514 iterations for
/// 1024×1024).
TEST_F(IterationsOnASpiral, OfRowColUnifyGrowWithTheBends) {
  const uint32_t small = iterations(Algorithm::kRowColUnify, 64);
  const uint32_t large = iterations(Algorithm::kRowColUnify, 256);
  EXPECT_GE(large, 3 * small);
  EXPECT_LE(large, 5 * small);
}

/// Neighbor Propagation follows the whole spiral, a stretch in each iteration.
TEST_F(IterationsOnASpiral, OfNeighborPropagationGrowWithTheLength) {
  EXPECT_GE(iterations(Algorithm::kNeighborPropagation, 256),
            6 * iterations(Algorithm::kNeighborPropagation, 64));
}

}  // namespace

}  // namespace ccl::test
