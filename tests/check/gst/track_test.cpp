// SPDX-License-Identifier: LGPL-2.1-or-later
/// `track` in the element: ids and tracks in the metadata, and what ends them. What is a track is tested in
/// the library; track_events_test.cpp has the events.
#include <cstring>
#include <map>
#include <set>

#include "track_fixture.h"

namespace cudaccl::test {

namespace {

std::vector<uint8_t> table_of(GstBuffer* buffer, const char* field) {
  const GstStructure* structure = structure_of(buffer);
  const GValue* value = gst_structure_get_value(structure, field);
  gsize size = 0;
  const auto* data = static_cast<const uint8_t*>(
      value != nullptr ? g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size) : nullptr);
  return {data, data + size};
}

}  // namespace

/* Metadata */

TEST_F(Track, RecordsAndTracksHaveOneKey) {
  start();
  for (uint32_t i = 0; i < 10; ++i) {
    const Ref<GstBuffer> out = process({{.x = 80, .y = 2}, {.x = 3 * i, .y = 30}});
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_TRUE(info.is_tracked);
    ASSERT_EQ(info.n_records, 2u);
    ASSERT_EQ(info.n_tracks, 2u);
    for (guint t = 0; t < 2; ++t) {
      const CclTrack& track = info.tracks[t];
      const CclComponent& record = info.records[track.component];
      EXPECT_EQ(track.id, t + 1);
      EXPECT_EQ(record.id, track.id);
      EXPECT_EQ(record.label, t + 1) << "the labels are those of the frame";
      EXPECT_EQ(record.age, i);
      EXPECT_EQ(track.age, i);
      EXPECT_EQ(track.x, record.x);
      EXPECT_EQ(track.cx, record.cx);
      EXPECT_EQ(track.first_time, 0);
      EXPECT_EQ(track.last_time, static_cast<int64_t>(i * kFrameDuration));
      EXPECT_EQ((track.flags & CCL_TRACK_CONFIRMED) != 0, i >= 2) << i;
    }
  }
}

TEST_F(Track, FieldsOfTheStructure) {
  start("", true);
  const Ref<GstBuffer> out = process({{.x = 0, .y = 20}});
  const GstStructure* structure = structure_of(out.get());
  EXPECT_EQ(table_of(out.get(), "tracks").size(), sizeof(CclTrack) + 2) << "padded to a multiple of three";
  EXPECT_EQ(table_of(out.get(), "events").size(), sizeof(CclEvent) + 1) << "started";
  const auto names = [&](const char* field) {
    const GValue* array = gst_structure_get_value(structure, field);
    std::vector<std::string> list;
    for (guint i = 0; array != nullptr && i < gst_value_array_get_size(array); ++i) {
      list.emplace_back(g_value_get_string(gst_value_array_get_value(array, i)));
    }
    return list;
  };
  EXPECT_EQ(names("zones"), (std::vector<std::string>{"far", "right \"half\""}));
  EXPECT_EQ(names("lines"), (std::vector<std::string>{"middle"}));
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(out.get()));
  EXPECT_EQ(table_of(copy.get(), "tracks"), table_of(out.get(), "tracks"));
  EXPECT_EQ(reports_of(copy.get()), (Reports{{"started", 0, 0, ""}}));
}

TEST_F(Track, RegionsOfInterestHaveTheId) {
  start("metadata=roi");
  process({{.x = 0, .y = 20}});
  const Ref<GstBuffer> out = process({{.x = 60, .y = 2}, {.x = 4, .y = 20}});
  std::map<guint, gint> ids;  // by column
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(out.get(), &state,
                                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    ids[roi->x] = roi->id;
  }
  EXPECT_EQ(ids, (std::map<guint, gint>{{4, 1}, {60, 2}}));
}

