// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/processors.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace ccl::host {

namespace {

/// A cgroup hierarchy that limits the CPU time of this process.
struct Hierarchy {
  bool is_v2 = false;
  std::string mount_root;   ///< the cgroup at the mount point
  std::string mount_point;  ///< where the hierarchy is mounted
};

/// Whether `item` is in a list whose items are separated by commas.
bool contains(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == item) {
      return true;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// In /proc/self/mountinfo, a space, tab, newline or backslash in a path is written as \ and three octal
/// digits.
std::string unescape(const std::string& text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
      path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

/// Reads a line such as "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw". Returns
/// nothing if it is not a mount that limits CPU time.
std::optional<Hierarchy> read_mount(const std::string& line) {
  std::istringstream fields(line);
  std::string skipped;
  std::string root;
  std::string mount_point;
  fields >> skipped >> skipped >> skipped >> root >> mount_point;
  while (fields >> skipped && skipped != "-") {  // the number of optional fields varies
  }
  std::string type;
  std::string options;
  fields >> type >> skipped >> options;
  if (type != "cgroup2" && !(type == "cgroup" && contains(options, "cpu"))) {
    return {};
  }
  return Hierarchy{type == "cgroup2", unescape(root), unescape(mount_point)};
}

/// The process's cgroup in each hierarchy, from lines such as "0::/user.slice" and
/// "4:cpu,cpuacct:/docker/1f".
struct ProcessCgroups {
  std::optional<std::string> v1;
  std::optional<std::string> v2;
};

ProcessCgroups read_process_cgroups(const std::string& root) {
  ProcessCgroups cgroups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t controllers = line.find(':');
    const size_t path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
    if (path == std::string::npos) {
      continue;
    }
    if (line.starts_with("0::")) {
      cgroups.v2 = line.substr(path + 1);
    } else if (contains(std::string_view(line).substr(controllers + 1, path - controllers - 1), "cpu")) {
      cgroups.v1 = line.substr(path + 1);
    }
  }
  return cgroups;
}

/// Processors of a quota per period, rounded up: with one processor less a part of the quota would be unused.
uint32_t to_processors(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) {
    return kUnlimitedProcessors;
  }
  const int64_t n_processors = quota / period + (quota % period != 0 ? 1 : 0);
  return static_cast<uint32_t>(std::min<int64_t>(n_processors, kUnlimitedProcessors));
}

/// The limit of one cgroup alone. A file that is missing, or that says "max" or -1, is no limit.
uint32_t read_limit(const std::string& folder, bool is_v2) {
  int64_t quota = 0;
  int64_t period = 0;
  if (is_v2) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return to_processors(quota, period);
}

/// The least limit of the cgroup `path` and of those above it, as far as they are mounted.
uint32_t least_limit(const Hierarchy& hierarchy, const std::string& path, const std::string& root) {
  const std::string mounted = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
  // A cgroup outside of what is mounted, as in some containers: only the limit at the mount point is visible.
  const bool is_mounted = path.starts_with(mounted + "/") && path.find("/..") == std::string::npos;
  std::string below = is_mounted ? path.substr(mounted.size()) : "";
  const std::string folder = root + hierarchy.mount_point;
  uint32_t least = read_limit(folder, hierarchy.is_v2);
  while (below.size() > 1) {
    least = std::min(least, read_limit(folder + below, hierarchy.is_v2));
    below.resize(below.rfind('/'));
  }
  return least;
}

/// The processors in the affinity mask of the calling thread; at least 1.
uint32_t count_affine_processors() {
  // The kernel rejects a mask that is shorter than its own.
  for (size_t n_sets = 1; n_sets <= 64; n_sets *= 2) {
    std::vector<cpu_set_t> mask(n_sets);
    const size_t n_bytes = n_sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, n_bytes, mask.data()) == 0) {
      return static_cast<uint32_t>(std::max(1, CPU_COUNT_S(n_bytes, mask.data())));
    }
    if (errno != EINVAL) {
      break;
    }
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

uint32_t cgroup_processors(const std::string& root) {
  const ProcessCgroups cgroups = read_process_cgroups(root);
  uint32_t least = kUnlimitedProcessors;
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::optional<Hierarchy> hierarchy = read_mount(line);
    if (!hierarchy) {
      continue;
    }
    if (const std::optional<std::string>& path = hierarchy->is_v2 ? cgroups.v2 : cgroups.v1) {
      least = std::min(least, least_limit(*hierarchy, *path, root));
    }
  }
  return least;
}

uint32_t count_processors() {
  return std::min(count_affine_processors(), cgroup_processors());
}

}  // namespace ccl::host
