// SPDX-License-Identifier: LGPL-2.1-or-later
/// The property `regions`: text and files, what counts, what is refused, and changes while frames flow.
#include <glib/gstdio.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness.h"
#include "region_corpus.h"

namespace cudaccl::test {

using ccl::test::region_case;
using ccl::test::region_corpus;
using ccl::test::RegionCase;

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;

/// Columns 10 to 29 and rows 5 to 19.
constexpr const char* kBox =
    R"({"version": 1, "units": "pixels", "include": [{"name": "box", "polygon": [[10,5],[30,5],[30,20],[10,20]]}]})";
bool is_in_box(uint32_t x, uint32_t y) {
  return x >= 10 && x < 30 && y >= 5 && y < 20;
}

/// The left two thirds, without the upper half.
constexpr const char* kRelative = R"({
  /* comments are allowed */
  "version": 1,
  "include": [{"polygon": [[0, 0], [0.66666, 0], [0.66666, 1], [0, 1]]}],
  "exclude": [{"name": "sky", "polygon": [[-5, -5], [5, -5], [5, 0.5], [-5, 0.5]]}],
  "zones": [{"name": "door", "polygon": [[0, 0], [1, 0], [1, 1]], "dwell": 2.5, "crowd": 3, "comment": 1}],
  "lines": [{"name": "gate", "from": [0, 0], "to": [1, 0], "anchor": "centroid"}]
})";
bool is_in_relative(uint32_t x, uint32_t y) {
  return x < 30 && y >= 16;
}

Image cut_out(const Image& image, const std::function<bool(uint32_t, uint32_t)>& counts) {
  Image out = image;
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      out.at(x, y) = counts(x, y) ? image.at(x, y) : 0;
    }
  }
  return out;
}

/// A file that lives as long as the object.
class File {
 public:
  explicit File(const std::string& text) {
    gchar* raw = nullptr;
    close(g_file_open_tmp("cudaccl-regions-XXXXXX.json", &raw, nullptr));
    path_.reset(raw);
    write(text);
  }
  ~File() { g_remove(path_.get()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const std::string& text) {
    EXPECT_TRUE(g_file_set_contents(path_.get(), text.data(), static_cast<gssize>(text.size()), nullptr));
  }
  const char* path() const { return path_.get(); }

 private:
  static void close(gint file) { EXPECT_TRUE(g_close(file, nullptr)); }

  Text path_;
};

class Regions : public testing::Test {
 protected:
  void start(const std::string& format = "GRAY8",
             const std::string& properties = "output=labels threshold=128") {
    h = std::make_unique<Harness>(properties);
    ASSERT_TRUE(h->send_caps(format, kWidth, kHeight));
  }

  void set(const char* regions) { g_object_set(h->element(), "regions", regions, nullptr); }

  std::string value() const {
    gchar* raw = nullptr;
    g_object_get(h->element(), "regions", &raw, nullptr);
    const Text text(raw);
    return text ? text.get() : "(null)";
  }

  /// Pushes a frame and compares it with one whose pixels outside the regions are background.
  void expect(const std::function<bool(uint32_t, uint32_t)>& counts, const std::string& format = "GRAY8") {
    const Expected expected = label(cut_out(image, counts), {.threshold = 128});
    const Ref<GstBuffer> out = h->process(image, format);
    EXPECT_EQ(h->pixels(out), labels(expected));
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected.records);
  }

  const Image image = noise(kWidth, kHeight, 31);
  std::unique_ptr<Harness> h;
};

bool everywhere(uint32_t, uint32_t) {
  return true;
}

}  // namespace

TEST_F(Regions, IncludeAndExclude) {
  start();
  expect(everywhere);
  set(kBox);
  expect(is_in_box);
  set(kRelative);
  expect(is_in_relative);
  EXPECT_EQ(value(), kRelative);
  for (const char* none : {static_cast<const char*>(nullptr), ""}) {
    set(kBox);
    set(none);
    expect(everywhere);
    EXPECT_EQ(value(), "(null)");
  }
  set(R"({"version": 1})");
  expect(everywhere);
  EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr);
}

