// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames that would be late are dropped before they are processed, and the drops are reported.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// A QoS event: the frame at `time` was late by `late`.
void send_qos(Harness& h, GstClockTime time, GstClockTime late) {
  gst_harness_push_upstream_event(
      h.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, static_cast<GstClockTimeDiff>(late), time));
}

class Qos : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_TRUE(h.send_caps("GRAY8", 16, 16)); }

  Harness h{std::string("output=") + GetParam()};
  const Image image = noise(16, 16, 1);
};

}  // namespace

TEST_P(Qos, LateFramesAreDroppedAndCounted) {
  h.process(image);
  send_qos(h, kFrameDuration, kFrameDuration);
  // Frames 1 and 2 are not after the earliest time that is still useful.
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(h.push(image), GST_FLOW_OK);
    EXPECT_EQ(h.pull(), nullptr) << i;
    const Ref<GstMessage> message = h.message(GST_MESSAGE_QOS);
    ASSERT_NE(message, nullptr) << i;
    guint64 processed = 0;
    guint64 dropped = 0;
    gst_message_parse_qos_stats(message.get(), nullptr, &processed, &dropped);
    EXPECT_EQ(processed, 1u);
    EXPECT_EQ(dropped, static_cast<guint64>(i));
    guint64 timestamp = 0;
    gst_message_parse_qos(message.get(), nullptr, nullptr, nullptr, &timestamp, nullptr);
    EXPECT_EQ(timestamp, static_cast<guint64>(i) * kFrameDuration);
  }
  EXPECT_EQ(h.stat("frames"), 1u);
  EXPECT_EQ(h.stat("dropped"), 2u);
  EXPECT_EQ(h.stat("late"), 2u);
  EXPECT_EQ(h.stat("corrupt"), 0u);
  const Ref<GstBuffer> next = h.process(image);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(next.get(), GST_BUFFER_FLAG_DISCONT));
  EXPECT_EQ(h.stat("frames"), 2u);
  EXPECT_EQ(h.stat("dropped"), 2u);
}

TEST_P(Qos, FramesInTimeAreNotDropped) {
  h.process(image);
  gst_harness_push_upstream_event(
      h.get(), gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 0.5, -GST_MSECOND, kFrameDuration));
  for (int i = 0; i < 4; ++i) {
    h.process(image);
  }
  EXPECT_EQ(h.stat("dropped"), 0u);
}

TEST_P(Qos, IsForwardedUpstream) {
  h.process(image);
  while (const Ref<GstEvent> event{gst_harness_try_pull_upstream_event(h.get())}) {
  }
  send_qos(h, kFrameDuration, kFrameDuration);
  const Ref<GstEvent> event(gst_harness_try_pull_upstream_event(h.get()));
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(GST_EVENT_TYPE(event.get()), GST_EVENT_QOS);
}

TEST_P(Qos, CanBeSwitchedOff) {
  h.set("qos", "false");
  h.process(image);
  send_qos(h, kFrameDuration, kFrameDuration);
  h.process(image);
  EXPECT_EQ(h.stat("dropped"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Outputs, Qos, testing::Values("colorized", "mask", "passthrough"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace cudaccl::test
