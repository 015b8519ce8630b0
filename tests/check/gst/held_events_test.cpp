// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events that wait behind frames in flight.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "harness.h"

namespace cudaccl::test {

namespace {

using Sequence = std::vector<std::string>;

constexpr int kDepth = 3;

GstEvent* custom(GstEventType type, const std::string& name) {
  return gst_event_new_custom(type, gst_structure_new_empty(name.c_str()));
}

GstEvent* tag(const std::string& title) {
  return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, title.c_str(), nullptr));
}

GstEvent* segment(GstClockTime base) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = base;
  return gst_event_new_segment(&segment);
}

/// As in "frame 3", "title", or "gap" for events that have no name.
std::string name_of(GstMiniObject* item) {
  if (GST_IS_BUFFER(item)) {
    return "frame " + std::to_string(GST_BUFFER_PTS(GST_BUFFER_CAST(item)) / kFrameDuration);
  }
  GstEvent* event = GST_EVENT_CAST(item);
  if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
    GstTagList* tags = nullptr;
    gst_event_parse_tag(event, &tags);
    const gchar* title = nullptr;
    gst_tag_list_peek_string_index(tags, GST_TAG_TITLE, 0, &title);
    return title;
  }
  const GstStructure* structure = gst_event_get_structure(event);
  const std::string type = GST_EVENT_TYPE_NAME(event);
  return type.find("custom") == 0 ? gst_structure_get_name(structure) : type;
}

/// What leaves the element, in its order.
class HeldEvents : public testing::Test {
 protected:
  explicit HeldEvents(int depth = kDepth) : h("pipeline-depth=" + std::to_string(depth)) {
    EXPECT_TRUE(h.send_caps("GRAY8", 8, 8));
    const auto types = static_cast<GstPadProbeType>(
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH);
    gst_pad_add_probe(
        h.get()->sinkpad, types,
        [](GstPad*, GstPadProbeInfo* info, gpointer left) {
          static_cast<Sequence*>(left)->push_back(name_of(GST_MINI_OBJECT_CAST(info->data)));
          return GST_PAD_PROBE_OK;
        },
        &left, nullptr);
  }

  void push_frame() { ASSERT_EQ(h.push(noise(8, 8, 1)), GST_FLOW_OK); }
  void send(GstEvent* event) { ASSERT_TRUE(gst_harness_push_event(h.get(), event)); }

  /// What left since the last call; the first one begins with the caps and the segment.
  Sequence take() { return std::exchange(left, {}); }

  Sequence left;
  Harness h;
};

struct Kind {
  const char* name;
  std::function<GstEvent*(const std::string&)> make;
};

const Kind kKinds[] = {
    {"a tag", tag},
    {"custom", [](const std::string& name) { return custom(GST_EVENT_CUSTOM_DOWNSTREAM, name); }},
    {"custom in both directions",
     [](const std::string& name) { return custom(GST_EVENT_CUSTOM_BOTH, name); }},
    {"custom and sticky",
     [](const std::string& name) { return custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, name); }}};

}  // namespace

/// Each event leaves between the same two frames, as soon as the first of them has left.
TEST_F(HeldEvents, StayBetweenTheirFrames) {
  push_frame();
  take();
  int frame = 0;
  for (const Kind& kind : kKinds) {
    for (int i = 0; i < 2 * kDepth; ++i) {
      send(kind.make("event-" + std::to_string(frame)));
      push_frame();
      ++frame;
      const std::string oldest = std::to_string(frame - kDepth);
      EXPECT_EQ(take(), frame < kDepth ? Sequence{} : Sequence({"frame " + oldest, "event-" + oldest}))
          << kind.name;
      EXPECT_EQ(gst_harness_query_latency(h.get()), kDepth * kFrameDuration);
    }
  }
  send(gst_event_new_eos());
  EXPECT_EQ(take(), Sequence({"frame 22", "event-22", "frame 23", "event-23", "frame 24", "eos"}));
}

TEST_F(HeldEvents, KeepTheirOrder) {
  push_frame();
  push_frame();
  take();
  send(tag("first"));
  send(custom(GST_EVENT_CUSTOM_DOWNSTREAM, "second"));
  send(tag("third"));
  push_frame();
  send(gst_event_new_eos());
  EXPECT_EQ(take(), Sequence({"frame 0", "frame 1", "first", "second", "third", "frame 2", "eos"}));
}

TEST_F(HeldEvents, PassIfNoFrameIsInFlight) {
  take();
  send(tag("first"));
  EXPECT_EQ(take(), Sequence{"first"});
  push_frame();
  send(gst_event_new_gap(kFrameDuration, kFrameDuration));
  send(tag("second"));
  EXPECT_EQ(take(), Sequence({"frame 0", "gap", "second"}));
}

