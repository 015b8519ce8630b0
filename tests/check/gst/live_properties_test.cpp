// SPDX-License-Identifier: LGPL-2.1-or-later
/// Properties that change between two frames of a running stream.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;

class Live : public testing::Test {
 protected:
  void start(const std::string& properties) {
    h = std::make_unique<Harness>(properties);
    start_with_caps();
  }

  void start_with_caps() {
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
    h->process(image);
  }

  Ref<GstBuffer> after(const char* property, const char* value) {
    h->set(property, value);
    return h->process(image);
  }

  const Image image = noise(kWidth, kHeight, 21);
  std::unique_ptr<Harness> h;
};

/// The bytes of address space that the process uses.
rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_F(Live, RuleAndFilter) {
  start("output=labels threshold=128");
  Rule rule{.threshold = 128};
  const auto expect = [&](const char* property, const char* value) {
    const Ref<GstBuffer> out = after(property, value);
    const Expected expected = label(image, rule);
    EXPECT_EQ(h->pixels(out), labels(expected)) << property << "=" << value;
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected.records);
  };
  rule.connectivity = 4;
  expect("connectivity", "4-way");
  rule.threshold = 200;
  expect("threshold", "200");
  rule.invert = true;
  expect("invert", "true");
  rule.min_area = 3;
  expect("min-area", "3");
  rule.max_area = 6;
  expect("max-area", "6");
  rule.values = true;
  expect("foreground", "values");
  rule.connectivity = 8;
  expect("connectivity", "8-way");
}

TEST_F(Live, Colors) {
  start("output=colorized threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  EXPECT_EQ(h->pixels(after("palette", "glasbey")), colorized(expected, {.palette = 1}));
  EXPECT_EQ(h->pixels(after("color-seed", "300")), colorized(expected, {.palette = 1, .seed = 300}));
  EXPECT_EQ(h->pixels(after("background-color", "0x80112233")),
            colorized(expected, {.palette = 1, .seed = 300, .background = 0x80112233}));
  const std::vector<uint8_t> without_boxes = h->pixels(h->process(image));
  EXPECT_NE(h->pixels(after("draw-boxes", "true")), without_boxes);
  EXPECT_EQ(h->pixels(after("draw-boxes", "false")), without_boxes);
  after("output", "overlay");
  EXPECT_EQ(h->pixels(after("overlay-alpha", "0.2")),
            overlay(expected, image, {.palette = 1, .seed = 300, .alpha = 51}));
}

TEST_F(Live, Features) {
  start("output=passthrough threshold=128");
  const std::vector<CclComponent> all = label(image, {.threshold = 128}).records;
  for (const char* features : {"moments", "perimeter", "euler", "moments+euler", "0"}) {
    const std::string names = features;
    std::vector<CclComponent> expected = all;
    for (CclComponent& c : expected) {
      if (names.find("moments") == std::string::npos) {
        c.mxx = c.mxy = c.myy = 0;
      }
      c.perimeter = names.find("perimeter") == std::string::npos ? 0 : c.perimeter;
      c.euler = names.find("euler") == std::string::npos ? 0 : c.euler;
    }
    SCOPED_TRACE(features);
    const Ref<GstBuffer> out = after("features", features);
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected);
  }
}

TEST_F(Live, Metadata) {
  start("output=mask");
  const auto count_rois = [](GstBuffer* buffer) {
    return gst_buffer_get_n_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  };
  Ref<GstBuffer> out = after("metadata", "roi");
  EXPECT_EQ(count_component_metas(out.get()), 0);
  EXPECT_GT(count_rois(out.get()), 1u);
  out = after("max-objects", "1");
  EXPECT_EQ(count_rois(out.get()), 1u);
  out = after("metadata", "components+roi");
  EXPECT_EQ(count_component_metas(out.get()), 1);
  EXPECT_EQ(count_rois(out.get()), 1u);
  out = after("metadata", "0");
  EXPECT_EQ(count_component_metas(out.get()), 0);
  EXPECT_EQ(count_rois(out.get()), 0u);
  out = after("metadata", "components");
  EXPECT_EQ(count_component_metas(out.get()), 1);
}

TEST_F(Live, MaxComponents) {
  start("output=mask threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  for (const uint32_t limit : {1u, 5u, 100000u, 2u}) {
    const Ref<GstBuffer> out = after("max-components", std::to_string(limit).c_str());
    EXPECT_EQ(h->pixels(out), mask(expected));
    const GstCudaCclInfo info = components_of(out.get());
    EXPECT_EQ(info.n_components, expected.records.size());
    EXPECT_EQ(info.overflow, expected.records.size() > limit);
    expect_records(info.records, info.n_records, largest(expected.records, limit));
  }
}

