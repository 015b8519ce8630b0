// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <nanobind/nanobind.h>

#include "cudaccl/cudaccl.h"

namespace cudaccl_python {

namespace nb = nanobind;

/// `regions`: what prepared() of _regions.py returns.
CudacclStatus set_regions(CudacclEngine* engine, const nb::dict& regions);

}  // namespace cudaccl_python
