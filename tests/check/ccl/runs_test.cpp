// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares the CPU's `runs` with the oracle, for every instruction set and several numbers of threads.
#include <gtest/gtest.h>

#include <tuple>

#include "compare.h"
#include "expectations.h"
#include "fixture.h"
#include "forced_level.h"
#include "host/simd_level.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using host::SimdLevel;

/// `runs` with every level and number of threads.
class RunsTest : public testing::TestWithParam<std::tuple<SimdLevel, uint32_t>> {
 protected:
  void SetUp() override {
    if (!host::is_supported(level())) {
      GTEST_SKIP() << "this processor or build does not support " << host::simd_name(level());
    }
    runner_.config.algorithm = Algorithm::kRuns;
    runner_.config.threads = std::get<1>(GetParam());
  }

  SimdLevel level() const { return std::get<0>(GetParam()); }

  void expect_exact(const Image& image, const Settings& settings) {
    const ForcedLevel forced(level());
    const ExpectedFrame& want = expectations().labels(image, settings);
    const Outcome& got = runner_.run(image, settings);
    ASSERT_TRUE(same_frame(got, want, expect_counts(want, settings),
                           expectations().records(image, settings, runner_.config.max_components), image));
  }

  void expect_exact(const Image& image) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
        SCOPED_TRACE(image.name + (connectivity == Connectivity::k4 ? ", 4-way" : ", 8-way"));
        expect_exact(image, {.connectivity = connectivity, .rule = {.foreground = foreground}});
      }
    }
  }

  /// Of all levels and numbers of threads.
  static Expectations& expectations() {
    static Expectations expectations;
    return expectations;
  }

  FrameRunner runner_;
};

TEST_P(RunsTest, HardShapes) {
  for (const auto& [width, height] : {std::pair{64u, 64u}, {257u, 129u}, {31u, 200u}}) {
    for (const Image& image : adversarial_set(width, height)) {
      expect_exact(image);
    }
  }
  for (const Image& image : value_set(100, 75)) {
    expect_exact(image);
  }
}

TEST_P(RunsTest, Noise) {
  for (const uint32_t granularity : {1u, 2u, 4u, 8u, 16u}) {
    for (const uint32_t density : {10u, 30u, 50u, 60u, 70u, 90u}) {
      expect_exact(spread(noise(131, 203, granularity, density, density), 1, 3));
    }
  }
}

/// Frames with fewer rows and with more rows than the strips of any number of threads need.
TEST_P(RunsTest, Heights) {
  for (uint32_t height = 1; height <= 130; height += height < 36 ? 1 : 9) {
    expect_exact(noise(67, height, 1, 55, height));
  }
}

/// The filter can keep no component, so areas are not counted.
TEST_P(RunsTest, LabelsWithoutRecords) {
  for (const Image& image : {noise(131, 203, 1, 20, 1), noise(200, 90, 2, 50, 1)}) {
    expect_exact(image, {.rule = {}, .filter = {.min_area = image.width * image.height + 1}});
    expect_exact(image, {.rule = {}, .filter = {.min_area = 3, .max_area = 2}});
  }
}

/// The table is too short, for many small components and for many of more than 255 pixels.
TEST_P(RunsTest, ShortTables) {
  for (const uint32_t max_components : {1u, 7u, 50u, 400u}) {
    runner_.config.max_components = max_components;
    for (const Image& image : {noise(300, 260, 1, 20, 1), noise(400, 520, 16, 30, 1)}) {
      expect_exact(image, {});
      expect_exact(
          image, {.connectivity = Connectivity::k4, .rule = {}, .filter = {.min_area = 2, .max_area = 1000}});
    }
  }
}

/// Records without features are made from the sums of pairs of rows.
TEST_P(RunsTest, BasicRecords) {
  for (const Image& image : adversarial_set(129, 77)) {
    expect_exact(image, {.rule = {}, .features = 0});
  }
  for (const uint32_t density : {5u, 20u, 50u, 80u}) {
    expect_exact(noise(203, 131, 1, density, density), {.rule = {}, .features = 0});
    expect_exact(noise(203, 131, 3, density, density), {.rule = {}, .features = kFeatureMoments});
  }
}

