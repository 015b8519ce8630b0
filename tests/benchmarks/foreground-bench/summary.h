// SPDX-License-Identifier: LGPL-2.1-or-later
/// The figures of a run: as CSV, and as a table to read.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "machine.h"
#include "score.h"

namespace ccl::bench {

/// A method on a sequence.
struct Outcome {
  std::string category;
  std::string sequence;
  std::string method;
  std::string parameter;
  Score score;
  std::optional<int> settled_after;
};

/// Replaces the file. Ends the program if it cannot be written.
void write_csv(const std::string& file, const Facts& facts, cv::Size size,
               const std::vector<Outcome>& outcomes);

/// F1 by category and method, then precision and recall, then whether the goals are reached.
void print_summary(const std::vector<Outcome>& outcomes);

}  // namespace ccl::bench
