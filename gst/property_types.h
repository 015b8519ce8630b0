// SPDX-License-Identifier: LGPL-2.1-or-later
/// The enumerations and flags that properties take. Type names, values and nicks are part of the element's
/// ABI.
#pragma once

#include <glib-object.h>

namespace cudaccl {

GType backend_type();
GType algorithm_type();
GType connectivity_type();
GType foreground_type();
GType background_model_type();
GType morphology_shape_type();
GType output_type();
GType palette_type();
GType features_type();
GType metadata_type();
GType label_map_type();
GType messages_type();

}  // namespace cudaccl
