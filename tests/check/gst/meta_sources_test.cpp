// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which element and which frame metadata is of: `source`, `frame`, `meta-name`; several elements on one
/// buffer.
#include <gtest/gtest.h>

#include <set>

#include "harness.h"

namespace cudaccl::test {

namespace {

const Image kGreyShapes = picture({"#..bb....", "...bb..##", ".......##", "bbb......", "bbb....#."});

/// Of each GstCudaCclMeta, in their order on the buffer.
std::vector<std::string> sources_of(GstBuffer* buffer) {
  std::vector<std::string> sources;
  gpointer state = nullptr;
  GstCudaCclInfo info{};
  while (gst_buffer_iterate_cudaccl_info(buffer, &state, &info)) {
    sources.emplace_back(info.source);
  }
  return sources;
}

guint64 frame_of(const Ref<GstBuffer>& buffer) {
  return components_of(buffer.get()).frame;
}

/// How many regions of interest each source has; "-" stands for regions without one.
std::multiset<std::string> region_sources(GstBuffer* buffer) {
  std::multiset<std::string> sources;
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const GstStructure* param = gst_video_region_of_interest_meta_get_param(
        reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), "component");
    const gchar* source = param != nullptr ? gst_structure_get_string(param, "source") : nullptr;
    sources.insert(source != nullptr ? source : "-");
  }
  return sources;
}

/// The frame through two elements, the first of which keeps the pixels.
Ref<GstBuffer> process_twice(const std::string& first, const std::string& second) {
  Harness a("output=passthrough " + first);
  Harness b(second);
  if (!a.send_caps("GRAY8", kGreyShapes.width, kGreyShapes.height) ||
      !b.send_caps("GRAY8", kGreyShapes.width, kGreyShapes.height)) {
    ADD_FAILURE() << "caps are refused";
    return Ref<GstBuffer>(gst_buffer_new());
  }
  return b.process(a.process(kGreyShapes));
}

class MetaSources : public testing::TestWithParam<const char*> {
 protected:
  const std::string output = std::string(" output=") + GetParam();
};

}  // namespace

TEST_P(MetaSources, EachElementHasItsOwnRecords) {
  const Ref<GstBuffer> out =
      process_twice("meta-name=low threshold=1", "meta-name=high threshold=200" + output);
  EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"low", "high"}));
  const std::vector<CclComponent> low = label(kGreyShapes, {.threshold = 1}).records;
  const std::vector<CclComponent> high = label(kGreyShapes, {.threshold = 200}).records;
  ASSERT_NE(low.size(), high.size());
  GstCudaCclInfo info{};
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(out.get(), "low", &info));
  expect_records(info.records, info.n_records, low);
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(out.get(), "high", &info));
  expect_records(info.records, info.n_records, high);
  ASSERT_TRUE(gst_buffer_get_cudaccl_info(out.get(), &info));
  EXPECT_STREQ(info.source, "high") << "the last one";
  EXPECT_FALSE(gst_buffer_get_cudaccl_info_by_source(out.get(), "other", &info));
  EXPECT_STREQ(info.source, "high") << "left as it is";
}

TEST_P(MetaSources, TheSameSourceIsReplaced) {
  const Ref<GstBuffer> out =
      process_twice("meta-name=one threshold=1", "meta-name=one threshold=200" + output);
  EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"one"}));
  EXPECT_EQ(count_component_metas(out.get()), 1);
  const GstCudaCclInfo info = components_of(out.get());
  expect_records(info.records, info.n_records, label(kGreyShapes, {.threshold = 200}).records);
}

TEST_P(MetaSources, RegionsOfInterestFollowTheSameRule) {
  const Ref<GstBuffer> two = process_twice("metadata=roi meta-name=low threshold=1",
                                           "metadata=roi meta-name=high threshold=200" + output);
  EXPECT_EQ(region_sources(two.get()),
            (std::multiset<std::string>{"low", "low", "low", "low", "low", "high", "high", "high"}));
  const Ref<GstBuffer> one =
      process_twice("metadata=roi meta-name=low", "metadata=roi meta-name=low threshold=200" + output);
  EXPECT_EQ(region_sources(one.get()), (std::multiset<std::string>{"low", "low", "low"}));
}

/// Whatever their type is.
TEST_P(MetaSources, RegionsOfOtherElementsStay) {
  Harness h("metadata=roi" + output, kGreyShapes);
  Ref<GstBuffer> in = make_frame(kGreyShapes, "GRAY8");
  gst_buffer_add_video_region_of_interest_meta(in.get(), "component", 1, 1, 1, 1);
  gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 2, 2, 2, 2);
  const Ref<GstBuffer> out = h.process(std::move(in));
  const std::multiset<std::string> sources = region_sources(out.get());
  EXPECT_EQ(sources.count("-"), 2u);
  EXPECT_EQ(sources.count(GST_OBJECT_NAME(h.element())), 5u);
}

