// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's interface: properties with their defaults and flags, pads, class.
#include <gst/base/gstbasetransform.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "harness.h"
#include "property_values.h"

namespace cudaccl::test {

/// docs/properties.md has the names, defaults and flags; test_readme.py compares it with the element.
TEST(Properties, HaveTheirDefaultsAndFlags) {
  const Ref<GstElement> element(
      static_cast<GstElement*>(gst_object_ref_sink(gst_element_factory_make("cudaccl", nullptr))));
  for (GParamSpec* spec : own_properties(element.get())) {
    SCOPED_TRACE(spec->name);
    if (std::string(spec->name) != "stats") {  // which depends on the machine
      EXPECT_EQ(text_of_property(element.get(), spec->name),
                text_of_value(g_param_spec_get_default_value(spec)));
    }
    EXPECT_TRUE(spec->flags & G_PARAM_READABLE);
    const bool is_start = (spec->flags & GST_PARAM_MUTABLE_READY) != 0;
    const bool is_live = (spec->flags & GST_PARAM_MUTABLE_PLAYING) != 0;
    EXPECT_EQ(is_start || is_live, (spec->flags & G_PARAM_WRITABLE) != 0);
    EXPECT_FALSE(is_start && is_live);
    EXPECT_TRUE(is_live || !(spec->flags & GST_PARAM_CONTROLLABLE));
    EXPECT_STRNE(g_param_spec_get_nick(spec), spec->name) << "a nick for people";
    EXPECT_GT(std::string(g_param_spec_get_blurb(spec)).size(), 2u);
  }
}

/// Two rows of the table with the same member would be one property with two names.
TEST(Properties, AreIndependent) {
  const Ref<GstElement> element = make_element();
  const auto values = [&] {
    std::map<std::string, std::string> texts;
    for (const GParamSpec* spec : own_properties(element.get())) {
      if ((spec->flags & G_PARAM_WRITABLE) != 0) {
        texts[spec->name] = text_of_property(element.get(), spec->name);
      }
    }
    return texts;
  };
  for (const auto& [name, text] : values()) {
    std::map<std::string, std::string> want = values();
    // Every property takes one of these values that is not its default, and ignores the others.
    for (const char* other : {"0", "1", "2", "1000000", "true", "false", "0.25", "cpu", "4-way", "values",
                              "sauf", "mask", "mono", "roi", "mixture", "cross", R"({"version": 1})"}) {
      gst_util_set_object_arg(G_OBJECT(element.get()), name.c_str(), other);
      if (text_of_property(element.get(), name.c_str()) != text) {
        break;
      }
    }
    want[name] = text_of_property(element.get(), name.c_str());
    EXPECT_NE(want[name], text) << name << " keeps its default";
    EXPECT_EQ(values(), want) << name;
  }
}

/// Every value of every enumeration is read as it was set.
TEST(Properties, EveryNickCanBeSetAndRead) {
  const Ref<GstElement> element = make_element();
  std::set<std::string> names;
  for (GParamSpec* spec : own_properties(element.get())) {
    if (!G_IS_PARAM_SPEC_ENUM(spec) || !(spec->flags & G_PARAM_WRITABLE)) {
      continue;
    }
    names.insert(spec->name);
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    EXPECT_GE(values->n_values, 2u) << spec->name;
    for (guint i = 0; i < values->n_values; ++i) {
      gst_util_set_object_arg(G_OBJECT(element.get()), spec->name, values->values[i].value_nick);
      // A value may have several nicks, of which the first one is read.
      const gint value = values->values[i].value;
      EXPECT_EQ(text_of_property(element.get(), spec->name),
                std::find_if(values->values, values->values + values->n_values,
                             [&](const GEnumValue& row) { return row.value == value; })
                    ->value_nick)
          << spec->name;
    }
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"algorithm", "backend", "background-model", "connectivity", "foreground",
                                   "label-map", "morphology-shape", "output", "palette", "post-messages"}));
}

/// Each limit of each property gives frames, or one error that names the property or the value.
TEST(Properties, EveryLimitGivesAFrameOrAnError) {
  const Image image = noise(40, 30, 1);
  const Ref<GstElement> element = make_element();
  for (GParamSpec* spec : own_properties(element.get())) {
    if ((spec->flags & G_PARAM_WRITABLE) == 0) {
      continue;
    }
    for (Value& value : limits_of(spec)) {
      const std::string text = std::string(spec->name) + "=" + text_of_value(value.get());
      SCOPED_TRACE(text);
      Harness h("output=overlay track=true foreground=motion");
      h.set("foreground", "binary");
      gst_element_set_state(h.element(), GST_STATE_NULL);
      g_object_set_property(G_OBJECT(h.element()), spec->name, value.get());
      const bool starts = gst_element_set_state(h.element(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
      const bool flows = starts && h.send_caps("GRAY8", 40, 30) && h.push(image) == GST_FLOW_OK &&
                         h.push(image) == GST_FLOW_OK;
      gst_harness_push_event(h.get(), gst_event_new_eos());
      const Ref<GstMessage> error = h.message(GST_MESSAGE_ERROR);
      ASSERT_EQ(error == nullptr, flows);
      if (error) {
        const std::string reason = text_of(error.get());
        EXPECT_TRUE(reason.find(spec->name) != std::string::npos ||
                    reason.find(text_of_value(value.get())) != std::string::npos)
            << reason;
      } else {
        EXPECT_EQ(gst_harness_buffers_in_queue(h.get()), 2u);
        const bool is_none = text == "regions=\"\"";  // which is read as null
        EXPECT_EQ(text_of_property(h.element(), spec->name), is_none ? "" : text_of_value(value.get()));
      }
    }
  }
}

/// gst-inspect-1.0 shows these texts.
TEST(Properties, TextsNameFormatsAndBackends) {
  const Ref<GstElement> element = make_element();
  const auto spec_of = [&](const char* name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), name);
  };
  const std::string output = g_param_spec_get_blurb(spec_of("output"));
  for (const char* format : {"RGB", "GRAY16_LE", "GRAY8", "passthrough the format of the sink"}) {
    EXPECT_NE(output.find(format), std::string::npos) << output;
  }
  EXPECT_NE(std::string(g_param_spec_get_blurb(spec_of("algorithm"))).find("backends"), std::string::npos);
  GEnumClass* algorithms = G_PARAM_SPEC_ENUM(spec_of("algorithm"))->enum_class;
  const auto text = [&](const char* nick) {
    return std::string(g_enum_get_value_by_nick(algorithms, nick)->value_name);
  };
  EXPECT_NE(text("sauf").find("(cpu)"), std::string::npos) << text("sauf");
  EXPECT_NE(text("dlp").find("(cpu"), std::string::npos) << text("dlp");
  EXPECT_NE(text("union-find").find("(cuda"), std::string::npos) << text("union-find");
}