TEST_F(Regions, OfEveryRuleButValues) {
  for (const char* format : {"NV12", "GRAY8"}) {
    for (const char* properties : {"threshold=128", "threshold=128 algorithm=dlp"}) {
      start(format, std::string("output=labels ") + properties);
      set(kBox);
      expect(is_in_box, format);
    }
  }
  start("GRAY8", "output=labels foreground=values");
  set(kBox);
  EXPECT_EQ(h->pixels(h->process(image)), labels(label(image, {.values = true})));
}

/// The document is used as it is.
TEST_F(Regions, PixelsInPlaceOfPartsOfTheFrameAreDoubted) {
  start();
  set(R"({"version": 1, "include": [{"polygon": [[0, 0], [640, 0], [640, -480]]}], "exclude": []})");
  h->expect_warning({"point 1 of include[0]", "\"units\": \"pixels\""});
  expect([](uint32_t, uint32_t) { return false; });
  set(R"({"version": 1, "units": "pixels", "include": [{"polygon": [[0, 0], [640, 0], [640, -480]]}]})");
  EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr);
}

/// Nothing counts, and no pixel does.
TEST_F(Regions, OutsideTheFrame) {
  start();
  set(R"({"version": 1, "include": [{"polygon": [[2, 2], [3, 2], [3, 3]]}]})");
  expect([](uint32_t, uint32_t) { return false; });
}

TEST_F(Regions, FollowTheSizeOfFrames) {
  start();
  set(kRelative);
  expect(is_in_relative);
  ASSERT_TRUE(h->send_caps("GRAY8", 90, 20));
  const Image wide = noise(90, 20, 32);
  const Image counted = cut_out(wide, [](uint32_t x, uint32_t y) { return x < 60 && y >= 10; });
  EXPECT_EQ(h->pixels(h->process(wide)), labels(label(counted, {.threshold = 128})));
  ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  expect(is_in_relative);
}

TEST_F(Regions, FramesInFlightKeepTheirOwn) {
  start("GRAY8", "output=labels threshold=128 pipeline-depth=2");
  set(kBox);
  ASSERT_EQ(h->push(image), GST_FLOW_OK);
  set(nullptr);
  ASSERT_EQ(h->push(image), GST_FLOW_OK);
  ASSERT_EQ(h->push(image), GST_FLOW_OK);
  const Ref<GstBuffer> out = h->pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(h->pixels(out), labels(label(cut_out(image, is_in_box), {.threshold = 128})));
}

TEST_F(Regions, FromAFile) {
  const File file(kBox);
  start();
  set(file.path());
  expect(is_in_box);
  EXPECT_EQ(value(), file.path());
  File other(kRelative);
  set(other.path());
  expect(is_in_relative);
  other.write(kBox);
  expect(is_in_relative);  // read when the property is set
  set(other.path());
  expect(is_in_box);
}

namespace {

std::string with_zones(const std::string& zones) {
  return "{\"version\": 1,\n \"zones\": [" + zones + "]}";
}

/// All reasons of the element's messages of this type.
std::string reasons_of(GstBus* bus, GstMessageType type) {
  std::string all;
  while (const Ref<GstMessage> message{gst_bus_pop_filtered(bus, type)}) {
    all += text_of(message.get());
  }
  return all;
}

}  // namespace

/// The old regions stay, the property has its old value, one warning says why, and no frame is lost.
TEST_F(Regions, BadTextIsRefused) {
  start();
  set(kBox);
  expect(is_in_box);
  for (const RegionCase& c : region_corpus()) {
    SCOPED_TRACE(c.path);
    set(c.path.c_str());
    if (c.reason.empty()) {
      EXPECT_EQ(value(), c.path);
      set(kBox);
      EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr);
      continue;
    }
    EXPECT_EQ(value(), kBox);
    h->expect_warning({c.reason, c.path, "old regions stay"});
    expect(is_in_box);
  }
}