/// Every labeler of the backend gives the same labels. A labeler of the other backend is refused.
TEST_F(Live, Algorithm) {
  start("output=labels threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  auto* all = static_cast<GEnumClass*>(g_type_class_ref(
      g_object_class_find_property(G_OBJECT_GET_CLASS(h->element()), "algorithm")->value_type));
  int worked = 0;
  int refused = 0;
  std::string in_force = "auto";
  for (guint i = 0; i < all->n_values; ++i) {
    const std::string nick = all->values[i].value_nick;
    EXPECT_EQ(h->pixels(after("algorithm", nick.c_str())), labels(expected)) << nick;
    const Ref<GstMessage> warning = h->message(GST_MESSAGE_WARNING);
    if (!warning) {
      ++worked;
      in_force = nick;
    } else {
      ++refused;
      for (const std::string& part : {"algorithm=" + nick, "algorithm=" + in_force, std::string("dlp")}) {
        EXPECT_NE(text_of(warning.get()).find(part), std::string::npos) << text_of(warning.get());
      }
      h->process(image);
      EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr) << "one warning";
    }
    EXPECT_EQ(text_of_property(h->element(), "algorithm"), in_force);
  }
  g_type_class_unref(all);
  EXPECT_EQ(h->message(GST_MESSAGE_ERROR), nullptr);
  EXPECT_GE(worked, 3);
  EXPECT_GE(refused, 1);
}

/// A refused value is reported by notify too, and one that was set meanwhile stays.
TEST_F(Live, RefusedValuesAreNotified) {
  start("output=labels");
  const char* other = backend() == "cpu" ? "union-find" : "sauf";
  int notified = 0;
  h->set("algorithm", other);
  g_signal_connect(h->element(), "notify::algorithm",
                   G_CALLBACK(+[](GObject*, GParamSpec*, gpointer count) { ++*static_cast<int*>(count); }),
                   &notified);
  h->process(image);
  EXPECT_EQ(notified, 1);
  g_signal_handlers_disconnect_by_data(h->element(), &notified);
}

/// Of the values that need the memory no more are taken back than must be.
TEST_F(Live, TooLittleMemory) {
  if (backend() != "cpu") {
    GTEST_SKIP() << "only the memory of the process can be limited, not that of the GPU";
  }
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes memory of its own, and ends the process where there is none";
#endif
  start("output=labels threshold=128 max-components=1000 algorithm=dlp");
  const Image large = blank(1024, 1024);
  ASSERT_TRUE(h->send_caps("GRAY8", large.width, large.height));
  h->process(large);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = address_space() + (rlim_t{200} << 20);  // each of nine slots would take 64 MiB
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  h->set("max-components", "16777216");
  h->set("pipeline-depth", "8");
  const GstFlowReturn flow = h->push(large);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(flow, GST_FLOW_OK);
  EXPECT_NE(h->pull(), nullptr);
  EXPECT_EQ(text_of_property(h->element(), "max-components"), "16777216");
  EXPECT_EQ(text_of_property(h->element(), "pipeline-depth"), "0");
  h->expect_warning({"not enough memory"});
}

/// What is set with it stays, and what was set long before.
TEST_F(Live, OnlyTheValueThatCannotWorkIsTakenBack) {
  start("output=labels max-tracks=64");
  after("max-tracks", "100");
  h->set("track", "true");
  after("algorithm", backend() == "cpu" ? "union-find" : "sauf");
  h->expect_warning({"algorithm=", " cannot work now: ", ". algorithm=auto is in force"});
  EXPECT_EQ(text_of_property(h->element(), "track"), "true");
  EXPECT_EQ(text_of_property(h->element(), "max-tracks"), "100");
}

/// No pixel of 8 bits reaches it. The last one stays.
TEST_F(Live, LargeThresholdsAreRefused) {
  start("output=labels threshold=128");
  const std::vector<uint8_t> expected = labels(label(image, {.threshold = 128}));
  for (const char* name : {"threshold", "threshold-low"}) {
    const std::string before = text_of_property(h->element(), name);
    EXPECT_EQ(h->pixels(after(name, "300")), expected);
    EXPECT_EQ(text_of_property(h->element(), name), before);
    h->expect_warning({name, "=300 cannot work now: the largest value of GRAY8 is 255", "is in force"});
  }
}

TEST_F(Live, LargeThresholdsBeforeTheFirstFrameAreRefused) {
  h = std::make_unique<Harness>("output=labels threshold=128");
  ASSERT_TRUE(h->send_caps("GRAY8", image.width, image.height));
  h->set("threshold", "300");
  EXPECT_EQ(h->pixels(h->process(image)), labels(label(image, {.threshold = 128})));
  h->expect_warning({"threshold=300 cannot work now", "threshold=128 is in force"});
}

