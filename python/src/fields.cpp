// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the fields of the C interface's structs, for keywords in Python.
#include <nanobind/stl/string.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "ccl/choices.h"
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
      {"planes", &CudacclConfig::planes},
      {"slots", &CudacclConfig::slots},
      {"batch", &CudacclConfig::batch},
      {"input_memory", &CudacclConfig::input_memory},
      {"output_memory", &CudacclConfig::output_memory},
#define CCL_CONFIG(id, kind, initial, when, text) {#id, &CudacclConfig::id},
#include "ccl/settings.def"
  };
  return members;
}

const Members<CudacclSettings>& settings_members() {
  static const Members<CudacclSettings> members = {
#define CCL_SETTING(id, member, kind, initial, when, text) {#id, &CudacclSettings::id},
#define CCL_REAL(id, member, one, initial, text) {#id, &CudacclSettings::id},
#define CCL_TIME(id, field, member, least, largest, initial, text) {#field, &CudacclSettings::field},
#define CCL_FIELD(id, member, kind, initial, text) {#id, &CudacclSettings::id},
#include "ccl/settings.def"
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

nb::dict choices() {
  nb::dict all;
  const auto add = [&](const char* field, auto kind) {
    if constexpr (requires { kind.type; }) {
      nb::dict numbers;
      for (const ccl::Choice& choice : ccl::kChoices) {
        if (choice.type == kind.type) {
          numbers[choice.nick] = choice.value;
        }
      }
      all[field] = numbers;
    }
  };
  using namespace ccl::kind;
#define CCL_SETTING(id, member, kind, initial, when, text) add(#id, kind);
#include "ccl/settings.def"
  return all;
}

bool set_field(CudacclConfig* config, const std::string& name, nb::handle value) {
  return set_member(config_members(), config, name, value);
}

bool set_field(CudacclSettings* settings, const std::string& name, nb::handle value) {
  return set_member(settings_members(), settings, name, value);
}

}  // namespace cudaccl_python
