// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstCudaCclLabelMap: the label or the id of each pixel, on the frame's buffer.
#include "cudaccl/gstcudaccllabelmap.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 34;

GstCudaCclLabelMap label_map_of(GstBuffer* buffer) {
  GstCudaCclLabelMap map{};
  EXPECT_TRUE(gst_buffer_get_cudaccl_label_map(buffer, &map));
  return map;
}

/// The values without padding.
std::vector<uint32_t> values_of(const GstCudaCclLabelMap& map) {
  std::vector<uint32_t> values;
  GstMapInfo memory;
  if (map.labels == nullptr || !gst_buffer_map(map.labels, &memory, GST_MAP_READ)) {
    ADD_FAILURE() << "the map cannot be read";
    return values;
  }
  for (guint y = 0; y < map.height; ++y) {
    const guint32* row = gst_cudaccl_label_map_row(&map, &memory, y);
    values.insert(values.end(), row, row + map.width);
  }
  EXPECT_EQ(gst_cudaccl_label_map_row(&map, &memory, map.height), nullptr);
  gst_buffer_unmap(map.labels, &memory);
  return values;
}

std::vector<uint32_t> values_of(const Ref<GstBuffer>& buffer) {
  return values_of(label_map_of(buffer.get()));
}

/// The labels of components that the filter keeps, each as the value that `values` has for it.
std::vector<uint32_t> expected_map(const Expected& expected, const std::map<uint32_t, uint32_t>& values) {
  std::vector<uint32_t> map = expected.frame.labels;
  for (uint32_t& label : map) {
    const auto found = values.find(label);
    label = found != values.end() ? found->second : 0;
  }
  return map;
}

std::vector<uint32_t> expected_labels(const Image& image, const Rule& rule) {
  const Expected expected = label(image, rule);
  std::map<uint32_t, uint32_t> kept;
  for (const CclComponent& record : expected.records) {
    kept[record.label] = record.label;
  }
  return expected_map(expected, kept);
}

/// The sources of the maps of a buffer, in their order.
std::vector<std::string> sources_of(GstBuffer* buffer) {
  std::vector<std::string> sources;
  gpointer state = nullptr;
  GstCudaCclLabelMap map{};
  while (gst_buffer_iterate_cudaccl_label_map(buffer, &state, &map)) {
    sources.emplace_back(map.source);
  }
  return sources;
}

/// appsrc of GRAY8, cudaccl with a map of labels, then `rest`.
std::string launch(const std::string& properties, const std::string& rest) {
  return "appsrc name=in format=time caps=\"" + caps_text("GRAY8", kWidth, kHeight) +
         "\" ! cudaccl label-map=labels backend=" + backend() + " " + properties + " ! " + rest;
}

class LabelMapOutput : public testing::TestWithParam<const char*> {
 protected:
  const std::string output = std::string(" output=") + GetParam();
};

}  // namespace

TEST_P(LabelMapOutput, HasTheLabelsThatTheFiltersKeep) {
  const Rule rule{.connectivity = 4, .threshold = 128, .min_area = 3, .max_area = 60};
  for (const char* format : {"GRAY8", "NV12"}) {
    for (const char* depth : {"0", "2"}) {
      Harness h("label-map=labels connectivity=4-way threshold=128 min-area=3 max-area=60 pipeline-depth=" +
                    std::string(depth) + output,
                format, kWidth, kHeight);
      std::vector<std::vector<uint32_t>> expected;
      for (uint32_t seed = 0; seed < 5; ++seed) {
        const Image image = noise(kWidth, kHeight, seed);
        expected.push_back(expected_labels(image, rule));
        ASSERT_NE(expected.back(), expected_labels(image, {.connectivity = 4, .threshold = 128}));
        ASSERT_EQ(h.push(image, format), GST_FLOW_OK);
      }
      gst_harness_push_event(h.get(), gst_event_new_eos());
      for (const std::vector<uint32_t>& labels : expected) {
        const Ref<GstBuffer> out = h.pull();
        ASSERT_NE(out, nullptr);
        EXPECT_EQ(values_of(out), labels) << format << " at depth " << depth;
      }
    }
  }
}

TEST_P(LabelMapOutput, BelongsToTheRecords) {
  Harness h("label-map=labels meta-name=one" + output, "GRAY8", kWidth, kHeight);
  for (guint64 i = 0; i < 3; ++i) {
    const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 7));
    const GstCudaCclLabelMap map = label_map_of(out.get());
    EXPECT_STREQ(map.source, "one");
    EXPECT_EQ(map.frame, i);
    EXPECT_EQ(map.frame, components_of(out.get()).frame);
    EXPECT_EQ(map.width, kWidth);
    EXPECT_EQ(map.height, kHeight);
    EXPECT_FALSE(map.is_ids);
    EXPECT_EQ(GST_BUFFER_PTS(map.labels), GST_BUFFER_PTS(out.get()));
  }
}