/// Frames of fewer bits come. The value that is used then is named.
TEST_F(Live, AThresholdThatNewCapsCannotReach) {
  h = std::make_unique<Harness>("output=mask threshold=5000", "GRAY16_LE", image.width, image.height);
  start_with_caps();
  EXPECT_EQ(text_of_property(h->element(), "threshold"), "0");
  h->expect_warning({"threshold=5000 cannot work now", "GRAY8 is 255", "threshold=0 is in force"});
}

/// A number such as 2 is probably meant as seconds. The last time stays.
TEST_F(Live, TimesBelowAMillisecondAreRefused) {
  start("output=labels threshold=128 track-lost=5000000");
  for (const char* value : {"2", "999999"}) {
    after("track-lost", value);
    EXPECT_EQ(text_of_property(h->element(), "track-lost"), "5000000");
    h->expect_warning(
        {"track-lost=", value, "nanoseconds", "2 seconds are 2000000000", "track-lost=5000000 stays"});
  }
  for (const char* value : {"0", "1000000"}) {
    after("track-lost", value);
    EXPECT_EQ(text_of_property(h->element(), "track-lost"), value);
    EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr);
  }
}

namespace {

/// The error with which the first frame of 8 bits ends; empty if there is none.
std::string error_at_start(const std::string& properties, const char* format = "GRAY8") {
  Harness h("output=labels " + properties);
  h.send_caps(format, 45, 33);
  const GstFlowReturn flow = h.push(noise(45, 33, 31), format);
  const Ref<GstMessage> error = h.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(flow == GST_FLOW_OK, error == nullptr) << properties;
  return error != nullptr ? text_of(error.get()) : "";
}

}  // namespace

/// At the start there is no last value that could stay.
TEST(Start, RefusesThresholdsThatNoPixelReaches) {
  for (const char* name : {"threshold", "threshold-low"}) {
    EXPECT_NE(error_at_start(name + std::string("=300"))
                  .find(name + std::string("=300 cannot be used: the largest value of GRAY8 is 255")),
              std::string::npos);
    EXPECT_EQ(error_at_start(name + std::string("=255")), "");
  }
  EXPECT_EQ(error_at_start("threshold=300", "GRAY16_LE"), "");
}

/// As on a launch line, until the property is set again.
TEST(Start, RefusesTimesBelowAMillisecond) {
  const Ref<GstElement> element = make_element();
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  const auto set = [&](const char* name, const char* value) {
    gst_util_set_object_arg(G_OBJECT(element.get()), name, value);
  };
  for (const char* name : {"track-lost", "event-hold", "motion-warm-up"}) {
    set(name, "2");
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    const Ref<GstMessage> error(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
    ASSERT_NE(error, nullptr);
    EXPECT_NE(text_of(error.get()).find(name + std::string("=2 cannot be used: times are in nanoseconds")),
              std::string::npos)
        << text_of(error.get());
    gst_element_set_state(element.get(), GST_STATE_NULL);
    set(name, "2000000");
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
  gst_element_set_bus(element.get(), nullptr);
}

/// `backend` is read at each start, so a change in PLAYING waits for the next one.
TEST_F(Live, BackendWaitsForTheNextStart) {
  start("output=labels threshold=128");
  const std::vector<uint8_t> expected = labels(label(image, {.threshold = 128}));
  EXPECT_EQ(h->pixels(after("backend", backend() == "cpu" ? "cuda" : "cpu")), expected);
  EXPECT_EQ(text_of_property(h->element(), "active-backend"), backend());
}

/// From READY as from NULL.
TEST(Start, ReadsBackendAndAlgorithm) {
  const Ref<GstElement> element = make_element();
  const auto go = [&](GstState state) { return gst_element_set_state(element.get(), state); };
  const auto active = [&] { return text_of_property(element.get(), "active-backend"); };
  ASSERT_EQ(go(GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(active(), backend());
  const bool has_cuda = why_no_cuda().empty();
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  EXPECT_EQ(go(GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE, has_cuda);
  EXPECT_EQ(active(), has_cuda ? "cuda" : "auto");
  go(GST_STATE_READY);
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  EXPECT_NE(go(GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_EQ(active(), "cpu");
  go(GST_STATE_READY);
  gst_util_set_object_arg(G_OBJECT(element.get()), "algorithm", "union-find");
  EXPECT_EQ(go(GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_util_set_object_arg(G_OBJECT(element.get()), "algorithm", "dlp");
  EXPECT_NE(go(GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  go(GST_STATE_NULL);
}

}  // namespace cudaccl::test
