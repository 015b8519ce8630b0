// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "harness.h"

/// The exit status that Meson reports as skipped.
constexpr int kSkipped = 77;

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  if (GstElementFactory* factory = gst_element_factory_find("cudaccl")) {
    gst_object_unref(factory);
  } else {
    std::printf("the plugin is not on GST_PLUGIN_PATH_1_0, or does not load\n");
    return EXIT_FAILURE;
  }
  if (cudaccl::test::backend() == "cuda") {
    if (const std::string reason = cudaccl::test::why_no_cuda(); !reason.empty()) {
      std::printf("skipped: backend=cuda cannot be used here: %s\n", reason.c_str());
      return kSkipped;
    }
  }
  // One element stays READY while the tests run, so that the GPU's context, which is slow to make, is made
  // once.
  GstElement* keeper = gst_element_factory_make("cudaccl", nullptr);
  gst_util_set_object_arg(G_OBJECT(keeper), "backend", cudaccl::test::backend().c_str());
  gst_element_set_state(keeper, GST_STATE_READY);
  const int result = RUN_ALL_TESTS();
  gst_element_set_state(keeper, GST_STATE_NULL);
  gst_object_unref(keeper);
  return result;
}
