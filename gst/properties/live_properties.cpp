// SPDX-License-Identifier: LGPL-2.1-or-later
#include "properties/live_properties.h"

#include <memory>
#include <utility>
#include <vector>

#include "element/debug.h"
#include "element/guard.h"
#include "properties/regions.h"

namespace cudaccl {

Properties LiveProperties::snapshot() const {
  const std::lock_guard guard(lock_);
  return properties_;
}

bool LiveProperties::set(const GParamSpec* spec, const GValue* value) noexcept {
  const auto is_known =
      unless_thrown(std::optional<bool>(), [&] { return std::optional(take(spec, value)); });
  if (!is_known) {
    lose_value(spec->param_id);
    return true;
  }
  const std::lock_guard guard(lock_);
  lost_.reset(spec->param_id);
  return *is_known;
}

/// A lost region may be a privacy mask.
void LiveProperties::lose_value(guint id) noexcept {
  const std::lock_guard guard(lock_);
  lost_.set(id);
}

bool LiveProperties::has_all_values() const {
  const std::lock_guard guard(lock_);
  return lost_.none();
}

bool LiveProperties::take(const GParamSpec* spec, const GValue* value) {
  const guint id = spec->param_id;
  if (id == property_id::regions) {
    set_regions(g_value_get_string(value));
    return true;
  }
  if (id == property_id::meta_name || id == property_id::object_type) {
    const gchar* set = g_value_get_string(value);
    const std::lock_guard guard(lock_);
    (id == property_id::meta_name ? meta_name_ : object_type_) = set != nullptr ? set : "";
    return true;
  }
  if (refuse(spec, value)) {
    return true;
  }
  Properties before;
  Properties after;
  bool is_known = false;
  {
    const std::lock_guard guard(lock_);
    before = properties_;
    is_known = set_property(&properties_, id, value);
    after = properties_;
  }
  react(before, after);
  return is_known;
}

bool LiveProperties::get(guint id, GValue* value) const {
  if (id == property_id::meta_name || id == property_id::object_type) {
    g_value_set_string(value, text(id == property_id::meta_name ? meta_name_ : object_type_).c_str());
    return true;
  }
  return get_property(snapshot(), id, value);
}

void LiveProperties::set_regions(const gchar* text) {
  std::string reason;
  std::shared_ptr<const RegionSetting> regions;
  if (text != nullptr && *text != 0) {
    regions = read_regions(text, &reason);
  }
  std::string warning;
  if (regions != nullptr && GST_STATE(element_) > GST_STATE_READY) {
    warning = regions->doubt;  // else report_doubts() will post it
  }
  {
    const std::lock_guard guard(lock_);
    if (reason.empty()) {
      properties_.regions = std::move(regions);
      refusals_.erase(property_id::regions);
    } else if (!is_streaming_) {
      refusals_[property_id::regions] = "regions cannot be used: " + reason;
    } else {
      warning =
          "regions cannot be used: " + reason +
          (properties_.regions != nullptr ? ". The old regions stay" : ". The whole frame counts, as before");
    }
  }
  warn(warning);
}

/// Whether the value is refused. The property then has its old one.
bool LiveProperties::refuse(const GParamSpec* spec, const GValue* value) {
  const std::string reason = why_refused(spec->param_id, value);
  std::string warning;
  {
    const std::lock_guard guard(lock_);
    refusals_.erase(spec->param_id);
    if (!reason.empty()) {
      const std::string refused = text_of(spec->name, value) + " cannot be used: " + reason;
      if (is_streaming_) {
        warning = refused + ". " + text_of(spec->name, properties_) + " stays";
      } else {
        refusals_[spec->param_id] = refused;
      }
    }
  }
  warn(warning);
  return !reason.empty();
}

bool LiveProperties::report_refusals(bool begins_stream) {
  if (!has_all_values()) {
    GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("out of memory for the value of a property"),
                      (nullptr));
    return false;
  }
  std::string refusal;
  {
    const std::lock_guard guard(lock_);
    refusal = refusals_.empty() ? "" : refusals_.begin()->second;
    is_streaming_ = is_streaming_ || (begins_stream && refusal.empty());
  }
  if (!refusal.empty()) {
    GST_ELEMENT_ERROR(element_, RESOURCE, SETTINGS, ("%s", refusal.c_str()), (nullptr));
  }
  return refusal.empty();
}

void LiveProperties::end_stream() {
  const std::lock_guard guard(lock_);
  is_streaming_ = false;
  in_force_.reset();
}

