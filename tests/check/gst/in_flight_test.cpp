// SPDX-License-Identifier: LGPL-2.1-or-later
/// pipeline-depth: frames stay in flight and in order, and none is lost or late when the stream changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 33;
constexpr uint32_t kHeight = 17;

Image image_of(guint64 frame) {
  return noise(kWidth, kHeight, static_cast<uint32_t>(frame) + 1);
}

class InFlight : public testing::TestWithParam<const char*> {
 protected:
  static std::string properties(int depth) {
    return std::string("output=") + GetParam() + " pipeline-depth=" + std::to_string(depth);
  }

  /// Fails unless the buffer is the frame of this number with its pixels and records.
  static void expect_frame(const Harness& h, const Ref<GstBuffer>& out, guint64 frame) {
    ASSERT_NE(out, nullptr) << frame;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), frame * kFrameDuration);
    const Image image = image_of(frame);
    const Expected expected = label(image, {});
    EXPECT_EQ(components_of(out.get()).n_components, expected.records.size());
    const std::string output = GetParam();
    EXPECT_EQ(h.pixels(out), output == "labels"      ? labels(expected)
                             : output == "colorized" ? colorized(expected, {})
                                                     : image.pixels)
        << frame;
  }

  /// Pushes the frames from first to last.
  static void push_frames(Harness& h, guint64 first, guint64 last) {
    for (guint64 frame = first; frame <= last; ++frame) {
      ASSERT_EQ(h.push(image_of(frame)), GST_FLOW_OK) << frame;
    }
  }

  static void expect_frames(Harness& h, guint64 first, guint64 last) {
    for (guint64 frame = first; frame <= last; ++frame) {
      expect_frame(h, h.pull(), frame);
    }
    EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u);
  }

  static void push_discontinuous(Harness& h, guint64 frame) {
    Ref<GstBuffer> buffer = make_frame(image_of(frame), "GRAY8");
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
    ASSERT_EQ(h.push(std::move(buffer)), GST_FLOW_OK) << frame;
  }

  /// The output frames that are marked as discontinuous.
  static std::vector<guint64> discontinuous_frames(Harness& h) {
    std::vector<guint64> frames;
    while (const Ref<GstBuffer> out = h.pull()) {
      if (GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT)) {
        frames.push_back(GST_BUFFER_PTS(out.get()) / kFrameDuration);
      }
    }
    return frames;
  }

  static void push_gap(Harness& h) {
    ASSERT_TRUE(gst_harness_push_event(h.get(), gst_event_new_gap(0, kFrameDuration)));
  }

  static GstClockTime latency(Harness& h) { return gst_harness_query_latency(h.get()); }
};

/// A pool of system memory with at most `max` buffers.
Ref<GstBufferPool> small_pool(const std::string& caps_string, guint size, guint max) {
  const Ref<GstCaps> caps(gst_caps_from_string(caps_string.c_str()));
  Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps.get(), size, 0, max);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  return pool;
}

/// Answers ALLOCATION queries with the pool.
void offer_pool(Harness& h, GstBufferPool* pool) {
  gst_pad_add_probe(
      h.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) {
          return GST_PAD_PROBE_OK;
        }
        auto* offered = static_cast<GstBufferPool*>(data);
        guint size = 0;
        guint max = 0;
        GstStructure* config = gst_buffer_pool_get_config(offered);
        gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, &max);
        gst_structure_free(config);
        gst_query_add_allocation_pool(query, offered, size, 0, max);
        return GST_PAD_PROBE_HANDLED;
      },
      gst_object_ref(pool), gst_object_unref);
}

}  // namespace

TEST_P(InFlight, LeaveInOrderAndLaterByTheDepth) {
  for (const int depth : {0, 1, 3, 8}) {
    Harness h(properties(depth));
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    const auto held = static_cast<guint64>(depth);
    for (guint64 frame = 0; frame < 20; ++frame) {
      push_frames(h, frame, frame);
      if (frame < held) {
        EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u);
      } else {
        expect_frames(h, frame - held, frame - held);
      }
    }
    gst_harness_push_event(h.get(), gst_event_new_eos());
    expect_frames(h, 20 - held, 19);
    EXPECT_EQ(h.stat("frames"), 20u);
  }
}

/// Events after which no frame may follow send them on. held_events_test.cpp has the events that wait.
TEST_P(InFlight, SerializedEventsWaitForThem) {
  const std::vector<std::function<GstEvent*()>> events = {
      [] {
        GstSegment segment;
        gst_segment_init(&segment, GST_FORMAT_TIME);
        segment.base = GST_SECOND;
        return gst_event_new_segment(&segment);
      },
      [] { return gst_event_new_gap(0, kFrameDuration); }};
  Harness h(properties(4));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  guint64 frame = 0;
  for (const auto& make_event : events) {
    push_frames(h, frame, frame + 2);
    EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u);
    ASSERT_TRUE(gst_harness_push_event(h.get(), make_event()));
    expect_frames(h, frame, frame + 2);
    frame += 3;
  }
}