/// All other serialized events follow the frames, and the events that waited behind these.
TEST_F(HeldEvents, LeaveBeforeEventsThatDoNotWait) {
  const std::vector<std::function<GstEvent*()>> others = {
      [] { return segment(GST_SECOND); },
      [] { return gst_event_new_gap(0, kFrameDuration); },
      [] { return gst_event_new_segment_done(GST_FORMAT_TIME, 0); },
      [] { return gst_event_new_stream_group_done(1); },
      [] { return gst_event_new_stream_start("stream"); },
      [] { return gst_video_event_new_still_frame(TRUE); }};
  push_frame();
  send(gst_event_new_gap(0, kFrameDuration));
  int frame = 0;
  for (const auto& make_other : others) {
    GstEvent* other = make_other();
    const std::string name = name_of(GST_MINI_OBJECT_CAST(other));
    take();
    push_frame();
    send(tag("title"));
    EXPECT_EQ(take(), Sequence{});
    send(other);
    EXPECT_EQ(take(), Sequence({"frame " + std::to_string(++frame), "title", name}));
  }
}

/// New caps and a new output find no older event in flight.
TEST_F(HeldEvents, LeaveBeforeANegotiation) {
  push_frame();
  send(tag("first"));
  take();
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  EXPECT_EQ(take(), Sequence({"frame 0", "first", "caps"}));
  ASSERT_EQ(h.push(noise(16, 16, 1)), GST_FLOW_OK);
  send(tag("second"));
  h.set("output", "mask");
  ASSERT_EQ(h.push(noise(16, 16, 2)), GST_FLOW_OK);
  EXPECT_EQ(take(), Sequence({"frame 1", "second", "caps"}));
}

/// A flush discards events, but tags and other sticky ones hold for the frames after it.
TEST_F(HeldEvents, AreDiscardedByAFlushUnlessTheyAreSticky) {
  push_frame();
  send(tag("title"));
  push_frame();
  send(custom(GST_EVENT_CUSTOM_DOWNSTREAM, "gone"));
  take();
  send(gst_event_new_flush_start());
  send(gst_event_new_flush_stop(TRUE));
  EXPECT_EQ(take(), Sequence({"flush-start", "flush-stop"}));
  send(segment(0));
  push_frame();
  send(gst_event_new_eos());
  EXPECT_EQ(take(), Sequence({"segment", "title", "frame 2", "eos"}));
}

/// The pad keeps a sticky one until the next one of its kind, and nobody after that.
TEST_F(HeldEvents, AreReleasedAfterAFlush) {
  bool is_released = false;
  GstEvent* title = tag("title");
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(title),
      [](gpointer released, GstMiniObject*) { *static_cast<bool*>(released) = true; }, &is_released);
  push_frame();
  send(title);
  send(gst_event_new_flush_start());
  send(gst_event_new_flush_stop(TRUE));
  send(segment(0));
  send(tag("another"));
  while (const Ref<GstEvent> event = Ref<GstEvent>(gst_harness_try_pull_event(h.get()))) {
  }
  EXPECT_TRUE(is_released);
}

/// If no frame follows, events do not pile up.
TEST_F(HeldEvents, SendFramesOnIfTheyAreTooMany) {
  push_frame();
  take();
  Sequence expected = {"frame 0"};
  for (int i = 0; i < 65; ++i) {
    EXPECT_EQ(take(), Sequence{}) << i;
    expected.push_back("event-" + std::to_string(i));
    send(custom(GST_EVENT_CUSTOM_DOWNSTREAM, expected.back()));
  }
  EXPECT_EQ(take(), expected);
}

TEST(HeldEventsAtDepth0, PassAtOnce) {
  Harness h("pipeline-depth=0");
  ASSERT_TRUE(h.send_caps("GRAY8", 8, 8));
  for (int i = 0; i < 3; ++i) {
    h.process(noise(8, 8, 1));
    while (const Ref<GstEvent> event = Ref<GstEvent>(gst_harness_try_pull_event(h.get()))) {
    }
    ASSERT_TRUE(gst_harness_push_event(h.get(), tag("title")));
    const Ref<GstEvent> event(gst_harness_try_pull_event(h.get()));
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(GST_EVENT_TYPE(event.get()), GST_EVENT_TAG);
  }
}

/// At the end no buffer follows whose flow upstream would report.
TEST(HeldEventsAtTheEnd, NobodyTakesFrames) {
  Pipeline p("videotestsrc num-buffers=2 ! cudaccl pipeline-depth=2 backend=" + backend());
  const Ref<GstBus> bus(gst_element_get_bus(p.get()));
  const auto kinds = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 60 * GST_SECOND, kinds));
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_ERROR);
}

}  // namespace cudaccl::test
