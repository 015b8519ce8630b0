// SPDX-License-Identifier: LGPL-2.1-or-later
/// Command lines, as GLib reads them.
#pragma once

#include <glib.h>

#include <memory>
#include <string>
#include <vector>

#include "ccl/status.h"

namespace ccl::bench {

/// Reads all options from a copy of the arguments. `group`: options of another library, or null.
inline Status read_command_line(int argc, char** argv, const char* what, const GOptionEntry* entries,
                                GOptionGroup* group = nullptr) {
  const std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> context(g_option_context_new(what),
                                                                                  g_option_context_free);
  g_option_context_add_main_entries(context.get(), entries, nullptr);
  if (group != nullptr) {
    g_option_context_add_group(context.get(), group);
  }
  std::vector<char*> copy(argv, argv + argc + 1);
  char** rest = copy.data();
  GError* error = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &rest, &error)) {
    const std::string message = error->message;
    g_error_free(error);
    return {StatusCode::kInvalidArgument, message};
  }
  return argc > 1 ? Status(StatusCode::kInvalidArgument, std::string("unexpected argument ") + rest[1])
                  : Status();
}

inline std::vector<std::string> strings(gchar** list) {
  return list == nullptr ? std::vector<std::string>()
                         : std::vector<std::string>(list, list + g_strv_length(list));
}

inline std::string text(const gchar* value, const char* otherwise = "") {
  return value != nullptr ? value : otherwise;
}

}  // namespace ccl::bench
