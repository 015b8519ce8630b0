// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the element reports apart from buffers: messages, `stats`, `active-backend`.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "ccl/setting_names.h"
#include "harness.h"

namespace cudaccl::test {

namespace {

std::string active_backend(GstElement* element) {
  return text_of_property(element, "active-backend");
}

/// An array without elements may be no array.
template <typename T>
bool have_same_bytes(const T* a, const T* b, size_t n) {
  return n == 0 || std::memcmp(a, b, n * sizeof(T)) == 0;
}

Ref<GstStructure> stats_of(GstElement* element) {
  GstStructure* raw = nullptr;
  g_object_get(element, "stats", &raw, nullptr);
  return Ref<GstStructure>(raw);
}

guint64 field(const GstStructure* structure, const char* name) {
  guint64 value = 0xdead;
  EXPECT_TRUE(gst_structure_get_uint64(structure, name, &value)) << name;
  return value;
}

std::set<std::string> fields_of(const GstStructure* structure) {
  std::set<std::string> names;
  for (gint i = 0; i < gst_structure_n_fields(structure); ++i) {
    names.insert(gst_structure_nth_field_name(structure, static_cast<guint>(i)));
  }
  return names;
}

/// The time of day in a frame's metadata, which is that of its message too; without it `clock` is empty.
struct Time {
  guint64 utc;
  std::string clock;
};

Time time_of(Harness* h, Ref<GstBuffer> frame) {
  const Ref<GstBuffer> out = h->process(std::move(frame));
  GstCudaCclInfo info{};
  EXPECT_TRUE(gst_buffer_get_cudaccl_info(out.get(), &info));
  const Ref<GstMessage> message = h->message(GST_MESSAGE_ELEMENT);
  const GstStructure* structure = gst_message_get_structure(message.get());
  if (info.utc_clock == nullptr) {
    EXPECT_EQ(info.utc, GST_CLOCK_TIME_NONE);
    EXPECT_FALSE(gst_structure_has_field(structure, "utc"));
    EXPECT_FALSE(gst_structure_has_field(structure, "utc-clock"));
    return {0, ""};
  }
  EXPECT_EQ(field(structure, "utc"), info.utc);
  EXPECT_STREQ(gst_structure_get_string(structure, "utc-clock"), info.utc_clock);
  return {info.utc, info.utc_clock};
}

/// A frame that a camera's clock, of which the caps are the name, gave a time.
Time camera_time_of(Harness* h, const char* reference, GstClockTime time) {
  Ref<GstBuffer> frame = make_frame(blank(9, 3), "GRAY8");
  const Ref<GstCaps> caps(gst_caps_new_empty_simple(reference));
  gst_buffer_add_reference_timestamp_meta(frame.get(), caps.get(), time, GST_CLOCK_TIME_NONE);
  return time_of(h, std::move(frame));
}

}  // namespace

TEST(TimeOfDay, IsThatOfTheCamera) {
  Harness h("output=mask post-messages=true");
  gst_harness_set_live(h.get(), FALSE);
  ASSERT_TRUE(h.send_caps("GRAY8", 9, 3));
  constexpr GstClockTime kTime = 1'795'000'000 * GST_SECOND + 40;
  const Time unix_time = camera_time_of(&h, "timestamp/x-unix", kTime);
  EXPECT_EQ(unix_time.utc, kTime);
  EXPECT_EQ(unix_time.clock, "camera");
  const Time ntp_time = camera_time_of(&h, "timestamp/x-ntp", kTime + 2'208'988'800 * GST_SECOND);
  EXPECT_EQ(ntp_time.utc, kTime);
  EXPECT_EQ(ntp_time.clock, "camera");
  EXPECT_EQ(camera_time_of(&h, "timestamp/x-ntp", 5 * GST_SECOND).clock, "") << "a clock that was never set";
  EXPECT_EQ(camera_time_of(&h, "timestamp/x-ptp", kTime).clock, "") << "has no leap seconds";
}

TEST(TimeOfDay, IsThatOfTheSystemForLiveSources) {
  Harness h("output=mask post-messages=true");
  gst_harness_use_testclock(h.get());
  gst_harness_set_time(h.get(), 100 * GST_SECOND);
  gst_element_set_base_time(h.element(), 60 * GST_SECOND);
  ASSERT_TRUE(h.send_caps("GRAY8", 9, 3));
  Ref<GstBuffer> frame = make_frame(blank(9, 3), "GRAY8");
  GST_BUFFER_PTS(frame.get()) = 30 * GST_SECOND;
  constexpr guint64 kAge = 10 * GST_SECOND;  // by the pipeline's clock
  const guint64 before = static_cast<guint64>(g_get_real_time()) * GST_USECOND;
  const Time time = time_of(&h, std::move(frame));
  EXPECT_EQ(time.clock, "system");
  EXPECT_GE(time.utc + kAge, before);
  EXPECT_LE(time.utc + kAge, static_cast<guint64>(g_get_real_time()) * GST_USECOND);
}

TEST(TimeOfDay, IsNotKnownForFiles) {
  Harness h("output=mask post-messages=true");
  gst_harness_set_live(h.get(), FALSE);
  ASSERT_TRUE(h.send_caps("GRAY8", 9, 3));
  EXPECT_EQ(time_of(&h, make_frame(blank(9, 3), "GRAY8")).clock, "");
}

TEST(Messages, OnePerFrameWithTimesAndCounts) {
  Harness h("output=mask post-messages=true max-components=1");
  gst_harness_set_live(h.get(), FALSE);
  ASSERT_TRUE(h.send_caps("GRAY8", 9, 3));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 3 * GST_SECOND;
  segment.base = 5 * GST_SECOND;
  ASSERT_TRUE(gst_harness_push_event(h.get(), gst_event_new_segment(&segment)));
  const Image images[] = {blank(9, 3), picture({"#.#.#....", ".........", "....#...."})};
  for (guint i = 0; i < 2; ++i) {
    Ref<GstBuffer> frame = make_frame(images[i], "GRAY8");
    GST_BUFFER_PTS(frame.get()) = (11 + i) * GST_SECOND;
    GST_BUFFER_DURATION(frame.get()) = kFrameDuration;
    h.process(std::move(frame));
    const Ref<GstMessage> message = h.message(GST_MESSAGE_ELEMENT);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(GST_MESSAGE_SRC(message.get()), GST_OBJECT(h.element()));
    const GstStructure* structure = gst_message_get_structure(message.get());
    EXPECT_STREQ(gst_structure_get_name(structure), "cudaccl");
    EXPECT_EQ(fields_of(structure),
              (std::set<std::string>{"source", "frame", "backend", "timestamp", "stream-time", "running-time",
                                     "duration", "n-components", "overflow", "level", "relearning"}));
    EXPECT_STREQ(gst_structure_get_string(structure, "source"), GST_OBJECT_NAME(h.element()));
    EXPECT_STREQ(gst_structure_get_string(structure, "backend"), active_backend(h.element()).c_str());
    EXPECT_EQ(field(structure, "frame"), i);
    EXPECT_EQ(field(structure, "timestamp"), (11 + i) * GST_SECOND);
    EXPECT_EQ(field(structure, "stream-time"), (4 + i) * GST_SECOND);
    EXPECT_EQ(field(structure, "running-time"), (6 + i) * GST_SECOND);
    EXPECT_EQ(field(structure, "duration"), kFrameDuration);
    guint count = 99;
    gboolean overflow = i == 0;
    EXPECT_TRUE(gst_structure_get_uint(structure, "n-components", &count));
    EXPECT_TRUE(gst_structure_get_boolean(structure, "overflow", &overflow));
    EXPECT_EQ(count, i == 0 ? 0u : 4u);
    EXPECT_EQ(overflow, i == 1);
    EXPECT_EQ(h.message(GST_MESSAGE_ELEMENT), nullptr) << "one message per frame";
  }
}

/// A message has the same fields as the frame's metadata, so the same functions read it.
TEST(Messages, HaveTheRecordsIfWanted) {
  Harness h("output=mask post-messages=records track=true track-confirm=1", "GRAY8", 9, 3);
  for (const Image& image : {blank(9, 3), picture({"#.#.#....", ".........", "....#...."})}) {
    const Ref<GstBuffer> out = h.process(image);
    const Ref<GstMessage> message = h.message(GST_MESSAGE_ELEMENT);
    ASSERT_NE(message, nullptr);
    GstCudaCclInfo posted, attached;
    ASSERT_TRUE(gst_structure_get_cudaccl_info(gst_message_get_structure(message.get()), &posted));
    ASSERT_TRUE(gst_buffer_get_cudaccl_info(out.get(), &attached));
    EXPECT_STREQ(posted.source, attached.source);
    EXPECT_EQ(posted.frame, attached.frame);
    EXPECT_EQ(posted.width, 9u);
    EXPECT_EQ(posted.n_components, attached.n_components);
    ASSERT_EQ(posted.n_records, attached.n_records);
    ASSERT_EQ(posted.n_tracks, attached.n_tracks);
    ASSERT_EQ(posted.n_events, attached.n_events);
    EXPECT_EQ(posted.n_records, image.pixels[0] != 0 ? 4u : 0u);
    EXPECT_TRUE(have_same_bytes(posted.records, attached.records, posted.n_records));
    EXPECT_TRUE(have_same_bytes(posted.tracks, attached.tracks, posted.n_tracks));
    EXPECT_TRUE(have_same_bytes(posted.events, attached.events, posted.n_events));
    for (guint i = 0; i < posted.n_events; ++i) {
      EXPECT_STREQ(gst_structure_get_name(gst_message_get_structure(h.message(GST_MESSAGE_ELEMENT).get())),
                   "cudaccl-event");
    }
  }
}

/// When the property was a boolean, programs wrote these.
TEST(Messages, ABooleanStillSetsThem) {
  Harness h("output=mask");
  g_object_set(h.element(), "post-messages", TRUE, nullptr);
  EXPECT_EQ(text_of_property(h.element(), "post-messages"), "counts");
  h.set("post-messages", "false");
  EXPECT_EQ(text_of_property(h.element(), "post-messages"), "none");
}

TEST(Messages, AreOffByDefaultAndCanBeSwitchedLive) {
  Harness h("output=mask", "GRAY8", 8, 8);
  h.process(noise(8, 8, 1));
  EXPECT_EQ(h.message(GST_MESSAGE_ELEMENT), nullptr);
  h.set("post-messages", "true");
  h.process(noise(8, 8, 1));
  EXPECT_NE(h.message(GST_MESSAGE_ELEMENT), nullptr);
  h.set("post-messages", "false");
  h.process(noise(8, 8, 1));
  EXPECT_EQ(h.message(GST_MESSAGE_ELEMENT), nullptr);
}

TEST(Stats, CountsAndTimes) {
  Harness h("output=mask max-components=3", "GRAY8", 64, 64);
  guint64 components = 0;
  for (int i = 0; i < 4; ++i) {
    h.process(noise(64, 64, i));
    components += label(noise(64, 64, i), {}).records.size();
  }
  h.process(blank(64, 64));
  const Ref<GstStructure> stats = stats_of(h.element());
  EXPECT_STREQ(gst_structure_get_name(stats.get()), "application/x-cudaccl-stats");
  EXPECT_EQ(field(stats.get(), "frames"), 5u);
  EXPECT_EQ(field(stats.get(), "dropped"), 0u);
  EXPECT_EQ(field(stats.get(), "components"), components);
  EXPECT_EQ(field(stats.get(), "overflow"), 4u);
  std::set<std::string> fields = {"device",     "device-id", "frames", "dropped",    "late",  "corrupt",
                                  "components", "overflow",  "levels", "relearning", "zones", "lines"};
  for (const char* condition : ccl::kFilterConditionNames) {
    const std::string name = std::string("removed-by-") + condition;
    fields.insert(name);
    EXPECT_EQ(field(stats.get(), name.c_str()), 0u);
  }
  for (uint32_t type = CCL_EVENT_BORN; type < CCL_EVENT_COUNT; ++type) {
    const std::string name = std::string("events-") + ccl_event_nick(type);
    fields.insert(name);
    EXPECT_EQ(field(stats.get(), name.c_str()), 0u);
  }
  double total = 0;
  for (const char* stage :
       {"upload", "segment", "label", "number", "measure", "track", "paint", "download"}) {
    const std::string prefix = std::string(stage) + "-us-";
    fields.insert({prefix + "min", prefix + "mean", prefix + "max"});
    double min = -1, mean = -1, max = -1;
    EXPECT_TRUE(gst_structure_get_double(stats.get(), (prefix + "min").c_str(), &min)) << stage;
    EXPECT_TRUE(gst_structure_get_double(stats.get(), (prefix + "mean").c_str(), &mean)) << stage;
    EXPECT_TRUE(gst_structure_get_double(stats.get(), (prefix + "max").c_str(), &max)) << stage;
    EXPECT_GE(min, 0) << stage;
    EXPECT_LE(min, mean) << stage;
    EXPECT_LE(mean, max) << stage;
    total += mean;
  }
  EXPECT_GT(total, 0);
  EXPECT_EQ(fields_of(stats.get()), fields);
}

TEST(Stats, ZeroBeforeTheFirstFrameAndAfterARestart) {
  Harness h("output=mask");
  EXPECT_EQ(h.stat("frames"), 0u);
  ASSERT_TRUE(h.send_caps("GRAY8", 8, 8));
  h.process(noise(8, 8, 1));
  EXPECT_EQ(h.stat("frames"), 1u);
  gst_element_set_state(h.element(), GST_STATE_READY);
  EXPECT_EQ(h.stat("frames"), 1u) << "can be read after the end";
  gst_element_set_state(h.element(), GST_STATE_PLAYING);
  EXPECT_EQ(h.stat("frames"), 0u);
}

/// So that gst-launch-1.0 -v shows them, and does not show them for each frame.
TEST(Stats, AreNotifiedOnceASecond) {
  const gint64 begin = g_get_monotonic_time();  // the first second begins when the element starts
  const auto seconds = [&] { return static_cast<int>((g_get_monotonic_time() - begin) / G_USEC_PER_SEC); };
  Harness h("output=mask", "GRAY8", 8, 8);
  int notified = 0;
  g_signal_connect(h.element(), "notify::stats",
                   G_CALLBACK(+[](GObject*, GParamSpec*, gpointer count) { ++*static_cast<int*>(count); }),
                   &notified);
  int frames = 0;
  while (notified < 2 && seconds() < 60) {
    h.process(noise(8, 8, 1));
    ++frames;
    g_usleep(10'000);
  }
  EXPECT_EQ(notified, 2);
  EXPECT_LE(notified, seconds());
  EXPECT_GT(frames, notified);
  g_signal_handlers_disconnect_by_data(h.element(), &notified);
}

/// `device` and `device-id` describe the processor in use, if there is one.
TEST(Stats, NameTheProcessorInUse) {
  const Ref<GstElement> element = make_element();
  const auto device = [&] {
    return std::string(gst_structure_get_string(stats_of(element.get()).get(), "device"));
  };
  const auto device_id = [&] {
    gint id = -99;
    EXPECT_TRUE(gst_structure_get_int(stats_of(element.get()).get(), "device-id", &id));
    return id;
  };
  std::vector<std::string> seen;
  for (const std::string& choice : {backend(), std::string("cpu")}) {
    EXPECT_EQ(device(), "");
    EXPECT_EQ(device_id(), -1);
    gst_util_set_object_arg(G_OBJECT(element.get()), "backend", choice.c_str());
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    EXPECT_NE(device(), "");
    EXPECT_EQ(device_id() >= 0, choice == "cuda");
    seen.push_back(device());
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  EXPECT_EQ(seen[0] == seen[1], backend() == "cpu");
}

TEST(ActiveBackend, IsKnownFromReadyOnAndNotified) {
  const Ref<GstElement> element = make_element();
  int notified = 0;
  g_signal_connect(element.get(), "notify::active-backend",
                   G_CALLBACK(+[](GObject*, GParamSpec*, gpointer count) { ++*static_cast<int*>(count); }),
                   &notified);
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(active_backend(element.get()), "auto");
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(active_backend(element.get()), backend());
    EXPECT_EQ(notified, 2 * round - 1);
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(active_backend(element.get()), "auto");
    EXPECT_EQ(notified, 2 * round);
  }
}

TEST(ActiveBackend, AutoUsesTheGpuIfThereIsOne) {
  const Ref<GstElement> element = make_element("backend=auto");
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(active_backend(element.get()), why_no_cuda().empty() ? "cuda" : "cpu");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

/// A pause moves the base time.
TEST(TimeOfDay, OfAFrameInFlightIsKeptAcrossAPause) {
  const Image image = noise(16, 16, 1);
  Harness h("pipeline-depth=1", image);
  ASSERT_EQ(h.push(image), GST_FLOW_OK);
  const gint64 then = g_get_real_time();
  gst_element_set_base_time(h.element(), gst_element_get_base_time(h.element()) + 3600 * GST_SECOND);
  ASSERT_EQ(h.push(image), GST_FLOW_OK);
  const Ref<GstBuffer> out = h.pull();
  ASSERT_NE(out, nullptr);
  guint64 utc = 0;
  ASSERT_TRUE(gst_structure_get_uint64(structure_of(out.get()), "utc", &utc));
  EXPECT_LT(std::abs(static_cast<gint64>(utc / GST_USECOND) - then), 1800 * G_USEC_PER_SEC);
}

}  // namespace cudaccl::test
