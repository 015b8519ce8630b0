// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties that filter components, changed between the frames of a running stream.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/segment.h"
#include "ccl/setting_names.h"
#include "ccl/tracking.h"
#include "filters.h"
#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 61;
constexpr uint32_t kHeight = 47;

/// What the members of settings.def belong to.
struct Values {
  ccl::Settings settings = {};
  ccl::Segmentation segmentation = {};
  ccl::Tracking tracking = {};
  uint32_t event_hold_ms = 0;
};

struct Step {
  const char* property;
  std::string value;
  std::function<void(Rule*)> apply;  ///< the same to the oracle's rule
};

/// Each filter alone, in the order of ccl::FilterCondition.
std::vector<Step> make_steps() {
  using namespace ccl::kind;
  const auto singles = ccl::test::single_filters();
  std::vector<Step> steps;
  const auto add = [&](std::string_view member, const char* property, auto member_of, double one) {
    if (!member.starts_with("settings.filter.")) {
      return;
    }
    Values single{.settings = {.filter = singles.at(steps.size())}};
    const auto value = *member_of(&single);
    const auto apply = [=](Rule* rule) {
      Values all{.settings = {.filter = rule->filter}};
      *member_of(&all) = value;
      rule->filter = all.settings.filter;
      rule->min_area = rule->filter.min_area;
      rule->max_area = rule->filter.max_area;
    };
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value) / one);
    steps.push_back({property, text, apply});
  };
#define CCL_SETTING(id, member, kind, initial, when, text) \
  add(                                                     \
      #member, ccl::kSettingName<#id>, [](Values* values) { return &values->member; }, 1);
#define CCL_REAL(id, member, unit, initial, text) \
  add(                                            \
      #member, ccl::kSettingName<#id>, [](Values* values) { return &values->member; }, Unit(unit).one);
#include "ccl/settings.def"
  return steps;
}

const std::vector<Step> kSteps = make_steps();

class FiltersTest : public testing::Test {
 protected:
  void start(const std::string& properties) {
    h_ = std::make_unique<Harness>("threshold=128 " + properties);
    ASSERT_TRUE(h_->send_caps("GRAY8", kWidth, kHeight));
  }

  std::string text_of_default(const char* property) const {
    const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(h_->element()), property);
    return text_of_value(g_param_spec_get_default_value(const_cast<GParamSpec*>(spec)));
  }

  guint64 n_removed_by(const char* property) const {
    return h_->stat((std::string("removed-by-") + property).c_str());
  }

  /// Labels, records and the metadata's count of the next frame.
  void expect_frame(const Rule& rule, const std::string& what) {
    const Ref<GstBuffer> out = h_->process(image_);
    const Expected expected = label(image_, rule);
    EXPECT_EQ(h_->pixels(out), labels(expected)) << what;
    const GstCudaCclInfo info = components_of(out.get());
    EXPECT_EQ(info.n_components, expected.records.size()) << what;
    expect_records(info.records, info.n_records, expected.records);
  }

  const Image image_ = noise(kWidth, kHeight, 5);
  std::unique_ptr<Harness> h_;
};

}  // namespace

/// Each property alone, back to its default between two.
TEST_F(FiltersTest, EachPropertyLive) {
  start("output=labels");
  const size_t n_all = label(image_, {.threshold = 128}).records.size();
  for (const Step& step : kSteps) {
    Rule rule{.threshold = 128};
    step.apply(&rule);
    const size_t n_kept = label(image_, rule).records.size();
    ASSERT_GT(n_kept, 0u) << step.property;
    ASSERT_LT(n_kept, n_all) << step.property;
    h_->set(step.property, step.value);
    expect_frame(rule, step.property);
    EXPECT_EQ(n_removed_by(step.property), n_all - n_kept) << step.property;
    h_->set(step.property, text_of_default(step.property));
    expect_frame({.threshold = 128}, std::string("after ") + step.property);
  }
}

/// A component counts for the first filter that it fails. Counts add up over frames.
TEST_F(FiltersTest, StatsCountWhatEachRemoved) {
  start("output=labels");
  Rule rule{.threshold = 128};
  std::array<guint64, ccl::kFilterConditions> want{};
  guint64 n_components = 0;
  for (const Step& step : kSteps) {
    step.apply(&rule);
    h_->set(step.property, step.value);
    expect_frame(rule, step.property);
    const Expected expected = label(image_, rule);
    const ccl::FrameCounts counts = ccl::test::expect_counts(expected.frame, expected.settings);
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] += counts.n_removed[i];
    }
    n_components += counts.n_components;
  }
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(n_removed_by(kSteps[i].property), want[i]) << kSteps[i].property;
  }
  EXPECT_GT(want[ccl::kMinArea], 0u);
  EXPECT_GT(want[ccl::kClearBorder], 0u);
  EXPECT_EQ(h_->stat("components"), n_components);
}

/// What top-n removes is no overflow, and is not painted.
TEST_F(FiltersTest, TopNIsNoOverflow) {
  start("output=mask top-n=3 max-components=100");
  Rule rule{.threshold = 128};
  rule.filter.top_n = 3;
  const Ref<GstBuffer> out = h_->process(image_);
  EXPECT_EQ(h_->pixels(out), mask(label(image_, rule)));
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_EQ(info.n_components, 3u);
  EXPECT_FALSE(info.overflow);
  h_->set("max-components", "2");
  const Ref<GstBuffer> fewer = h_->process(image_);
  EXPECT_EQ(h_->pixels(fewer), mask(label(image_, rule)));
  EXPECT_EQ(components_of(fewer.get()).n_components, 3u);
  EXPECT_EQ(components_of(fewer.get()).n_records, 2u);
  EXPECT_TRUE(components_of(fewer.get()).overflow);
}

/// The records have no features that the filter alone needs.
TEST_F(FiltersTest, FeaturesOfTheFilterAreNotReported) {
  start("output=labels features=0 min-circularity=0.5 max-eccentricity=0.9");
  const Ref<GstBuffer> out = h_->process(image_);
  const GstCudaCclInfo info = components_of(out.get());
  Rule rule{.threshold = 128};
  rule.filter.min_circularity = 32768;
  rule.filter.max_eccentricity = 58982;
  ASSERT_EQ(info.n_records, label(image_, rule).records.size());
  ASSERT_GT(info.n_records, 0u);
  for (guint i = 0; i < info.n_records; ++i) {
    EXPECT_EQ(info.records[i].perimeter, 0u);
    EXPECT_EQ(info.records[i].mxx, 0.f);
  }
}

/// Nothing is kept, and nothing fails.
TEST_F(FiltersTest, ExtremesOfEveryRange) {
  start("output=labels");
  for (const Step& step : kSteps) {
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(h_->element()), step.property);
    const guint most = G_IS_PARAM_SPEC_UINT(spec) ? G_PARAM_SPEC_UINT(spec)->maximum : 1;
    for (const guint value : {0u, 1u, most}) {
      h_->set(step.property, std::to_string(value));
      EXPECT_NE(h_->process(image_), nullptr) << step.property << "=" << value;
    }
    if (G_IS_PARAM_SPEC_UINT(spec) && step.property != std::string("max-area")) {
      EXPECT_LE(most, G_MAXINT32) << step.property << ": GStreamer reads -5 as 4294967291";
    }
    if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
      EXPECT_EQ(G_PARAM_SPEC_DOUBLE(spec)->minimum, 0) << step.property;
      EXPECT_EQ(G_PARAM_SPEC_DOUBLE(spec)->maximum, 1) << step.property;
    }
  }
}

}  // namespace cudaccl::test