/// Wherever they are: they do not change what counts.
TEST_F(Regions, ZonesAndLinesAreNoRegions) {
  start();
  for (const char* name : {"zones-32.json", "lines-32.json", "limits.json"}) {
    set(region_case(name).text.c_str());
    EXPECT_EQ(value(), region_case(name).text);
    expect(everywhere);
  }
  EXPECT_EQ(h->message(GST_MESSAGE_WARNING), nullptr);
}

/// One that is not wholly outside is no reason for a warning.
TEST_F(Regions, OutsideTheFrameAreReportedOnce) {
  start();
  const std::string pixels = R"("units": "pixels", )";
  struct Case {
    std::string members, place;
  };
  for (
      const Case& c :
      {Case{R"("zones": [{"name": "far", "polygon": [[2, 2], [10, 2], [3, 3]]}])", "zones[0]"},
       Case{
           R"("include": [{"polygon": [[0, 0], [1, 0], [1, 1]]}, {"polygon": [[0, 1.1], [1, 1.1], [1, 2]]}])",
           "include[1]"},
       Case{pixels + R"("exclude": [{"polygon": [[-9, 0], [-1, 0], [-9, 9]]}])", "exclude[0]"},
       Case{pixels + R"("lines": [{"name": "far", "from": [9, -2], "to": [20, -1]}])", "lines[0]"},
       Case{R"("exclude": [{"polygon": [[1, 0], [2, 0], [2, 1], [1, 1]]}])", "exclude[0]"},
       Case{R"("lines": [{"name": "border", "from": [0, 0], "to": [1, 0]}])", ""},
       Case{pixels + R"("zones": [{"name": "near", "polygon": [[-9, -9], [1, -9], [1, 1]]}])", ""}}) {
    SCOPED_TRACE(c.members);
    set(("{\"version\": 1, " + c.members + "}").c_str());
    for (int frame = 0; frame < 2; ++frame) {
      h->process(image, "GRAY8");
      const bool is_first = frame == 0 && !c.place.empty();
      h->expect_warning(is_first ? Words{c.place + " is outside the frame of "} : Words{});
    }
  }
}

/// Without regions before, the whole frame counts before and after.
TEST_F(Regions, BadTextWhileFramesFlowChangesNothing) {
  start();
  expect(everywhere);
  set("{}");
  h->expect_warning({"whole frame counts, as before"});
  EXPECT_EQ(value(), "(null)");
  expect(everywhere);
}

/// No frame leaves: a region may be a privacy mask.
TEST_F(Regions, BadTextBeforeTheFirstCapsIsAnError) {
  h = std::make_unique<Harness>("output=labels threshold=128");
  set(kBox);
  set("{}");
  h->send_caps("GRAY8", kWidth, kHeight);
  EXPECT_NE(h->push(image), GST_FLOW_OK);
  const Ref<GstMessage> error = h->message(GST_MESSAGE_ERROR);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(text_of(error.get()).find("no member \"version\""), std::string::npos) << text_of(error.get());
}

/// A live camera may have caps long before its first frame. No frame may leave without a mask that was meant.
TEST_F(Regions, BadTextBeforeTheFirstFrameIsAnError) {
  for (const bool is_mended : {true, false}) {
    h = std::make_unique<Harness>("output=labels threshold=128");
    h->send_caps("GRAY8", kWidth, kHeight);
    set("{}");
    if (is_mended) {
      set(kBox);
    }
    EXPECT_EQ(h->push(image) == GST_FLOW_OK, is_mended);
    const Ref<GstMessage> error = h->message(GST_MESSAGE_ERROR);
    ASSERT_EQ(error != nullptr, !is_mended);
    if (!is_mended) {
      EXPECT_NE(text_of(error.get()).find("no member \"version\""), std::string::npos)
          << text_of(error.get());
      EXPECT_NE(h->push(image), GST_FLOW_OK);
      EXPECT_EQ(h->message(GST_MESSAGE_ERROR), nullptr) << "one error";
    }
  }
}

