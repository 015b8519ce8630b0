// SPDX-License-Identifier: LGPL-2.1-or-later
/// The enumerations and flags that properties take: the choices of a type of ccl/settings.def. Type names,
/// values and nicks are part of the element's ABI.
#pragma once

#include <glib-object.h>

#include "ccl/choices.h"
#include "properties/properties.h"

namespace cudaccl {

/// Those of the engine and of the element. Those of `Algorithm` are the rows of algorithms.def.
inline constexpr ccl::Choice kChoices[] = {
#define CCL_CHOICE(type, enumerator, nick, text) {#type, static_cast<guint>(enumerator), nick, text},
#define CCL_LIBRARY_CHOICE(type, enumerator, nick, text) CCL_CHOICE(type, enumerator, nick, text)
#define CCL_ELEMENT_CHOICE(type, enumerator, nick, text) {#type, static_cast<guint>(enumerator), nick, text},
#include "ccl/settings.def"
};

/// The type GstCudaCcl`type`; made by the first call.
GType enum_type(const char* type);
GType flags_type(const char* type);

}  // namespace cudaccl