TEST_F(Track, IsOffByDefaultAndCanBeSwitchedLive) {
  h = std::make_unique<Harness>("output=mask");
  ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  for (int round = 0; round < 3; ++round) {
    h->set("track", "false");
    const Ref<GstBuffer> untracked = process({{.x = 0, .y = 20}});
    EXPECT_FALSE(components_of(untracked.get()).is_tracked);
    EXPECT_EQ(components_of(untracked.get()).records[0].id, 1u);
    EXPECT_EQ(components_of(untracked.get()).records[0].age, 0u);
    h->set("track", "true");
    EXPECT_TRUE(components_of(process({{.x = 0, .y = 20}}).get()).is_tracked);
    EXPECT_EQ(reports_of(process({}).get()), Reports{});
  }
  EXPECT_EQ(h->message(static_cast<GstMessageType>(GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)), nullptr);
}

TEST_F(Track, WithValues) {
  start("foreground=values");
  for (uint32_t i = 0; i < 5; ++i) {
    const Ref<GstBuffer> out =
        process({{.x = 2 * i, .y = 2, .value = 7}, {.x = 2 * i + 8, .y = 2, .value = 9}});
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_EQ(info.n_records, 2u);
    EXPECT_EQ(info.records[0].id, 1u);
    EXPECT_EQ(info.records[1].id, 2u) << "it touches the other one, but has another value";
  }
}

TEST_F(Track, ScaledVideo) {
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", kWidth, kHeight) +
             "\" ! cudaccl name=ccl output=mask track=true track-confirm=1 backend=" + backend() +
             " ! tee name=t ! queue ! appsink name=out sync=false t. ! queue ! videoscale add-borders=false"
             " ! video/x-raw,width=192,height=24 ! appsink name=scaled sync=false");
  g_object_set(p.element("ccl").get(), "regions", kRegions, nullptr);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(p.push(make_frame(squares({{.x = 45 + i, .y = 20}}), "GRAY8")), GST_FLOW_OK);
    const Ref<GstSample> sample = p.pull();
    const Ref<GstSample> scaled = p.pull("scaled");
    ASSERT_NE(sample, nullptr);
    ASSERT_NE(scaled, nullptr);
    const GstCudaCclInfo was = components_of(gst_sample_get_buffer(sample.get()));
    const GstCudaCclInfo now = components_of(gst_sample_get_buffer(scaled.get()));
    ASSERT_EQ(was.n_tracks, 1u);
    ASSERT_EQ(now.n_tracks, 1u);
    const CclTrack& before = was.tracks[0];
    CclTrack expected = before;
    expected.x = static_cast<uint16_t>(2 * before.x);
    expected.y = before.y / 2;
    expected.width = static_cast<uint16_t>(2 * before.width);
    expected.height = before.height / 2;
    expected.cx = (before.cx + 0.5F) * 2 - 0.5F;
    expected.cy = (before.cy + 0.5F) / 2 - 0.5F;
    expected.vx = before.vx * 2;
    expected.vy = before.vy / 2;
    EXPECT_EQ(std::memcmp(&now.tracks[0], &expected, sizeof expected), 0) << i;
    ASSERT_EQ(now.n_events, was.n_events);
    for (guint e = 0; e < was.n_events; ++e) {
      const bool has_place = was.events[e].id != 0;
      EXPECT_EQ(now.events[e].type, was.events[e].type);
      EXPECT_EQ(now.events[e].where, was.events[e].where);
      EXPECT_EQ(now.events[e].x, has_place ? (was.events[e].x + 0.5F) * 2 - 0.5F : 0);
      EXPECT_EQ(now.events[e].y, has_place ? (was.events[e].y + 0.5F) / 2 - 0.5F : 0);
    }
    EXPECT_EQ(reports_of(gst_sample_get_buffer(scaled.get())),
              reports_of(gst_sample_get_buffer(sample.get())));
  }
}

/* Changes while frames flow */

