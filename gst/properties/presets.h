// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element as a GstPreset.
#pragma once

#include <gst/gst.h>

namespace cudaccl {

/// Makes save_preset() fail with a g_warning() where the preset would lose the text of a property.
void init_presets(GstPresetInterface* presets);

}  // namespace cudaccl
