// SPDX-License-Identifier: LGPL-2.1-or-later
/// Bad property values, and backends or labelers that are not available.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// Sets a property from a number, whatever its type is.
void set_number(GstElement* element, const char* name, double number) {
  GValue from = G_VALUE_INIT;
  g_value_init(&from, G_TYPE_DOUBLE);
  g_value_set_double(&from, number);
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  GValue value = G_VALUE_INIT;
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
    g_value_set_enum(&value, static_cast<gint>(number));
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
    g_value_set_flags(&value, static_cast<guint>(number));
  } else {
    g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
    g_value_transform(&from, &value);
  }
  g_object_set_property(G_OBJECT(element), name, &value);
  g_value_unset(&value);
  g_value_unset(&from);
}

struct BadValue {
  const char* property;
  double value;
};

void PrintTo(const BadValue& bad, std::ostream* out) {
  *out << bad.property << "=" << bad.value;
}

class BadValues : public testing::TestWithParam<BadValue> {};

/// The message of a state change to READY that fails.
std::string failure_of(GstElement* element) {
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element, bus.get());
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  const Ref<GstMessage> error(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  EXPECT_EQ(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR), nullptr) << "only one error";
  gst_element_set_bus(element, nullptr);
  EXPECT_NE(error, nullptr);
  return error ? text_of(error.get()) : "";
}

/// Labels one frame in a new harness around the element.
void expect_works(const Ref<GstElement>& element) {
  const Ref<GstHarness> h(gst_harness_new_with_element(element.get(), "sink", "src"));
  const Image image = noise(16, 16, 1);
  gst_harness_set_src_caps_str(h.get(), caps_text("GRAY8", 16, 16).c_str());
  const Ref<GstBuffer> out(gst_harness_push_and_pull(h.get(), make_frame(image, "GRAY8").release()));
  ASSERT_NE(out, nullptr);
  const GstCudaCclInfo info = components_of(out.get());
  expect_records(info.records, info.n_records, label(image, {}).records);
}

}  // namespace

TEST_P(BadValues, AreRefusedAndTheOldValueStays) {
  const Ref<GstElement> element = make_element();
  const std::string before = text_of_property(element.get(), GetParam().property);
  const LogCapture log;
  set_number(element.get(), GetParam().property, GetParam().value);
  EXPECT_EQ(text_of_property(element.get(), GetParam().property), before);
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_NE(log.lines()[0].find(GetParam().property), std::string::npos) << log.lines()[0];
}

INSTANTIATE_TEST_SUITE_P(All, BadValues,
                         testing::Values(BadValue{"threshold", 65536}, BadValue{"overlay-alpha", 1.01},
                                         BadValue{"overlay-alpha", -0.01}, BadValue{"max-components", 0},
                                         BadValue{"max-components", 16777217}, BadValue{"threads", 257},
                                         BadValue{"pipeline-depth", 9}, BadValue{"cuda-device-id", -2},
                                         BadValue{"output", 99}, BadValue{"output", -1},
                                         BadValue{"backend", 3}, BadValue{"algorithm", 1000},
                                         BadValue{"connectivity", 6}, BadValue{"foreground", 5},
                                         BadValue{"palette", 4}, BadValue{"features", 256},
                                         BadValue{"label-map", 3}, BadValue{"metadata", 1024}),
                         [](const auto& info) {
                           std::string name = info.param.property;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + std::to_string(info.index);
                         });

TEST(Properties, ReadOnlyOnesCannotBeSet) {
  const Ref<GstElement> element = make_element();
  const LogCapture log;
  g_object_set(element.get(), "active-backend", 1, nullptr);
  EXPECT_EQ(log.lines().size(), 1u);
  EXPECT_EQ(text_of_property(element.get(), "active-backend"), "auto");
}

TEST(Backend, CudaWithoutAGpuFailsAtReadyAndReportsWhy) {
  const std::string reason = why_no_cuda();
  if (reason.empty()) {
    GTEST_SKIP() << "there is a GPU";
  }
  const Ref<GstElement> element = make_element("backend=cuda");
  const std::string text = failure_of(element.get());
  EXPECT_NE(text.find("CUDA"), std::string::npos) << text;
  EXPECT_EQ(text_of_property(element.get(), "active-backend"), "auto");
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  expect_works(element);
}

TEST(Backend, UnknownDeviceFailsAtReady) {
  const Ref<GstElement> element = make_element("backend=cuda cuda-device-id=1000");
  EXPECT_NE(failure_of(element.get()), "");
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  expect_works(element);
}

/// An application may offer contexts that this element has no use for.
TEST(Backend, ContextsOfOthersChangeNothing) {
  Harness h("", "GRAY8", 8, 8);
  GstContext* context = gst_context_new("somebody.else", TRUE);
  gst_element_set_context(h.element(), context);
  gst_context_unref(context);
  EXPECT_EQ(components_of(h.process(noise(8, 8, 1)).get()).n_records,
            label(noise(8, 8, 1), {}).records.size());
}

TEST(Algorithm, MissingOnTheBackendFailsAtReadyAndNamesThoseItHas) {
  const bool on_cpu = backend() == "cpu";
  const Ref<GstElement> element = make_element(on_cpu ? "algorithm=union-find" : "algorithm=sauf");
  const std::string text = failure_of(element.get());
  for (const char* name : {"dlp", on_cpu ? "sauf" : "union-find"}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
  EXPECT_NE(text.find("'" + backend() + "'"), std::string::npos) << text;
  gst_util_set_object_arg(G_OBJECT(element.get()), "algorithm", "dlp");
  expect_works(element);
}

}  // namespace cudaccl::test
