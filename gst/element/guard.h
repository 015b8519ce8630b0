// SPDX-License-Identifier: LGPL-2.1-or-later
/// No exception may cross GObject or GStreamer, whose functions are C: locks would stay locked, and
/// references held. Every function that they call has its C++ in a guard: this one, or Private::guarded().
#pragma once

#include <gst/gst.h>

#include <exception>

namespace cudaccl {

/// What `function` returns, or `failed` after an exception. The standard library throws nothing else here
/// than for lack of memory.
template <typename Result, typename Function>
Result unless_thrown(Result failed, Function function) noexcept {
  try {
    return function();
  } catch (const std::exception&) {
    return failed;
  }
}

/// Posts that the host has not enough memory. It takes memory of GLib only, which ends the process without.
inline void post_lack_of_memory(gpointer element) {
  GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("out of memory"), (nullptr));
}

}  // namespace cudaccl