/// A preset is what was saved, or it is not saved.
TEST(Presets, LoseNoText) {
  const auto has_regions = [](const std::string& regions) {
    const Ref<GstElement> element = make_element();
    g_object_set(element.get(), "regions", regions.c_str(), nullptr);
    if (!gst_preset_save_preset(GST_PRESET(element.get()), "of-a-test")) {
      return false;
    }
    const Ref<GstElement> other = make_element();
    EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(other.get()), "of-a-test"));
    EXPECT_EQ(text_of_property(other.get(), "regions"), regions);
    return gst_preset_delete_preset(GST_PRESET(element.get()), "of-a-test") != FALSE;
  };
  const std::string json = R"({"version": 1, "exclude": [{"polygon": [[0, 0], [1, 0], [1, 1]]}]})";
  const std::string path = testing::TempDir() + "cudaccl-regions-" + std::to_string(getpid()) + ".json";
  ASSERT_TRUE(g_file_set_contents(path.c_str(), json.c_str(), -1, nullptr));
  const LogCapture log;
  EXPECT_TRUE(has_regions(path));
  std::remove(path.c_str());
  EXPECT_EQ(log.lines(), std::vector<std::string>());
  EXPECT_FALSE(has_regions(json));
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_NE(log.lines()[0].find("'regions'"), std::string::npos) << log.lines()[0];
}

/// Every preset can be loaded, and sets what its file has.
TEST(Presets, AreFoundAndLoaded) {
  const Ref<GstElement> element = make_element();
  ASSERT_TRUE(GST_IS_PRESET(element.get()));
  gchar** names = gst_preset_get_preset_names(GST_PRESET(element.get()));
  ASSERT_NE(names, nullptr);
  const std::vector<std::string> found(names, names + g_strv_length(names));
  g_strfreev(names);
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()),
            (std::set<std::string>{"boxes-over-video", "bright-objects", "cells", "class-map", "clean-mask",
                                   "dark-objects", "many-cameras", "particles", "people", "vehicles"}));
  const LogCapture log;
  for (const std::string& name : found) {
    EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(element.get()), name.c_str())) << name;
    gchar* comment = nullptr;
    EXPECT_TRUE(gst_preset_get_meta(GST_PRESET(element.get()), name.c_str(), "comment", &comment)) << name;
    g_free(comment);
  }
  EXPECT_TRUE(log.lines().empty()) << log.lines()[0];
  const Ref<GstElement> fresh = make_element();
  ASSERT_TRUE(gst_preset_load_preset(GST_PRESET(fresh.get()), "many-cameras"));
  EXPECT_EQ(text_of_property(fresh.get(), "output"), "passthrough");
  EXPECT_EQ(text_of_property(fresh.get(), "threads"), "1");
  EXPECT_EQ(text_of_property(fresh.get(), "features"), "");
  EXPECT_EQ(text_of_property(fresh.get(), "backend"), backend()) << "not in the preset";
}

TEST(Element, ClassRankAndPads) {
  const Ref<GstElement> element = make_element();
  GstElementFactory* factory = gst_element_get_factory(element.get());
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video/Hardware");
  EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), static_cast<guint>(GST_RANK_NONE));
  EXPECT_TRUE(GST_IS_BASE_TRANSFORM(element.get()));
}

TEST(Element, TemplatesHaveEveryFormat) {
  const Ref<GstElement> element = make_element();
  GstElementClass* klass = GST_ELEMENT_GET_CLASS(element.get());
  const auto accepts = [&](const char* pad, const std::string& format) {
    const Ref<GstCaps> possible(gst_pad_template_get_caps(gst_element_class_get_pad_template(klass, pad)));
    const Ref<GstCaps> caps(gst_caps_from_string(caps_text(format, 32768, 1).c_str()));
    return gst_caps_is_subset(caps.get(), possible.get());
  };
  for (const char* format : kSinkFormats) {
    EXPECT_TRUE(accepts("sink", format)) << format;
    EXPECT_TRUE(accepts("src", format)) << format;
  }
  for (const char* format : kRgbFormats) {
    EXPECT_TRUE(accepts("sink", format)) << format;
    EXPECT_TRUE(accepts("src", format)) << format;
  }
  EXPECT_TRUE(accepts("src", "GRAY16_LE"));
  EXPECT_FALSE(accepts("src", "GRAY16_BE"));
}

}  // namespace cudaccl::test
