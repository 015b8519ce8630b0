// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties/property_types.h"

#include <gst/gst.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/analytics.h"

namespace cudaccl {

namespace {

/// Where the algorithm runs in this build.
const char* backends_of(const ccl::AlgorithmInfo& info) {
  const bool on_cpu = info.runs_on(ccl::Backend::kCpu);
  if (info.runs_on(ccl::Backend::kCuda)) {
    return on_cpu ? "cpu, cuda" : "cuda";
  }
  return on_cpu ? "cpu" : "cuda, not in this build";
}

/// Whether the analytics library of the build has what the choice needs.
bool is_possible(const ccl::Choice& choice) {
  constexpr guint kNewer = kMetadataSegmentation | kMetadataOriented;
  if (choice.type != "Metadata") {
    return true;
  }
  return (choice.value & kNewer) != 0 ? has_segmentation()
                                      : (choice.value & kMetadataAnalytics) == 0 || has_analytics();
}

/// All choices of a type. Those of `algorithm` are the rows of algorithms.def.
std::vector<ccl::Choice> choices_of(std::string_view type) {
  std::vector<ccl::Choice> found;
  for (const ccl::Choice& choice : kChoices) {
    if (choice.type == type && is_possible(choice)) {
      found.push_back(choice);
    }
  }
  if (type == "Algorithm") {
    for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
      // A name of a type is never freed.
      const char* text = g_strdup_printf("%s (%s)", info.source, backends_of(info));
      found.push_back({type, static_cast<guint>(info.algorithm), info.nick, text});
    }
  }
  return found;
}

/// Row is GEnumValue or GFlagsValue. The type keeps the pointer to the rows, of which an empty one is the
/// last.
template <typename Row, typename Number>
GType find_or_make(const char* type, GType (*make)(const gchar*, const Row*)) {
  const std::string name = std::string("GstCudaCcl") + type;
  if (const GType made = g_type_from_name(name.c_str()); made != 0) {
    return made;
  }
  const std::vector<ccl::Choice> choices = choices_of(type);
  auto rows = std::make_unique<Row[]>(choices.size() + 1);
  std::transform(choices.begin(), choices.end(), rows.get(), [](const ccl::Choice& choice) {
    return Row{static_cast<Number>(choice.value), choice.text, choice.nick};
  });
  const GType made = make(name.c_str(), rows.release());
  // Documented with the element, because only its properties use the type.
  gst_type_mark_as_plugin_api(made, static_cast<GstPluginAPIFlags>(0));
  return made;
}

}  // namespace

GType enum_type(const char* type) {
  return find_or_make<GEnumValue, gint>(type, g_enum_register_static);
}

GType flags_type(const char* type) {
  return find_or_make<GFlagsValue, guint>(type, g_flags_register_static);
}

}  // namespace cudaccl