INSTANTIATE_TEST_SUITE_P(, LabelMapOutput,
                         testing::Values("passthrough", "mask", "colorized", "overlay", "labels"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LabelMap, IsNotThereByDefault) {
  Harness h("output=mask", "GRAY8", kWidth, kHeight);
  const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 1));
  GstCudaCclLabelMap map{};
  map.width = 77;
  EXPECT_FALSE(gst_buffer_get_cudaccl_label_map(out.get(), &map));
  EXPECT_EQ(map.width, 77u) << "left as it is";
}

/// The second frame is another picture, so that ids are not labels.
TEST(LabelMap, IdsAreThoseOfTheRecords) {
  Harness h("label-map=ids track=true track-confirm=1 threshold=128 min-area=4 output=passthrough", "GRAY8",
            kWidth, kHeight);
  bool differs = false;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const Image image = noise(kWidth, kHeight, seed);
    const Ref<GstBuffer> out = h.process(image);
    EXPECT_TRUE(label_map_of(out.get()).is_ids);
    const GstCudaCclInfo info = components_of(out.get());
    std::map<uint32_t, uint32_t> ids;
    for (guint i = 0; i < info.n_records; ++i) {
      ids[info.records[i].label] = info.records[i].id;
      differs = differs || info.records[i].id != info.records[i].label;
    }
    EXPECT_EQ(values_of(out), expected_map(label(image, {.threshold = 128, .min_area = 4}), ids)) << seed;
  }
  EXPECT_TRUE(differs);
}

TEST(LabelMap, IdsAreLabelsWithoutTracks) {
  Harness h("label-map=ids min-area=4 output=mask", "GRAY8", kWidth, kHeight);
  const Image image = noise(kWidth, kHeight, 3);
  EXPECT_EQ(values_of(h.process(image)), expected_labels(image, {.min_area = 4}));
}

/// A map without records: the metadata of its own.
TEST(LabelMap, NeedsNoOtherMetadata) {
  Harness h("label-map=labels metadata=0 output=mask", "GRAY8", kWidth, kHeight);
  const Image image = noise(kWidth, kHeight, 3);
  const Ref<GstBuffer> out = h.process(image);
  EXPECT_EQ(count_component_metas(out.get()), 0);
  EXPECT_EQ(values_of(out), expected_labels(image, {}));
}

TEST(LabelMap, MemoryIsUsedAgain) {
  for (const uint32_t depth : {0u, 2u}) {
    Harness h("label-map=labels output=mask pipeline-depth=" + std::to_string(depth), "GRAY8", kWidth,
              kHeight);
    std::set<GstMemory*> seen;
    for (uint32_t i = 0; i < 20; ++i) {
      ASSERT_EQ(h.push(noise(kWidth, kHeight, i)), GST_FLOW_OK);
      if (i < depth) {
        continue;  // nothing has left yet
      }
      const Ref<GstBuffer> out = h.pull();
      ASSERT_NE(out, nullptr);
      seen.insert(gst_buffer_peek_memory(label_map_of(out.get()).labels, 0));
    }
    EXPECT_LE(seen.size(), depth + 1);
  }
}

