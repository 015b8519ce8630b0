// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <nanobind/nanobind.h>

#include "cudaccl/cudaccl.h"

namespace cudaccl_python {

namespace nb = nanobind;

/// `source`: what source_of() of _regions.py returns. Raises ValueError if the library refuses it.
CudacclStatus set_regions(CudacclEngine* engine, const nb::bytes& source);
/// The names of zones and of lines, by index. Raises ValueError likewise.
nb::tuple region_names(const nb::bytes& source);

}  // namespace cudaccl_python