/// So many components that threads share their selection.
TEST_P(RunsTest, ManyComponents) {
  const Image image = noise(640, 480, 1, 8, 1);
  for (const uint32_t max_components : {1000u, 100000u}) {
    runner_.config.max_components = max_components;
    expect_exact(image, {.rule = {}, .features = 0});
    expect_exact(image, {});
  }
}

TEST_P(RunsTest, OutputsEqualThoseOfOneThread) {
  const Image image = noise(333, 130, 2, 40, 1);
  Settings settings;
  settings.filter.min_area = 3;
  FrameRunner plain;
  for (const Output output :
       {Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask, Output::kNone}) {
    for (const uint32_t max_components : {1u, 20u, 10000u}) {
      runner_.config.output = plain.config.output = output;
      runner_.config.max_components = plain.config.max_components = max_components;
      plain.config.threads = 1;
      runner_.output_offset = plain.output_offset = 3;
      const Outcome want = [&] {
        const ForcedLevel portable(SimdLevel::kPortable);
        return plain.run(image, settings);
      }();
      const ForcedLevel forced(level());
      EXPECT_TRUE(same_bytes(runner_.run(image, settings), want)) << static_cast<int>(output);
    }
  }
}

/// Frames that are large enough to be streamed if output and stride are multiples of 16 bytes. Cache lines
/// and words of bits begin at other columns in every row.
TEST_P(RunsTest, LargeFrames) {
  FrameRunner plain;
  plain.config.algorithm = Algorithm::kSauf;
  runner_.config.output = plain.config.output = Output::kColorized;
  const ForcedLevel forced(level());
  for (const Image& image :
       {noise(2000, 800, 4, 45, 1), spread(blobs(1004, 701, 1), 1, 3), noise(1036, 640, 16, 30, 1)}) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      const Settings settings{.connectivity = connectivity, .rule = {}, .background_color = 0x80123456};
      const Outcome want = plain.run(image, settings);
      Outcome without_maps = want;
      without_maps.root_map.clear();
      without_maps.labels.clear();
      for (const auto& [offset, padding] :
           {std::pair<size_t, size_t>{0, 0}, {0, 1}, {4, 0}, {16, 48}, {48, 80}}) {
        runner_.output_offset = offset;
        runner_.output_padding = padding;
        runner_.with_maps = offset != 0;
        EXPECT_TRUE(same_bytes(runner_.run(image, settings), runner_.with_maps ? want : without_maps))
            << image.name << ", output offset " << offset << ", padding " << padding;
      }
    }
  }
}

/// Objects that touch, of masks and of root maps, with distances that are searched and that are too long for
/// it.
TEST_P(RunsTest, Parts) {
  for (const Image& image : {touching_ellipses(200, 170, 1, 6), noise(211, 97, 1, 70, 2), blobs(700, 500, 1),
                             spiral(130, 65), plain("full", 90, 61, 255), value_set(100, 75).front()}) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
        SCOPED_TRACE(image.name + (connectivity == Connectivity::k4 ? ", 4-way" : ", 8-way"));
        expect_exact(image, {.connectivity = connectivity,
                             .rule = {.foreground = foreground},
                             .separation = {.neck = 993, .aspect = 2},
                             .filter = {.min_area = 9}});
      }
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<SimdLevel, uint32_t>>& info) {
  return std::string(host::simd_name(std::get<0>(info.param))) + "_" +
         std::to_string(std::get<1>(info.param)) + "threads";
}

INSTANTIATE_TEST_SUITE_P(LevelsAndThreads, RunsTest,
                         testing::Combine(testing::ValuesIn(host::kSimdLevels),
                                          testing::Values(1u, 2u, 3u, 7u)),
                         name_of_case);

}  // namespace

}  // namespace ccl::test
