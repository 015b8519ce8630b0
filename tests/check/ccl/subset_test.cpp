// SPDX-License-Identifier: LGPL-2.1-or-later
/// A little of everything: small frames through every labeler, output and feature, for runs under tools that
/// slow everything down a hundredfold.
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
  EXPECT_TRUE(same_map(got.root_map, want.root_map, image, "root"));
  EXPECT_TRUE(same_map(got.labels, want.labels, image, "label"));
  EXPECT_EQ(got.n_labels, want.n_labels);
  EXPECT_EQ(got.n_components, count_left(want, settings));
  EXPECT_TRUE(same_records(got.records, expect_records(want, settings, runner->config.max_components)));
}

TEST(Subset, Labelers) {
  for (const LabelerCase& labeler_case : labeler_cases()) {
    SCOPED_TRACE(name_of(labeler_case));
    FrameRunner runner;
    runner.config.algorithm = labeler_case.labeler.algorithm;
    for (const auto& [width, height] :
         {std::pair{1u, 1u}, {7u, 5u}, {130u, 1u}, {1u, 130u}, {67u, 35u}, {144u, 35u}}) {
      const Image image = noise(width, height, 1, 55, width);
      expect_exact(&runner, spread(split_foreground(image), 1, 3), labeler_case.settings());
      expect_exact(&runner, spiral(width, height), labeler_case.settings());
    }
  }
}

/// Frames with rows of whole chunks of 16 pixels have a kernel of their own.
TEST(Subset, OutputsAndFeatures) {
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Output output :
         {Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask}) {
      for (uint32_t features = 0; features <= kAllFeatures; ++features) {
        SCOPED_TRACE(name_of(labeler));
        FrameRunner runner;
        runner.config.algorithm = labeler.algorithm;
        runner.config.output = output;
        runner.config.max_components = features % 2 ? 3 : 1000;
        runner.output_offset = 1;
        runner.output_padding = 3;
        Settings settings;
        settings.min_area = features % 3;
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
  }
}

}  // namespace

}  // namespace ccl::test
