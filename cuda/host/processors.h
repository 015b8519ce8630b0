// SPDX-License-Identifier: LGPL-2.1-or-later
/// How many processors this process may use: fewer than the machine has in a container or under taskset.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace ccl::host {

inline constexpr uint32_t kUnlimitedProcessors = std::numeric_limits<uint32_t>::max();

/// The processors that the calling thread may run on and that the CPU limits of its cgroups pay for,
/// whichever is less; at least 1.
uint32_t count_processors();

/// The CPU limit of the process's cgroup and of the cgroups above it, in processors, rounded up: cpu.max of
/// cgroup v2, cpu.cfs_quota_us and cpu.cfs_period_us of v1. kUnlimitedProcessors if there is no limit or no
/// cgroup. `root` precedes every path that is read; it is empty except in tests.
uint32_t cgroup_processors(const std::string& root = "");

}  // namespace ccl::host
