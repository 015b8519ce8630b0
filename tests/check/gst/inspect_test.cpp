// SPDX-License-Identifier: LGPL-2.1-or-later
/// What gst-inspect-1.0 prints about the element, because users read that first.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness.h"

namespace cudaccl::test {

namespace {

std::string inspect(const char* what) {
  const char* program = std::getenv("CUDACCL_TEST_INSPECT");
  const gchar* argv[] = {program != nullptr ? program : "gst-inspect-1.0", "--no-colors", what, nullptr};
  gchar* raw_out = nullptr;
  gint status = -1;
  EXPECT_TRUE(g_spawn_sync(nullptr, const_cast<gchar**>(argv), nullptr, G_SPAWN_SEARCH_PATH, nullptr, nullptr,
                           &raw_out, nullptr, &status, nullptr));
  EXPECT_EQ(status, 0);
  const Text out(raw_out);
  return out ? out.get() : "";
}

/// The lines about a property: from its name to the next property.
std::string section(const std::string& text, const std::string& property) {
  const std::string title = "\n  " + property;
  size_t start = text.find(title + " ");
  if (start == std::string::npos) {
    start = text.find(title + ":");  // a long name
  }
  if (start == std::string::npos) {
    return "";
  }
  size_t end = start + title.size();
  while ((end = text.find("\n  ", end + 1)) != std::string::npos && text[end + 3] == ' ') {
  }
  return text.substr(start, end - start);
}

}  // namespace

TEST(Inspect, FactoryAndPads) {
  const std::string text = inspect("cudaccl");
  for (const char* line : {"none (0)", "Connected components", "Filter/Analyzer/Video/Hardware",
                           "SINK template: 'sink'", "SRC template: 'src'", "Availability: Always",
                           "GstBaseTransform", "GRAY16_LE", "xBGR", "Y42B", "[ 1, 32768 ]"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

/// Every property of the class is listed with its blurb, flags, values and default.
TEST(Inspect, Properties) {
  const std::string text = inspect("cudaccl");
  const Ref<GstElement> element = make_element();
  for (GParamSpec* spec : own_properties(element.get())) {
    const std::string part = section(text, spec->name);
    EXPECT_NE(part.find(g_param_spec_get_blurb(spec)), std::string::npos) << spec->name << ": " << part;
    EXPECT_NE(part.find("flags: readable"), std::string::npos) << part;
    EXPECT_EQ(part.find("writable") == std::string::npos, !(spec->flags & G_PARAM_WRITABLE)) << part;
    EXPECT_EQ(part.find("controllable") == std::string::npos, !(spec->flags & GST_PARAM_CONTROLLABLE))
        << part;
    EXPECT_TRUE(spec->value_type == GST_TYPE_STRUCTURE || part.find("Default: ") != std::string::npos)
        << part;
    if (G_IS_PARAM_SPEC_ENUM(spec)) {
      const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
      for (guint v = 0; v < values->n_values; ++v) {
        EXPECT_NE(part.find(std::string(": ") + values->values[v].value_nick), std::string::npos) << part;
        EXPECT_NE(part.find(values->values[v].value_name), std::string::npos) << part;
      }
    }
  }
}

TEST(Inspect, Plugin) {
  const std::string text = inspect("cudaccl");
  EXPECT_NE(text.find("Connected components in live video"), std::string::npos);
  EXPECT_NE(text.find("LGPL"), std::string::npos);
}

}  // namespace cudaccl::test
