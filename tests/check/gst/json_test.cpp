// SPDX-License-Identifier: LGPL-2.1-or-later
/// gstcudaccljson.h, whose text json-glib parses here. tests/validate/test_json.py has whole frames.
#include <gtest/gtest.h>
#include <json-glib/json-glib.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "cudaccl/gstcudaccljson.h"

namespace cudaccl::test {

namespace {

struct FreeString {
  void operator()(GString* text) const { g_string_free(text, TRUE); }
};

template <typename Append>
std::string text_from(Append append) {
  const std::unique_ptr<GString, FreeString> text(g_string_new(nullptr));
  append(text.get());
  return {text->str, text->len};
}

std::string json_of(gfloat value) {
  return text_from([&](GString* text) { gst_cudaccl_json_append_float(text, value); });
}

std::string json_of(const gchar* string) {
  return text_from([&](GString* text) { gst_cudaccl_json_append_string(text, string); });
}

struct FreeNode {
  void operator()(JsonNode* node) const { json_node_unref(node); }
};
using Node = std::unique_ptr<JsonNode, FreeNode>;

Node parse(const std::string& text) {
  GError* error = nullptr;
  Node node(json_from_string(text.c_str(), &error));
  EXPECT_EQ(error, nullptr) << error->message << ": " << text;
  return node;
}

std::string string_in(const std::string& text) {
  const Node node = parse(text);
  return json_node_get_string(node.get());
}

gfloat float_from(guint32 bits) {
  gfloat value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

TEST(Json, FloatsReadBackAsTheSame) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const gfloat value = float_from(static_cast<guint32>(random()));
    if (!std::isfinite(value)) {
      continue;
    }
    const std::string text = json_of(value);
    ASSERT_EQ(static_cast<gfloat>(g_ascii_strtod(text.c_str(), nullptr)), value) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
    ASSERT_LE(text.size(), 15u) << text;
  }
}

TEST(Json, FloatsAreShortAndNeverNotANumber) {
  EXPECT_EQ(json_of(0.1F), "0.1");
  EXPECT_EQ(json_of(0.0F), "0.0");
  EXPECT_EQ(json_of(1919.0F), "1919.0");
  EXPECT_EQ(json_of(-12.5F), "-12.5");
  EXPECT_EQ(json_of(16777216.0F), "16777216.0");
  EXPECT_EQ(json_of(1.0F / 3), "0.33333334");
  for (const gfloat value :
       {std::numeric_limits<gfloat>::infinity(), -std::numeric_limits<gfloat>::infinity(),
        std::numeric_limits<gfloat>::quiet_NaN()}) {
    EXPECT_EQ(json_of(value), "null");
  }
}

TEST(Json, StringsAreEscaped) {
  for (const char* text : {"", "door", "\"door\" \\ /", "tab\tnew\nline\x01\x1f", "Tür 门 🚪"}) {
    EXPECT_EQ(string_in(json_of(text)), text);
  }
  EXPECT_EQ(string_in(json_of("a\xff"
                              "b")),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(json_of(static_cast<const gchar*>(nullptr)), "null");
}

/// Numbers at the ends of their ranges, indices that lead nowhere, and types and bits that nobody knows.
TEST(Json, AnyRecordsGiveJson) {
  std::mt19937 random(2);
  const auto fill = [&](auto* record) {
    auto* bytes = reinterpret_cast<guint8*>(record);
    for (size_t i = 0; i < sizeof(*record); ++i) {
      bytes[i] = static_cast<guint8>(random() % 3 == 0 ? 0xff : random());
    }
  };
  for (int i = 0; i < 2000; ++i) {
    CclComponent component;
    CclTrack track;
    CclEvent event;
    CclGrey grey;
    CclPolygon polygon;
    CclVertex vertices[3];
    fill(&component);
    fill(&track);
    fill(&event);
    fill(&grey);
    grey.sum >>= 1;  // json-glib has no unsigned numbers
    fill(&polygon);
    polygon.first = 1;
    polygon.n_vertices = 2;
    for (CclVertex& vertex : vertices) {
      fill(&vertex);
    }
    GstCudaCclInfo info{};
    info.source = "camera \"1\"";
    info.frame = std::numeric_limits<guint64>::max() >> 1;
    info.width = info.height = info.n_components = std::numeric_limits<guint>::max();
    info.records = &component;
    info.tracks = &track;
    info.events = &event;
    info.n_records = info.n_tracks = info.n_events = 1;
    info.is_tracked = info.has_grey = info.has_polygons = TRUE;
    info.grey = &grey;
    info.polygons = &polygon;
    info.n_grey = info.n_polygons = 1;
    info.vertices = vertices;
    info.n_vertices = 3;
    const std::string text =
        text_from([&](GString* json) { gst_cudaccl_info_append_json(&info, GST_CLOCK_TIME_NONE, json); });
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const Node node = parse(text);
    JsonObject* frame = json_node_get_object(node.get());
    EXPECT_STREQ(json_object_get_string_member(frame, "schema"), GST_CUDACCL_JSON_SCHEMA);
    EXPECT_STREQ(json_object_get_string_member(frame, "source"), info.source);
    EXPECT_TRUE(json_object_get_null_member(frame, "pts"));
    for (const char* list : {"components", "tracks", "events", "polygons"}) {
      ASSERT_EQ(json_array_get_length(json_object_get_array_member(frame, list)), 1u) << list;
    }
  }
}

/// Without tracks there are no keys for them.
TEST(Json, WhatIsNotThereIsMissing) {
  GstCudaCclInfo info{};
  info.source = "door";
  const std::string text =
      text_from([&](GString* json) { gst_cudaccl_info_append_json(&info, 5 * GST_SECOND, json); });
  const Node node = parse(text);
  JsonObject* frame = json_node_get_object(node.get());
  EXPECT_STREQ(json_object_get_string_member(frame, "source"), "door");
  EXPECT_EQ(json_object_get_int_member(frame, "frame"), 0);
  EXPECT_EQ(json_object_get_int_member(frame, "pts"), gint64{5 * GST_SECOND});
  EXPECT_FALSE(json_object_has_member(frame, "polygons"));
  EXPECT_FALSE(json_object_has_member(frame, "polygons_truncated"));
  EXPECT_FALSE(json_object_has_member(frame, "tracks"));
  EXPECT_FALSE(json_object_has_member(frame, "events"));
  EXPECT_EQ(json_array_get_length(json_object_get_array_member(frame, "components")), 0u);
}

}  // namespace cudaccl::test
