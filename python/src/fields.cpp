// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the fields of the C interface's structs, for keywords in Python.
#include <nanobind/stl/string.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "engine.h"

namespace cudaccl_python {

namespace {

template <typename Struct>
using Member = std::variant<uint32_t Struct::*, int32_t Struct::*, double Struct::*>;

template <typename Struct>
using Members = std::map<std::string, Member<Struct>>;

const Members<CudacclConfig>& config_members() {
  static const Members<CudacclConfig> members = {
      {"width", &CudacclConfig::width},
      {"height", &CudacclConfig::height},
      {"output", &CudacclConfig::output},
      {"order", &CudacclConfig::order},
      {"max_components", &CudacclConfig::max_components},
      {"max_tracks", &CudacclConfig::max_tracks},
      {"planes", &CudacclConfig::planes},
      {"slots", &CudacclConfig::slots},
      {"input_memory", &CudacclConfig::input_memory},
      {"output_memory", &CudacclConfig::output_memory},
      {"threads", &CudacclConfig::threads},
  };
  return members;
}

const Members<CudacclSettings>& settings_members() {
  static const Members<CudacclSettings> members = {
      {"connectivity", &CudacclSettings::connectivity},
      {"foreground", &CudacclSettings::foreground},
      {"threshold", &CudacclSettings::threshold},
      {"threshold_low", &CudacclSettings::threshold_low},
      {"invert", &CudacclSettings::invert},
      {"local_radius", &CudacclSettings::local_radius},
      {"local_offset", &CudacclSettings::local_offset},
      {"local_deviation", &CudacclSettings::local_deviation},
      {"background_model", &CudacclSettings::background_model},
      {"motion_sensitivity", &CudacclSettings::motion_sensitivity},
      {"motion_shadows", &CudacclSettings::motion_shadows},
      {"motion_learning_ms", &CudacclSettings::motion_learning_ms},
      {"motion_warm_up_ms", &CudacclSettings::motion_warm_up_ms},
      {"motion_max_change", &CudacclSettings::motion_max_change},
      {"open_radius", &CudacclSettings::open_radius},
      {"close_radius", &CudacclSettings::close_radius},
      {"morphology_shape", &CudacclSettings::morphology_shape},
      {"fill_holes", &CudacclSettings::fill_holes},
      {"min_area", &CudacclSettings::min_area},
      {"max_area", &CudacclSettings::max_area},
      {"min_width", &CudacclSettings::min_width},
      {"min_height", &CudacclSettings::min_height},
      {"max_width", &CudacclSettings::max_width},
      {"max_height", &CudacclSettings::max_height},
      {"clear_border", &CudacclSettings::clear_border},
      {"top_n", &CudacclSettings::top_n},
      {"min_extent", &CudacclSettings::min_extent},
      {"min_circularity", &CudacclSettings::min_circularity},
      {"max_eccentricity", &CudacclSettings::max_eccentricity},
      {"overlay_alpha", &CudacclSettings::overlay_alpha},
      {"palette", &CudacclSettings::palette},
      {"color_seed", &CudacclSettings::color_seed},
      {"background_color", &CudacclSettings::background_color},
      {"draw_boxes", &CudacclSettings::draw_boxes},
      {"draw_ids", &CudacclSettings::draw_ids},
      {"draw_trails", &CudacclSettings::draw_trails},
      {"draw_regions", &CudacclSettings::draw_regions},
      {"mask_on", &CudacclSettings::mask_on},
      {"mask_off", &CudacclSettings::mask_off},
      {"features", &CudacclSettings::features},
      {"track_confirm", &CudacclSettings::track_confirm},
      {"track_lost_ms", &CudacclSettings::track_lost_ms},
      {"event_hold_ms", &CudacclSettings::event_hold_ms},
  };
  return members;
}

/// TypeError with the field's name if the value is not a number of the field's kind; ValueError if it does
/// not fit.
template <typename Value>
Value number(const std::string& name, nb::handle value) {
  Value result{};
  if (!nb::try_cast(value, result)) {
    PyErr_Clear();
    const bool is_number = PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr());
    const std::string shown = nb::str(nb::repr(value)).c_str();
    if (is_number && !(PyFloat_Check(value.ptr()) && std::is_integral_v<Value>)) {
      throw nb::value_error((name + " is out of range: " + shown).c_str());
    }
    const char* kind = std::is_integral_v<Value> ? " must be an integer, not " : " must be a number, not ";
    throw nb::type_error((name + kind + shown).c_str());
  }
  return result;
}

template <typename Struct>
bool set_member(const Members<Struct>& members, Struct* values, const std::string& name, nb::handle value) {
  const auto found = members.find(name);
  if (found == members.end()) {
    return false;
  }
  std::visit([&]<typename Value>(Value Struct::*member) { values->*member = number<Value>(name, value); },
             found->second);
  return true;
}

}  // namespace

bool set_field(CudacclConfig* config, const std::string& name, nb::handle value) {
  return set_member(config_members(), config, name, value);
}

bool set_field(CudacclSettings* settings, const std::string& name, nb::handle value) {
  return set_member(settings_members(), settings, name, value);
}

}  // namespace cudaccl_python
