// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties/presets.h"

#include <algorithm>
#include <memory>
#include <string_view>

namespace cudaccl {

namespace {

using OwnedText = std::unique_ptr<gchar, decltype(&g_free)>;
using OwnedTexts = std::unique_ptr<gchar*, decltype(&g_strfreev)>;

/// GstPreset escapes a text twice when it saves it, and takes only one escape away when it loads it; then it
/// leaves the property as it is, and says nothing. A privacy mask in `regions` would be gone.
bool is_lost(GstPreset* preset, const gchar* name) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(preset), name);
  if (spec == nullptr || spec->value_type != G_TYPE_STRING) {
    return false;
  }
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_STRING);
  g_object_get_property(G_OBJECT(preset), name, &value);
  const OwnedText saved(gst_value_serialize(&value), g_free);
  g_value_unset(&value);
  return saved != nullptr && std::string_view(saved.get()).find('\\') != std::string_view::npos;
}

gboolean save_preset(GstPreset* preset, const gchar* name) {
  const OwnedTexts names(gst_preset_get_property_names(preset), g_strfreev);
  const size_t n = names != nullptr ? g_strv_length(names.get()) : 0;
  gchar** const end = names.get() + n;
  gchar** const lost = std::find_if(names.get(), end, [=](gchar* each) { return is_lost(preset, each); });
  if (lost != end) {
    g_warning(
        "%s: a preset cannot keep this text of the property '%s', because GStreamer would not load it: "
        "use letters, digits and _-+/:. (for regions, the path of a file)",
        GST_OBJECT_NAME(preset), *lost);
    return FALSE;
  }
  const auto* by_default = static_cast<GstPresetInterface*>(g_type_default_interface_peek(GST_TYPE_PRESET));
  return by_default->save_preset(preset, name);
}

}  // namespace

void init_presets(GstPresetInterface* presets) {
  presets->save_preset = save_preset;
}

}  // namespace cudaccl