TEST_P(InFlight, SerializedQueriesWaitForThem) {
  Harness h(properties(2));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 1);
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(h.get()->srcpad, query);
  gst_query_unref(query);
  expect_frames(h, 0, 1);
}

TEST_P(InFlight, NewCapsWaitForThem) {
  Harness h(properties(3));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 2);
  ASSERT_TRUE(h.send_caps("GRAY8", 8, 8));
  for (guint64 frame = 0; frame < 3; ++frame) {
    const Ref<GstBuffer> out = h.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(components_of(out.get()).width, kWidth);
  }
  ASSERT_EQ(h.push(noise(8, 8, 1)), GST_FLOW_OK);
  gst_harness_push_event(h.get(), gst_event_new_eos());
  const Ref<GstBuffer> out = h.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(components_of(out.get()).width, 8u);
}

TEST_P(InFlight, FlushDiscardsThem) {
  Harness h(properties(5));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 4);
  h.flush();
  EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u);
  push_frames(h, 5, 9);
  gst_harness_push_event(h.get(), gst_event_new_eos());
  expect_frames(h, 5, 9);
}

TEST_P(InFlight, StoppingDiscardsThem) {
  Harness h(properties(5));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 4);
  EXPECT_EQ(gst_element_set_state(h.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 0u);
}

/// A frame after a gap is held like any other, and is the only one with the mark.
TEST_P(InFlight, FramesAfterAGapAreHeld) {
  for (const guint64 depth : {1, 2, 3, 8}) {
    Harness h(properties(static_cast<int>(depth)));
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    push_frames(h, 0, depth - 1);
    guint64 left = 0;
    for (guint64 frame = depth; frame < 3 * depth; ++frame) {
      push_discontinuous(h, frame);
      const Ref<GstBuffer> out = h.pull();
      expect_frame(h, out, left);
      EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT), left >= depth) << left;
      EXPECT_EQ(h.pull(), nullptr);
      ++left;
    }
    push_gap(h);
    EXPECT_EQ(discontinuous_frames(h).size(), depth);
  }
}

/// Frames that are missing make no frame late: after the announced latency each one leaves.
TEST_P(InFlight, LeaveInTimeAlthoughFramesAreMissing) {
  Harness h(properties(3));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 3);
  expect_frames(h, 0, 0);
  const auto push_at = [&](guint64 frame) {
    Ref<GstBuffer> buffer = make_frame(image_of(frame), "GRAY8");
    GST_BUFFER_PTS(buffer.get()) = frame * kFrameDuration;
    GST_BUFFER_DURATION(buffer.get()) = kFrameDuration;
    ASSERT_EQ(h.push(std::move(buffer)), GST_FLOW_OK);
  };
  push_at(5);  // 4 is missing
  expect_frames(h, 1, 2);
  push_at(50);
  expect_frame(h, h.pull(), 3);
  expect_frame(h, h.pull(), 5);
  EXPECT_EQ(h.pull(), nullptr);
}

/// The frames of which quality of service reports are those that left.
TEST_P(InFlight, AreCountedByQualityOfService) {
  Harness h(properties(3));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 9);
  gst_harness_push_upstream_event(
      h.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, kFrameDuration, 9 * kFrameDuration));
  push_frames(h, 10, 10);  // it is late
  const Ref<GstMessage> message = h.message(GST_MESSAGE_QOS);
  ASSERT_NE(message, nullptr);
  guint64 processed = 0;
  gst_message_parse_qos_stats(message.get(), nullptr, &processed, nullptr);
  EXPECT_EQ(processed, 7u);
  EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 8u) << "one more is due when the late one arrives";
  gint64 position = 0;
  ASSERT_TRUE(gst_element_query_position(h.element(), GST_FORMAT_TIME, &position));
  EXPECT_EQ(position, static_cast<gint64>(8 * kFrameDuration));
}

/// Both if frames leave one by one, and if all leave before an event.
TEST_P(InFlight, OnlyTheFrameAfterAGapIsDiscontinuous) {
  for (const int depth : {0, 1, 3}) {
    Harness h(properties(depth));
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    push_discontinuous(h, 0);
    push_frames(h, 1, 2);
    push_gap(h);
    push_frames(h, 3, 7);
    push_gap(h);
    EXPECT_EQ(discontinuous_frames(h), std::vector<guint64>{0}) << depth;
    push_discontinuous(h, 8);
    push_gap(h);
    push_frames(h, 9, 15);
    push_gap(h);
    EXPECT_EQ(discontinuous_frames(h), std::vector<guint64>{8}) << depth;
  }
}

