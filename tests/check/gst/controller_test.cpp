// SPDX-License-Identifier: LGPL-2.1-or-later
/// Properties driven by a GstController: each frame uses the value at its stream time.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gtest/gtest.h>

#include <map>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// Steps a property through values from given times on.
void control(GstElement* element, const char* property, const std::map<GstClockTime, double>& steps) {
  const Ref<GstControlSource> source(
      static_cast<GstControlSource*>(gst_object_ref_sink(gst_interpolation_control_source_new())));
  g_object_set(source.get(), "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  for (const auto& [time, value] : steps) {
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source.get()), time, value);
  }
  ASSERT_TRUE(gst_object_add_control_binding(
      GST_OBJECT(element),
      gst_direct_control_binding_new_absolute(GST_OBJECT(element), property, source.get())));
}

}  // namespace

TEST(Controller, ThresholdFollowsTime) {
  const Image image = noise(45, 33, 31);
  Harness h("output=mask");
  control(h.element(), "threshold", {{0, 17}, {2 * kFrameDuration, 128}, {3 * kFrameDuration, 235}});
  ASSERT_TRUE(h.send_caps("GRAY8", 45, 33));
  for (const uint32_t threshold : {17u, 17u, 128u, 235u, 235u}) {
    EXPECT_EQ(h.pixels(h.process(image)), mask(label(image, {.threshold = threshold}))) << threshold;
  }
}

TEST(Controller, ConnectivityAndMinAreaFollowTime) {
  const Image image = noise(45, 33, 32);
  Harness h("output=labels threshold=128");
  // For enumerations the controller's value is an index: 0 is 4-way, 1 is 8-way.
  control(h.element(), "connectivity", {{0, 1}, {kFrameDuration, 0}});
  control(h.element(), "min-area", {{0, 1}, {2 * kFrameDuration, 4}});
  ASSERT_TRUE(h.send_caps("GRAY8", 45, 33));
  for (const Rule& rule :
       {Rule{.connectivity = 8, .threshold = 128}, Rule{.connectivity = 4, .threshold = 128},
        Rule{.connectivity = 4, .threshold = 128, .min_area = 4}}) {
    EXPECT_EQ(h.pixels(h.process(image)), labels(label(image, rule)));
  }
}

/// Stream time, not running time: after a seek the values still belong to the same pictures.
TEST(Controller, StreamTimeOfASegmentThatStartsLater) {
  const Image image = noise(45, 33, 33);
  Harness h("output=mask threshold=1");
  control(h.element(), "threshold", {{0, 17}, {GST_SECOND, 200}});
  ASSERT_TRUE(h.send_caps("GRAY8", 45, 33));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  ASSERT_TRUE(gst_harness_push_event(h.get(), gst_event_new_segment(&segment)));
  Ref<GstBuffer> frame = make_frame(image, "GRAY8");
  GST_BUFFER_PTS(frame.get()) = 5 * GST_SECOND;
  EXPECT_EQ(h.pixels(h.process(std::move(frame))), mask(label(image, {.threshold = 200})));
}

/// GStreamer's control binding does not support flags, so none of them says that it is controllable.
TEST(Controller, EveryControllablePropertyTakesABinding) {
  const Ref<GstElement> element = make_element();
  int controllable = 0;
  for (const GParamSpec* spec : own_properties(element.get())) {
    if (spec->flags & GST_PARAM_CONTROLLABLE) {
      ++controllable;
      control(element.get(), spec->name, {{0, 1}});
    }
  }
  EXPECT_GE(controllable, 10);
}

}  // namespace cudaccl::test
