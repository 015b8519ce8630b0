// SPDX-License-Identifier: LGPL-2.1-or-later
/// In place of analytics_test.cpp in a build without GStreamer's analytics library.
#include <gtest/gtest.h>

#include "harness.h"

TEST(Analytics, InThisBuild) {
  const cudaccl::test::Ref<GstElement> element = cudaccl::test::make_element();
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "metadata");
  EXPECT_EQ(g_flags_get_value_by_nick(G_PARAM_SPEC_FLAGS(spec)->flags_class, "analytics"), nullptr);
  GTEST_SKIP() << "built without GStreamer's analytics library (1.24 or newer)";
}
