// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties of the segment stage, changed between the frames of a running stream.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "segmentation.h"

namespace cudaccl::test {

namespace {

using ccl::test::SegmentationCase;

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;

/// A change of a property, and the same of what the definition takes.
struct Step {
  const char* property;
  const char* value;
  std::function<void(SegmentationCase*)> apply;
};

class SegmentProperties : public testing::Test {
 protected:
  void start(const std::string& properties) {
    h = std::make_unique<Harness>("output=labels " + properties);
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  }

  /// Each frame must have the foreground of all steps until then, and each step must change what is found.
  void expect(const std::vector<Step>& steps) {
    std::string what;
    std::vector<uint8_t> last;
    for (const Step& step : steps) {
      h->set(step.property, step.value);
      step.apply(&wanted);
      what += std::string(" ") + step.property + "=" + step.value;
      SCOPED_TRACE(what);
      const Expected expected = label({kWidth, kHeight, expect_foreground(with_rows(image), wanted)},
                                      {.connectivity = wanted.connectivity == ccl::Connectivity::k4 ? 4 : 8});
      const Ref<GstBuffer> out = h->process(image);
      EXPECT_EQ(h->pixels(out), labels(expected));
      EXPECT_NE(labels(expected), last);
      last = labels(expected);
      const GstCudaCclInfo info = components_of(out.get());
      expect_records(info.records, info.n_records, expected.records);
    }
  }

  const Image image = noise(kWidth, kHeight, 41);
  std::unique_ptr<Harness> h;
  SegmentationCase wanted;
};

}  // namespace

TEST_F(SegmentProperties, Otsu) {
  start("");
  expect({{"threshold", "200", [](auto* c) { c->rule.threshold = 200; }},
          {"foreground", "otsu", [](auto* c) { c->rule.foreground = ccl::Foreground::kOtsu; }},
          {"invert", "true", [](auto* c) { c->rule.invert = true; }},
          {"connectivity", "4-way", [](auto* c) { c->connectivity = ccl::Connectivity::k4; }}});
}

TEST_F(SegmentProperties, Local) {
  start("");
  expect({{"foreground", "local", [](auto* c) { c->rule.foreground = ccl::Foreground::kLocal; }},
          {"local-radius", "3", [](auto* c) { c->segmentation.local.radius = 3; }},
          {"local-offset", "-7", [](auto* c) { c->segmentation.local.offset = -7; }},
          {"local-deviation", "0.25", [](auto* c) { c->segmentation.local.deviation = 256; }},
          {"local-radius", "127", [](auto* c) { c->segmentation.local.radius = 127; }},
          {"foreground", "binary", [](auto* c) { c->rule.foreground = ccl::Foreground::kBinary; }}});
}

TEST_F(SegmentProperties, Morphology) {
  start("threads=2");
  expect(
      {{"threshold", "100", [](auto* c) { c->rule.threshold = 100; }},
       {"open-radius", "1", [](auto* c) { c->segmentation.morphology.open_radius = 1; }},
       {"morphology-shape", "cross",
        [](auto* c) { c->segmentation.morphology.element = ccl::Element::kCross; }},
       {"close-radius", "2", [](auto* c) { c->segmentation.morphology.close_radius = 2; }},
       {"morphology-shape", "square",
        [](auto* c) { c->segmentation.morphology.element = ccl::Element::kSquare; }},
       {"open-radius", "0", [](auto* c) { c->segmentation.morphology.open_radius = 0; }},
       {"close-radius", "8", [](auto* c) { c->segmentation.morphology.close_radius = 8; }},
       {"close-radius", "0", [](auto* c) { c->segmentation.morphology.close_radius = 0; }},
       {"fill-holes", "1", [](auto* c) { c->segmentation.morphology.fill_holes = 1; }},
       {"fill-holes", "6", [](auto* c) { c->segmentation.morphology.fill_holes = 6; }},
       {"fill-holes", "2000000000", [](auto* c) { c->segmentation.morphology.fill_holes = 2'000'000'000; }}});
}

TEST_F(SegmentProperties, Hysteresis) {
  start("output=mask");
  const auto expect_mask = [&](uint8_t high, uint16_t low) {
    h->set("threshold", std::to_string(high));
    h->set("threshold-low", std::to_string(low));
    wanted.rule.threshold = high;
    wanted.segmentation.threshold_low = low;
    const Expected weak = label({kWidth, kHeight, expect_foreground(with_rows(image), wanted)}, {});
    const std::vector<bool> is_strong = expect_strong_labels(with_rows(image), wanted, weak.frame);
    std::vector<uint8_t> want = mask(weak);
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] = is_strong[weak.frame.labels[i]] ? want[i] : 0;
    }
    EXPECT_EQ(h->pixels(h->process(image)), want) << int{high} << " " << low;
  };
  expect_mask(200, 16);
  expect_mask(200, 128);
  expect_mask(255, 128);
  expect_mask(255, 0);
}

/// Each pixel is its own rule at the smallest frame.
TEST(SegmentOnePixel, EveryRule) {
  for (const char* properties :
       {"foreground=otsu", "foreground=local", "foreground=local local-deviation=0.5", "open-radius=8",
        "close-radius=8 morphology-shape=cross", "fill-holes=9", "threshold-low=3 threshold=9"}) {
    Harness h(std::string("output=mask ") + properties, "GRAY8", 1, 1);
    EXPECT_EQ(h.pixels(h.process(blank(1, 1, 255))), std::vector<uint8_t>{255}) << properties;
  }
}

TEST(SegmentValues, HaveNoBitImage) {
  const Image image = noise(kWidth, kHeight, 42);
  Harness h("output=labels foreground=values open-radius=3 fill-holes=9 threshold-low=5", "GRAY8", kWidth,
            kHeight);
  EXPECT_EQ(h.pixels(h.process(image)), labels(label(image, {.values = true})));
}

}  // namespace cudaccl::test
