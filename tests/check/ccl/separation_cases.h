// SPDX-License-Identifier: LGPL-2.1-or-later
/// Small frames whose parts are known, drawn with the label of each pixel's part.
#pragma once

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "ccl/config.h"
#include "images.h"

namespace ccl::test {

struct SeparationCase {
  std::string name;
  std::string text;  ///< a line for each row: '.' is background, a digit the label; the first line is empty
  Separation separation = {.neck = 993, .aspect = 1};
  uint32_t min_area = 1;
  Connectivity connectivity = Connectivity::k8;

  std::vector<std::string> rows() const {
    std::vector<std::string> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) {
        rows.push_back(line);
      }
    }
    return rows;
  }

  /// All labels are foreground.
  Image image() const {
    const std::vector<std::string> pixels = rows();
    return drawn(name, static_cast<uint32_t>(pixels.front().size()), static_cast<uint32_t>(pixels.size()),
                 [&](uint32_t x, uint32_t y) { return pixels[y][x] != '.'; });
  }

  Settings settings() const {
    return {.connectivity = connectivity, .separation = separation, .filter = {.min_area = min_area}};
  }
};

/// Rows as in SeparationCase::text; '?' for a label that is no digit.
inline std::vector<std::string> draw_labels(const std::vector<uint32_t>& labels, uint32_t width) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i % width == 0) {
      rows.emplace_back();
    }
    rows.back() += labels[i] < 10 ? ".123456789"[labels[i]] : '?';
  }
  return rows;
}

inline void PrintTo(const SeparationCase& c, std::ostream* out) {
  *out << c.name << ", neck " << c.separation.neck << ", aspect " << uint32_t{c.separation.aspect}
       << ", areas from " << c.min_area;
}

std::vector<SeparationCase> separation_cases();

/// What a failing test of separation had set.
std::string describe(const Settings& settings);

}  // namespace ccl::test