INSTANTIATE_TEST_SUITE_P(Outputs, MetaSources, testing::Values("passthrough", "mask"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MetaName, IsTheElementsNameByDefault) {
  Harness h("output=mask", kGreyShapes);
  EXPECT_EQ(text_of_property(h.element(), "meta-name"), "\"\"");
  const Ref<GstBuffer> out = h.process(kGreyShapes);
  EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{GST_OBJECT_NAME(h.element())}));
}

/// One name for all frames of a stream.
TEST(MetaName, IsReadAtTheStart) {
  Harness h("output=mask meta-name=first", kGreyShapes);
  g_object_set(h.element(), "meta-name", "später \"zweiter\"", nullptr);
  EXPECT_EQ(sources_of(h.process(kGreyShapes).get()), (std::vector<std::string>{"first"}));
  h.start_again(GST_STATE_READY);
  ASSERT_TRUE(h.send_caps("GRAY8", kGreyShapes.width, kGreyShapes.height));
  const Ref<GstBuffer> out = h.process(kGreyShapes);
  EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"später \"zweiter\""}));
  EXPECT_EQ(frame_of(out), 0u) << "numbers begin again";
  g_object_set(h.element(), "meta-name", nullptr, nullptr);
  EXPECT_EQ(text_of_property(h.element(), "meta-name"), "\"\"") << "null is the empty text";
}

TEST(FrameNumbers, CountFramesThatWereLabelled) {
  Harness h("output=mask", kGreyShapes);
  EXPECT_EQ(frame_of(h.process(kGreyShapes)), 0u);
  EXPECT_EQ(h.push(Ref<GstBuffer>(gst_buffer_new())), GST_FLOW_OK) << "corrupt, so it is dropped";
  EXPECT_EQ(frame_of(h.process(kGreyShapes)), 1u);
  h.set("metadata", "0");
  h.process(kGreyShapes);
  h.set("metadata", "components");
  EXPECT_EQ(frame_of(h.process(kGreyShapes)), 3u) << "a frame without metadata counts";
  ASSERT_TRUE(h.send_caps("NV12", 20, 10));
  EXPECT_EQ(frame_of(h.process(noise(20, 10, 1), "NV12")), 4u) << "new caps are no new stream";
  EXPECT_EQ(h.stat("frames"), 5u);
}

/// With frames in flight each number still belongs to its frame.
TEST(FrameNumbers, FollowTheFramesInFlight) {
  Harness h("output=mask pipeline-depth=2", kGreyShapes);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(h.push(kGreyShapes), GST_FLOW_OK);
  }
  gst_harness_push_event(h.get(), gst_event_new_eos());
  for (guint64 i = 0; i < 5; ++i) {
    const Ref<GstBuffer> out = h.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(frame_of(out), i);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), i * kFrameDuration);
  }
}

/// A copy and a scaled frame have the metadata of both elements.
TEST(MetaSources, AllAreCopiedAndScaled) {
  Pipeline p(
      "appsrc name=in format=time caps=\"" + caps_text("GRAY8", kGreyShapes.width, kGreyShapes.height) +
      "\" ! cudaccl name=first output=passthrough backend=" + backend() +
      " ! cudaccl name=second threshold=200 output=mask backend=" + backend() +
      " ! videoscale add-borders=false ! video/x-raw,width=18,height=10 ! appsink name=out sync=false");
  ASSERT_EQ(p.push(make_frame(kGreyShapes, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(gst_sample_get_buffer(sample.get())));
  EXPECT_EQ(sources_of(copy.get()), (std::vector<std::string>{"first", "second"}));
  for (const auto& [source, count] : {std::pair{"first", 5u}, std::pair{"second", 3u}}) {
    GstCudaCclInfo info{};
    ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(copy.get(), source, &info)) << source;
    EXPECT_EQ(info.n_records, count) << source;
    EXPECT_EQ(info.width, 18u) << source;
  }
}

/// Regions of interest have the type `component` unless `object-type` is set.
TEST(ObjectType, OfRegionsOfInterest) {
  for (const auto& [properties, type] : {std::pair{"", "component"},
                                         {" meta-name=a", "component"},
                                         {" object-type=person meta-name=a", "person"}}) {
    Harness h(std::string("output=mask metadata=roi") + properties, kGreyShapes);
    const Ref<GstBuffer> out = h.process(kGreyShapes);
    gpointer state = nullptr;
    guint count = 0;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(out.get(), &state,
                                                            GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      EXPECT_STREQ(g_quark_to_string(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->roi_type), type);
      ++count;
    }
    EXPECT_EQ(count, 5u);
  }
}

/// A type that is set while frames flow waits for the next start.
TEST(ObjectType, IsReadAtTheStart) {
  Harness h("output=mask metadata=roi object-type=cell", kGreyShapes);
  h.process(kGreyShapes);
  h.set("object-type", "person");
  const Ref<GstBuffer> out = h.process(kGreyShapes);
  const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  ASSERT_NE(roi, nullptr);
  EXPECT_STREQ(g_quark_to_string(roi->roi_type), "cell");
  EXPECT_EQ(text_of_property(h.element(), "object-type"), "person");
}

}  // namespace cudaccl::test