/// Frames in flight have their own ids and events: all depths give the same bytes.
TEST_F(Track, DepthOfThePipeline) {
  std::vector<std::vector<uint8_t>> expected;
  for (const char* depth : {"0", "1", "8"}) {
    start(std::string("pipeline-depth=") + depth, true);
    std::vector<std::vector<uint8_t>> tables;
    for (uint32_t i = 0; i < 20; ++i) {
      ASSERT_EQ(h->push(squares({{.x = 4 * i, .y = 20}, {.x = 80 - 2 * i, .y = 2}})), GST_FLOW_OK);
    }
    gst_harness_push_event(h->get(), gst_event_new_eos());
    while (const Ref<GstBuffer> out = h->pull()) {
      for (const char* field : {"components", "tracks", "events"}) {
        tables.push_back(table_of(out.get(), field));
      }
    }
    EXPECT_EQ(tables.size(), 60u);
    expected = expected.empty() ? tables : expected;
    EXPECT_TRUE(tables == expected) << depth;
  }
}

TEST_F(Track, FlushEndsTracksWithTimeOnly) {
  start("track-confirm=1", true);
  const guint first = id_of(process({{.x = 60, .y = 20}}));
  EXPECT_NE(first, 0u);
  for (const bool resets_time : {false, true}) {
    h->flush(resets_time);
    const Ref<GstBuffer> out = process({{.x = 60, .y = 20}});
    const Reports reports = reports_of(out.get());
    const guint id = id_of(out);
    EXPECT_NE(id, 0u);
    EXPECT_EQ(id != first, resets_time);
    if (resets_time) {
      EXPECT_EQ(reports, (Reports{{"left", first, 0, "right \"half\""},
                                  {"died", first, 0, ""},
                                  {"born", id, 0, ""},
                                  {"entered", id, 0, "right \"half\""}}));
    } else {
      EXPECT_EQ(reports, Reports{});
    }
  }
}

TEST_F(Track, ResetSignalOfTheBackgroundEndsNoTrack) {
  start();
  const guint first = id_of(process({{.x = 60, .y = 20}}));
  g_signal_emit_by_name(h->element(), "reset-background");
  EXPECT_EQ(id_of(process({{.x = 60, .y = 20}})), first);
}

TEST_F(Track, AnotherSizeEndsTracks) {
  start("track-confirm=1");
  const guint first = id_of(process({{.x = 60, .y = 20}}));
  ASSERT_TRUE(h->send_caps("GRAY8", 64, 64));
  Image other = blank(64, 64);
  for (uint32_t i = 0; i < 64; ++i) {
    other.at(i, 20) = 255;
  }
  const Ref<GstBuffer> out = h->process(other);
  const guint id = id_of(out);
  EXPECT_NE(id, 0u);
  EXPECT_NE(id, first);
  EXPECT_EQ(reports_of(out.get()), (Reports{{"died", first, 0, ""}, {"born", id, 0, ""}}));
  ASSERT_TRUE(h->send_caps("GRAY8", 64, 64, "colorimetry=bt709"));
  EXPECT_EQ(id_of(h->process(other)), id) << "of the same size";
}

TEST_F(Track, ANewStreamBeginsWithoutEventsOfTheOldOne) {
  start("track-confirm=1", true);
  process({{.x = 60, .y = 20}});
  h->start_again(GST_STATE_READY);
  ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  const Reports reports = reports_of(process({{.x = 60, .y = 20}}).get());
  ASSERT_EQ(reports.size(), 4u);
  EXPECT_EQ(reports[0].type, "started");
  EXPECT_EQ(reports[1].type, "born");
  EXPECT_EQ(h->stat("events-entered"), 1u) << "counts begin again";
}

/// Behind `concat` the next source has the same caps, which are not sent again.
TEST_F(Track, AnotherStreamEndsThem) {
  start("", true);
  const guint first = id_of(process({{.x = 60, .y = 20}}));
  EXPECT_EQ(id_of(process({{.x = 60, .y = 20}})), first);
  gst_harness_push_event(h->get(), gst_event_new_stream_start("second"));
  const guint second = id_of(process({{.x = 60, .y = 20}}));
  EXPECT_NE(second, first);
  gst_harness_push_event(h->get(), gst_event_new_stream_start("second"));
  EXPECT_EQ(id_of(process({{.x = 60, .y = 20}})), second) << "it is the same one";
}

