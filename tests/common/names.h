// SPDX-License-Identifier: LGPL-2.1-or-later
/// Names of the library's values, so that a failure prints "8-way" and not 8. GoogleTest finds PrintTo() in
/// the namespace of its argument, in every file that includes this header; fixture.h and compare.h do.
#pragma once

#include <ostream>

#include "ccl/algorithm.h"
#include "ccl/config.h"
#include "ccl/counts.h"

namespace ccl {

const char* name_of(Connectivity connectivity);
const char* name_of(Foreground foreground);
const char* name_of(Palette palette);
const char* name_of(Output output);

void PrintTo(Backend backend, std::ostream* out);
void PrintTo(Connectivity connectivity, std::ostream* out);
void PrintTo(Foreground foreground, std::ostream* out);
void PrintTo(Palette palette, std::ostream* out);
void PrintTo(Output output, std::ostream* out);
void PrintTo(const AlgorithmInfo& info, std::ostream* out);
void PrintTo(const Filter& filter, std::ostream* out);
void PrintTo(const FrameCounts& counts, std::ostream* out);

}  // namespace ccl