TEST_P(InFlight, OnlyTheFrameAfterADroppedOneIsDiscontinuous) {
  for (const int depth : {0, 1, 3}) {
    Harness h(properties(depth));
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    push_frames(h, 0, 4);
    gst_harness_push_upstream_event(
        h.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, kFrameDuration, 5 * kFrameDuration));
    push_frames(h, 5, 6);  // they are late
    EXPECT_EQ(h.stat("dropped"), 2u);
    push_frames(h, 7, 7);
    push_gap(h);
    push_frames(h, 8, 14);
    push_gap(h);
    EXPECT_EQ(discontinuous_frames(h), std::vector<guint64>{7}) << depth;
  }
}

/// Each frame uses the properties of the time when it arrived.
TEST_P(InFlight, PropertiesBelongToTheirFrame) {
  Harness h(properties(4));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  for (guint64 frame = 0; frame < 4; ++frame) {
    h.set("metadata", frame % 2 == 0 ? "components" : "0");
    push_frames(h, frame, frame);
  }
  gst_harness_push_event(h.get(), gst_event_new_eos());
  for (guint64 frame = 0; frame < 4; ++frame) {
    const Ref<GstBuffer> out = h.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(count_component_metas(out.get()), frame % 2 == 0 ? 1 : 0) << frame;
  }
}

TEST_P(InFlight, DepthChangesWhilePlaying) {
  Harness h(properties(0));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  guint64 pushed = 0;
  guint64 pulled = 0;
  for (const guint64 depth : {2, 8, 0, 5, 1}) {
    h.set("pipeline-depth", std::to_string(depth));
    for (int i = 0; i < 12; ++i) {
      push_frames(h, pushed, pushed);
      ++pushed;
      while (const Ref<GstBuffer> out = h.pull()) {
        expect_frame(h, out, pulled++);
      }
      EXPECT_LE(pushed - pulled, depth);
    }
    EXPECT_EQ(pushed - pulled, depth);
  }
}

TEST_P(InFlight, LatencyAndItsChangesAreReported) {
  Harness h(properties(3));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  EXPECT_EQ(latency(h), 3 * kFrameDuration);
  EXPECT_NE(h.message(GST_MESSAGE_LATENCY), nullptr);
  h.set("pipeline-depth", "1");
  EXPECT_NE(h.message(GST_MESSAGE_LATENCY), nullptr);
  EXPECT_EQ(latency(h), kFrameDuration);
  h.set("pipeline-depth", "0");
  EXPECT_EQ(latency(h), 0u);
  gst_harness_set_upstream_latency(h.get(), GST_SECOND);
  h.set("pipeline-depth", "2");
  EXPECT_EQ(latency(h), GST_SECOND + 2 * kFrameDuration);
}

/// Caps of network cameras often have no frame rate.
TEST_P(InFlight, LatencyComesFromFramesIfCapsHaveNoFrameRate) {
  for (const bool has_duration : {false, true}) {
    Harness h(properties(3));
    ASSERT_TRUE(h.send_caps("video/x-raw,format=GRAY8,width=33,height=17,framerate=0/1"));
    EXPECT_EQ(latency(h), 0u);
    for (guint64 frame = 0; frame < 6; ++frame) {
      Ref<GstBuffer> buffer = make_frame(image_of(frame), "GRAY8");
      GST_BUFFER_PTS(buffer.get()) = frame * 2 * kFrameDuration;
      GST_BUFFER_DURATION(buffer.get()) = has_duration ? 2 * kFrameDuration : GST_CLOCK_TIME_NONE;
      ASSERT_EQ(h.push(std::move(buffer)), GST_FLOW_OK);
      EXPECT_EQ(latency(h), has_duration || frame > 0 ? 6 * kFrameDuration : 0) << frame;
    }
    EXPECT_NE(h.message(GST_MESSAGE_LATENCY), nullptr);
    EXPECT_EQ(h.message(GST_MESSAGE_LATENCY), nullptr);
    // The duration is kept when the same caps are negotiated again.
    h.set("pipeline-depth", "2");
    Ref<GstBuffer> early = make_frame(image_of(6), "GRAY8");
    GST_BUFFER_PTS(early.get()) = 11 * kFrameDuration;
    ASSERT_EQ(h.push(std::move(early)), GST_FLOW_OK);
    EXPECT_EQ(latency(h), 4 * kFrameDuration);
    h.set("pipeline-depth", "3");
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    EXPECT_EQ(latency(h), 3 * kFrameDuration);
  }
}

