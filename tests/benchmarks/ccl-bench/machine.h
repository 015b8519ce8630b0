// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where figures come from: the machine, its software, and the sources.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ccl::bench {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Date, commit, processor and compiler. `commit` replaces what the build found; `argv` is added, with
/// the program and the files that it reads and writes without their folders.
Facts machine_facts(const std::string& commit, int argc, const char* const* argv);

}  // namespace ccl::bench
