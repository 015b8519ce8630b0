// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "harness.h"

/// What meson takes for "skipped".
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
  return RUN_ALL_TESTS();
}
