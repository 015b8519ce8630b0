// SPDX-License-Identifier: LGPL-2.1-or-later
#include "common.h"

#include <cstdio>
#include <fstream>
#include <thread>

namespace ccl::bench {

std::optional<Size> parse_size(const std::string& text) {
  Size size{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &size.width, &size.height, &rest) != 2) {
    return {};
  }
  return size;
}

std::vector<std::string> noise_names(const std::vector<uint32_t>& densities) {
  std::vector<std::string> names;
  for (const uint32_t granularity : {1, 2, 4, 8, 16}) {
    for (const uint32_t density : densities) {
      names.push_back("g" + std::to_string(granularity) + "_d" + std::to_string(density));
    }
  }
  return names;
}

std::optional<test::Image> draw_noise(const std::string& name, Size size, uint32_t seed) {
  uint32_t granularity = 0;
  uint32_t density = 0;
  char rest = 0;
  if (std::sscanf(name.c_str(), "g%u_d%u%c", &granularity, &density, &rest) != 2 || granularity == 0) {
    return {};
  }
  test::Image image = test::noise(size.width, size.height, granularity, density, seed);
  image.name = name;
  return image;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name") && line.find(':') + 2 < line.size()) {
      name = line.substr(line.find(':') + 2);
      break;
    }
  }
  return name + ", " + std::to_string(std::thread::hardware_concurrency()) + " threads";
}

}  // namespace ccl::bench
