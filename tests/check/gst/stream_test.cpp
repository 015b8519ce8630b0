// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events, and timestamps and flags of buffers.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr const char* kOutputs[] = {"colorized", "overlay", "labels", "mask", "passthrough"};

/// The types of the events that left since the last call.
std::vector<GstEventType> take_events(Harness& h) {
  std::vector<GstEventType> types;
  while (const Ref<GstEvent> event{gst_harness_try_pull_event(h.get())}) {
    types.push_back(GST_EVENT_TYPE(event.get()));
  }
  return types;
}

class Stream : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_TRUE(h.send_caps("GRAY8", 16, 16)); }

  Ref<GstBuffer> frame() { return make_frame(noise(16, 16, 1), "GRAY8"); }

  Harness h{std::string("output=") + GetParam()};
};

}  // namespace

TEST_P(Stream, TimestampsOffsetsAndFlagsArePreserved) {
  h.process(frame());  // the first frame of a stream is always discontinuous
  Ref<GstBuffer> in = frame();
  GST_BUFFER_PTS(in.get()) = 5 * GST_SECOND;
  GST_BUFFER_DTS(in.get()) = 4 * GST_SECOND;
  GST_BUFFER_DURATION(in.get()) = 123456;
  GST_BUFFER_OFFSET(in.get()) = 77;
  GST_BUFFER_OFFSET_END(in.get()) = 78;
  const auto flags = GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_DROPPABLE | GST_BUFFER_FLAG_CORRUPTED;
  GST_BUFFER_FLAG_SET(in.get(), flags);
  const Ref<GstBuffer> out = h.process(std::move(in));
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 5 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DTS(out.get()), 4 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 123456u);
  EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 77u);
  EXPECT_EQ(GST_BUFFER_OFFSET_END(out.get()), 78u);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), flags));
  EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
}

TEST_P(Stream, UntimedBuffersPass) {
  Ref<GstBuffer> in = frame();
  ASSERT_EQ(gst_harness_push(h.get(), in.release()), GST_FLOW_OK);
  const Ref<GstBuffer> out = h.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_FALSE(GST_BUFFER_PTS_IS_VALID(out.get()));
}

TEST_P(Stream, EventsKeepTheirOrder) {
  h.process(frame());
  EXPECT_EQ(take_events(h), (std::vector{GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT}));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND;
  gst_harness_push_event(h.get(), gst_event_new_segment(&segment));
  gst_harness_push_event(h.get(), gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "title", nullptr)));
  gst_harness_push_event(h.get(), gst_event_new_gap(GST_SECOND, kFrameDuration));
  gst_harness_push_event(h.get(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                       gst_structure_new_empty("application/x-test")));
  EXPECT_EQ(take_events(h),
            (std::vector{GST_EVENT_SEGMENT, GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_CUSTOM_DOWNSTREAM}));
  EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u) << "a gap makes no buffer";
}

TEST_P(Stream, SegmentIsForwardedUnchanged) {
  h.process(frame());
  take_events(h);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = 2;
  segment.start = 3 * GST_SECOND;
  segment.stop = 9 * GST_SECOND;
  segment.time = GST_SECOND;
  segment.base = 7 * GST_SECOND;
  gst_harness_push_event(h.get(), gst_event_new_segment(&segment));
  const Ref<GstEvent> event(gst_harness_try_pull_event(h.get()));
  ASSERT_NE(event, nullptr);
  const GstSegment* got = nullptr;
  gst_event_parse_segment(event.get(), &got);
  EXPECT_TRUE(gst_segment_is_equal(got, &segment));
}

TEST_P(Stream, EndOfStream) {
  h.process(frame());
  take_events(h);
  gst_harness_push_event(h.get(), gst_event_new_eos());
  EXPECT_EQ(take_events(h), std::vector{GST_EVENT_EOS});
  EXPECT_EQ(h.push(frame()), GST_FLOW_EOS);
}

TEST_P(Stream, GoesOnAfterAFlush) {
  h.process(frame());
  take_events(h);
  h.flush(true, [this] { EXPECT_EQ(h.push(frame()), GST_FLOW_FLUSHING); });
  EXPECT_EQ(take_events(h), (std::vector{GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP, GST_EVENT_SEGMENT}));
  for (int i = 0; i < 3; ++i) {
    const Ref<GstBuffer> out = h.process(frame());
    EXPECT_EQ(components_of(out.get()).n_components, label(noise(16, 16, 1), {}).records.size());
  }
  EXPECT_EQ(h.stat("frames"), 4u);
}

TEST_P(Stream, GoesOnAfterEndOfStreamAndFlush) {
  h.process(frame());
  gst_harness_push_event(h.get(), gst_event_new_eos());
  h.flush();
  EXPECT_EQ(count_component_metas(h.process(frame()).get()), 1);
}

TEST_P(Stream, NoLatencyIsAdded) {
  gst_harness_set_upstream_latency(h.get(), 3 * GST_MSECOND);
  h.process(frame());
  EXPECT_EQ(gst_harness_query_latency(h.get()), 3 * GST_MSECOND);
}

INSTANTIATE_TEST_SUITE_P(Outputs, Stream, testing::ValuesIn(kOutputs),
                         [](const auto& info) { return std::string(info.param); });

/// Passthrough puts records on a copy if upstream keeps the buffer.
TEST(PassedOn, ABufferThatCannotBeCopiedIsAnError) {
  const Image image = noise(16, 16, 1);
  Harness h("output=passthrough", image);
  const Ref<GstBuffer> frame = make_frame(image, "GRAY8");
  GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(frame.get(), 0), GST_MEMORY_FLAG_NO_SHARE);
  GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);
  GstAllocator* allocator = gst_buffer_peek_memory(frame.get(), 0)->allocator;
  const GstMemoryCopyFunction copy = allocator->mem_copy;
  allocator->mem_copy = [](GstMemory*, gssize, gssize) -> GstMemory* { return nullptr; };
  const GstFlowReturn flow = gst_harness_push(h.get(), gst_buffer_ref(frame.get()));
  allocator->mem_copy = copy;
  EXPECT_EQ(flow, GST_FLOW_ERROR);
  EXPECT_NE(h.message(GST_MESSAGE_ERROR), nullptr);
}

}  // namespace cudaccl::test
