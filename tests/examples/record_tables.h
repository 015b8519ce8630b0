// SPDX-License-Identifier: LGPL-2.1-or-later
/// The components of a frame as rows of CSV: a flat form of docs/json.md.
#pragma once

#include "cudaccl/gstcudacclmeta.h"

namespace examples {

extern const char* const kColumns;

void append_rows(const GstCudaCclInfo& info, GstClockTime running_time, GString* text);

}  // namespace examples