/// Else the frames behind them would need new memory.
TEST(LabelMap, DiscardedFramesGiveTheirMapsBack) {
  Harness h("label-map=labels output=mask pipeline-depth=2", "GRAY8", kWidth, kHeight);
  std::set<GstMemory*> seen;
  for (int i = 0; i < 5; ++i) {
    for (uint32_t j = 0; j < 3; ++j) {
      ASSERT_EQ(h.push(noise(kWidth, kHeight, j)), GST_FLOW_OK);
    }
    const bool is_discarded = i % 2 == 1;
    if (is_discarded) {
      h.flush();
    } else {
      gst_harness_push_event(h.get(), gst_event_new_gap(0, kFrameDuration));
    }
    std::vector<Ref<GstBuffer>> frames;
    for (uint32_t j = 0; j < (is_discarded ? 1u : 3u); ++j) {
      frames.push_back(h.pull());
      ASSERT_NE(frames.back(), nullptr);
      seen.insert(gst_buffer_peek_memory(label_map_of(frames.back().get()).labels, 0));
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

/// Also when the stream goes on, the size changes, and the element stops.
TEST(LabelMap, AReaderMayKeepIt) {
  const Image image = noise(kWidth, kHeight, 11);
  Ref<GstBuffer> kept;
  GstCudaCclLabelMap map{};
  {
    Harness h("label-map=labels output=mask", "GRAY8", kWidth, kHeight);
    {
      const Ref<GstBuffer> out = h.process(image);
      map = label_map_of(out.get());
      kept.reset(gst_buffer_ref(map.labels));
    }
    for (uint32_t i = 0; i < 5; ++i) {
      const Image other = noise(kWidth, kHeight, i);
      EXPECT_EQ(values_of(h.process(other)), expected_labels(other, {}));
    }
    ASSERT_TRUE(h.send_caps("GRAY8", 20, 10));
    const Image small = noise(20, 10, 2);
    EXPECT_EQ(values_of(h.process(small)), expected_labels(small, {}));
    gst_element_set_state(h.element(), GST_STATE_NULL);
  }
  map.labels = kept.get();
  EXPECT_EQ(values_of(map), expected_labels(image, {}));
}

TEST(LabelMap, BranchesOfATeeShareIt) {
  Pipeline p(launch("output=mask",
                    "tee name=t ! queue ! appsink name=out sync=false "
                    "t. ! queue ! identity ! appsink name=other sync=false"));
  for (uint32_t i = 0; i < 5; ++i) {
    ASSERT_EQ(p.push(make_frame(noise(kWidth, kHeight, i), "GRAY8")), GST_FLOW_OK);
  }
  p.end();
  for (uint32_t i = 0; i < 5; ++i) {
    const Ref<GstSample> one = p.pull();
    const Ref<GstSample> two = p.pull("other");
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    const Ref<GstBuffer> copy(gst_buffer_copy(gst_sample_get_buffer(two.get())));
    const GstCudaCclLabelMap map = label_map_of(gst_sample_get_buffer(one.get()));
    EXPECT_EQ(map.labels, label_map_of(copy.get()).labels) << "a copy of the frame shares the values";
    EXPECT_FALSE(gst_buffer_is_writable(map.labels));
    EXPECT_EQ(values_of(copy), expected_labels(noise(kWidth, kHeight, i), {}));
  }
}

/// Elements that keep each pixel in its place keep the map; others drop it.
TEST(LabelMap, FollowsOnlyWhereNoPixelMoves) {
  struct Case {
    const char* rest;
    bool is_kept;
  };
  for (const Case& c : {Case{"videoconvert ! video/x-raw,format=RGBA", true}, Case{"identity", true},
                        Case{"videoconvert ! videobalance hue=0.3", true},
                        Case{"videoscale ! video/x-raw,width=45,height=34", true},
                        Case{"videoscale ! video/x-raw,width=90,height=68", false},
                        Case{"videoscale ! video/x-raw,width=45,height=68", false},
                        Case{"videocrop left=2", false}, Case{"videoflip video-direction=horiz", false},
                        Case{"videoflip video-direction=90r", false}, Case{"videobox left=-4 right=4", false},
                        // Another pad may cover this one.
                        Case{"compositor ! video/x-raw,width=45,height=34", false}}) {
    Pipeline p(launch("output=mask", std::string(c.rest) + " ! appsink name=out sync=false"));
    const Image image = noise(kWidth, kHeight, 4);
    ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
    p.end();
    const Ref<GstSample> sample = p.pull();
    ASSERT_NE(sample, nullptr) << c.rest;
    GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    EXPECT_EQ(sources_of(buffer).size(), c.is_kept ? 1u : 0u) << c.rest;
    if (c.is_kept) {
      EXPECT_EQ(values_of(label_map_of(buffer)), expected_labels(image, {})) << c.rest;
    }
  }
}

TEST(LabelMap, APartOfABufferHasNone) {
  Harness h("label-map=labels output=mask", "GRAY8", kWidth, kHeight);
  const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 4));
  const Ref<GstBuffer> part(gst_buffer_copy_region(out.get(), GST_BUFFER_COPY_ALL, 0, 100));
  EXPECT_TRUE(sources_of(part.get()).empty());
}

TEST(LabelMap, EachElementHasItsOwn) {
  const Image image = noise(kWidth, kHeight, 5);
  for (const char* output : {"passthrough", "mask"}) {
    for (const char* second : {"high", "low"}) {
      Harness a("output=passthrough label-map=labels meta-name=low threshold=1");
      Harness b("label-map=ids threshold=200 meta-name=" + std::string(second) + " output=" + output);
      ASSERT_TRUE(a.send_caps("GRAY8", kWidth, kHeight));
      ASSERT_TRUE(b.send_caps("GRAY8", kWidth, kHeight));
      const Ref<GstBuffer> out = b.process(a.process(image));
      GstCudaCclLabelMap map = label_map_of(out.get());
      EXPECT_TRUE(map.is_ids) << "the last one";
      EXPECT_EQ(values_of(map), expected_labels(image, {.threshold = 200}));
      if (std::string(second) == "low") {
        EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"low"})) << "replaced";
        continue;
      }
      EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"low", "high"}));
      ASSERT_TRUE(gst_buffer_get_cudaccl_label_map_by_source(out.get(), "low", &map));
      EXPECT_FALSE(map.is_ids);
      EXPECT_EQ(values_of(map), expected_labels(image, {.threshold = 1}));
      EXPECT_FALSE(gst_buffer_get_cudaccl_label_map_by_source(out.get(), "other", &map));
    }
  }
}