TEST_F(Regions, BadTextBeforeTheFirstFrameIsOneError) {
  start();
  set("{}");
  EXPECT_FALSE(h->send_caps("GRAY8", 90, 20));
  EXPECT_FALSE(h->send_caps("GRAY8", 80, 20));
  EXPECT_NE(h->push(noise(80, 20, 1)), GST_FLOW_OK);
  EXPECT_NE(h->message(GST_MESSAGE_ERROR), nullptr);
  EXPECT_EQ(h->message(GST_MESSAGE_ERROR), nullptr);
}

/// Filters that keep nothing, and what needs tracks. Zones that are drawn have an effect without them, but
/// not all outputs draw them.
TEST(RegionsBeforeTheStart, SayWhatIsUseless) {
  const std::string zone = with_zones(R"({"name": "door", "polygon": [[0, 0], [1, 0], [1, 1]]})");
  const std::string zones_need = "zones and lines of regions have no effect: track=true";
  struct Case {
    std::string regions, properties, warning;
  };
  for (const Case& c :
       {Case{zone, "", zones_need}, Case{zone, "track=true", ""}, Case{zone, "draw-regions=true", ""},
        Case{zone, "draw-regions=true output=passthrough", zones_need}, Case{kBox, "", ""},
        Case{"", "draw-ids=true", "draw-ids=true has no effect: track=true"},
        Case{"", "draw-trails=true", "draw-trails=true has no effect: track=true"},
        Case{"", "draw-ids=true draw-trails=true track=true", ""},
        Case{"", "min-area=9 max-area=8", "min-area=9 is more than max-area=8: no component is kept"},
        Case{"", "min-area=8 max-area=8 min-width=3 min-height=3", ""},
        Case{"", "threshold=9 threshold-low=10",
             "threshold-low=10 is more than threshold=9: there is no hysteresis"},
        Case{"", "threshold=9 threshold-low=10 foreground=otsu", ""},
        Case{"", "threshold=9 threshold-low=9", ""},
        Case{"", "min-width=9 max-width=8", "min-width=9 is more than max-width=8"},
        Case{"", "min-height=9 max-height=8 track=true", "min-height=9 is more than max-height=8"}}) {
    SCOPED_TRACE(c.regions + c.properties);
    const Ref<GstElement> element = make_element(c.properties);
    const Ref<GstBus> bus(gst_bus_new());
    gst_element_set_bus(element.get(), bus.get());
    g_object_set(element.get(), "regions", c.regions.c_str(), nullptr);
    gst_element_set_state(element.get(), GST_STATE_PAUSED);
    const std::string warnings = reasons_of(bus.get(), GST_MESSAGE_WARNING);
    EXPECT_EQ(warnings.substr(0, c.warning.size()), c.warning);
    EXPECT_EQ(warnings.empty(), c.warning.empty()) << warnings;
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
  }
}

/// On a launch line the property is set before anybody can receive a message. The start fails until the
/// property is set again, also if there were regions before, and between two starts.
TEST(RegionsBeforeTheStart, BadTextStopsTheElement) {
  const Ref<GstElement> element = make_element();
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  const auto set = [&](const char* regions) { g_object_set(element.get(), "regions", regions, nullptr); };
  const auto go_to = [&](GstState state) { return gst_element_set_state(element.get(), state); };
  set(kBox);
  set("/nonexistent/regions.json");
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(go_to(GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    EXPECT_NE(reasons_of(bus.get(), GST_MESSAGE_ERROR).find("/nonexistent/regions.json: No such file"),
              std::string::npos);
    go_to(GST_STATE_NULL);
  }
  for (const char* good : {kBox, static_cast<const char*>(nullptr)}) {
    set(good);
    ASSERT_EQ(go_to(GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(go_to(GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    set("{}");
    EXPECT_EQ(go_to(GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_NE(reasons_of(bus.get(), GST_MESSAGE_ERROR).find("version"), std::string::npos);
  }
  set(kBox);
  EXPECT_EQ(go_to(GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(reasons_of(bus.get(), static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)), "");
  go_to(GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

}  // namespace cudaccl::test
