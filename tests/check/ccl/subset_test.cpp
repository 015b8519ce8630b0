// SPDX-License-Identifier: LGPL-2.1-or-later
/// A little of everything: small frames through every labeler, output and feature, and large ones through
/// `runs`, for runs under tools that slow everything down a hundredfold.
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "compare.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"
#include "painting.h"

namespace ccl::test {

namespace {

void expect_exact(FrameRunner* runner, const Image& image, const Settings& settings) {
  const ExpectedFrame want = expect_labels(image, settings);
  const Outcome& got = runner->run(image, settings);
  EXPECT_TRUE(same_frame(got, want, expect_counts(want, settings),
                         expect_records(want, settings, runner->config.max_components), image));
}

class LabelerSubset : public testing::TestWithParam<LabelerCase> {};

TEST_P(LabelerSubset, EverySize) {
  FrameRunner runner;
  runner.config.algorithm = GetParam().labeler.algorithm;
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, {7u, 5u}, {130u, 1u}, {1u, 130u}, {67u, 35u}, {144u, 35u}}) {
    const Image image = noise(width, height, 1, 55, width);
    expect_exact(&runner, spread(split_foreground(image), 1, 3), GetParam().settings());
    expect_exact(&runner, spiral(width, height), GetParam().settings());
    Settings separated = GetParam().settings();
    separated.separation.neck = 993;
    expect_exact(&runner, split_foreground(touching_ellipses(width, height, 1, width)), separated);
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, LabelerSubset, testing::ValuesIn(labeler_cases()), test_name<LabelerCase>);

/// `runs`, which paints by itself, and one of the others, which all paint alike.
std::vector<AlgorithmInfo> painters() {
  std::vector<AlgorithmInfo> labelers = test::labelers();
  std::erase_if(labelers, [](const AlgorithmInfo& labeler) {
    return labeler.algorithm != Algorithm::kRuns && labeler.algorithm != Algorithm::kDlp;
  });
  return labelers;
}

class OutputSubset : public testing::TestWithParam<std::tuple<AlgorithmInfo, Output>> {};

/// Frames with rows of whole chunks of 16 pixels have a kernel of their own.
TEST_P(OutputSubset, EveryFeature) {
  const auto& [labeler, output] = GetParam();
  for (uint32_t features = 0; features <= kAllFeatures; ++features) {
    FrameRunner runner;
    runner.config.algorithm = labeler.algorithm;
    runner.config.output = output;
    runner.config.max_components = features % 2 ? 3 : 1000;
    runner.output_offset = 1;
    runner.output_padding = 3;
    Settings settings;
    settings.filter.min_area = features % 3;
    settings.features = features;
    settings.palette = Palette::kMono;
    settings.draw_boxes = features % 2 == 0;
    for (const uint32_t width : {67u, 144u}) {
      const Image image = noise(width, 35, 2, 45, 1);
      expect_exact(&runner, image, settings);
      const ExpectedFrame frame = expect_labels(image, settings);
      const Colors white(frame.n_labels + 1, 0xffffffff);
      EXPECT_EQ(runner.run(image, settings).pixels,
                expect_pixels(image, frame, runner.config, settings, white));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Painters, OutputSubset,
                         testing::Combine(testing::ValuesIn(painters()),
                                          testing::Values(Output::kNone, Output::kColorized, Output::kOverlay,
                                                          Output::kLabels, Output::kMask)));

class RunsSubset : public testing::TestWithParam<LabelerCase> {};

/// Almost empty: a component that goes through all tiles, and some in few.
Image grid(uint32_t width, uint32_t height) {
  return drawn("grid", width, height, [](uint32_t x, uint32_t y) {
    return y % 260 == 250 || (x % 300 == 290 && y < 900) || (x + y) % 700 == 0;
  });
}

/// A GPU has kernels for what is painted, what is measured, and for rows of whole chunks. It cuts frames of
/// 4112 × 1100 pixels into wide tiles, and those of 4112 × 2300 into more than it has blocks for.
std::vector<Image> frames_of_every_kernel() {
  std::vector<Image> frames = {noise(67, 35, 2, 45, 1), noise(144, 35, 2, 45, 1)};
  if (backend() == Backend::kCuda) {
    frames.push_back(grid(4112, 1100));
    frames.push_back(grid(4112, 2300));
  } else {
    frames.push_back(grid(4112, 300));
  }
  return frames;
}

TEST_P(RunsSubset, EveryKernel) {
  for (const Image& drawing : frames_of_every_kernel()) {
    const Image image = GetParam().foreground == Foreground::kBinary ? drawing : split_foreground(drawing);
    Settings settings = GetParam().settings();
    const ExpectedFrame want = expect_labels(image, settings);
    for (const Output output : {Output::kNone, Output::kColorized}) {
      FrameRunner runner;
      runner.config.algorithm = Algorithm::kRuns;
      runner.config.output = output;
      runner.with_maps = false;
      for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
        settings.features = features;
        EXPECT_TRUE(same_records(runner.run(image, settings).records,
                                 expect_records(want, settings, runner.config.max_components)))
            << image.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, RunsSubset, testing::ValuesIn(labeler_cases(Algorithm::kRuns)),
                         test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