/// A buffer that holds more than the frame: the map is that of the frame.
TEST(LabelMap, OfACroppedFrameStaysWithTheFrame) {
  const Image whole = noise(kWidth + 10, kHeight + 6, 6);
  const Image frame = cut(whole, 4, 2, kWidth, kHeight);
  Ref<GstBuffer> in = make_padded_frame(whole, "GRAY8", {});
  add_crop(in.get(), 4, 2, kWidth, kHeight);
  Harness a("output=passthrough label-map=labels meta-name=first");
  Harness b("output=mask label-map=labels meta-name=second");
  ASSERT_TRUE(a.send_caps("GRAY8", kWidth, kHeight));
  ASSERT_TRUE(b.send_caps("GRAY8", kWidth, kHeight));
  const Ref<GstBuffer> passed = a.process(std::move(in));
  const Ref<GstBuffer> out = b.process(Ref<GstBuffer>(gst_buffer_ref(passed.get())));
  EXPECT_EQ(sources_of(out.get()), (std::vector<std::string>{"first", "second"}));
  GstCudaCclLabelMap map{};
  for (const char* source : {"first", "second"}) {
    ASSERT_TRUE(gst_buffer_get_cudaccl_label_map_by_source(out.get(), source, &map));
    EXPECT_EQ(values_of(map), expected_labels(frame, {})) << source;
  }
}

TEST(LabelMap, ChangesWhileTheStreamRuns) {
  for (const char* depth : {"0", "3"}) {
    Harness h("output=mask track=true track-confirm=1 pipeline-depth=" + std::string(depth), "GRAY8", kWidth,
              kHeight);
    const char* kinds[] = {"none", "labels", "ids", "none", "ids", "labels", "labels"};
    for (const char* kind : kinds) {
      h.set("label-map", kind);
      ASSERT_EQ(h.push(noise(kWidth, kHeight, 8)), GST_FLOW_OK);
    }
    gst_harness_push_event(h.get(), gst_event_new_eos());
    for (const char* kind : kinds) {
      const Ref<GstBuffer> out = h.pull();
      ASSERT_NE(out, nullptr);
      const std::vector<std::string> sources = sources_of(out.get());
      ASSERT_EQ(sources.size(), std::string(kind) == "none" ? 0u : 1u);
      if (!sources.empty()) {
        EXPECT_STREQ(gst_structure_get_string(structure_of(out.get(), GST_CUDACCL_LABEL_MAP_NAME), "kind"),
                     kind);
      }
    }
  }
}

/// A corrupt frame between others is dropped, and its place in the pool is not lost.
TEST(LabelMap, CorruptFramesHaveNone) {
  Harness h("label-map=labels output=mask", "GRAY8", kWidth, kHeight);
  const Image image = noise(kWidth, kHeight, 9);
  h.process(image);
  EXPECT_EQ(h.push(Ref<GstBuffer>(gst_buffer_new())), GST_FLOW_OK);
  EXPECT_EQ(values_of(h.process(image)), expected_labels(image, {}));
}

