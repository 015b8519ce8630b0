// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element in lives in which memory ends at each possible place.
#include <gtest/gtest.h>

#include "element_life.h"

namespace faults {

namespace {

TEST(ElementFaultsTest, EachLivesOrFailsOnce) {
  ElementLife life(with_all_attached("cpu"));
  sweep("lives of the element", "memory", [&] { return life.live(); });
}

TEST(ElementFaultsTest, EachLivesOrFailsOnceWithThePassedOnPicture) {
  ElementLife life(with_passed_on_picture("cpu"));
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
