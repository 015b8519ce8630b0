// SPDX-License-Identifier: LGPL-2.1-or-later
/// A stream knows nothing about the one before it, also if the element went to READY only in between, where
/// the engine stays.
#include <gtest/gtest.h>

#include <memory>

#include "harness.h"

namespace cudaccl::test {

namespace {

class Restart : public testing::TestWithParam<GstState> {
 protected:
  void start(const std::string& properties) {
    h = std::make_unique<Harness>(properties);
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  }

  void start_again() {
    h->start_again(GetParam());
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  }

  Ref<GstBuffer> process(GstClockTime time) {
    Ref<GstBuffer> frame = make_frame(image, "GRAY8");
    GST_BUFFER_PTS(frame.get()) = time;
    EXPECT_EQ(gst_harness_push(h->get(), frame.release()), GST_FLOW_OK);
    return h->pull();
  }

  int take_warnings() {
    int n = 0;
    while (h->message(GST_MESSAGE_WARNING)) {
      ++n;
    }
    return n;
  }

  static constexpr uint32_t kWidth = 45;
  static constexpr uint32_t kHeight = 33;
  const Image image = noise(kWidth, kHeight, 21);
  std::unique_ptr<Harness> h;
};

INSTANTIATE_TEST_SUITE_P(States, Restart, testing::Values(GST_STATE_NULL, GST_STATE_READY),
                         [](const auto& info) { return gst_element_state_get_name(info.param); });

}  // namespace

TEST_P(Restart, ValuesThatCannotWorkAreTakenBack) {
  start("output=colorized");
  h->accept("video/x-raw,format=RGBA");
  process(0);
  for (const auto& [property, value] : {std::pair<const char*, const char*>{"output", "labels"},
                                        {"algorithm", backend() == "cpu" ? "union-find" : "sauf"},
                                        {"threshold", "300"}}) {
    SCOPED_TRACE(property);
    start_again();
    const std::string before = text_of_property(h->element(), property);
    h->set(property, value);
    EXPECT_NE(process(0), nullptr);
    EXPECT_EQ(text_of_property(h->element(), property), before);
    EXPECT_EQ(take_warnings(), 1);
    EXPECT_EQ(h->message(GST_MESSAGE_ERROR), nullptr);
  }
}

/// Frames without time stamps follow, whose first one is at 0.
TEST_P(Restart, TimeBeginsAgain) {
  start("threshold=128 min-area=40 track=true track-confirm=1");
  process(5 * GST_SECOND);
  start_again();
  for (int64_t i = 0; i < 3; ++i) {
    const Ref<GstBuffer> out = process(GST_CLOCK_TIME_NONE);
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_GT(info.n_tracks, 0u);
    EXPECT_EQ(info.tracks[0].first_time, 0);
    EXPECT_EQ(info.tracks[0].last_time, (i * 100'000'000 + 1) / 3);
    for (guint e = 0; e < info.n_events; ++e) {
      EXPECT_EQ(info.events[e].time, (i * 100'000'000 + 1) / 3);
    }
  }
}

TEST_P(Restart, DoubtsAboutRegionsAreReportedAgain) {
  for (const char* regions :
       {R"({"version": 1, "zones": [{"name": "far", "polygon": [[2, 2], [9, 2], [3, 3]]}]})",
        R"({"version": 1, "units": "pixels", "include": [{"polygon": [[99, 99], [120, 99], [99, 120]]}]})"}) {
    start("track=true");
    h->set("regions", regions);
    start_again();
    process(0);
    EXPECT_EQ(take_warnings(), 1) << regions;
    start_again();
    process(0);
    EXPECT_EQ(take_warnings(), 1) << regions;
  }
}

TEST_P(Restart, AGapEndsWithItsStream) {
  start("");
  process(0);
  ASSERT_EQ(gst_harness_push(h->get(), gst_buffer_new_allocate(nullptr, 7, nullptr)), GST_FLOW_OK);
  start_again();
  const Ref<GstBuffer> out = process(0);
  EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
}

}  // namespace cudaccl::test
