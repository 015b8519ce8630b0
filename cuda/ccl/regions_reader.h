// SPDX-License-Identifier: LGPL-2.1-or-later
/// From the documents of docs/regions.md to regions.
#pragma once

#include <string_view>

#include "ccl/regions.h"
#include "ccl/status.h"

namespace ccl {

/// Reads JSON text, which begins with a brace, or the file with this path. kInvalidArgument if it cannot be
/// used: the message names the file, and the line or the place in the document. It throws nothing but
/// std::bad_alloc.
Status read_regions(std::string_view source, Regions* regions);

}  // namespace ccl