void LiveProperties::report_doubts() const {
  const Properties set = snapshot();
  if (set.regions != nullptr) {
    warn(set.regions->doubt);
  }
  const ccl::Filter& filter = set.settings.filter;
  const auto check_limits = [&](const char* least, uint32_t least_value, const char* most,
                                uint32_t most_value) {
    if (least_value > most_value) {
      warn(text_of(least, set) + " is more than " + text_of(most, set) + ": no component is kept");
    }
  };
  const auto limit = [](uint32_t most) { return most > 0 ? most : UINT32_MAX; };
  check_limits("min-area", filter.min_area, "max-area", filter.max_area);
  check_limits("min-width", filter.min_width, "max-width", limit(filter.max_width));
  check_limits("min-height", filter.min_height, "max-height", limit(filter.max_height));
  const uint32_t threshold_low = set.segmentation.threshold_low;
  if (set.settings.rule.foreground == ccl::Foreground::kBinary && set.threshold > 0 &&
      threshold_low > set.threshold) {
    warn(text_of("threshold-low", set) + " is more than " + text_of("threshold", set) +
         ": there is no hysteresis");
  }
  if (!set.track) {
    report_unused(set);
  }
}

/// What has no effect without `track`.
void LiveProperties::report_unused(const Properties& set) const {
  const bool has_zones =
      set.regions != nullptr && !(set.regions->regions.zones.empty() && set.regions->regions.lines.empty());
  const bool draws = set.output == ccl::Output::kColorized || set.output == ccl::Output::kOverlay;
  if (has_zones && !(set.settings.draw_regions && draws)) {
    warn("zones and lines of regions have no effect: track=true makes events of them");
  }
  if (set.settings.draw_ids || set.settings.draw_trails) {
    warn(std::string(set.settings.draw_ids ? "draw-ids" : "draw-trails") +
         "=true has no effect: track=true gives components an identity");
  }
}

void LiveProperties::warn(const std::string& warning) const {
  if (!warning.empty()) {
    GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  }
}

std::string LiveProperties::text(const std::string& member) const {
  const std::lock_guard guard(lock_);
  return member;
}

std::string LiveProperties::source() const {
  if (std::string set = text(meta_name_); !set.empty()) {
    return set;
  }
  const std::unique_ptr<gchar, decltype(&g_free)> name(gst_object_get_name(GST_OBJECT(element_)), g_free);
  return name ? name.get() : "";
}

std::optional<Properties> LiveProperties::in_force() const {
  const std::lock_guard guard(lock_);
  return in_force_;
}

void LiveProperties::set_in_force(const std::optional<Properties>& properties) {
  const std::lock_guard guard(lock_);
  in_force_ = properties;
}

void LiveProperties::take_back(const Properties& refused, const Properties& in_force,
                               std::initializer_list<const char*> names, const std::string& reason) {
  Properties before;
  Properties after;
  std::vector<const char*> taken_back;
  {
    const std::lock_guard guard(lock_);
    before = properties_;
    for (const char* name : names) {
      if (restore_property(&properties_, name, refused, in_force)) {
        taken_back.push_back(name);
      }
    }
    after = properties_;
  }
  std::string wanted;
  std::string stays;
  for (const char* name : taken_back) {
    const char* separator = wanted.empty() ? "" : ", ";
    wanted.append(separator).append(text_of(name, refused));
    stays.append(separator).append(text_of(name, in_force));
  }
  if (taken_back.empty()) {
    return;
  }
  react(before, after);
  for (const char* name : taken_back) {
    g_object_notify(G_OBJECT(element_), name);
  }
  GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS,
                      ("%s cannot work now: %s. %s %s in force", wanted.c_str(), reason.c_str(),
                       stays.c_str(), taken_back.size() == 1 ? "is" : "are"),
                      (nullptr));
}

/// Renegotiates and reports what depends on a changed property.
void LiveProperties::react(const Properties& before, const Properties& after) const {
  if (before.output != after.output || before.pipeline_depth != after.pipeline_depth) {
    gst_base_transform_reconfigure_src(element_);
  }
  if ((before.output == ccl::Output::kNone) != (after.output == ccl::Output::kNone)) {
    // Passthrough accepts the formats that downstream accepts, the other outputs accept all.
    gst_base_transform_reconfigure_sink(element_);
  }
  if (before.pipeline_depth != after.pipeline_depth) {
    gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
  }
}

/// The property with this name as a launch line has it.
std::string LiveProperties::text_of(const char* name, const Properties& properties) const {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element_), name);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  get_property(properties, spec->param_id, &value);
  std::string text = text_of(name, &value);
  g_value_unset(&value);
  return text;
}

std::string LiveProperties::text_of(const char* name, const GValue* value) {
  const std::unique_ptr<gchar, decltype(&g_free)> text(gst_value_serialize(value), g_free);
  return std::string(name) + "=" + (text ? text.get() : "?");
}

}  // namespace cudaccl