/// The frames in flight hold all buffers of the pool, so they must leave before the next frame gets one.
TEST_P(InFlight, LeaveIfDownstreamsPoolIsEmpty) {
  if (std::string(GetParam()) == "passthrough") {
    GTEST_SKIP() << "passthrough takes no buffers from a pool";
  }
  const bool is_labels = std::string(GetParam()) == "labels";
  const std::string caps = caps_text(is_labels ? "GRAY16_LE" : "RGBA", kWidth, kHeight);
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, Ref<GstCaps>(gst_caps_from_string(caps.c_str())).get()));
  Harness h(properties(8));
  offer_pool(h, small_pool(caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 3).get());
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  // Downstream releases each frame at once.
  struct Sink {
    const Harness& h;
    guint64 seen = 0;
  } sink{h};
  gst_pad_add_probe(
      h.get()->sinkpad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto* sink = static_cast<Sink*>(data);
        const Ref<GstBuffer> out(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
        expect_frame(sink->h, out, sink->seen++);
        return GST_PAD_PROBE_DROP;
      },
      &sink, nullptr);
  push_frames(h, 0, 19);
  EXPECT_GE(sink.seen, 17u);
  gst_harness_push_event(h.get(), gst_event_new_eos());
  EXPECT_EQ(sink.seen, 20u);
}

/// The element that fills the buffers of a small pool gets one back in time.
TEST_P(InFlight, LeaveFramesOfASmallPoolUpstream) {
  const std::string caps = caps_text("GRAY8", kWidth, kHeight);
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, Ref<GstCaps>(gst_caps_from_string(caps.c_str())).get()));
  const Ref<GstBufferPool> pool = small_pool(caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 4);
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  {
    Harness h(properties(8));
    ASSERT_TRUE(h.send_caps(caps));
    guint64 pulled = 0;
    for (guint64 frame = 0; frame < 20; ++frame) {
      GstBufferPoolAcquireParams no_wait{};
      no_wait.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
      GstBuffer* buffer = nullptr;
      ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, &no_wait), GST_FLOW_OK) << frame;
      GstVideoFrame mapped;
      ASSERT_TRUE(gst_video_frame_map(&mapped, &info, buffer, GST_MAP_WRITE));
      const Image image = image_of(frame);
      for (uint32_t y = 0; y < kHeight; ++y) {
        std::copy_n(image.pixels.data() + y * kWidth, kWidth,
                    static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0)) +
                        y * static_cast<uint32_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0)));
      }
      gst_video_frame_unmap(&mapped);
      ASSERT_EQ(h.push(Ref<GstBuffer>(buffer)), GST_FLOW_OK);
      while (const Ref<GstBuffer> out = h.pull()) {
        expect_frame(h, out, pulled++);
      }
    }
    EXPECT_GE(pulled, 17u);
  }
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
}

/// Downstream fails once, while frames leave because of an event or of another configuration. The element has
/// not failed: the next frames pass.
TEST_P(InFlight, OneErrorOfDownstreamIsNotTheirs) {
  for (const bool is_event : {true, false}) {
    Harness h(properties(3));
    ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
    push_frames(h, 0, 1);
    const gulong probe = gst_pad_add_probe(
        h.get()->sinkpad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo* info, gpointer) {
          gst_clear_buffer(reinterpret_cast<GstBuffer**>(&info->data));
          GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_ERROR;
          return GST_PAD_PROBE_HANDLED;
        },
        nullptr, nullptr);
    if (is_event) {
      push_gap(h);
    } else {
      h.set("max-components", "7000");
      EXPECT_EQ(h.push(image_of(2)), GST_FLOW_ERROR);
    }
    gst_pad_remove_probe(h.get()->sinkpad, probe);
    const guint64 next = is_event ? 2 : 3;
    push_frames(h, next, 6);
    push_gap(h);
    expect_frames(h, next, 6);
  }
}

/// When the output changes, the frames before the change have the old format.
TEST_P(InFlight, NewOutputComesAfterThem) {
  Harness h(properties(3));
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  push_frames(h, 0, 2);
  h.set("output", "mask");
  ASSERT_EQ(h.push(image_of(3)), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 3u);
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_NE(h.pull(), nullptr);
  }
  gst_harness_push_event(h.get(), gst_event_new_eos());
  const Ref<GstBuffer> out = h.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(h.pixels(out), mask(label(image_of(3), {})));
}

INSTANTIATE_TEST_SUITE_P(, InFlight, testing::Values("colorized", "labels", "passthrough"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace cudaccl::test
