// SPDX-License-Identifier: LGPL-2.1-or-later
/// The events of `track` in the element: metadata, messages and `stats`. The library tests each rule of an
/// event.
#include <utility>

#include "track_fixture.h"

namespace cudaccl::test {

namespace {

Reports joined(const std::vector<Reports>& frames) {
  Reports all;
  for (const Reports& reports : frames) {
    all.insert(all.end(), reports.begin(), reports.end());
  }
  return all;
}

/// Of the crossing square: frame 2 confirms it, frame 11 brings its middle to the right half, and frame 18 is
/// a quarter of a second later.
const Reports kCrossing = {{"started", 0, 0, ""},
                           {"born", 1, 0, ""},
                           {"entered", 1, 0, "right \"half\""},
                           {"crossed-left", 1, 0, "middle"},
                           {"crowded", 0, 1, "right \"half\""},
                           {"dwelled", 1, 0, "right \"half\""}};

}  // namespace

TEST_F(Track, EventsOfACrossing) {
  start("", true);
  const std::vector<Reports> frames = cross();
  EXPECT_EQ(joined(frames), kCrossing);
  EXPECT_EQ(frames[0].size(), 1u);
  EXPECT_EQ(frames[2], (Reports{kCrossing[1]}));
  EXPECT_EQ(frames[11].size(), 3u);
  EXPECT_EQ(frames[18], (Reports{kCrossing[5]})) << "280 ms after frame 11";
}

/// By default a track counts on the other side a quarter of a second later, and when it is away by a quarter
/// of its size. Another margin counts from the next frame on.
TEST_F(Track, MarginsAreChangedWhileFramesFlow) {
  const auto regions = [](const char* margin) {
    return std::string(
               R"({"version": 1, "units": "pixels", "lines": [{"name": "gate", "from": [48, 0], "to": [48, 48])") +
           margin + "}]}";
  };
  start();
  g_object_set(h->element(), "regions", regions("").c_str(), nullptr);
  const std::vector<Reports> frames = cross();
  EXPECT_EQ(joined(frames), (Reports{kCrossing[0], kCrossing[1], {"crossed-left", 1, 0, "gate"}}));
  EXPECT_EQ(frames[18].size(), 1u) << "280 ms after frame 11";
  const auto sway = [&] {
    std::vector<Reports> all;
    for (const uint32_t x : {48, 44, 48, 43, 48, 44, 48, 44}) {
      all.push_back(reports_of(process({{.x = x - kSide / 2, .y = 20}}).get()));
    }
    return joined(all);
  };
  for (uint32_t x = 74; x > 44; x -= 4) {
    process({{.x = x, .y = 20}});
  }
  EXPECT_EQ(sway(), Reports{});
  g_object_set(h->element(), "regions", regions(", \"margin\": 0").c_str(), nullptr);
  EXPECT_EQ(sway().size(), 8u) << "each time";
}

/// Each has its own element message, in the order of the metadata, with the times of its frame.
TEST_F(Track, EventMessages) {
  start("post-messages=true", true);
  std::vector<std::string> expected = {"cudaccl"};
  Reports posted;
  for (uint32_t i = 0; i < 20; ++i) {
    const Ref<GstBuffer> out = process({{.x = 4 * i + 2, .y = 20}});
    const Reports reports = reports_of(out.get());
    bool is_first = true;
    while (const Ref<GstMessage> message = h->message(GST_MESSAGE_ELEMENT)) {
      const GstStructure* s = gst_message_get_structure(message.get());
      EXPECT_STREQ(gst_structure_get_name(s), is_first ? "cudaccl" : "cudaccl-event");
      if (!std::exchange(is_first, false)) {
        guint id = 99, other = 99;
        guint64 timestamp = 0, stream_time = 0, running_time = 0;
        gdouble x = -1, y = -1;
        ASSERT_TRUE(gst_structure_get(s, "id", G_TYPE_UINT, &id, "other", G_TYPE_UINT, &other, "timestamp",
                                      G_TYPE_UINT64, &timestamp, "stream-time", G_TYPE_UINT64, &stream_time,
                                      "running-time", G_TYPE_UINT64, &running_time, "x", G_TYPE_DOUBLE, &x,
                                      "y", G_TYPE_DOUBLE, &y, nullptr));
        const gchar* zone = gst_structure_get_string(s, "zone");
        const gchar* line = gst_structure_get_string(s, "line");
        EXPECT_TRUE(zone == nullptr || line == nullptr);
        posted.push_back({gst_structure_get_string(s, "type"), id, other,
                          zone != nullptr   ? zone
                          : line != nullptr ? line
                                            : ""});
        EXPECT_EQ(line != nullptr, posted.back().type == "crossed-left");
        EXPECT_EQ(timestamp, i * kFrameDuration);
        EXPECT_EQ(stream_time, timestamp);
        EXPECT_EQ(running_time, timestamp);
        EXPECT_EQ(x, id != 0 ? 4 * i + 5.5 : 0);
        EXPECT_EQ(y, id != 0 ? 23.5 : 0);
      }
    }
  }
  EXPECT_EQ(posted, kCrossing);
  h->set("post-messages", "false");
  process({});
  EXPECT_EQ(h->message(GST_MESSAGE_ELEMENT), nullptr);
}

TEST_F(Track, Stats) {
  start("track-lost=0", true);
  cross();
  process({});
  process({});
  GstStructure* raw = nullptr;
  g_object_get(h->element(), "stats", &raw, nullptr);
  const Ref<GstStructure> stats(raw);
  const auto place = [&](const char* list, guint index) {
    const GValue* array = gst_structure_get_value(stats.get(), list);
    return gst_value_get_structure(gst_value_array_get_value(array, index));
  };
  const auto count = [](const GstStructure* structure, const char* field) {
    guint64 value = 0xdead;
    EXPECT_TRUE(gst_structure_get_uint64(structure, field, &value)) << field;
    return value;
  };
  EXPECT_EQ(h->stat("events-born"), 1u);
  EXPECT_EQ(h->stat("events-died"), 1u);
  EXPECT_EQ(h->stat("events-dwelled"), 1u);
  EXPECT_EQ(h->stat("events-crossed-right"), 0u);
  EXPECT_EQ(gst_value_array_get_size(gst_structure_get_value(stats.get(), "zones")), 2u);
  EXPECT_STREQ(gst_structure_get_string(place("zones", 1), "name"), "right \"half\"");
  EXPECT_EQ(count(place("zones", 1), "entered"), 1u);
  EXPECT_EQ(count(place("zones", 1), "left"), 1u);
  EXPECT_EQ(count(place("zones", 1), "inside"), 0u);
  EXPECT_EQ(count(place("zones", 0), "entered"), 0u);
  EXPECT_STREQ(gst_structure_get_string(place("lines", 0), "name"), "middle");
  EXPECT_EQ(count(place("lines", 0), "crossed-left"), 1u);
  EXPECT_EQ(count(place("lines", 0), "crossed-right"), 0u);
}

TEST_F(Track, StoppedAfterTheHoldTime) {
  start("event-hold=120000000");
  EXPECT_EQ(reports_of(process({{.x = 0, .y = 0}}).get()), (Reports{{"started", 0, 0, ""}}));
  EXPECT_EQ(reports_of(process({}).get()), Reports{});
  EXPECT_EQ(reports_of(process({}).get()), Reports{});
  EXPECT_EQ(reports_of(process({}).get()), (Reports{{"stopped", 0, 0, ""}})) << "three frames of 40 ms";
  EXPECT_EQ(reports_of(process({}).get()), Reports{});
}

/// Names travel with the events that they belong to, also through a queue of frames.
TEST_F(Track, OtherRegions) {
  for (const char* depth : {"0", "3"}) {
    start(std::string("track-confirm=1 pipeline-depth=") + depth, true);
    std::vector<Reports> frames;
    for (int i = 0; i < 12; ++i) {
      if (i == 6) {
        g_object_set(
            h->element(), "regions",
            R"({"version": 1, "zones": [{"name": "all", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}]})",
            nullptr);
      }
      ASSERT_EQ(h->push(squares({{.x = 60, .y = 20}})), GST_FLOW_OK);
      while (const Ref<GstBuffer> out = h->pull()) {
        frames.push_back(reports_of(out.get()));
      }
    }
    ASSERT_GE(frames.size(), 9u);
    EXPECT_EQ(frames[0], (Reports{{"started", 0, 0, ""},
                                  {"born", 1, 0, ""},
                                  {"entered", 1, 0, "right \"half\""},
                                  {"crowded", 0, 1, "right \"half\""}}));
    EXPECT_EQ(frames[5], Reports{}) << depth;
    EXPECT_EQ(frames[6], (Reports{{"entered", 1, 0, "all"}})) << depth;
  }
}

}  // namespace cudaccl::test
