// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's signals.
#pragma once

#include <glib-object.h>

namespace cudaccl {

/// Installs all signals of the type; each has its handler as a parameter.
inline void install_signals(GType type, GCallback reset_background) {
  /**
   * GstCudaCcl::reset-background:
   * @cudaccl: the element
   *
   * An action signal: with `foreground=motion` the background is learned again, from the next frame that
   * enters the element. Any thread may emit it, in any state.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler("reset-background", type,
                             static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION), reset_background,
                             nullptr, nullptr, nullptr, G_TYPE_NONE, 0);
}

}  // namespace cudaccl
