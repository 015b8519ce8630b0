// SPDX-License-Identifier: LGPL-2.1-or-later
/// The choices of settings.def: values with names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ccl/config.h"
#include "ccl/segment.h"

namespace ccl {

struct Choice {
  std::string_view type;
  uint32_t value;
  const char* nick;
  const char* text;
};

/// Those of the C interface, and of these the ones of Python.
inline constexpr Choice kLibraryChoices[] = {
#define CCL_CHOICE(type, enumerator, nick, text) {#type, static_cast<uint32_t>(enumerator), nick, text},
#define CCL_LIBRARY_CHOICE(type, enumerator, nick, text) CCL_CHOICE(type, enumerator, nick, text)
#include "ccl/settings.def"
};
inline constexpr Choice kChoices[] = {
#define CCL_CHOICE(type, enumerator, nick, text) {#type, static_cast<uint32_t>(enumerator), nick, text},
#include "ccl/settings.def"
};

/// The value of a nick, or of nicks that are joined by +.
template <size_t n>
constexpr uint32_t value_of(const Choice (&choices)[n], std::string_view type, std::string_view nicks) {
  uint32_t value = 0;
  while (!nicks.empty()) {
    const std::string_view nick = nicks.substr(0, nicks.find('+'));
    nicks.remove_prefix(nick.size() < nicks.size() ? nick.size() + 1 : nick.size());
    for (const Choice& choice : choices) {
      value |= choice.type == type && choice.nick == nick ? choice.value : 0;
    }
  }
  return value;
}

}  // namespace ccl