TEST(LabelMap, BrokenMetadataIsRefused) {
  Harness h("label-map=labels output=mask", "GRAY8", kWidth, kHeight);
  const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 9));
  const GstStructure* good = structure_of(out.get(), GST_CUDACCL_LABEL_MAP_NAME);
  ASSERT_NE(good, nullptr);
  GstCudaCclLabelMap map{};
  ASSERT_TRUE(gst_structure_get_cudaccl_label_map(good, &map));
  const guint stride = map.stride;
  const auto is_refused = [&](auto&& change) {
    const Ref<GstStructure> broken(gst_structure_copy(good));
    change(broken.get());
    return !gst_structure_get_cudaccl_label_map(broken.get(), &map);
  };
  EXPECT_FALSE(is_refused([](GstStructure* s) { gst_structure_set(s, "later", G_TYPE_UINT, 1, nullptr); }));
  for (const char* field : {"source", "frame", "width", "height", "stride", "kind", "labels"}) {
    EXPECT_TRUE(is_refused([&](GstStructure* s) { gst_structure_remove_field(s, field); })) << field;
    EXPECT_TRUE(is_refused([&](GstStructure* s) {
      gst_structure_set(s, field, G_TYPE_DOUBLE, 1.0, nullptr);
    })) << field;
  }
  for (const auto& [field, value] : std::vector<std::pair<const char*, guint>>{{"width", 0},
                                                                               {"height", 0},
                                                                               {"width", stride / 4 + 1},
                                                                               {"height", kHeight + 1},
                                                                               {"height", G_MAXUINT},
                                                                               {"stride", stride + 1},
                                                                               {"stride", stride + 4},
                                                                               {"stride", 0},
                                                                               {"width", G_MAXUINT},
                                                                               {"stride", G_MAXUINT - 3}}) {
    EXPECT_TRUE(is_refused([field = field, value = value](GstStructure* s) {
      gst_structure_set(s, field, G_TYPE_UINT, value, nullptr);
    })) << field
        << "=" << value;
  }
  EXPECT_TRUE(
      is_refused([](GstStructure* s) { gst_structure_set(s, "kind", G_TYPE_STRING, "colours", nullptr); }));
  EXPECT_TRUE(is_refused([](GstStructure* s) {
    GstBufferList* empty = gst_buffer_list_new();
    gst_structure_set(s, "labels", GST_TYPE_BUFFER_LIST, empty, nullptr);
    gst_buffer_list_unref(empty);
  }));
  EXPECT_TRUE(is_refused(
      [](GstStructure* s) { gst_structure_set(s, "labels", GST_TYPE_BUFFER_LIST, nullptr, nullptr); }));
}

/// A map of a large frame would be megabytes of text for each frame.
TEST(LabelMap, IsNotWrittenAsText) {
  Harness h("label-map=labels output=mask", "GRAY8", kWidth, kHeight);
  const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 9));
  const Text text(gst_structure_to_string(structure_of(out.get(), GST_CUDACCL_LABEL_MAP_NAME)));
  EXPECT_LT(std::string(text.get()).size(), 300u) << text.get();
#if GST_CHECK_VERSION(1, 24, 0)
  GByteArray* bytes = g_byte_array_new();
  EXPECT_FALSE(gst_meta_serialize_simple(
      &gst_buffer_get_custom_meta(out.get(), GST_CUDACCL_LABEL_MAP_NAME)->meta, bytes));
  EXPECT_EQ(bytes->len, 0u);
  g_byte_array_unref(bytes);
#endif
}

/// The map lies where its frame lies.
TEST(LabelMap, IsInCudaMemoryIfTheOutputIs) {
  if (backend() != "cuda") {
    GTEST_SKIP() << "only backend=cuda writes CUDA memory";
  }
  if (const Ref<GstElement> upload(gst_element_factory_make("cudaupload", nullptr)); upload == nullptr) {
    GTEST_SKIP() << "GStreamer has no cudaupload";
  }
  const Rule rule{.threshold = 128, .min_area = 3};
  for (const auto& [output, feature] : std::vector<std::pair<std::string, std::string>>{
           {"colorized", "(memory:CUDAMemory)"}, {"passthrough", "(memory:CUDAMemory)"}, {"mask", ""}}) {
    Pipeline p("appsrc name=in format=time caps=\"" + caps_text("NV12", 150, 62) +
               "\" ! cudaupload ! cudaccl backend=cuda pipeline-depth=2 threshold=128 min-area=3 " +
               "label-map=labels output=" + output + " ! video/x-raw" + feature +
               " ! appsink name=out sync=false");
    for (uint32_t i = 0; i < 6; ++i) {
      ASSERT_EQ(p.push(make_frame(noise(150, 62, i), "NV12")), GST_FLOW_OK);
    }
    p.end();
    for (uint32_t i = 0; i < 6; ++i) {
      const Ref<GstSample> sample = p.pull();
      ASSERT_NE(sample, nullptr) << output;
      const GstCudaCclLabelMap map = label_map_of(gst_sample_get_buffer(sample.get()));
      ASSERT_NE(map.labels, nullptr);
      GstMemory* memory = gst_buffer_peek_memory(map.labels, 0);
      EXPECT_EQ(gst_memory_is_type(memory, "gst.cuda.memory") != FALSE, !feature.empty()) << output;
      EXPECT_EQ(values_of(map), expected_labels(noise(150, 62, i), rule)) << output << i;
    }
  }
}

}  // namespace cudaccl::test
