// SPDX-License-Identifier: LGPL-2.1-or-later
/// The names that follow from ids of settings.def.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ccl/filter.h"

namespace ccl {

/// The name of a property, as an argument of a template: the id with - for each _.
template <size_t n>
struct SettingName {
  constexpr SettingName(const char (&id)[n]) {
    for (size_t i = 0; i < n; ++i) {
      text[i] = id[i] == '_' ? '-' : id[i];
    }
  }
  char text[n] = {};
};

template <SettingName name>
inline constexpr const char* kSettingName = name.text;

/// By FilterCondition: the name of the element's property, and of what the condition removed in `stats`.
inline constexpr auto kFilterConditionNames = [] {
  std::array<const char*, kFilterConditions> names{};
  size_t n = 0;
  const auto add = [&](std::string_view member, const char* name) {
    if (member.starts_with("settings.filter.")) {
      names[n++] = name;
    }
  };
#define CCL_SETTING(id, member, kind, initial, when, text) add(#member, kSettingName<#id>);
#define CCL_REAL(id, member, one, initial, text) add(#member, kSettingName<#id>);
#include "ccl/settings.def"
  return names;
}();
static_assert(*kFilterConditionNames.back() != 0, "a FilterCondition has no row in settings.def");

}  // namespace ccl
