// SPDX-License-Identifier: LGPL-2.1-or-later
/// What an experiment found, beside what its paper found: printed as it comes, and written as CSV.
#pragma once

#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "ccl/status.h"
#include "common.h"
#include "machine.h"

namespace ccl::bench {

/// Of a figure that a paper does not give, or that means nothing on the machine at hand.
inline constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

enum class Better { kLower, kHigher, kNeither };

struct Figure {
  std::string table = {};  ///< the paper's name for it: "Table 1"
  std::string image = {};
  Size size = {};
  std::string backend = {};
  std::string algorithm = {};
  std::string quantity = "time";
  std::string unit = "ms";
  double paper = kNoFigure;
  double ours = kNoFigure;
  Better better = Better::kLower;

  /// How many times better ours is; kNoFigure where that cannot be said.
  double ratio() const;
};

/// "12", "1.23" or "0.0123": three digits that count.
std::string text_of(double value);

class Report {
 public:
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report();

  /// Without a file, nothing but printing is done.
  Status open(const std::string& file, const Facts& facts);

  void add(const Figure& figure);
  /// A claim of the paper, whether it holds here (nothing: it could not be tested), and why.
  void claim(const std::string& text, std::optional<bool> holds, const std::string& evidence);
  /// Says what is left out and why, once for each `what`.
  void leave_out(const std::string& what, const std::string& why);

 private:
  void write(const std::string& kind, const Figure& figure, const std::string& text,
             const std::string& evidence);

  std::FILE* csv_ = nullptr;
  std::string table_;     ///< of the last figure printed
  std::string left_out_;  ///< all that was
};

}  // namespace ccl::bench
