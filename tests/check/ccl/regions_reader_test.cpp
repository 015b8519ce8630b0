// SPDX-License-Identifier: LGPL-2.1-or-later
/// Documents of regions: the corpus, what they become, and the limits of size.
#include "ccl/regions_reader.h"

#include <gtest/gtest.h>

#include "ccl/json.h"
#include "ccl/region_rules.h"
#include "region_corpus.h"

namespace ccl::test {

namespace {

std::string reason_of(const std::string& source) {
  Regions regions;
  return read_regions(source, &regions).message();
}

std::string polygon_of(size_t n_points) {
  std::string points = "[0,0]";
  for (size_t i = 1; i < n_points; ++i) {
    points += ",[1,1]";
  }
  return "{\"polygon\": [" + points + "]}";
}

std::string include(size_t n_polygons, size_t n_points) {
  std::string list = polygon_of(n_points);
  for (size_t i = 1; i < n_polygons; ++i) {
    list += "," + polygon_of(n_points);
  }
  return "{\"version\": 1, \"include\": [" + list + "]}";
}

std::string comment(const std::string& value) {
  return "{\"version\": 1, \"comment\": " + value + "}";
}

std::string repeated(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

}  // namespace

TEST(RegionsReader, VerdictsOfTheCorpus) {
  for (const RegionCase& c : region_corpus()) {
    for (const std::string& source : {c.text, c.path}) {
      const std::string reason = reason_of(source);
      EXPECT_EQ(reason.empty(), c.reason.empty()) << c.path << ": " << reason;
      EXPECT_NE(reason.find(c.reason), std::string::npos) << c.path << ": " << reason;
    }
  }
}

/// A part of a good document is never one, except for the blanks and comments at its ends.
TEST(RegionsReader, CutDocumentsAreRefused) {
  for (const RegionCase& c : region_corpus()) {
    const size_t end = c.text.rfind('}');
    for (size_t size = c.text.find('{') + 1; c.reason.empty() && size <= end; ++size) {
      EXPECT_NE(reason_of(c.text.substr(0, size)), "") << c.path << " " << size;
    }
  }
}

TEST(RegionsReader, MembersBecomeRegions) {
  Regions r;
  ASSERT_TRUE(read_regions(region_case("all-members.json").text, &r).ok());
  EXPECT_TRUE(r.is_relative);
  ASSERT_EQ(r.include.size(), 1u);
  EXPECT_EQ(r.include[0].name, "left");
  EXPECT_EQ(r.include[0].polygon[1], (Point{0.66666, 0}));
  ASSERT_EQ(r.exclude.size(), 1u);
  EXPECT_EQ(r.exclude[0].name, "");
  const Zone zone = {.name = "door",
                     .polygon = {{0, 0}, {1, 0}, {1, 1}},
                     .anchor = Anchor::kBottom,
                     .margin = 0.1,
                     .dwell_ns = 2'500'000'000,
                     .crowd = 3};
  EXPECT_EQ(r.zones, std::vector{zone});
  const Line line = {
      .name = "door", .from = {0, 0}, .to = {1, 0}, .anchor = Anchor::kCentroid, .margin = 1.5};
  EXPECT_EQ(r.lines, std::vector{line});
  ASSERT_TRUE(read_regions(region_case("escapes.json").text, &r).ok());
  EXPECT_EQ(r.lines[0].name, "a\"\\/\b\f\n\r\t\u00e9\U0001F600\u00e9\U0001F600");
}

TEST(RegionsReader, SizesAreBounded) {
  EXPECT_EQ(reason_of(include(1, kMaxPoints)), "");
  EXPECT_NE(reason_of(include(1, kMaxPoints + 1)).find("have 10001 points together"), std::string::npos);
  EXPECT_NE(reason_of(include(2, kMaxPoints / 2 + 1)).find("have 10002 points together"), std::string::npos);
  EXPECT_EQ(reason_of(include(kMaxPolygons, 3)), "");
  EXPECT_NE(reason_of(include(kMaxPolygons + 1, 3)).find("include has 1001 elements"), std::string::npos);
  EXPECT_NE(reason_of(comment(std::string(75'000, '['))).find("more than 32 arrays"), std::string::npos);
  EXPECT_NE(reason_of(comment("[" + repeated(json::kMaxValues, "0,") + "0]")).find("100000 values"),
            std::string::npos);
  std::string members;
  for (size_t i = 0; i <= json::kMaxMembers; ++i) {
    members += "\"" + std::to_string(i) + "\": 0,";
  }
  EXPECT_NE(reason_of(comment("{" + members + "}")).find("more than 100 members"), std::string::npos);
  const std::string blanks(json::kMaxBytes - comment("1").size(), ' ');
  EXPECT_EQ(reason_of(comment("1") + blanks), "");
  EXPECT_NE(reason_of(comment("1") + blanks + " ").find("more than 1048576 bytes"), std::string::npos);
}

TEST(RegionsReader, PathsThatCannotBeRead) {
  EXPECT_EQ(reason_of("/nonexistent/regions.json"), "/nonexistent/regions.json: No such file or directory");
  EXPECT_EQ(reason_of("/"), "/: it is not a file");
  EXPECT_EQ(reason_of("/dev/zero"), "/dev/zero: it is not a file");
  for (const std::string& source : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_NE(reason_of(source).find("begins with a brace"), std::string::npos);
  }
}

/// Some editors write a byte order mark. A place does not count it.
TEST(JsonTest, BeginsAndEndsOfFiles) {
  json::Value value;
  EXPECT_TRUE(json::parse("\xef\xbb\xbf{}", &value).ok());
  EXPECT_EQ(json::parse("\xef\xbb\xbf{]", &value).message(),
            "line 1, character 2: the name of a member in quotation marks is missing");
  EXPECT_EQ(json::parse("", &value).message(), "line 1, character 1: the document is empty");
  EXPECT_EQ(json::parse(" \n", &value).message(), "line 2, character 1: the document is empty");
  EXPECT_EQ(json::parse("[", &value).message(), "line 1, character 2: the document does not end");
}

TEST(JsonTest, WordsHaveTheirKinds) {
  json::Value list;
  ASSERT_TRUE(json::parse("[null, true, false]", &list).ok());
  ASSERT_EQ(list.elements.size(), 3u);
  EXPECT_EQ(list.elements[0].kind, json::Kind::kNull);
  EXPECT_EQ(list.elements[1].kind, json::Kind::kBoolean);
  EXPECT_EQ(list.elements[2].kind, json::Kind::kBoolean);
}

}  // namespace ccl::test
