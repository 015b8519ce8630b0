// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element in lives in which memory ends at each possible place.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "element_life.h"

namespace faults {

namespace {

constexpr const char* kRegions =
    R"({"version": 1, "zones": [{"name": "the left half of the frame", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}],
        "lines": [{"name": "the middle", "from": [0.5, 0], "to": [0.5, 1], "margin": 0}]})";

/// Frames in flight, with all that is attached to them.
TEST(ElementFaultsTest, EachLivesOrFailsOnce) {
  ElementLife life({{"backend", "cpu"},
                    {"threads", "2"},
                    {"pipeline-depth", "3"},
                    {"max-components", "50"},
                    {"track", "true"},
                    {"output", "overlay"},
                    {"regions", kRegions},
                    {"draw-ids", "true"},
                    {"draw-regions", "true"},
                    {"label-map", "labels"},
                    {"metadata", "components+roi"},
                    {"features", "all+grey+hull+contour"},
                    {"post-messages", "records"},
                    {"meta-name", "a name that is longer than a short string"},
                    {"object-type", "a type that is longer than a short string"}});
  sweep("lives of the element", "memory", [&] { return life.live(); });
}

/// The input itself leaves, of a background model that takes its memory with the first frame.
TEST(ElementFaultsTest, EachLivesOrFailsOnceWithThePassedOnPicture) {
  ElementLife life({{"backend", "cpu"},
                    {"threads", "1"},
                    {"pipeline-depth", "1"},
                    {"max-components", "50"},
                    {"output", "passthrough"},
                    {"foreground", "motion"},
                    {"background-model", "mixture"},
                    {"separate", "0.7"},
                    {"meta-name", "a name that is longer than a short string"}});
  sweep("lives of the element with the passed on picture", "memory", [&] { return life.live(); });
}

}  // namespace

}  // namespace faults

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  faults::install_failing_allocator();
  const int result = RUN_ALL_TESTS();
  gst_deinit();  // for GStreamer's leaks tracer, which lists then what is left
  return result;
}