/* Bad input */

TEST_F(Track, TimestampsThatAreMissingOrGoBack) {
  start("", true);
  const GstClockTime times[] = {GST_CLOCK_TIME_NONE, GST_SECOND, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
                                5 * GST_SECOND,      0,          GST_SECOND,          GST_SECOND,
                                GST_MSECOND,         GST_SECOND, GST_CLOCK_TIME_NONE, 2 * GST_SECOND};
  Reports all;
  for (const GstClockTime time : times) {
    Ref<GstBuffer> frame = make_frame(squares({{.x = 60, .y = 20}}), "GRAY8");
    GST_BUFFER_PTS(frame.get()) = time;
    ASSERT_EQ(gst_harness_push(h->get(), frame.release()), GST_FLOW_OK);
    const Ref<GstBuffer> out = h->pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(id_of(out), 1u);
    const Reports reports = reports_of(out.get());
    all.insert(all.end(), reports.begin(), reports.end());
  }
  EXPECT_EQ(all, (Reports{{"started", 0, 0, ""},
                          {"born", 1, 0, ""},
                          {"entered", 1, 0, "right \"half\""},
                          {"crowded", 0, 1, "right \"half\""},
                          {"dwelled", 1, 0, "right \"half\""}}));
}

/// What a filter removes is not seen: its track is predicted meanwhile.
TEST_F(Track, FiltersThatChangeWithEveryFrame) {
  start("", true);
  Reports all;
  for (int i = 0; i < 24; ++i) {
    const bool is_removed = i % 2 == 1 && i > 4;
    h->set("min-area", is_removed ? "1000" : "1");
    h->set("connectivity", i % 3 == 0 ? "4-way" : "8-way");
    const Ref<GstBuffer> out = process({{.x = 60, .y = 20}});
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_EQ(info.n_tracks, 1u) << i;
    EXPECT_EQ(info.tracks[0].id, 1u);
    EXPECT_EQ((info.tracks[0].flags & CCL_TRACK_PREDICTED) != 0, is_removed) << i;
    EXPECT_EQ(info.tracks[0].component, is_removed ? CCL_NO_COMPONENT : 0u) << i;
    EXPECT_EQ(info.tracks[0].zones, i >= 2 ? 2u : 0u) << i;
    const Reports reports = reports_of(out.get());
    all.insert(all.end(), reports.begin(), reports.end());
  }
  EXPECT_EQ(all.size(), 5u) << "started, born, entered, crowded, dwelled";
}

TEST_F(Track, OneTrackAtMost) {
  start("max-tracks=1 track-confirm=1");
  const Ref<GstBuffer> both = process({{.x = 60, .y = 2}, {.x = 4, .y = 20}});
  const GstCudaCclInfo info = components_of(both.get());
  ASSERT_EQ(info.n_tracks, 1u);
  ASSERT_EQ(info.n_records, 2u);
  EXPECT_EQ(std::set<guint>({info.records[0].id, info.records[1].id}), (std::set<guint>{0, 1}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(components_of(process({{.x = 60, .y = 2}, {.x = 4, .y = 20}}).get()).n_tracks, 1u);
  }
  h->set("max-tracks", "2");
  EXPECT_EQ(components_of(process({{.x = 60, .y = 2}, {.x = 4, .y = 20}}).get()).n_tracks, 2u);
}

/// Of the smallest frame, with every output and every kind of metadata.
TEST_F(Track, OnePixel) {
  for (const char* output : {"mask", "colorized", "overlay", "labels", "passthrough", "foreground"}) {
    h = std::make_unique<Harness>(std::string("track=true track-confirm=1 metadata=components+roi output=") +
                                  output);
    g_object_set(h->element(), "regions", kRegions, nullptr);
    ASSERT_TRUE(h->send_caps("GRAY8", 1, 1));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(id_of(h->process(blank(1, 1, 255))), 1u) << output;
    }
  }
}

}  // namespace cudaccl::test
